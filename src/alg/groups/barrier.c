/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - barrier/groups: arrive up the groups of the memory hierarchy; leave by a flag that
 * all ranks below poll, or by a flag of each rank.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *           "Barrier".  Its sense and states, which flip or count, are here counters of the
 *           operation, so back-to-back calls need no second phase.  Our addition: if at most
 *           `exchange` ranks take part at a level, they do not gather further, at rank 0.  Instead,
 *           each of them announces its arrival to all the others, and releases its own ranks below.
 *           This saves at least one line transfer on the path.  exchange = 1 is the paper's form.
 * Shape     p ranks in L levels of groups.  A leader scans its group, then arrives one level up.  A
 *           group of more than `flat` members gathers in two steps.
 * Cost      T = sum over levels of (l + (c - 2) g) + release (groups.h)    ns; l one line transfer,
 *           c group size, g one more overlapped line
 *           two ranks that exchange: l; a group in two steps: 2 (l + sqrt(c) g) instead of
 *           l + (c - 2) g
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by  read by                       value k means
 *   slot[r].arrive[level]   r           the one that awaits r         r, and all below it, have
 *                                                                     entered operation k
 *   slot[r].meet[k % 2]     r           members of a top that meets   the same
 *   slot[h].leave           (groups.h)
 *
 * Members that meet use two lines in turn.  The others may still poll one of them; all have
 * finished with the other, and its owner prefetches it for ownership between two operations, not
 * within one.
 *
 * If ranks share processors, a group gathers best in one step.  With one core per rank, wide groups
 * use two steps (core/plan/builtin.rules).
 *
 * Edges     R1 -> A1   a member's (and its members') entry  happens before  its leader's arrival
 *                      one level up
 *           R2 -> A2   the entries that a top member has seen  happen before  the other top
 *                      members' exits
 */
#include "alg/groups/groups.h"

/* Exchanges flags among the top members. */
static void meet(struct mem *m, const struct coll *c, const struct last_level *top)
{
    int me = mem_rank(m);
    struct groups_slot *mine = mem_slot(m, me);

    mem_post(m, &mine->meet[c->op % 2], c->op); /* R2 */
    for (int i = 0; i < top->count; i++) {
        struct groups_slot *other = mem_slot(m, top->members[i]);
        if (top->members[i] != me)
            mem_await(m, &other->meet[c->op % 2], c->op); /* A2 */
    }
    mem_prefetch_own(m, &mine->meet[(c->op + 1) % 2], 1);
}

/* Waits for the members of a group below this rank.  Returns false if this rank does not lead the
 * group. */
static bool gather(struct mem *m, const struct coll *c, int level)
{
    struct gathering group = gathering_of(c->groups, level, mem_rank(m), c->param[GROUPS_FLAT]);

    for (int i = group.first; i < group.end; i++) {
        struct groups_slot *member = mem_slot(m, group.members[i]);
        mem_await(m, &member->arrive[level], c->op); /* A1 */
    }
    return group.leads;
}

static void barrier_groups(struct mem *m, const struct coll *c)
{
    struct last_level top = last_level_of(c->groups, c->param[GROUPS_EXCHANGE]);
    int me = mem_rank(m);
    struct groups_slot *mine = mem_slot(m, me);

    for (int level = 0; level <= top.level && level <= c->groups->top[me]; level++) {
        if (level == top.level && top.meets) {
            meet(m, c, &top);
        } else if (!gather(m, c, level)) {
            mem_post(m, &mine->arrive[level], c->op); /* R1 */
            groups_leave(m, c, &top, 0);
            return;
        }
    }
    groups_release(m, c, &top, 0);
}

static const struct alg_family family = {
    .params = groups_params,
    .fixed_bytes = sizeof(struct groups_slot),
};

ALG_DEFINE(barrier, groups) = {
    .coll = "barrier",
    .name = "groups",
    .doc = "ranks arrive up the groups of the memory hierarchy; one flag, or one per rank, "
           "releases them",
    .source = "paper 03, Barrier",
    .family = &family,
    .run = barrier_groups,
};
