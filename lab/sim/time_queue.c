/* SPDX-License-Identifier: BSD-3-Clause */
/* time_queue.c - a binary heap by time. */
#include "lab/sim/time_queue.h"
#include "check/grow.h"

void hud_time_queue_free(struct sim_time_queue *t)
{
    free(t->entry);
    *t = (struct sim_time_queue){ NULL, 0, 0 };
}

static void swap(struct sim_time_queue *t, int a, int b)
{
    struct sim_time_entry aside = t->entry[a];

    t->entry[a] = t->entry[b];
    t->entry[b] = aside;
}

void hud_time_queue_add(struct sim_time_queue *t, struct sim_time_entry entry)
{
    t->entry = hud_grow(t->entry, t->count + 1, &t->room, sizeof *t->entry);
    t->entry[t->count] = entry;
    for (int i = t->count++; i > 0 && time_entry_before(&t->entry[i], &t->entry[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(t, i, (i - 1) / 2);
}

struct sim_time_entry hud_time_queue_take(struct sim_time_queue *t)
{
    struct sim_time_entry first = t->entry[0];

    t->entry[0] = t->entry[--t->count];
    for (int i = 0, below; (below = 2 * i + 1) < t->count; i = below) {
        if (below + 1 < t->count && time_entry_before(&t->entry[below + 1], &t->entry[below]))
            below++;
        if (!time_entry_before(&t->entry[below], &t->entry[i]))
            break;
        swap(t, i, below);
    }
    return first;
}
