/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/groups.c - arrive up the groups of the memory hierarchy, leave by a flag that all ranks
 * below poll, by one of each group, or by one of each rank.
 *
 * Source    paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *           "Barrier"; its sense and states, which flip or count, are counters of the operation
 *           here, so back-to-back calls need no second phase.  Ours: where at most `exchange`
 *           ranks take part in a level, they do not gather further, at rank 0: each tells all the
 *           others, and releases its own ranks below: one line transfer less on the path, or more.
 *           exchange = 1 is the paper's form.  With release = leaders a group's leader releases
 *           its group: more line transfers on the path, but none that many ranks ask for at once.
 *           With release = each it writes a line of each member: no two ranks poll the same line.
 * Shape     p ranks in L levels of groups; a leader scans its group, then arrives one level up.  A
 *           group of more than `flat` members gathers in two steps.
 * Cost      T = sum over levels of (l + (c - 2) g) + l + (p - 2) g    ns; l one line transfer, c
 *           group size, g one more overlapped line
 *           release = leaders: at each level l + (c - 2) g again, in place of the last two terms
 *           release = each: at each level l + (c - 1) w, in place of the same terms; w one more
 *           store to a line elsewhere
 *           two ranks that exchange: l; a group in two steps: 2 (l + sqrt(c) g) instead of
 *           l + (c - 2) g
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by  read by                       value k means
 *   slot[r].arrive[level]   r           who waits for r in its group  r, and all below it, have
 *                                                                     entered operation k
 *   slot[r].meet[k % 2]     r           members of a top that meets   the same
 *   slot[h].leave           h; each:    all others; at a top that     all have entered operation k
 *                           h's leader  meets: all below h; leaders:
 *                                       the groups that h leads;
 *                                       each: h
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
 *           R3 -> A3   a top member's view of all entries      happens before  the exits below it
 */
#include "alg/alg.h"
#include "shape/gathering.h"
#include "shape/last_level.h"

enum param { EXCHANGE, FLAT, RELEASE };
enum release { RELEASE_ALL, RELEASE_LEADERS, RELEASE_EACH };

static const char *const releases[] = { "all", "leaders", "each", NULL };

static const struct alg_param params[] = {
    [EXCHANGE] = { "exchange", "1",
                   "ranks, at most, that tell each other, at the lowest level of so few, instead "
                   "of rank 0",
                   1, 64, 8, NULL, .tune = "1,2" },
    [FLAT] = { "flat", "1", GATHERING_FLAT_DOC, 1, 64, 64, NULL, .tune = "16,64" },
    [RELEASE] = { "release", "",
                  "whose flag a rank polls to leave: all, that of the top; leaders, "
                  "that of its group's leader; each, its own",
                  RELEASE_ALL, RELEASE_EACH, RELEASE_ALL, releases, .per_call = true,
                  .tune = "leaders,each" },
    { .name = NULL },
};

struct slot {
    mem_flag leave;
    mem_flag arrive[SHAPE_LEVELS], meet[2];
};

/* The top members tell each other. */
static void meet(struct mem *m, const struct coll *c, const struct last_level *top)
{
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    mem_post(m, &mine->meet[c->op % 2], c->op); /* R2 */
    for (int i = 0; i < top->count; i++) {
        struct slot *other = mem_slot(m, top->members[i]);
        if (top->members[i] != me)
            mem_await(m, &other->meet[c->op % 2], c->op); /* A2 */
    }
    mem_prefetch_own(m, &mine->meet[(c->op + 1) % 2], 1);
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

/* The flag by which the caller, which has arrived at a level, leaves. */
static mem_flag *leave_of(struct mem *m, const struct coll *c, const struct last_level *top,
                          int level)
{
    int me = mem_rank(m);
    int owner = c->param[RELEASE] == RELEASE_EACH      ? me
                : c->param[RELEASE] == RELEASE_LEADERS ? shape_leader(c->groups, level, me)
                                                       : last_level_releaser(c->groups, top, me);
    struct slot *its = mem_slot(m, owner);

    return &its->leave;
}

/* The ranks below the caller leave. */
static void release(struct mem *m, const struct coll *c, const struct last_level *top)
{
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    if (c->param[RELEASE] != RELEASE_EACH) {
        if (last_level_released(c->groups, top, me, 0) >= 0)
            mem_post(m, &mine->leave, c->op); /* R3 */
        return;
    }
    for (int i = 0, below; (below = last_level_released(c->groups, top, me, i)) >= 0; i++) {
        struct slot *its = mem_slot(m, below);
        mem_post(m, &its->leave, c->op); /* R3 */
    }
}

static void barrier_groups(struct mem *m, const struct coll *c)
{
    struct last_level top = last_level_of(c->groups, c->param[EXCHANGE]);
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    for (int level = 0; level <= top.level && level <= c->groups->top[me]; level++) {
        if (level == top.level && top.meets) {
            meet(m, c, &top);
        } else if (!gather(m, c, level)) {
            mem_post(m, &mine->arrive[level], c->op);         /* R1 */
            mem_await(m, leave_of(m, c, &top, level), c->op); /* A3 */
            if (c->param[RELEASE] != RELEASE_ALL)
                release(m, c, &top);
            return;
        }
    }
    release(m, c, &top);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, groups) = {
    .coll = "barrier",
    .name = "groups",
    .doc = "arrive up the groups of the memory hierarchy, leave by one flag, or one of each group "
           "or rank",
    .source = "paper 03, Barrier",
    .family = &family,
    .run = barrier_groups,
};
