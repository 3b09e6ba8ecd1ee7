/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - a binary heap by time. */
#include "sim/turns.h"
#include "sim/grow.h"

void hud_turns_free(struct sim_turns *t)
{
    free(t->turn);
    *t = (struct sim_turns){ NULL, 0, 0 };
}

static void swap(struct sim_turns *t, int a, int b)
{
    struct sim_turn aside = t->turn[a];

    t->turn[a] = t->turn[b];
    t->turn[b] = aside;
}

void hud_turns_add(struct sim_turns *t, struct sim_turn turn)
{
    t->turn = hud_grow(t->turn, t->count + 1, &t->room, sizeof *t->turn);
    t->turn[t->count] = turn;
    for (int i = t->count++; i > 0 && turn_before(&t->turn[i], &t->turn[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(t, i, (i - 1) / 2);
}

struct sim_turn hud_turns_take(struct sim_turns *t)
{
    struct sim_turn first = t->turn[0];

    t->turn[0] = t->turn[--t->count];
    for (int i = 0, below; (below = 2 * i + 1) < t->count; i = below) {
        if (below + 1 < t->count && turn_before(&t->turn[below + 1], &t->turn[below]))
            below++;
        if (!turn_before(&t->turn[below], &t->turn[i]))
            break;
        swap(t, i, below);
    }
    return first;
}
