/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h - shared by barrier/groups and allreduce/groups: lines, parameters, and how a rank
 * releases the ranks below it.
 *
 * Source    paper 03, "Barrier", releases by one flag (release = all); release = each is our
 *           addition.
 * Cost      release = all: l + (p - 2) g    ns; l one line transfer, g one more overlapped line:
 *           the copies of a line leave one after the other
 *           release = each: sum over levels of (l + (c - 1) w)    ns; c group size, w one more
 *           store to a line elsewhere.  No two ranks poll the same line.
 *
 * Line               written by      read by                     value k means
 *   slot[h].leave    h; each: h's    all others; at a top that   all have entered operation k, and
 *                    leader          meets: all below h;         the bytes of its result are here
 *                                    each: h
 *
 * With each, a head (which no rank releases) keeps the result in its own line without announcing
 * it.  A leave line has been read before its readers arrive again.
 *
 * Edges     R3 -> A3   the result, and with it all entries  happen before  the reads and exits of
 *                      those below; the reads of their lines before the next write there
 *
 * Deadlock  A rank waits for arrivals of ranks below it, which wait only for ranks below them.
 *           Members of a top that meets post before they wait.  A rank that waits to be released
 *           has arrived; the rank that releases it has passed the top, or was released before.
 * Safety    1 An arrive line is written again after its writer was released, so after the rank that
 *           awaits it has read it.
 *           2 A leave line is written again after its readers have arrived for the next operation,
 *           so after they have read it.
 *           3 A meet line of operation k is written after its writer has seen the meet lines of
 *           k - 1, whose writers had read those of k - 2.
 */
#ifndef HUD_ALG_GROUPS_H
#define HUD_ALG_GROUPS_H

#include "alg/reduction.h"
#include "shape/gathering.h"
#include "shape/last_level.h"

enum groups_param { GROUPS_EXCHANGE, GROUPS_FLAT, GROUPS_RELEASE };
enum groups_release { GROUPS_ALL, GROUPS_EACH };

static const char *const groups_releases[] = { "all", "each", NULL };

static const struct alg_param groups_params[] = {
    [GROUPS_EXCHANGE] = { "exchange", "1",
                          "maximum ranks of a group that exchange flags directly instead of "
                          "through rank 0",
                          1, 64, 8, NULL, .tune = "1,2" },
    [GROUPS_FLAT] = { "flat", "1", GATHERING_FLAT_DOC, 1, 64, 64, NULL, .tune = "16,64" },
    [GROUPS_RELEASE] = { "release", "", "all: one flag releases all ranks; each: one flag per rank",
                         GROUPS_ALL, GROUPS_EACH, GROUPS_ALL, groups_releases, .per_call = true,
                         .tune = "each" },
    { .name = NULL },
};

struct groups_slot {
    mem_flag leave;
    mem_flag arrive[SHAPE_LEVELS], meet[2];
};

/* Releases the ranks below the caller, with the bytes in its leave line. */
static inline void groups_release(struct mem *m, const struct coll *c, const struct last_level *top,
                                  size_t bytes)
{
    int me = mem_rank(m);
    struct groups_slot *mine = mem_slot(m, me);

    if (c->param[GROUPS_RELEASE] == GROUPS_ALL) {
        if (last_level_released(c->groups, top, me, 0) >= 0)
            mem_post(m, &mine->leave, c->op); /* R3 */
        return;
    }
    for (int i = 0, below; (below = last_level_released(c->groups, top, me, i)) >= 0; i++) {
        struct groups_slot *its = mem_slot(m, below);
        if (bytes != 0)
            mem_copy(m, contribution_at(&its->leave), contribution_at(&mine->leave), bytes);
        mem_post(m, &its->leave, c->op); /* R3 */
    }
}

/* Waits until the caller, which has arrived, is released, and releases the ranks below it.  Returns
 * the line with the result. */
static inline mem_flag *groups_leave(struct mem *m, const struct coll *c,
                                     const struct last_level *top, size_t bytes)
{
    int me = mem_rank(m);
    bool each = c->param[GROUPS_RELEASE] == GROUPS_EACH;
    struct groups_slot *from = mem_slot(m, each ? me : last_level_releaser(c->groups, top, me));

    mem_await(m, &from->leave, c->op); /* A3 */
    if (each)
        groups_release(m, c, top, bytes);
    return &from->leave;
}

#endif
