/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/cells.c - one queue of cells, a line for each rank, serves both phases in order:
 * arrivals pass chip by chip, then departures.
 *
 * Source    paper 02 (Zhang, Meng, Huo), "Three-level barrier".  Its queue has one cell per rank
 *           for both phases, which child and leader write in turn.  Here, a line is written by only
 *           one rank in an operation.  So a cell belongs to its owner, who also releases the ranks
 *           below it there: an odd value is an arrival, an even one a departure.  There is still
 *           one line per rank for both phases.  A leader answers all its children with one write
 *           instead of one write each.  The children share its line, which is written while they
 *           poll it.  Chips are the groups of the lowest level.  If there are more levels, the
 *           leaders in between have no special role.
 * Shape     p ranks on n chips; rank 0 leads the node and its own chip; p + n - 1 posts.
 * Cost      T = 2 (l + (c - 2) g) + 2 (L + (n - 2) G)    ns; c ranks of a chip; l, L one line
 *           transfer within a chip, between chips; g, G one more overlapped
 * Accepts   any number of ranks and groups.
 *
 * Line             written by   read by                  value means
 *   slot[r].cell   r            2 k - 1: r's leader      r, and the chip that it leads, have
 *                                                        entered operation k
 *                               2 k: those that r leads  all have entered operation k
 *
 * Edges     R1 -> A1   a child's entry  happens before  its chip leader's arrival
 *           R2 -> A2   the entries of a chip  happen before  the node leader's departure
 *           R3 -> A3   all entries, as the node leader has seen them  happen before  the chip
 *                      leaders' departures
 *           R3 -> A4   the same  happens before  the children's exits
 *
 * Deadlock  A rank posts its arrival before it waits for a departure.  Leaders wait for arrivals
 *           first, and arrivals need no departure of the same operation.
 * Safety    A cell has one writer, and its values grow.  A value above the awaited one shows that
 *           its writer has passed the awaited point.
 */
#include "alg/alg.h"

struct slot {
    mem_flag cell;
};

static mem_flag *cell_of(struct mem *m, int rank)
{
    struct slot *slot = mem_slot(m, rank);

    return &slot->cell;
}

/* Waits, as the node leader, for the leaders of the other chips. */
static void gather_chips(struct mem *m, const struct coll *c)
{
    const struct shape_level *chips = &c->groups->level[0];

    for (int chip = 0; chip < chips->groups; chip++) {
        int leader = chips->members[chips->first[chip]];
        if (leader != 0)
            mem_await(m, cell_of(m, leader), 2 * c->op - 1); /* A2 */
    }
}

static void barrier_cells(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), count;
    const int *chip = shape_members(c->groups, 0, me, &count);
    mem_flag *mine = cell_of(m, me);

    if (me != chip[0]) {
        mem_post(m, mine, 2 * c->op - 1);             /* R1 */
        mem_await(m, cell_of(m, chip[0]), 2 * c->op); /* A4 */
        return;
    }
    for (int i = 1; i < count; i++)
        mem_await(m, cell_of(m, chip[i]), 2 * c->op - 1); /* A1 */
    if (me == 0) {
        gather_chips(m, c);
    } else {
        mem_post(m, mine, 2 * c->op - 1);       /* R2 */
        mem_await(m, cell_of(m, 0), 2 * c->op); /* A3 */
    }
    mem_post(m, mine, 2 * c->op); /* R3 */
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, cells) = {
    .coll = "barrier",
    .name = "cells",
    .doc = "one queue with a cache line per rank for both phases; three levels: rank, chip leader, "
           "node leader",
    .source = "paper 02, Three-level barrier",
    .family = &family,
    .run = barrier_cells,
};
