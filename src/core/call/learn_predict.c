/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learn_predict.c - predicts the times of a cell's candidates from the decided cells of smaller and
 * larger sizes, so that a trial tries the likeliest candidates first.
 *
 * Neighbours  On each side the nearest class of the same axis, at most REACH classes away, whose
 *             cell this team has decided.
 * Prediction  The ratio of two times in a neighbour: of the candidate, or else of the fastest entry
 *             with the candidate's algorithm, and of the cell's first choice.  The mean of both
 *             sides, where both know it.
 * Agreement   A pure function of agreed times, taken at the first call of the cell that all ranks
 *             make.  So all ranks predict the same.
 */
#include "core/call/learn.h"

enum { REACH = 2 };

/* Returns the decided cell that is nearest to `at` in a direction, or NULL. */
static const struct learn_cell *find_neighbour(const struct learn *l, int at, int step)
{
    int class = at % PLAN_CLASSES;

    for (int away = 1; away <= REACH; away++) {
        int there = class + away * step;
        int number = there >= 0 && there < PLAN_CLASSES ? l->cell_of[at + away * step] : 0;
        if (number != 0 && number != LEARN_FIXED &&
            hud_learner_decided(&l->cell[number - 1].learner))
            return &l->cell[number - 1];
    }
    return NULL;
}

/* Returns the time of an entry in a cell, else the shortest time of its algorithm there, or 0. */
static uint64_t time_of(const struct hud_team *team, const struct learn_cell *cell,
                        const struct plan_entry *entry)
{
    uint64_t shortest = 0;

    for (int i = 0; i < cell->learner.candidates; i++) {
        const struct plan_entry *e = learn_candidate(team, cell->at, i);
        uint64_t ns = e->row == entry->row ? hud_learner_ns(&cell->learner, i) : 0;
        if (ns != 0 && e == entry)
            return ns;
        if (ns != 0 && (shortest == 0 || ns < shortest))
            shortest = ns;
    }
    return shortest;
}

void hud_learn_predict(const struct hud_team *team, int at, int candidates, uint16_t percent[])
{
    const struct learn_cell *cell[] = { find_neighbour(team->hooks.learn, at, -1),
                                        find_neighbour(team->hooks.learn, at, 1) };
    const struct plan_entry *first = learn_candidate(team, at, 0);

    for (int i = 0; i < candidates; i++) {
        uint64_t sum = 0, count = 0;
        for (int side = 0; side < 2; side++) {
            uint64_t one = cell[side] ? time_of(team, cell[side], first) : 0,
                     other =
                         cell[side] ? time_of(team, cell[side], learn_candidate(team, at, i)) : 0;
            sum += one != 0 ? other * 100 / one : 0;
            count += one != 0 && other != 0;
        }
        sum /= count != 0 ? count : 1;
        percent[i] = sum < UINT16_MAX ? (uint16_t)sum : UINT16_MAX;
    }
}
