/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/slots.c - baseline: a ring of slots for each rank, all others poll the root's, a barrier
 * when all slots are used.
 *
 * Source    MVAPICH's scheme, as paper 01, "Problem", describes it; here to compare with.  Its
 *           4-byte psn, reset by nobody, is a counter of 8 bytes; the length travels next to it,
 *           since a fragment may be shorter than f; its barrier is a flat one by counters.
 * Shape     p ranks, n bytes, slots of f bytes, w of them a rank.  The root copies in, p - 1 ranks
 *           copy out of the root's slots.
 * Cost      T = ceil(n/f) p l + ceil(n/(w f)) 2 p l + (n + f) t     ns; l one line transfer, t ns
 *           per byte copied in and out
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h, one set, a slot is a unit) count over all roots; every rank keeps its
 * own, and they agree between operations.  The paper's `write` and `read` are one.
 *
 * Line                        written by   read by       value k means
 *   slot[r].cell[i].psn       r            all others    the fragment at position k - 1 is in this
 *                                                        cell; with it, a header
 *   slot[r].here              r            rank 0        r reads nothing before position k any more
 *   slot[0].leave             rank 0       all others    nobody reads anything before position k
 *                                                        any more
 *   slot[r].at                r            r             (plain) r's position
 *   slot[r].cell[i].data      r            all others    a fragment, from its announcement to
 *                                                        `here`
 *
 * Edges     R1 -> A1   the root's copy-in                    happens before  the copies out
 *           R2 -> A2   a rank's last read of the ring        happens before  rank 0's leave
 *           R3 -> A3   rank 0's view of everybody's reading  happens before  any root's next write
 */
#include "alg/fragment.h"

enum param { FRAGMENT, SLOTS };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a slot", 512, 1 << 16, 8192, NULL },
    [SLOTS] = { "slots", "1", "w, slots of a rank; fewer where the lease holds fewer", 1,
                RING_UNITS_MAX, 128, NULL },
    { .name = NULL },
};

struct cell {
    mem_flag psn;
    unsigned char data[]; /* [f] */
};

struct slot {
    mem_flag here, leave;
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) unsigned char cells[];
};

static size_t cell_bytes(const long *param)
{
    return sizeof(struct cell) + mem_lines((size_t)param[FRAGMENT]);
}

static struct shape_ring ring_of(const long *param, size_t slot_bytes)
{
    return fragment_ring(slot_bytes, sizeof(struct slot), cell_bytes(param), param[SLOTS], 1);
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = ring_of(param, max_bytes);

    (void)ranks;
    return fragment_slot_bytes(&ring, sizeof(struct slot), cell_bytes(param));
}

/* The barrier: nobody reads what lies before `at`. */
static void meet(struct mem *m, uint64_t at)
{
    struct slot *mine = mem_slot(m, mem_rank(m)), *first = mem_slot(m, 0);

    if (mem_rank(m) != 0) {
        mem_post(m, &mine->here, at);    /* R2 */
        mem_await(m, &first->leave, at); /* A3 */
        return;
    }
    for (int r = 1; r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        mem_await(m, &other->here, at); /* A2 */
    }
    mem_post(m, &first->leave, at); /* R3 */
}

static uint64_t copy_in(struct mem *m, const struct coll *c, struct cell *cell, uint64_t at,
                        size_t done)
{
    uint64_t header = fragment_copy_in(m, c, cell->data, done, (size_t)c->param[FRAGMENT]);

    mem_put(m, cell->psn.payload, header);
    mem_post(m, &cell->psn, at + 1); /* R1 */
    return header;
}

static uint64_t copy_out(struct mem *m, const struct coll *c, struct cell *cell, uint64_t at,
                         size_t done)
{
    mem_await(m, &cell->psn, at + 1); /* A1 */
    uint64_t header = mem_get(m, cell->psn.payload);
    mem_out(m, c->out, cell->data, done, fragment_bytes(header));
    return header;
}

static void bcast_slots(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m)), *root = mem_slot(m, c->root);
    struct shape_ring ring = ring_of(c->param, c->place->slot_bytes);
    uint64_t at = mem_get(m, &mine->at), header = FRAGMENT_MORE;

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header), at++) {
        struct cell *cell = (struct cell *)(root->cells + at % ring.units * cell_bytes(c->param));

        if (at != 0 && ring_at_set(&ring, at))
            meet(m, at);
        header =
            mem_rank(m) == c->root ? copy_in(m, c, cell, at, done) : copy_out(m, c, cell, at, done);
    }
    mem_put(m, &mine->at, at);
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(bcast, slots) = {
    .coll = "bcast",
    .name = "slots",
    .doc = "baseline: MVAPICH's ring of slots with sequence numbers, a barrier when it is used up",
    .source = "paper 01, Problem: MVAPICH",
    .baseline = true,
    .family = &family,
    .run = bcast_slots,
};
