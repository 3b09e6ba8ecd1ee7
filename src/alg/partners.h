/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partners.h - the partners of a rank in the steps of an exchange by pairs (shape/meetings.h), kept
 * in shared memory: a word for each other rank, in the order of steps.
 */
#ifndef HUD_ALG_PARTNERS_H
#define HUD_ALG_PARTNERS_H

#include "alg/alg.h"
#include "shape/meetings.h"

/* Writes this rank's partners to `order`, and returns their number. */
static inline uint64_t partners_sort(struct mem *m, const struct coll *c, uint64_t *order)
{
    enum { BATCH = 64 }; /* number of meetings that are sorted at a time */
    const struct meetings o = meetings_of(c->groups);
    struct meetings_rank me = meetings_none;
    uint64_t word[BATCH], after = 0, met = 0;

    while (meetings_next(&o, &me) && me.rank != mem_rank(m))
        ;
    for (int count; (count = meetings_after(&o, &me, after, BATCH, word)) != 0;
         after = word[count - 1])
        for (int i = 0; i < count; i++)
            mem_put(m, &order[met++], word[i]);
    return met;
}

/* Returns the partner of this rank in the step-th of its own steps, counted from 0. */
static inline int partners_in(struct mem *m, const uint64_t *order, int step)
{
    return meetings_with(mem_get(m, order + step));
}

#endif
