/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise.c - the steps in which each two ranks of a span exchange their blocks (pairwise.h), and
 * the parameters of the family.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (pairwise exchange).
 * Shape     P ranks, P steps.  In step s rank r exchanges with rank (s - r) modulo P, so both
 *           directions of a pair are in one step.  Blocks are sent in fragments (fragments.h).
 * Cost      Each byte goes between nodes once, in a message of its own pair of ranks.
 * Accepts   Any sizes, also unequal sizes that only the two ranks know; up to 65535 ranks.
 */
#include "alg/pairwise/fragments.h"

enum { STEPS = PAIRWISE_GOING / 2 };

/* Returns the part of a block that is in fragment i. */
static struct block part_of(const struct exchange *x, const struct block *block, size_t i)
{
    size_t max = (size_t)x->c->param[PAIRWISE_FRAGMENT], done = i * max;
    struct block part = *block;

    part.at.offset_bytes += done;
    part.bytes = block_left(block->bytes, done);
    part.bytes = part.bytes < max ? part.bytes : max;
    return part;
}

static void exchange_with(struct exchange *x, int step, int other)
{
    const struct net_map *map = x->map;
    const struct block out = x->out(x->c, x->self, other), in = x->in(x->c, x->self, other);
    size_t max = out.bytes > in.bytes ? out.bytes : in.bytes,
           fragment = (size_t)x->c->param[PAIRWISE_FRAGMENT];
    struct fragment p = { .other = other,
                          .local = map->node_of[other] == map->node ? map->local_of[other] : -1 };

    for (size_t i = 0; i * fragment < max; i++) {
        p.value = x->call << PAIRWISE_CALL_BITS | (uint64_t)step << PAIRWISE_STEP_BITS | (i + 1);
        p.going = part_of(x, &out, i);
        p.coming = part_of(x, &in, i);
        p.from = step % STEPS * 2 + (int)(i % 2);
        fragment_begin(x, &p);
    }
}

static void keep_own(const struct exchange *x)
{
    const struct block from = x->out(x->c, x->self, x->self), to = x->in(x->c, x->self, x->self);

    if (from.bytes != 0)
        block_move(x->m, &to, &from);
}

void HUD_BACKEND(pairwise_run)(struct mem *m, const struct coll *c, enum net_tag tag,
                               pairwise_block_fn *out, pairwise_block_fn *in)
{
    const struct net_map *map = net_map(c->net);
    struct pairwise_lines *own = mem_slot(m, mem_rank(m));
    int ranks = map->ranks, self = net_member(map, map->node, mem_rank(m));
    struct exchange x = { .m = m, .c = c, .map = map, .tag = tag, .self = self };

    x.out = out;
    x.in = in;
    x.call = mem_get(m, &own->calls) + 1;
    mem_put(m, &own->calls, x.call);
    keep_own(&x);
    for (int step = 0; step < ranks; step++) {
        int other = (step - self + ranks) % ranks;
        if (other != self)
            exchange_with(&x, step, other);
    }
    while (x.finished < x.begun)
        fragment_finish(&x);
    fragment_post_sent(&x, x.call << PAIRWISE_CALL_BITS | (uint64_t)ranks << PAIRWISE_STEP_BITS);
    fragment_post_got(&x, x.call << PAIRWISE_CALL_BITS | (uint64_t)ranks << PAIRWISE_STEP_BITS);
}

static const struct alg_param params[] = {
    [PAIRWISE_FRAGMENT] = { "fragment", "B", "bytes of a message", HUD_LINE, 1 << 24,
                            PAIRWISE_FRAGMENT_BYTES, NULL },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = pairwise_window_bytes((size_t)param[PAIRWISE_FRAGMENT]);

    (void)ranks;
    return bytes <= max_bytes ? bytes : 0;
}

const struct alg_family HUD_BACKEND(pairwise_family) = {
    .params = params, .fixed_bytes = sizeof(struct pairwise_lines), .window_bytes = window_bytes
};
