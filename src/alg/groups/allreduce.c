/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - allreduce/groups: contributions go up the groups of the memory hierarchy in flag
 * lines; the result comes down in a line that all ranks below poll, or in a line of each rank.
 *
 * Source    papers 03 (groups) and 05; barrier/groups with a payload in each line.
 * Shape     p ranks in L levels of groups, n <= 112 bytes.  A leader reduces the lines of its group
 *           into its line one level up.  Groups of more than `flat` members do so in two steps.  At
 *           a level with at most `exchange` participants, they read each other's lines.
 * Cost      T = sum over levels of (l + (c - 2) g + c o) + release (groups.h)    ns; l one line
 *           transfer, c group size, g one more overlapped line, o a reduction of n bytes in the
 *           L1 cache
 *           traffic: one line written a level, at a leader one read for each member; one line read
 *           for the result; release = each: at a leader one line written for each member, too
 * Accepts   n <= 112.
 *
 * Line                     written by  read by                       value k means
 *   slot[r].arrive[level]    r           the one that awaits r         the sum over r and all below
 *                                                                      it in operation k is here
 *   slot[r].meet[k % 2]      r           members of a top that meets   the same
 *   slot[h].leave            (groups.h)
 *
 * An arrive line has been read before its writer is released.  Meet lines are used as in
 * allreduce/inline.
 *
 * Edges     R1 -> A1   a sum                      happens before  the leader's reading it, and the
 *                      reads of a release before the next write there
 *           R2 -> A2   a top member's sum         happens before  the other top members' reading
 *                      it, and reads of k - 2 before the next write there
 */
#include "alg/groups/groups.h"

/* Returns the line with a rank's sum that is the input of a level.  Above the top, this is the line
 * of the result. */
static mem_flag *line_of(struct mem *m, const struct coll *c, const struct last_level *top,
                         int rank, int level)
{
    struct groups_slot *slot = mem_slot(m, rank);

    return level > top->level                  ? &slot->leave
           : level == top->level && top->meets ? &slot->meet[c->op % 2]
                                               : &slot->arrive[level];
}

/* Waits for the sum of a member of this rank's group at a level. */
static void await_sum(struct mem *m, const struct coll *c, const struct last_level *top, int rank,
                      int level)
{
    mem_flag *line = line_of(m, c, top, rank, level);

    if (level == top->level && top->meets)
        mem_await(m, line, c->op); /* A2 */
    else
        mem_await(m, line, c->op); /* A1 */
}

/*
 * Waits for the sums of members[first] .. members[end - 1] and reduces them into this rank's line
 * of level `into`, whose readers have finished with the line.  If first > 0, this rank's own sum
 * comes first.  The final result also goes to `out`.
 */
static void reduce(struct mem *m, const struct coll *c, const struct last_level *top, int level,
                   const struct gathering *group, int into)
{
    const struct mem_span to = { .shared = contribution_at(line_of(m, c, top, mem_rank(m), into)) },
                          out = { .view = c->out };
    struct sources all;

    for (int i = group->first; i < group->end; i++)
        if (group->members[i] != mem_rank(m))
            await_sum(m, c, top, group->members[i], level);
    sources_begin(&all, m, c, &to, c->bytes);
    if (group->first > 0)
        sources_add(&all, (struct mem_span){
                              .shared = contribution_at(line_of(m, c, top, mem_rank(m), level)) });
    for (int i = group->first; i < group->end; i++)
        sources_add(&all, (struct mem_span){ .shared = contribution_at(
                                                 line_of(m, c, top, group->members[i], level)) });
    sources_reduce(&all, &to, into > top->level ? &out : NULL);
}

/* Reduces the sums of the ranks below in this rank's group.  Returns false if the rank does not
 * lead the group. */
static bool gather(struct mem *m, const struct coll *c, const struct last_level *top, int level)
{
    const struct gathering group =
        gathering_of(c->groups, level, mem_rank(m), c->param[GROUPS_FLAT]);

    if (group.leads || group.first < group.end)
        reduce(m, c, top, level, &group, group.leads ? level + 1 : level);
    return group.leads;
}

/* Reduces the sums of the top members.  All of them have the same sums in the same order. */
static void meet(struct mem *m, const struct coll *c, const struct last_level *top)
{
    const struct gathering all = { .members = top->members, .end = top->count };

    mem_post(m, line_of(m, c, top, mem_rank(m), top->level), c->op); /* R2 */
    reduce(m, c, top, top->level, &all, top->level + 1);
}

static void allreduce_groups(struct mem *m, const struct coll *c)
{
    const struct last_level top = last_level_of(c->groups, c->param[GROUPS_EXCHANGE]);
    int me = mem_rank(m);
    struct groups_slot *mine = mem_slot(m, me);

    mem_in_all(m, contribution_at(line_of(m, c, &top, me, 0)), c->in, 0, c->bytes);
    for (int level = 0; level <= top.level && level <= c->groups->top[me]; level++) {
        if (level == top.level && top.meets) {
            meet(m, c, &top);
        } else if (!gather(m, c, &top, level)) {
            mem_post(m, line_of(m, c, &top, me, level), c->op); /* R1 */
            mem_flag *result = groups_leave(m, c, &top, c->bytes);
            mem_out(m, c->out, contribution_at(result), 0, c->bytes);
            return;
        }
    }
    groups_release(m, c, &top, c->bytes);
    contribution_prefetch(m, c, &mine->meet[(c->op + 1) % 2]);
}

static const struct alg_family family = {
    .params = groups_params,
    .fixed_bytes = sizeof(struct groups_slot),
};

ALG_DEFINE(allreduce, groups) = {
    .coll = "allreduce",
    .name = "groups",
    .doc = "the groups reduce up to rank 0, data in the flags' cache lines; one line, or one per "
           "rank, has the result",
    .source = "papers 03 and 05",
    .accepts = contribution_fits,
    .family = &family,
    .run = allreduce_groups,
};
