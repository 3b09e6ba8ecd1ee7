/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/groups.c - arrive up the groups of the memory hierarchy, leave by a flag that all ranks
 * below poll.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *           "Barrier"; its sense and states, which flip or count, are counters of the operation
 *           here, so back-to-back calls need no second phase.  Ours: where at most `exchange` ranks
 *           take part in a level, they do not gather further, at rank 0: each tells all the others,
 *           and releases its own ranks below: one line transfer less on the path, or more.
 *           exchange = 1 is the paper's form.
 * Shape     p ranks in L levels of groups; a leader scans its group, then arrives one level up.  A
 *           group of more than `flat` members gathers in two steps: 64 ranks of a simulated 2 x
 *           Xeon 8358, groups of 32, .96 us instead of 1.33.
 * Cost      T = sum over levels of (l + (c - 2) g) + l + (p - 2) g    ns; l one line transfer, c
 *           group size, g one more overlapped line two ranks that exchange: l; a group in two
 *           steps: 2 (l + sqrt(c) g) instead of l + (c - 2) g
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by   read by                       value k means
 *   slot[r].arrive[level]   r            who waits for r in its group  r, and all below it, have
 *   entered operation k
 *   slot[r].meet[k % 2]     r            members of a top that meets   the same
 *   slot[h].leave           h            all others; at a top that     everybody has entered
 *   operation k
 *                                        meets: all below h
 *
 * Who meets uses two lines in turn: the others may still poll the one, the other they have all
 * left, and its owner takes it back for the next operation before that comes (mem_claim), not
 * within it: .29 -> .21 us, two ranks from a common start, line transfer 135 ns.
 *
 * Where ranks share processors, a group gathers best in one step.  On 2 processors, line transfer
 * 53-76 ns, fastest tenth of interleaved shots, several launches: 8 unbound ranks meet in 23-27 us
 * by the flat forms (this, central, counters, gather, cells), in 30-41 by the logarithmic ones; 16
 * in 69-86 and 73-123 us.  Two bound ranks, medians: this .23, dissemination .27, the others
 * .36-.41.  Ranks with a processor each in wide groups take two steps, in simulated time
 * (core/choose/builtin.toml).
 *
 * Edges     R1 -> A1   a member's (and its members') entry  happens before  its leader's arrival
 *                      one level up
 *           R2 -> A2   the entries that a top member has seen  happen before  the other top
 *                      members' exits
 *           R3 -> A3   a top member's view of all entries      happens before  the exits below it
 */
#include "alg/gathering.h"
#include "shape/top.h"

enum param { EXCHANGE, FLAT };

static const struct alg_param params[] = {
    [EXCHANGE] = { "exchange", "1",
                   "ranks, at most, that tell each other, at the lowest level of so few, instead "
                   "of rank 0",
                   1, 64, 8, NULL, .tune = "1,2" },
    [FLAT] = GATHERING_FLAT,
    { .name = NULL },
};

struct slot {
    mem_flag leave;
    mem_flag arrive[SHAPE_LEVELS], meet[2];
};

/* The top members tell each other. */
static void meet(struct mem *m, const struct coll *c, const struct top *top)
{
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    mem_post(m, &mine->meet[c->op % 2], c->op); /* R2 */
    for (int i = 0; i < top->count; i++) {
        struct slot *other = mem_slot(m, top->members[i]);
        if (top->members[i] != me)
            mem_await(m, &other->meet[c->op % 2], c->op); /* A2 */
    }
    mem_claim(m, &mine->meet[(c->op + 1) % 2], 1);
}

/* A member waits for those of its group below it; false: this rank does not lead the group. */
static bool gather(struct mem *m, const struct coll *c, int level)
{
    struct gathering group = gathering_of(c->groups, level, mem_rank(m), c->param[FLAT]);

    for (int i = group.first; i < group.end; i++) {
        struct slot *member = mem_slot(m, group.members[i]);
        mem_await(m, &member->arrive[level], c->op); /* A1 */
    }
    return group.leads;
}

static void run(struct mem *m, const struct coll *c)
{
    struct top top = top_of(c->groups, c->param[EXCHANGE]);
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    for (int level = 0; level <= top.level && level <= c->groups->top[me]; level++) {
        if (level == top.level && top.meets) {
            meet(m, c, &top);
        } else if (!gather(m, c, level)) {
            struct slot *head = mem_slot(m, top_head(c->groups, &top, me));
            mem_post(m, &mine->arrive[level], c->op); /* R1 */
            mem_await(m, &head->leave, c->op);        /* A3 */
            return;
        }
    }
    if (top.level > 0 || !top.meets)
        mem_post(m, &mine->leave, c->op); /* R3 */
}

ALG_DEFINE(barrier, groups) = {
    .coll = "barrier",
    .name = "groups",
    .doc = "arrive up the groups of the memory hierarchy, leave by one flag",
    .source = "paper 03, Barrier",
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .run = run,
};
