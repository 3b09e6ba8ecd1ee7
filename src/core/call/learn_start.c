/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_start.c - the choices with which a team begins, from its plan and from what is known
 * (core/job/wisdom_start.h). */
#include "core/call/learn.h"

#include <string.h>

/* Returns which of the candidates to try is the MPI's own collective, or -1. */
static int mpi_of(const struct plan_cell *cell)
{
    int i = cell->tried - 1;

    while (i >= 0 && cell->candidate[i] != PLAN_MPI)
        i--;
    return i;
}

int hud_learn_tried(const struct hud_team *team, int at, int *mpi)
{
    const struct plan_cell *cell = plan_cell_at(team->plan.shared, at);
    int own = mpi_of(cell), count = own < 0 || team->context->host.ends_own_calls ? cell->tried
                                    : own == 0                                    ? 1
                                                                                  : own;

    *mpi = own < count ? own : -1;
    return count;
}

/* Returns which of a cell's candidates has a name, or -1.  Includes candidates that are not
 * tried. */
static int find_candidate(const struct hud_team *team, int at, uint32_t name)
{
    for (int i = 0; name != 0 && i < plan_cell_at(team->plan.shared, at)->count; i++) {
        const struct plan_entry *e = learn_candidate(team, at, i);
        if (hud_wisdom_name(e->row, e->param) == name)
            return i;
    }
    return -1;
}

struct learner_winner hud_learn_known_before(const struct hud_team *team, int at, int count)
{
    const struct wisdom_known *known = &team->hooks.learn->start->table.known[at];
    int candidate = find_candidate(team, at, known->before_name);

    return (struct learner_winner){ known->before_ns,
                                    (int8_t)(candidate < count ? candidate : -1) };
}

/* Returns whether a team measures, and does not only use what is known. */
static bool measures(const struct hud_team *team)
{
    return team->context->config.number[SET_WISDOM] != WISDOM_READ;
}

/* Chooses for a cell with several candidates, or with a known one. */
static void fill_cell(const struct hud_team *team, struct wisdom_start *start, int at)
{
    const struct plan *plan = team->plan.shared;
    int mpi, count = hud_learn_tried(team, at, &mpi),
             known = find_candidate(team, at, start->table.known[at].name);
    bool tries = count > 1 && measures(team);

    start->known[at] = (int8_t)known;
    start->cell_of[at] = tries && known < count ? 0 : LEARN_FIXED;
    if (start->cell_of[at] != LEARN_FIXED)
        start->choice[at] = &plan->entry[PLAN_OPEN];
    else if (known >= 0)
        start->choice[at] = learn_candidate(team, at, known);
    start->open += known >= 0 || tries;
    start->mpi_first |=
        learn_may_truncate(plan, at) && learn_candidate(team, at, known >= 0 ? known : 0)->slot < 0;
}

void hud_learn_fill(const struct hud_team *team, struct wisdom_start *start)
{
    const struct plan *plan = team->plan.shared;

    start->open = 0;
    start->mpi_first = false;
    memcpy(start->choice, plan->choice, sizeof start->choice);
    memset(start->known, -1, sizeof start->known);
    memset(start->cell_of, LEARN_FIXED, sizeof start->cell_of);
    for (int at = 0; at < PLAN_CELLS; at++)
        if (plan_cell_at(plan, at)->count > 1 || start->table.known[at].name != 0)
            fill_cell(team, start, at);
}
