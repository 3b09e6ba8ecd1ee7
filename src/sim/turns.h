/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - which rank is next in simulated time: earliest time, then smallest random number, then
 * lowest rank.  A heap. */
#ifndef HUD_SIM_TURNS_H
#define HUD_SIM_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct sim_turn {
    double ns;
    uint64_t draw;
    int rank;
};

struct sim_turns {
    struct sim_turn *turn;
    int count, room;
};

void hud_turns_free(struct sim_turns *t);
void hud_turns_add(struct sim_turns *t, struct sim_turn turn);
/* The first of them, which leaves.  There must be one. */
struct sim_turn hud_turns_take(struct sim_turns *t);

static inline bool turn_before(const struct sim_turn *a, const struct sim_turn *b)
{
    return a->ns < b->ns ||
           (a->ns == b->ns && (a->draw < b->draw || (a->draw == b->draw && a->rank < b->rank)));
}

#endif
