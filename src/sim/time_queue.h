/* SPDX-License-Identifier: BSD-3-Clause */
/* time_queue.h - what is next in simulated time, a rank that goes on or a line that crosses links:
 * earliest time, then smallest number drawn, then lowest number.  A heap. */
#ifndef HUD_SIM_TIME_QUEUE_H
#define HUD_SIM_TIME_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_time_entry {
    double ns;
    uint64_t draw; /* of several at that time: random for ranks, in order for lines */
    int who;       /* the rank, or the place of a crossing */
};

struct sim_time_queue {
    struct sim_time_entry *entry;
    int count, room;
};

void hud_time_queue_free(struct sim_time_queue *t);
void hud_time_queue_add(struct sim_time_queue *t, struct sim_time_entry entry);
/* The first of them, which leaves.  There must be one. */
struct sim_time_entry hud_time_queue_take(struct sim_time_queue *t);

static inline bool time_entry_before(const struct sim_time_entry *a, const struct sim_time_entry *b)
{
    return a->ns < b->ns ||
           (a->ns == b->ns && (a->draw < b->draw || (a->draw == b->draw && a->who < b->who)));
}

#endif
