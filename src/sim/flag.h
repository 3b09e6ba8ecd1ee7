/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flag.h - every value that a flag has had, which rank posted it and what it released; and which
 * ranks have seen which value.
 *
 * A reader may see any value that is not older than the values it has seen, nor than any post that
 * happened before the read.
 */
#ifndef HUD_FLAG_H
#define HUD_FLAG_H

#include "sim/order.h"

struct sim_rank;

struct sim_post {
    uint64_t value;
    struct sim_event by;
    bool add;                   /* by mem_add: ordered among each other by the flag itself */
    struct sim_order *released; /* vector clock that its reader acquires, NULL: nothing */
    unsigned hops;              /* of its poster, when it posted */
    double at_ns,
        visible_ns; /* where there is a clock: when it was made, and from when on it may be seen */
};

struct sim_flag {
    struct sim_post *posts; /* the first is the zero of the lease */
    int count, room;
    int *seen; /* [ranks] the newest post that each rank has seen or made; NULL where there is a
                  clock, and the newest is what a reader sees */
    struct sim_rank *waiting; /* ranks that wait for it, the latest first */
    struct sim_flag *next;    /* cells share their line: the next one there */
    size_t at;                /* where it lies in its arena */
};

struct sim_flag *hud_flag_create(int ranks, bool timed, size_t at);
void hud_flag_free(struct sim_flag *f); /* and those after it; NULL is allowed */

static inline const struct sim_post *flag_newest(const struct sim_flag *f)
{
    return &f->posts[f->count - 1];
}

/* The oldest post that the reader may still see. */
int hud_flag_oldest(const struct sim_flag *f, int rank, const struct sim_order *clock);
/* Whatever came before this post will not be seen any more. */
void hud_flag_forget(struct sim_flag *f, int post);
/* `p` becomes the newest; p->released, if any, is copied. */
void hud_flag_post(struct sim_flag *f, const struct sim_post *p);

#endif
