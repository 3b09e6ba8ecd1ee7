/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_costs.h - what the ways of treating a rank's lines cost the rank and its readers (lines.c).
 * Included only by lines.c. */
#ifndef HUD_LINES_COSTS_H
#define HUD_LINES_COSTS_H

#include "mem/lines_times.h"

enum { READERS = 4 /* maximum number of readers whose times are read */ };

/* Returns the time per KB that a reader has published for `way`.  Returns 0 if the reader does not
 * know the times of all these ways. */
static inline uint32_t time_of(const struct mem *m, int reader, unsigned cell, unsigned way,
                               unsigned ways)
{
    uint32_t time = 0;

    for (unsigned w = 0; w < LINES_WAYS; w++) {
        uint32_t out =
            atomic_load_explicit(&lines_of(m, reader)->out[cell][w], memory_order_relaxed);
        if (ways >> w & 1 && out == 0)
            return 0;
        time = w == way ? out : time;
    }
    return reader == m->rank ? 0 : time;
}

/* Returns the mean time per KB in which readers copy out this rank's lines, of the readers that
 * know the times of all these ways.  Returns 0 without such readers.  A call with a root may have a
 * single reader among many ranks, so the search begins with the reader found last. */
static inline uint32_t known_out(const struct mem *m, unsigned cell, unsigned way, unsigned ways)
{
    int *reader = &m->team->cell[cell].reader, first = *reader;
    uint64_t sum = 0;
    uint32_t count = 0;

    for (int k = 0; k < m->size && (count == 0 || k < READERS); k++) {
        int r = (first + k) % m->size;
        uint32_t out = time_of(m, r, cell, way, ways);
        if (out != 0 && count++ == 0)
            *reader = r;
        sum += out;
    }
    return count != 0 ? (uint32_t)(sum / count) : 0;
}

/* Updates the readers' times after a measurement of `way`.  The ways are compared by the times of
 * the same readers, if some readers know all ways that this rank has measured. */
static inline void update_out(const struct mem *m, unsigned cell, struct lines_known *known,
                              unsigned way)
{
    unsigned ways = 0;

    for (unsigned w = 0; w < LINES_WAYS; w++)
        ways |= known->in[w] != 0 ? 1u << w : 0;
    if (known_out(m, cell, way, ways) == 0)
        ways = 1u << way;
    for (unsigned w = 0; w < LINES_WAYS; w++) {
        uint32_t out = ways >> w & 1 ? known_out(m, cell, w, ways) : 0;
        known->out[w] = out != 0 ? out : known->out[w];
    }
}

/* Returns how much more the first way costs than the second, in ticks per KB, and stores the cost
 * of the second in `cost`.  If the readers' time is known for only the first or only the second,
 * this rank's own copies decide.  They do not tell what RETURNED costs, because readers do its
 * work.  So RETURNED then counts as twice the cost. */
static inline int64_t extra_cost(const struct lines_known *known, unsigned one, unsigned other,
                                 int64_t *cost)
{
    bool both = known->out[one] != 0 && known->out[other] != 0;
    int64_t a = (int64_t)known->in[one] + (both ? known->out[one] : 0),
            b = (int64_t)known->in[other] + (both ? known->out[other] : 0);

    *cost = b;
    if (!both && ((one ^ other) & LINES_RETURNED))
        return one & LINES_RETURNED ? b : -b;
    return a - b;
}

/* Reports whether `way` is to replace the way `best`.  The change must save at least a twentieth,
 * unless readers then need not return lines any more: a team begins with RETURNED. */
static inline bool is_better(const struct lines_known *known, unsigned way, unsigned best)
{
    int64_t cost, more = extra_cost(known, way, best, &cost);
    bool gives_up = best & LINES_RETURNED && !(way & LINES_RETURNED);

    return gives_up ? more < 0 : 20 * more < -cost;
}

/* Returns the way with the lowest cost. */
static inline unsigned cheapest(const struct lines_known *known)
{
    unsigned best = known->best;

    for (unsigned way = 0; way < LINES_WAYS; way++)
        if (way != best && known->in[way] != 0 && is_better(known, way, best))
            best = way;
    return best;
}

#endif
