/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/banks.c - baseline: a ring of buffers in two banks, fragments announced down a complete
 * k-ary tree, departures of a bank counted by an atomic add.
 *
 * Source    Open MPI's coll/sm (Graham, Shipman 2008), as paper 01, "Problem", describes it; here
 *           to compare with.  A parent writes a control word for each child, in the child's
 *           memory (notify = shared: one in its own, for all).  The words, which a child resets,
 *           and the in-use count, set by the root and counted down to 0, grow here.  The paper lets
 *           all ranks read the root's buffers; the component copies fragments from parent to child.
 * Shape     p ranks, n bytes, w buffers of f bytes a rank.  The root copies in, p - 1 ranks copy
 *           out; from `parent`, those with children copy once more.
 * Cost      T = ceil(n/f) log_k(p) k l + ceil(2 n/(w f)) (p - 1) a + (n + f) t     ns; l one line
 *           transfer, a an atomic add, t ns per byte copied in and out
 * Accepts   any n, if the lease has a window of two buffers.
 *
 * Positions (shape/ring.h, a bank is a set, a buffer is a unit) count over all roots; every rank
 * keeps its own, and they agree between operations.  An operation begins with a bank of its own,
 * so that each use of a bank has one root and p - 1 others, who count as they leave.
 *
 * Line                      written by   read by                     value k means
 *   slot[r].word[k % w]     r's parent   r                           the fragment at position k - 1
 *                           (shared: r)  (shared: r's children)      can be read; with it, a
 *                                                                    header
 *   slot[0].gone[bank]      all, add 1   any root                    others than the root have read
 *                                                                    that bank k times
 *   slot[r].at              r            r                           (plain) r's position
 *   data                    r            r's children, or all        fragments, from the
 *                                                                    announcement until the bank
 *                                                                    is left
 *
 * Edges     R1 -> A1   the copies into a buffer      happen before   the copies out of it; the
 *                      announcement passes down the tree
 *           R2 -> A2   a rank's last read of a bank  happens before  any rank's next write to that
 *                      bank, or to the words of its fragments
 */
#include "alg/fragment.h"

enum param { FRAGMENT, BUFFERS, DEGREE, FROM, NOTIFY };
enum { FROM_ROOT, FROM_PARENT };
enum { NOTIFY_CHILD, NOTIFY_SHARED };

static const char *const from_words[] = { "root", "parent", NULL }, *const notify_words[] = {
    "child", "shared", NULL
};
static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a buffer", 512, 1 << 16, 8192, NULL },
    [BUFFERS] = { "buffers", "1",
                  "w, buffers of a rank in both banks; fewer where the lease holds fewer", 2,
                  RING_UNITS_MAX, 8, NULL },
    [DEGREE] = { "degree", "1", "k, children of a rank in the complete tree", 1, 64, 4, NULL },
    [FROM] = { "from", "",
               "whose buffers a rank reads: root's (the paper) or parent's (the component)", 0, 1,
               FROM_ROOT, from_words },
    [NOTIFY] = { "notify", "",
                 "child: a control word for each child, in its memory; shared: one that all "
                 "children poll",
                 NOTIFY_CHILD, NOTIFY_SHARED, NOTIFY_CHILD, notify_words },
    { .name = NULL },
};

enum { BANKS = 2 };

struct slot {
    mem_flag gone[BANKS];
    _Alignas(HUD_LINE) uint64_t at;
    mem_flag word[]; /* [w], then the data */
};

static size_t buffer_bytes(const long *param)
{
    return mem_lines((size_t)param[FRAGMENT]);
}

static size_t cell_bytes(const long *param) /* a buffer and its control word */
{
    return sizeof(mem_flag) + buffer_bytes(param);
}

static struct shape_ring ring_of(const long *param, size_t slot_bytes)
{
    return fragment_ring(slot_bytes, sizeof(struct slot), cell_bytes(param), param[BUFFERS], BANKS);
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = ring_of(param, max_bytes);

    (void)ranks;
    return fragment_slot_bytes(&ring, sizeof(struct slot), cell_bytes(param));
}

static char *data_of(struct slot *slot, const struct shape_ring *ring, const long *param,
                     uint64_t at)
{
    return (char *)&slot->word[ring->units] + at % ring->units * buffer_bytes(param);
}

static mem_flag *gone_at(struct mem *m, const struct shape_ring *ring, uint64_t at)
{
    return &((struct slot *)mem_slot(m, 0))->gone[at / ring->set_units % BANKS];
}

/* The root copies a fragment in; before the first of a bank, all others have finished with it as
 * often as it was used. */
static uint64_t copy_in(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                        uint64_t at, size_t done)
{
    if (ring_at_set(ring, at))
        mem_await(m, gone_at(m, ring, at), at / ring->units * (uint64_t)(mem_size(m) - 1)); /* A2 */
    return fragment_copy_in(m, c, data_of(mem_slot(m, c->root), ring, c->param, at), done,
                            (size_t)c->param[FRAGMENT]);
}

/* To all children, by one word or by one each. */
static void announce(struct mem *m, const struct coll *c, const struct shape_tree *t,
                     struct shape_ring ring, uint64_t at, uint64_t header)
{
    int me = mem_rank(m), child;
    bool shared = c->param[NOTIFY] == NOTIFY_SHARED;

    for (int i = 0; (child = hud_shape_child(t, me, i)) >= 0; i++) {
        struct slot *slot = mem_slot(m, shared ? me : child);
        mem_put(m, slot->word[at % ring.units].payload, header);
        mem_post(m, &slot->word[at % ring.units], at + 1); /* R1 */
        if (shared)
            return;
    }
}

static void bcast_banks(struct mem *m, const struct coll *c)
{
    struct shape_tree t = { SHAPE_KARY, (int)c->param[DEGREE], mem_size(m), c->root, c->groups };
    struct shape_ring ring = ring_of(c->param, c->place->slot_bytes);
    int me = mem_rank(m), above = hud_shape_parent(&t, me);
    bool leaf = hud_shape_child(&t, me, 0) < 0,
         relays = c->param[FROM] == FROM_PARENT && above >= 0 && !leaf;
    struct slot *mine = mem_slot(m, me), *parent = mem_slot(m, above < 0 ? me : above);
    struct slot *source = relays                          ? mine
                          : c->param[FROM] == FROM_PARENT ? parent
                                                          : mem_slot(m, c->root);
    uint64_t at = mem_get(m, &mine->at), header = FRAGMENT_MORE;

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        struct slot *announced = c->param[NOTIFY] == NOTIFY_SHARED ? parent : mine;
        mem_flag *from = &announced->word[at % ring.units];

        if (above < 0) {
            header = copy_in(m, c, &ring, at, done);
        } else {
            mem_await(m, from, at + 1); /* A1 */
            header = mem_get(m, from->payload);
        }
        if (relays)
            mem_copy(m, data_of(mine, &ring, c->param, at), data_of(parent, &ring, c->param, at),
                     fragment_bytes(header));
        announce(m, c, &t, ring, at, header);
        if (above >= 0)
            mem_out(m, c->out, data_of(source, &ring, c->param, at), done, fragment_bytes(header));
        at++;
        if (above >= 0 && (!(header & FRAGMENT_MORE) || ring_at_set(&ring, at)))
            mem_add(m, gone_at(m, &ring, at - 1), 1); /* R2 */
    }
    mem_put(m, &mine->at, ring_round_up(&ring, at));
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(bcast, banks) = {
    .coll = "bcast",
    .name = "banks",
    .doc = "baseline: coll/sm's two banks of buffers, announced down a complete tree",
    .source = "paper 01, Problem: Open MPI coll/sm (Graham, Shipman 2008)",
    .baseline = true,
    .family = &family,
    .run = bcast_banks,
};
