/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/groups.c - contributions go up the groups of the memory hierarchy in flag lines, the result comes down in one that all ranks below poll.
 *
 * Source    papers 03 (groups) and 05; barrier/groups with a payload in each line.
 * Shape     p ranks in L levels of groups, n <= 112 bytes; a leader reduces the lines of its group into its line one level up; the members of a top group of at
 *           most `exchange` read each other's lines.
 * Cost      T = sum over levels of (l + (c - 2) g + c o) + l + (p - 2) g    ns; l one line transfer, c group size, g one more overlapped line, o a
 *           reduction of n bytes in the nearest cache
 *           traffic: one line written a level, at a leader one read for each member; one line read for the result
 * Accepts   n <= 112.
 *
 * Line                     written by   read by                       value k means
 *   slot[r].arrive[level]   r            r's group's leader            the sum over r and all below it in operation k is in this line
 *   slot[r].meet[k % 2]     r            members of a top that meets   the same
 *   slot[h].leave           h            all others; at a top that     the result of operation k is in this line
 *                                        meets: all below h
 *
 * An arrive line has been read before its writer is released, and a leave line before its readers arrive again; meet lines as in allreduce/inline.
 *
 * Edges     R1 -> A1   a sum                      happens before  the leader's reading it, and the reads of a release before the next write there
 *           R2 -> A2   a top member's sum         happens before  the other top members' reading it, and reads of k - 2 before the next write there
 *           R3 -> A3   the result                 happens before  the reads of those below, and the reads of their lines before the next write there
 */
#include "alg/contribution.h"
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

/* Where a rank's sum is that goes into a level; above the top: the result. */
static mem_flag *line_of(struct mem *m, const struct coll *c, const struct top *top, int rank, int level)
{
    struct slot *slot = mem_slot(m, rank);

    return level > top->level ? &slot->leave : level == top->level && top->meets ? &slot->meet[c->op % 2] : &slot->arrive[level];
}

/* The sum of one of the caller's group, which goes into a level, once it is there. */
static void await_sum(struct mem *m, const struct coll *c, const struct top *top, int rank, int level)
{
    mem_flag *line = line_of(m, c, top, rank, level);

    if (level == top->level && top->meets)
        mem_await(m, line, c->op); /* A2 */
    else
        mem_await(m, line, c->op); /* A1 */
}

/* The sums of a group, once all are there, into the own line one level up, which its readers have then left; that of the top into `out`, too. */
static void reduce(struct mem *m, const struct coll *c, const struct top *top, int level)
{
    const struct mem_span to = { .shared = contribution_at(line_of(m, c, top, mem_rank(m), level + 1)) }, out = { .view = &c->out };
    struct sources all;
    int count;
    const int *members = shape_members(c->groups, level, mem_rank(m), &count);

    for (int i = 0; i < count; i++)
        if (members[i] != mem_rank(m))
            await_sum(m, c, top, members[i], level);
    sources_begin(&all, m, c, &to, c->bytes);
    for (int i = 0; i < count; i++)
        sources_add(&all, (struct mem_span){ .shared = contribution_at(line_of(m, c, top, members[i], level)) });
    sources_reduce(&all, &to, level == top->level ? &out : NULL);
}

static void run(struct mem *m, const struct coll *c)
{
    const struct top top = top_of(c->groups, c->param[EXCHANGE]);
    int me = mem_rank(m), count;
    struct slot *mine = mem_slot(m, me), *head = mem_slot(m, top_head(c->groups, &top, me));

    mem_in_all(m, contribution_at(line_of(m, c, &top, me, 0)), &c->in, 0, c->bytes);
    for (int level = 0; level <= c->groups->top[me]; level++) {
        mem_flag *line = line_of(m, c, &top, me, level);
        if (level == top.level && top.meets) {
            mem_post(m, line, c->op); /* R2 */
        } else if (*shape_members(c->groups, level, me, &count) != me) {
            mem_post(m, line, c->op);          /* R1 */
            mem_await(m, &head->leave, c->op); /* A3 */
            mem_out(m, &c->out, contribution_at(&head->leave), 0, c->bytes);
            return;
        }
        reduce(m, c, &top, level);
    }
    mem_post(m, &mine->leave, c->op); /* R3 */
    contribution_claim(m, c, &mine->meet[(c->op + 1) % 2]);
}

ALG_DEFINE(allreduce, groups) = {
    .coll = "allreduce",
    .name = "groups",
    .doc = "contributions go up the groups in flag lines, the result comes down in one",
    .source = "papers 03 and 05",
    .params = params,
    .accepts = contribution_fits,
    .fixed_bytes = sizeof(struct slot),
    .run = run,
};
