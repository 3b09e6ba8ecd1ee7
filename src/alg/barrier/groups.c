/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/groups.c - arrive up the groups of the memory hierarchy, leave by one flag that all ranks poll.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors), "Barrier"; its sense and states, which
 *           flip or count, are counters of the operation here, so back-to-back calls need no second phase.
 * Shape     p ranks in L levels of groups; a leader scans its group, then arrives one level up.  p - 1 + (p - 1) line transfers.
 * Cost      T = sum over levels of (l + (c - 2) g) + l + (p - 2) g    ns; l one line transfer, c group size, g one more overlapped line
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by   read by              value k means
 *   slot[r].arrive[level]   r            r's group's leader   r, and all below it, have entered operation k
 *   slot[0].leave           rank 0       all others           everybody has entered operation k
 *
 * Edges     R1 -> A1   a member's (and its members') entry  happens before  its leader's arrival one level up
 *           R2 -> A2   rank 0's view of all entries         happens before  every exit
 */
#include "alg/alg.h"

struct slot {
    mem_flag leave;
    mem_flag arrive[SHAPE_LEVELS];
};

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->slot_bytes != 0;
}

static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    (void)param, (void)ranks;
    return sizeof(struct slot) <= most_bytes ? sizeof(struct slot) : 0;
}

static void run(struct mem *m, const struct coll *c)
{
    const struct shape_groups *g = c->groups;
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);
    struct slot *first = mem_slot(m, 0);

    for (int level = 0; level <= g->top[me]; level++) {
        int count;
        const int *members = shape_members(g, level, me, &count);

        if (members[0] != me) {
            mem_post(m, &mine->arrive[level], c->op); /* R1 */
            mem_await(m, &first->leave, c->op);       /* A2 */
            return;
        }
        for (int i = 1; i < count; i++) {
            struct slot *member = mem_slot(m, members[i]);
            mem_await(m, &member->arrive[level], c->op); /* A1 */
        }
    }
    mem_post(m, &mine->leave, c->op); /* R2 */
}

ALG_DEFINE(barrier, groups) = {
    .coll = "barrier",
    .name = "groups",
    .doc = "arrive up the groups of the memory hierarchy, leave by one flag",
    .source = "paper 03, Barrier",
    .accepts = accepts,
    .slot_bytes = slot_bytes,
    .run = run,
};
