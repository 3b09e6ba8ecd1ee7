/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.c - the family `pairs`: blocks of any sizes from rank to rank of a span, each pair by
 * itself: alltoall(v), gather(v), scatter(v).
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (pairwise exchange).
 * Shape     P ranks, P steps.  In step s rank r exchanges with rank (s - r) modulo P, so both
 *           directions of a pair are in one step.  Blocks go in fragments: through a buffer of the
 *           sender, as a message and through a buffer of the receiver; on one node the receiver
 *           copies out of the sender's buffer.  The fragments of all steps are one sequence, of
 *           which a rank has up to four on their way.
 * Cost      Each byte goes between nodes once, in a message of its own pair of ranks.
 * Accepts   Any sizes, also unequal ones that only the two ranks know; up to 65535 ranks.
 *
 * Line        written by   read by           meaning of value k = call * 2^48 + step * 2^32 + i + 1
 *   sent      its owner    the other rank    fragment i of the step is in the owner's buffer
 *   got       its owner    the other rank    the owner has copied it out
 *   calls     its owner    its owner         (a word) calls so far
 *
 * Edges     R1 -> A1   a fragment, to a rank of the node
 *           R2 -> A2   a buffer that was copied out, before the next fragment is written there
 *           R3 -> A3   a fragment, to a rank of another node
 * Deadlock  Fragments are ordered by step and number.  A rank begins both ends of a fragment before
 *           it waits for that or a later one, and finishes them in order.  So the first fragment
 *           that is not finished has begun at both of its ends.
 * Safety    1 A fragment goes into the buffer of its step and number, modulo what there is, after
 *             A2 or net_sent of what was there; what comes, into buffers in turn.  A call ends
 *             after all are free.
 *           2 In place, a block is read before the one that replaces it is written: both are of
 *             one step and of one size, and fragment i is read before fragment i is awaited.
 *           3 Values wrap.  Each call posts both lines at its end, so none is older than a call.
 */
#include "alg/pairs/pairs.h"
#include "alg/block.h"

enum { STEP_BITS = 32, CALL_BITS = 48, STEPS = PAIRS_GOING / 2 };

/* A block of the caller's; no bytes: there is none. */
struct block {
    struct mem_span at;
    size_t bytes;
};

/* What this rank has for another one, and gets of it. */
typedef struct block block_fn(const struct coll *c, int self, int other);

/* One fragment each way, of one step. */
struct place {
    int other, local; /* its number on this node; -1: it is on another one */
    uint64_t value;   /* of the flags */
    struct block going, coming;
    int from; /* number of the buffer of what goes */
};

struct exchange {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    enum net_tag tag;
    int self;
    block_fn *out, *in;
    uint64_t call;
    size_t begun, finished;           /* fragments */
    struct place place[PAIRS_COMING]; /* of those on their way, in turn */
};

static struct pairs_lines *lines(const struct exchange *x, int rank)
{
    return mem_slot(x->m, rank);
}

/* Those of what comes are behind those of what goes. */
static char *buffer(const struct exchange *x, int rank, int number)
{
    return (char *)mem_window(x->m, rank) + (size_t)number * (size_t)x->c->param[PAIRS_FRAGMENT];
}

static char *coming(const struct exchange *x, size_t fragment)
{
    return buffer(x, mem_rank(x->m), PAIRS_GOING + (int)(fragment % PAIRS_COMING));
}

/* Its part number i. */
static struct block part_of(const struct exchange *x, const struct block *block, size_t i)
{
    size_t most = (size_t)x->c->param[PAIRS_FRAGMENT], done = i * most;
    struct block part = *block;

    part.at.offset_bytes += done;
    part.bytes = block_left(block->bytes, done);
    part.bytes = part.bytes < most ? part.bytes : most;
    return part;
}

static void post_sent(const struct exchange *x, uint64_t value)
{
    mem_post(x->m, &lines(x, mem_rank(x->m))->sent, value); /* R1 */
}

static void post_got(const struct exchange *x, uint64_t value)
{
    mem_post(x->m, &lines(x, mem_rank(x->m))->got, value); /* R2 */
}

/* ---- fragments ---- */

/* What came is copied out, and the buffer of what went is free. */
static void finish(struct exchange *x)
{
    const struct place *p = &x->place[x->finished % PAIRS_COMING];
    const struct block *in = &p->coming;

    if (in->bytes != 0 && p->local < 0) {
        net_arrived(x->m, x->c->net, PAIRS_GOING + (int)(x->finished % PAIRS_COMING)); /* A3 */
        mem_out(x->m, in->at.view, coming(x, x->finished), in->at.offset_bytes, in->bytes);
    } else if (in->bytes != 0) {
        mem_await(x->m, &lines(x, p->local)->sent, p->value); /* A1 */
        mem_out(x->m, in->at.view, buffer(x, p->local, p->from), in->at.offset_bytes, in->bytes);
        post_got(x, p->value);
    }
    if (p->going.bytes != 0 && p->local < 0)
        net_sent(x->m, x->c->net, p->from);
    else if (p->going.bytes != 0)
        mem_await(x->m, &lines(x, p->local)->got, p->value); /* A2 */
    x->finished++;
}

/* One on its way has the buffer. */
static bool in_use(const struct exchange *x, int from)
{
    bool used = x->begun - x->finished == PAIRS_COMING;

    for (size_t i = x->finished; i < x->begun; i++)
        used = used || x->place[i % PAIRS_COMING].from == from;
    return used;
}

static void begin(struct exchange *x, const struct place *p)
{
    struct mem *m = x->m;
    const struct block *out = &p->going;
    char *from = buffer(x, mem_rank(m), p->from);

    while (in_use(x, p->from))
        finish(x);
    x->place[x->begun % PAIRS_COMING] = *p;
    if (p->coming.bytes != 0 && p->local < 0)
        net_receive(m, x->c->net, PAIRS_GOING + (int)(x->begun % PAIRS_COMING), p->other, x->tag,
                    coming(x, x->begun), p->coming.bytes);
    x->begun++;
    if (out->bytes == 0)
        return;
    mem_in_all(m, from, out->at.view, out->at.offset_bytes, out->bytes);
    if (p->local < 0)
        net_send(m, x->c->net, p->from, p->other, x->tag, from, out->bytes); /* R3 */
    else
        post_sent(x, p->value);
}

/* ---- pairs ---- */

static void exchange_with(struct exchange *x, int step, int other)
{
    const struct net_map *map = x->map;
    const struct block out = x->out(x->c, x->self, other), in = x->in(x->c, x->self, other);
    size_t most = out.bytes > in.bytes ? out.bytes : in.bytes,
           fragment = (size_t)x->c->param[PAIRS_FRAGMENT];
    struct place p = { .other = other,
                       .local = map->node_of[other] == map->node ? map->local_of[other] : -1 };

    for (size_t i = 0; i * fragment < most; i++) {
        p.value = x->call << CALL_BITS | (uint64_t)step << STEP_BITS | (i + 1);
        p.going = part_of(x, &out, i);
        p.coming = part_of(x, &in, i);
        p.from = step % STEPS * 2 + (int)(i % 2);
        begin(x, &p);
    }
}

static void keep_own(const struct exchange *x)
{
    const struct block from = x->out(x->c, x->self, x->self), to = x->in(x->c, x->self, x->self);

    if (from.bytes != 0 && !block_same(&from.at, &to.at))
        mem_move(x->m, &to.at, &from.at, from.bytes);
}

static void run(struct mem *m, const struct coll *c, enum net_tag tag, block_fn *out, block_fn *in)
{
    const struct net_map *map = net_map(c->net);
    struct pairs_lines *own = mem_slot(m, mem_rank(m));
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
        finish(&x);
    post_sent(&x, x.call << CALL_BITS | (uint64_t)ranks << STEP_BITS);
    post_got(&x, x.call << CALL_BITS | (uint64_t)ranks << STEP_BITS);
}

/* ---- the collectives: their blocks ---- */

static struct block view_of(const struct hud_view *view)
{
    return (struct block){ { .view = view }, view->bytes };
}

static struct block one_of(const struct coll *c, const struct hud_view *view, int number)
{
    return (struct block){ block_at(view, c->bytes, number), c->bytes };
}

static const struct block none;

static struct block each_out(const struct coll *c, int self, int other)
{
    (void)self;
    return one_of(c, c->in, other);
}

static struct block each_in(const struct coll *c, int self, int other)
{
    (void)self;
    return one_of(c, c->out, other);
}

static struct block views_out(const struct coll *c, int self, int other)
{
    (void)self;
    return view_of(&c->in[other]);
}

static struct block views_in(const struct coll *c, int self, int other)
{
    (void)self;
    return view_of(&c->out[other]);
}

/* To the root; the root's own block is in place, or not. */
static struct block gather_out(const struct coll *c, int self, int other)
{
    bool within = self == c->root && coll_in_place(c);

    return other == c->root ? one_of(c, c->in, within ? self : 0) : none;
}

static struct block gather_in(const struct coll *c, int self, int other)
{
    return self == c->root ? one_of(c, c->out, other) : none;
}

static struct block gather_views_out(const struct coll *c, int self, int other)
{
    (void)self;
    return other == c->root ? view_of(c->in) : none;
}

static struct block gather_views_in(const struct coll *c, int self, int other)
{
    return self == c->root ? view_of(&c->out[other]) : none;
}

/* From the root. */
static struct block scatter_out(const struct coll *c, int self, int other)
{
    return self == c->root ? one_of(c, c->in, other) : none;
}

static struct block scatter_in(const struct coll *c, int self, int other)
{
    bool within = self == c->root && coll_in_place(c);

    return other == c->root ? one_of(c, c->out, within ? self : 0) : none;
}

static struct block scatter_views_out(const struct coll *c, int self, int other)
{
    return self == c->root ? view_of(&c->in[other]) : none;
}

static struct block scatter_views_in(const struct coll *c, int self, int other)
{
    (void)self;
    return other == c->root ? view_of(c->out) : none;
}

static const struct alg_param params[] = {
    [PAIRS_FRAGMENT] = { "fragment", "B", "bytes of a message", HUD_LINE, 1 << 24,
                         PAIRS_FRAGMENT_BYTES, NULL },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = pairs_window_bytes((size_t)param[PAIRS_FRAGMENT]);

    (void)ranks;
    return bytes <= max_bytes ? bytes : 0;
}

const struct alg_family HUD_BACKEND(pairs_family) = { .params = params,
                                                      .fixed_bytes = sizeof(struct pairs_lines),
                                                      .window_bytes = window_bytes };

static void alltoall_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_ALLTOALL_PAIRS, each_out, each_in);
}

static void alltoallv_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_ALLTOALLV, views_out, views_in);
}

static void gather_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_GATHER_PAIRS, gather_out, gather_in);
}

static void gatherv_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_GATHERV, gather_views_out, gather_views_in);
}

static void scatter_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_SCATTER_PAIRS, scatter_out, scatter_in);
}

static void scatterv_pairs(struct mem *m, const struct coll *c)
{
    run(m, c, NET_SCATTERV, scatter_views_out, scatter_views_in);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)c;
    return ranks <= UINT16_MAX;
}

static const char doc[] = "each pair of ranks exchanges its blocks",
                  source[] = "Thakur, Rabenseifner, Gropp 2005";

ALG_DEFINE(alltoall, pairs) = { .coll = "alltoall",
                                .name = "pairs",
                                .doc = doc,
                                .source = source,
                                .family = &HUD_BACKEND(pairs_family),
                                .accepts = accepts,
                                .run = alltoall_pairs };

ALG_DEFINE(alltoallv, pairs) = { .coll = "alltoallv",
                                 .name = "pairs",
                                 .doc = doc,
                                 .source = source,
                                 .family = &HUD_BACKEND(pairs_family),
                                 .accepts = accepts,
                                 .run = alltoallv_pairs };

ALG_DEFINE(gather, pairs) = { .coll = "gather",
                              .name = "pairs",
                              .doc = doc,
                              .source = source,
                              .family = &HUD_BACKEND(pairs_family),
                              .accepts = accepts,
                              .run = gather_pairs };

ALG_DEFINE(gatherv, pairs) = { .coll = "gatherv",
                               .name = "pairs",
                               .doc = doc,
                               .source = source,
                               .family = &HUD_BACKEND(pairs_family),
                               .accepts = accepts,
                               .run = gatherv_pairs };

ALG_DEFINE(scatter, pairs) = { .coll = "scatter",
                               .name = "pairs",
                               .doc = doc,
                               .source = source,
                               .family = &HUD_BACKEND(pairs_family),
                               .accepts = accepts,
                               .run = scatter_pairs };

ALG_DEFINE(scatterv, pairs) = { .coll = "scatterv",
                                .name = "pairs",
                                .doc = doc,
                                .source = source,
                                .family = &HUD_BACKEND(pairs_family),
                                .accepts = accepts,
                                .run = scatterv_pairs };
