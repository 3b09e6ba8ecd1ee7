/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - barrier/groups: arrive up the groups of the memory hierarchy, leave by a flag that
 * all ranks below poll, or by one of each rank.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *           "Barrier"; its sense and states, which flip or count, are counters of the operation
 *           here, so back-to-back calls need no second phase.  Ours: where at most `exchange`
 *           ranks take part in a level, they do not gather further, at rank 0: each tells all the
 *           others, and releases its own ranks below: one line transfer less on the path, or more.
 *           exchange = 1 is the paper's form.
 * Shape     p ranks in L levels of groups; a leader scans its group, then arrives one level up.  A
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
 * Members that meet use two lines in turn: the others may still poll the one; they have all
 * finished with the other, and its owner prefetches it for ownership between two operations, not
 * within one.
 *
 * Where ranks share processors, a group gathers best in one step; ranks with one core each in wide
 * groups take two steps (core/choose/builtin.toml).
 *
 * Edges     R1 -> A1   a member's (and its members') entry  happens before  its leader's arrival
 *                      one level up
 *           R2 -> A2   the entries that a top member has seen  happen before  the other top
 *                      members' exits
 */
#include "alg/groups/groups.h"

/* The top members tell each other. */
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

/* A member waits for those of its group below it; false: this rank does not lead the group. */
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
    .doc = "arrive up the groups of the memory hierarchy, leave by one flag, or by one each",
    .source = "paper 03, Barrier",
    .family = &family,
    .run = barrier_groups,
};
