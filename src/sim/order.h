/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - vector clocks: who did what, when on his own clock, and what of it has happened before
 * now.
 *
 * A rank's clock counts its releases.  Of rank q's clock, the time of r is the newest of r's
 * releases that q has acquired, directly or through others; so an event of r at time t happened
 * before q's next step exactly if r is q, or that is at least t.
 *
 * Clocks that have much in common share it: a clock is cut into leaves of ORDER_LEAF ranks, which
 * count their owners and are copied when one of several writes.  So a post keeps the clock that it
 * releases at little more than a pointer for each leaf, and thousands of ranks can be checked.
 */
#ifndef HUD_ORDER_H
#define HUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_LEAF = 64 };

struct sim_event {
    int rank; /* -1: the beginning, before everything */
    uint32_t time;
    const char *what; /* "reads", "posts", ... */
    const char *file;
    int line;
};

struct order_leaf {
    unsigned owners;
    uint32_t time[ORDER_LEAF];
};

struct sim_order {
    int leaves;
    struct order_leaf *leaf[]; /* NULL: all 0 */
};

/* All 0. */
struct sim_order *hud_order_create(int ranks);
struct sim_order *hud_order_copy(const struct sim_order *o);
void hud_order_free(struct sim_order *o); /* NULL is allowed */
void hud_order_set(struct sim_order *o, int rank, uint32_t time);
/* Of each rank the later time. */
void hud_order_join(struct sim_order *o, const struct sim_order *other);

static inline uint32_t order_time(const struct sim_order *o, int rank)
{
    const struct order_leaf *leaf = o->leaf[rank / ORDER_LEAF];

    return leaf ? leaf->time[rank % ORDER_LEAF] : 0;
}

static inline bool order_before(const struct sim_event *e, int rank, const struct sim_order *clock)
{
    return e->rank < 0 || e->rank == rank || order_time(clock, e->rank) >= e->time;
}

#endif
