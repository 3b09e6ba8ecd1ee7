/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - bcast/slots, bcast/banks, bcast/controls and bcast/release, baselines: values of the
 * parameters of queues.h, which has their lines, edges and cost.
 */
#include "lab/alg/queues/queues.h"

static const char *const notify_words[] = { "child", "shared", NULL };
static const enum announcement notified[] = { WORDS, WORD }; /* values of these words */

/* ---- rings with one fragment in each buffer ---- */

static size_t cell_bytes(const long *param)
{
    return mem_lines((size_t)param[FRAGMENT]);
}

static struct shape_ring cells_in(size_t slot_bytes, const long *param, uint64_t sets)
{
    return ring_in(slot_bytes, cell_bytes(param), (uint64_t)param[BUFFERS], sets);
}

static size_t one_set_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = cells_in(max_bytes, param, 1);

    (void)ranks;
    return bytes_with(&ring, cell_bytes(param));
}

/* ---- bcast/slots ---- */

/*
 * Source    MVAPICH's scheme, as described by paper 01, "Problem".  All other ranks poll the psn of
 *           the root's slots, which has 8 bytes here and not 4.  All meet in a barrier, here a flat
 *           barrier by counters, when all slots are used.  The paper's `write` and `read` are the
 *           same position here.
 * Shape     WORD down a flat tree; BARRIER; a ring of one set for each rank
 */
static const struct alg_param slots_params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a slot", 512, 1 << 16, 8192, NULL },
    [BUFFERS] = { "slots", "1", "w, number of slots of a rank; fewer if the lease is too small", 1,
                  RING_UNITS_MAX, 128, NULL },
    { .name = NULL },
};

static void bcast_slots(struct mem *m, const struct coll *c)
{
    struct shape_tree flat = { SHAPE_FLAT, 1, mem_size(m), c->root, c->groups };
    struct shape_ring ring = cells_in(c->place->slot_bytes, c->param, 1);

    broadcast(&(struct pass){ m, c, WORD, BARRIER, flat, ring, cell_bytes(c->param) });
}

static const struct alg_family slots_family = { .params = slots_params,
                                                .slot_bytes = one_set_bytes };

ALG_DEFINE(bcast, slots) = {
    .coll = "bcast",
    .name = "slots",
    .doc = "baseline: MVAPICH's ring of slots with sequence numbers, and a barrier when all slots "
           "are used",
    .source = "paper 01, Problem: MVAPICH",
    .baseline = true,
    .family = &slots_family,
    .run = bcast_slots,
};

/* ---- bcast/banks ---- */

/*
 * Source    Open MPI's coll/sm (Graham, Shipman 2008), as described by paper 01, "Problem".  The
 *           in-use count of a bank, which the root sets, is counted down to 0 in the original.  In
 *           the paper all ranks read the root's buffers; in the component (from = parent) children
 *           copy their parent's fragments.
 * Shape     WORDS (notify = shared: WORD) down a complete k-ary tree; COUNTED; two banks for each
 *           rank.  With from = parent, ranks with children copy once more.
 */
enum { BANKS = 2, BANKS_DEGREE = BUFFERS + 1, BANKS_FROM, BANKS_NOTIFY };
enum { FROM_ROOT, FROM_PARENT };

static const char *const from_words[] = { "root", "parent", NULL };
static const struct alg_param banks_params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a buffer", 512, 1 << 16, 8192, NULL },
    [BUFFERS] = { "buffers", "1",
                  "w, number of buffers of a rank in both banks; fewer if the lease is too small",
                  2, RING_UNITS_MAX, 8, NULL },
    [BANKS_DEGREE] = { "degree", "1", "k, children of a rank in the complete tree", 1, 64, 4,
                       NULL },
    [BANKS_FROM] = { "from", "",
                     "buffers that a rank reads: the root's (as in the paper) or its parent's (as "
                     "in the component)",
                     FROM_ROOT, FROM_PARENT, FROM_ROOT, from_words },
    [BANKS_NOTIFY] = { "notify", "",
                       "child: one control word per child, in the child's memory; shared: one word "
                       "that all children poll",
                       0, 1, 0, notify_words },
    { .name = NULL },
};

static size_t banks_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = cells_in(max_bytes, param, BANKS);

    (void)ranks;
    return bytes_with(&ring, cell_bytes(param));
}

static void bcast_banks(struct mem *m, const struct coll *c)
{
    int degree = (int)c->param[BANKS_DEGREE];
    struct shape_tree kary = { SHAPE_KARY, degree, mem_size(m), c->root, c->groups };
    struct shape_ring ring = cells_in(c->place->slot_bytes, c->param, BANKS);

    broadcast(&(struct pass){ m, c, notified[c->param[BANKS_NOTIFY]], COUNTED, kary, ring,
                              cell_bytes(c->param),
                              .relays = c->param[BANKS_FROM] == FROM_PARENT });
}

static const struct alg_family banks_family = { .params = banks_params, .slot_bytes = banks_bytes };

ALG_DEFINE(bcast, banks) = {
    .coll = "bcast",
    .name = "banks",
    .doc = "baseline: coll/sm's two banks of buffers, announced down a complete tree",
    .source = "paper 01, Problem: Open MPI coll/sm (Graham, Shipman 2008)",
    .baseline = true,
    .family = &banks_family,
    .run = bcast_banks,
};

/* ---- bcast/release ---- */

/*
 * Source    Jain et al. (SC'18), as described by paper 01, "Problem".  The next root waits in the
 *           tree of the root that used a cell last, so the root is recorded with the header.
 * Shape     POSITION, the release, down a tree; GATHER, up the same tree; one ring for all ranks,
 *           and each cell is a set.  All slices have the same layout, so the cells of other slices
 *           are unused.  Tree and degree are fixed for all calls of a team, not per call.
 */
enum { RELEASE_TREE = BUFFERS + 1, RELEASE_DEGREE };

static const struct alg_param release_params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a cell", 512, 1 << 16, 8192, NULL },
    [BUFFERS] = { "cells", "1", "w, number of cells of the ring; fewer if the lease is too small",
                  1, RING_UNITS_MAX, 4, NULL },
    [RELEASE_TREE] = { "tree", "", "tree of ranks along which cells are released and acknowledged",
                       0, SHAPE_KINDS - 1, SHAPE_GROUPED, hud_shape_names },
    [RELEASE_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL },
    { .name = NULL },
};

static void bcast_release(struct mem *m, const struct coll *c)
{
    struct shape_tree tree = coll_tree(m, c, c->root, RELEASE_TREE, RELEASE_DEGREE);
    struct shape_ring ring = cells_in(c->place->slot_bytes, c->param, 1);

    ring.set_units = 1;
    broadcast(&(struct pass){ m, c, POSITION, GATHER, tree, ring, cell_bytes(c->param) });
}

static const struct alg_family release_family = { .params = release_params,
                                                  .slot_bytes = one_set_bytes };

ALG_DEFINE(bcast, release) = {
    .coll = "bcast",
    .name = "release",
    .doc = "baseline: one ring of cells for all ranks; cells are released and acknowledged along a "
           "tree",
    .source = "paper 01, Problem: Jain et al., SC'18",
    .baseline = true,
    .family = &release_family,
    .run = bcast_release,
};

/* ---- bcast/controls ---- */

/*
 * Source    paper 01, "Segment" and "Algorithm", with its own control words (notify = child) and
 *           counters (gate = counters): shm_op opens a set, shm_nreaders counts the ranks that have
 *           left it.  notify = shared and gate = lines are the forms of bcast/queue.
 * Shape     WORDS or WORD down a tree; OPENED or LINES; q sets for each rank.  A fragment has as
 *           many units of the ring as it needs.
 */
enum {
    CONTROLS_SETS = BUFFERS + 1,
    CONTROLS_TREE,
    CONTROLS_DEGREE,
    CONTROLS_NOTIFY,
    CONTROLS_GATE
};

static const char *const gate_words[] = { "counters", "lines", NULL };
static const enum acknowledgement gates[] = { OPENED, LINES }; /* the meanings of these words */

static const struct alg_param controls_params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a fragment, the unit of copies and announcements",
                   1, 1 << 24, 8192, NULL },
    [BUFFERS] = { "buffers", "1",
                  "s, number of buffers of f bytes; fewer if the lease is too small", 1,
                  RING_UNITS_MAX, 64, NULL },
    [CONTROLS_SETS] = { "sets", "1",
                        "q, number of sets of buffers; the root refills a set as a whole", 1,
                        SETS_MAX, 2, NULL },
    [CONTROLS_TREE] = { "tree", "", "tree of ranks along which fragments are announced", 0,
                        SHAPE_KINDS - 1, SHAPE_KARY, hud_shape_names, .per_call = true },
    [CONTROLS_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL, .per_call = true },
    [CONTROLS_NOTIFY] = { "notify", "",
                          "child: one word per child, in the child's memory (as in the paper); "
                          "shared: one word that all children poll",
                          0, 1, 0, notify_words },
    [CONTROLS_GATE] = { "gate", "",
                        "counters: ranks enter and leave sets by shm_op and shm_nreaders (as in "
                        "the paper); lines: each rank acknowledges a set in its own line",
                        0, 1, 0, gate_words },
    { .name = NULL },
};

static struct shape_ring controls_in(size_t slot_bytes, const long *param)
{
    const struct ring_wish wish = { .fragment = (uint64_t)param[FRAGMENT],
                                    .buffers = (uint64_t)param[BUFFERS] };
    uint64_t sets = (uint64_t)param[CONTROLS_SETS];

    return ring_in(slot_bytes, RING_UNIT, ring_wanted(&wish, sets, 0), sets);
}

static size_t controls_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = controls_in(max_bytes, param);

    (void)ranks;
    return bytes_with(&ring, RING_UNIT);
}

static void bcast_controls(struct mem *m, const struct coll *c)
{
    struct shape_tree tree = coll_tree(m, c, c->root, CONTROLS_TREE, CONTROLS_DEGREE);
    struct shape_ring ring = controls_in(c->place->slot_bytes, c->param);

    broadcast(&(struct pass){ m, c, notified[c->param[CONTROLS_NOTIFY]],
                              gates[c->param[CONTROLS_GATE]], tree, ring });
}

static const struct alg_family controls_family = { .params = controls_params,
                                                   .slot_bytes = controls_bytes };

ALG_DEFINE(bcast, controls) = {
    .coll = "bcast",
    .name = "controls",
    .doc = "baseline: the queue with the paper's counters and its control words, one per child",
    .source = "paper 01, Algorithm",
    .baseline = true,
    .family = &controls_family,
    .run = bcast_controls,
};
