/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - vector clocks: who did what, when on his own clock, and what of it has happened before now.
 *
 * A rank's clock counts its releases.  clock[r] of rank q is the newest of r's releases that q has acquired, directly or through others;
 * so an event of r at time t happened before q's next step exactly if r is q, or clock[r] of q is at least t.
 */
#ifndef HUD_ORDER_H
#define HUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event {
    int rank; /* -1: the beginning, before everything */
    uint32_t time;
    const char *what; /* "reads", "posts", ... */
    const char *file;
    int line;
};

static inline bool order_before(const struct sim_event *e, int rank, const uint32_t *clock)
{
    return e->rank < 0 || e->rank == rank || clock[e->rank] >= e->time;
}

static inline void order_join(uint32_t *clock, const uint32_t *other, int ranks)
{
    for (int r = 0; r < ranks; r++)
        if (clock[r] < other[r])
            clock[r] = other[r];
}

#endif
