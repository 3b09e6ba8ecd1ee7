/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flag.h - every value that a flag has had, with the rank that posted it and the clock that it
 * released, and the values that each rank has seen.
 *
 * A reader may see any value that is not older than the values it has seen, nor than any post that
 * happened before the read.
 */
#ifndef HUD_FLAG_H
#define HUD_FLAG_H

#include "check/order.h"

struct sim_rank;

struct sim_post {
    uint64_t value;
    struct sim_event by;
    bool add;                   /* an addition; the flag itself orders additions among each other */
    struct sim_order *released; /* vector clock that its reader acquires; NULL if none */
    unsigned hops;              /* hops of its poster at that time */
    /* Times at which the post was made and becomes visible; used only with a clock. */
    double at_ns, visible_ns;
};

struct sim_flag {
    struct sim_post *posts; /* the first is the zero of the lease */
    int count, room;
    /* [ranks] The newest post that each rank has seen or made.  NULL with a clock, where a reader
     * sees the newest visible post. */
    int *seen;
    struct sim_rank *waiting; /* ranks that wait for it, the latest first */
    struct sim_flag *next;    /* next cell of the same line */
    size_t at;                /* offset in its arena */
};

struct sim_flag *hud_flag_create(int ranks, bool timed, size_t at);
/* Frees a flag, which may be NULL, and the flags after it in its line. */
void hud_flag_free(struct sim_flag *f);

static inline const struct sim_post *flag_newest(const struct sim_flag *f)
{
    return &f->posts[f->count - 1];
}

/* Returns the oldest post that the reader may still see. */
int hud_flag_oldest(const struct sim_flag *f, int rank, const struct sim_order *clock);
/* Removes the posts before this post, which no rank will see any more. */
void hud_flag_forget(struct sim_flag *f, int post);
/* Appends `p` as the newest post, and copies p->released if there is one. */
void hud_flag_post(struct sim_flag *f, const struct sim_post *p);

#endif
