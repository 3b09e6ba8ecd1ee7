/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/groups.c - arrive up the groups of the memory hierarchy, leave by a flag that all ranks below poll.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors), "Barrier"; its sense and states, which
 *           flip or count, are counters of the operation here, so back-to-back calls need no second phase.
 *           Ours: a top group of at most `exchange` members does not gather at rank 0: each tells all the others, and releases its own
 *           ranks below: one line transfer less on the path.  exchange = 1 is the paper's form.
 * Shape     p ranks in L levels of groups; a leader scans its group, then arrives one level up.
 * Cost      T = sum over levels of (l + (c - 2) g) + l + (p - 2) g    ns; l one line transfer, c group size, g one more overlapped line
 *           two ranks that exchange: l
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by   read by                       value k means
 *   slot[r].arrive[level]   r            r's group's leader            r, and all below it, have entered operation k
 *   slot[r].meet[k % 2]     r            members of a top that meets   the same
 *   slot[h].leave           h            all others; at a top that     everybody has entered operation k
 *                                        meets: all below h
 *
 * Who meets uses two lines in turn: the others may still poll the one, the other they have all left, and its owner takes it back for the next
 * operation before that comes (mem_claim), not within it: .29 -> .21 us, two ranks from a common start, line transfer 135 ns.
 *
 * Within a group the scan is flat.  On 2 processors, line transfer 53-76 ns, fastest tenth of interleaved shots, several launches: 8 unbound ranks meet in
 * 23-27 us by the flat forms (this, central, counters, gather, cells), in 30-41 by the logarithmic ones; 16 in 69-86 and 73-123 us.  Two bound
 * ranks, medians: this .23, dissemination .27, the others .36-.41.  What many processors prefer, the simulator is to say.
 *
 * Edges     R1 -> A1   a member's (and its members') entry  happens before  its leader's arrival one level up
 *           R2 -> A2   the entries that a top member has seen  happen before  the other top members' exits
 *           R3 -> A3   a top member's view of all entries      happens before  the exits below it
 */
#include "alg/alg.h"
#include "shape/top.h"

enum param { EXCHANGE };

static const struct alg_param params[] = {
    [EXCHANGE] = { "exchange", "1", "members of the top group, at most, that tell each other instead of rank 0", 1, 64, 8, NULL,
                   .tune = "1,2" },
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

/* A leader waits for its group; false: this rank does not lead it. */
static bool gather(struct mem *m, const struct coll *c, int level)
{
    int count;
    const int *members = shape_members(c->groups, level, mem_rank(m), &count);

    for (int i = 1; members[0] == mem_rank(m) && i < count; i++) {
        struct slot *member = mem_slot(m, members[i]);
        mem_await(m, &member->arrive[level], c->op); /* A1 */
    }
    return members[0] == mem_rank(m);
}

static void run(struct mem *m, const struct coll *c)
{
    struct top top = top_of(c->groups, c->param[EXCHANGE]);
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    for (int level = 0; level <= c->groups->top[me]; level++) {
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
