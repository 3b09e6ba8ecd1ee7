/* SPDX-License-Identifier: BSD-3-Clause */
/* time_queue.h - a heap of the next events in simulated time.  An event is a rank that continues,
 * or a line that crosses links.  The order is by time, then by drawn number, then by `who`. */
#ifndef HUD_SIM_TIME_QUEUE_H
#define HUD_SIM_TIME_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_time_entry {
    double ns;
    uint64_t draw; /* order at equal times; random for ranks, sequential for lines */
    int who;       /* the rank, or the index of a crossing */
};

struct sim_time_queue {
    struct sim_time_entry *entry;
    int count, room;
};

void hud_time_queue_free(struct sim_time_queue *t);
void hud_time_queue_add(struct sim_time_queue *t, struct sim_time_entry entry);
/* Removes and returns the first entry.  The queue must not be empty. */
struct sim_time_entry hud_time_queue_take(struct sim_time_queue *t);

static inline bool time_entry_before(const struct sim_time_entry *a, const struct sim_time_entry *b)
{
    return a->ns < b->ns ||
           (a->ns == b->ns && (a->draw < b->draw || (a->draw == b->draw && a->who < b->who)));
}

#endif
