/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h - what barrier/groups and allreduce/groups share: lines, parameters, and how the ranks
 * below a rank leave.
 *
 * Source    paper 03, "Barrier", releases by one flag (release = all); release = each is ours.
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
 * With each, a head (which nobody releases) keeps the result in its own line without announcing it.
 * A leave line has been read before its readers arrive again.
 *
 * Edges     R3 -> A3   the result, and with it all entries  happen before  the reads and exits of
 *                      those below; the reads of their lines before the next write there
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
                          "ranks, at most, that tell each other, at the lowest level of so few, "
                          "instead of rank 0",
                          1, 64, 8, NULL, .tune = "1,2" },
    [GROUPS_FLAT] = { "flat", "1", GATHERING_FLAT_DOC, 1, 64, 64, NULL, .tune = "16,64" },
    [GROUPS_RELEASE] = { "release", "",
                         "whose line a rank polls to leave: all, that of the top; each, its own",
                         GROUPS_ALL, GROUPS_EACH, GROUPS_ALL, groups_releases, .per_call = true,
                         .tune = "each" },
    { .name = NULL },
};

struct groups_slot {
    mem_flag leave;
    mem_flag arrive[SHAPE_LEVELS], meet[2];
};

/* Those below the caller leave, with the bytes in its leave line. */
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

/* The caller, which has arrived, and those below it leave: the line that has the result. */
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
