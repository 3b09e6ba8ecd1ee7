/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - vector clocks, which tell whether an event of a rank happened before now.
 *
 * A rank's clock counts its releases.  In rank q's vector, the time of r is the newest of r's
 * releases that q has acquired, directly or through others.  So an event of r at time t happened
 * before q's next step exactly if r is q, or if q's time of r is at least t.
 *
 * Clocks share common parts: a clock is divided into leaves of ORDER_LEAF ranks, which are
 * reference-counted and copied when one of several owners writes.  So the clock that a post
 * releases takes little more than a pointer per leaf, and thousands of ranks can be checked.
 */
#ifndef HUD_ORDER_H
#define HUD_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_LEAF = 64 };

struct sim_event {
    int rank; /* -1 for the beginning, before all other events */
    uint32_t time;
    const char *what; /* "reads", "posts", ... */
    const char *file;
    int line;
    unsigned call; /* number of the collective, from 1; 0 outside of collectives */
};

struct order_leaf {
    unsigned owners;
    uint32_t time[ORDER_LEAF];
};

struct sim_order {
    int leaves;
    struct order_leaf *leaf[]; /* NULL if all times are 0 */
};

/* Creates a clock with all times 0. */
struct sim_order *hud_order_create(int ranks);
struct sim_order *hud_order_copy(const struct sim_order *o);
/* Frees a clock, which may be NULL. */
void hud_order_free(struct sim_order *o);
void hud_order_set(struct sim_order *o, int rank, uint32_t time);
/* Sets each rank's time to the later of the two clocks. */
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
