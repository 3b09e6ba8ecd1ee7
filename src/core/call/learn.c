/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.c - see learn.h. */
#include "core/call/learn.h"
#include "base/clock.h"
#include "core/config/log.h"
#include "core/job/decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hud_learn_create(struct hud_team *team)
{
    if (team->context->config.number[SET_WISDOM] == WISDOM_OFF || team->plan.single_call.is)
        return true;
    if (!team->hooks.learn) /* else there was an early round */
        team->hooks.learn = malloc(sizeof *team->hooks.learn);
    if (!team->hooks.learn)
        return false;
    team->hooks.learn->end_ns = NULL;
    team->hooks.learn->nested = 0;
    team->hooks.learn->resumed = LEARN_STAYS;
    team->hooks.learn->seed = 1;
    team->hooks.learn->known = NULL;
    team->hooks.learn->cells = 0;
    team->hooks.learn->fast_calls = team->hooks.learn->uncounted = 0;
    team->hooks.learn->checked_calls = 0;
    team->hooks.learn->calls = 0;
    team->hooks.learn->source = LEARN_FIRST;
    return true;
}

/* Returns which of the candidates to try is the MPI's own collective, or -1. */
static int mpi_of(const struct plan_cell *cell)
{
    int i = cell->tried - 1;

    while (i >= 0 && cell->candidate[i] != PLAN_MPI)
        i--;
    return i;
}

/* Returns how many candidates of a cell this team can try.  The MPI's own is the first or the last
 * one. */
static int candidates(const struct hud_team *team, const struct plan_cell *cell)
{
    int mpi = mpi_of(cell);

    return mpi < 0 || team->context->host.ends_own_calls ? cell->tried : mpi == 0 ? 1 : mpi;
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

/* Returns which of a cell's candidates is known to be the fastest, or -1. */
static int known_candidate(const struct hud_team *team, int at)
{
    const struct wisdom_table *known = team->hooks.learn->known;

    return known ? find_candidate(team, at, known->known[at].name) : -1;
}

/* Returns the known winner of a cell in another state of the machine, among the first `count`
 * candidates. */
static struct learner_winner known_before(const struct hud_team *team, int at, int count)
{
    const struct wisdom_known *known = &team->hooks.learn->known->known[at];
    int candidate = find_candidate(team, at, known->before_name);

    return (struct learner_winner){ known->before_ns,
                                    (int8_t)(candidate < count ? candidate : -1) };
}

/* Returns whether a team measures, and does not only use what is known. */
static bool measures(const struct hud_team *team)
{
    return team->context->config.number[SET_WISDOM] != WISDOM_READ;
}

/* Chooses for the cells that have several candidates, or a known choice.  Returns how many there
 * are. */
static int open_cells(const struct hud_team *team, struct learn *l)
{
    const struct plan *plan = team->plan.shared;
    int open = 0;

    hud_plan_first_choices(plan, l->choice);
    for (int at = 0; at < PLAN_CELLS; at++) {
        int known = known_candidate(team, at), count = candidates(team, plan_cell_at(plan, at));
        bool tries = count > 1 && measures(team);
        l->cell_of[at] = tries && known < count ? 0 : LEARN_FIXED;
        if (l->cell_of[at] != LEARN_FIXED)
            l->choice[at] = &plan->entry[PLAN_OPEN];
        else if (known >= 0)
            l->choice[at] = learn_candidate(team, at, known);
        open += known >= 0 || tries;
    }
    return open;
}

void hud_learn_start(struct hud_team *team)
{
    struct learn *l = team->hooks.learn;
    const struct plan *plan = team->plan.shared;

    team->state.fast_calls = 0;
    team->plan.choice = plan->choice;
    if (!l)
        return;
    l->clock_ns = clock_ns;
    l->agree = plan_find(plan, COLL_ALLREDUCE + PLAN_ANY_ORDER, sizeof(struct learn_times));
    l->compare = &plan->entry[plan->compare];
    bool agrees = l->agree->slot >= 0 && hud_op_find(HUD_MAX, HUD_UINT64, &l->max) == HUD_OK;
    if (!agrees && team->id.rank == 0)
        hud_log(
            &team->context->config, LOG_INFO,
            "HUDDLE_WISDOM has no effect on a team of %d ranks, because its small allreduces fall "
            "back",
            team->id.size);
    if (agrees && open_cells(team, l) > 0)
        team->plan.choice = l->choice;
    else
        hud_learn_free(team);
}

/* Returns a cell in the terms of a decision. */
static struct decision describe(const struct hud_team *team, const struct learn_cell *cell)
{
    struct decision d = { .facts = &team->plan.shared->facts,
                          .at = cell->at,
                          .mpi_extra_ns = cell->compare_ns,
                          .is_rank_0 = team->id.rank == 0 };

    for (int i = 0; i < cell->learner.candidates; i++) {
        const struct plan_entry *e = learn_candidate(team, cell->at, i);
        d.candidate[i] = (struct decision_candidate){ e->row, ALG_PARAMS, e->param };
    }
    return d;
}

/* Keeps the trials that end with the team. */
static void keep_open_cells(struct hud_team *team)
{
    const struct learn *l = team->hooks.learn;

    for (int i = 0; i < l->cells; i++) {
        const struct decision what = describe(team, &l->cell[i]);
        if (hud_learner_tries(&l->cell[i].learner))
            hud_decision_keep_open(team->context, &what, &l->cell[i].learner);
    }
}

void hud_learn_free(struct hud_team *team)
{
    if (team->hooks.learn && team->state.now == TEAM_READY) {
        hud_learn_count_fast(team, team->state.fast_calls);
        hud_learn_count_as(team, team->hooks.learn->source);
        keep_open_cells(team);
    }
    free(team->hooks.learn);
    team->hooks.learn = NULL;
}

/* Returns whether the ranks compare their sizes before calls of a cell that is measured. */
static bool may_be_truncated(const struct hud_team *team, int at)
{
    return coll_has(at / PLAN_CLASSES % COLL_KINDS, COLL_ONE_BUFFER) &&
           plan_cell_at(team->plan.shared, at)->count > 1;
}

/* Keeps the shortest comparison of sizes.  ns: an agreed comparison, or 0.  The learner gets none
 * (learn.h, Cost). */
static void keep_comparison(struct learn_cell *cell, uint64_t *ns)
{
    if (*ns != 0 && (cell->compare_ns == 0 || *ns < cell->compare_ns))
        cell->compare_ns = *ns;
    *ns = 0;
}

/* Gives all ranks the times of the last rank, and the learner the samples.  Returns HUD_OK, or the
 * status of a call that failed. */
static int agree(struct hud_team *team, struct learn_cell *cell)
{
    struct learn *l = team->hooks.learn;
    struct learn_times all;
    uint64_t ns[LEARNER_BATCH];
    int status = hud_learn_agree(team, l->agree, &cell->times, &all, sizeof all);

    if (status != HUD_OK)
        return status;
    for (int i = 0; i < LEARNER_BATCH; i++)
        ns[i] = all.end_ns[i] > all.begin_ns[i] ? all.end_ns[i] - all.begin_ns[i] : 0;
    if (!hud_learner_decided(&cell->learner))
        keep_comparison(cell, &ns[LEARNER_OPEN]);
    const struct decision what = describe(team, cell);
    if (hud_decision_take(team->context, &what, &cell->learner, ns))
        cell->source = LEARN_DECIDED;
    memset(&cell->times, 0, sizeof cell->times);
    return HUD_OK;
}

/* Fixes the choice of a cell for the life of the team: to the known choice, else to the first. */
static void fix_choice(struct hud_team *team, int at)
{
    struct learn *l = team->hooks.learn;
    int known = known_candidate(team, at);

    l->choice[at] = learn_candidate(team, at, known >= 0 ? known : 0);
    l->cell_of[at] = LEARN_FIXED;
}

/* Begins to measure a cell. */
static void begin_cell(struct hud_team *team, int at)
{
    struct learn *l = team->hooks.learn;
    const struct plan_cell *plan = plan_cell_at(team->plan.shared, at);
    struct learn_cell *cell = &l->cell[l->cells++];
    int count = candidates(team, plan), mpi = mpi_of(plan), known = known_candidate(team, at);
    uint16_t percent[LEARNER_CANDIDATES];

    memset(cell, 0, sizeof *cell);
    cell->at = at;
    mpi = mpi < count ? mpi : -1;
    hud_learn_predict(team, at, count, percent);
    bool open = known >= 0 && l->known->known[at].open;
    if (open) {
        hud_learner_begin(&cell->learner, count, known, mpi, percent);
        hud_learner_resume(&cell->learner, l->known->known[at].balance_ns);
    } else if (known >= 0)
        hud_learner_known(&cell->learner, count, mpi,
                          (struct learner_winner){ l->known->known[at].ns, (int8_t)known },
                          known_before(team, at, count));
    else
        hud_learner_begin(&cell->learner, count, 0, mpi, percent);
    cell->source = known >= 0 && !open ? LEARN_KNOWN : LEARN_FIRST;
    cell->learner.unlimited = team->context->config.number[SET_TRY_ALL] == SWITCH_ON;
    l->cell_of[at] = (uint8_t)l->cells;
}

/* Decides at the first call of a cell whether the cell is measured. */
static void open_cell(struct hud_team *team, int at)
{
    if (team->hooks.learn->cells < LEARN_CELLS)
        begin_cell(team, at);
    else
        fix_choice(team, at);
}

/* Returns the measured cell of calls, or NULL if their choice is fixed. */
static struct learn_cell *cell_at(struct learn *l, int at)
{
    return l->cell_of[at] != LEARN_FIXED ? &l->cell[l->cell_of[at] - 1] : NULL;
}

/* ---- calls ---- */

int hud_learn_distance(struct hud_team *team)
{
    struct learn *l = team->hooks.learn;

    l->seed = l->seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
    return LEARNER_EVERY / 2 + (int)((l->seed >> 16) % LEARNER_EVERY);
}

bool hud_learn_may_handle(const struct hud_team *team, int at)
{
    const struct learn *l = team->hooks.learn;

    return l && (l->cell_of[at] != LEARN_FIXED || may_be_truncated(team, at));
}

/* The time at which this rank has begun, and ended, the comparison of sizes before a call. */
struct comparison {
    uint64_t begin_ns, end_ns;
};

/* Begins a sample.  A call that the MPI serves always needs a comparison, so its sample includes
 * the comparison.  A program without huddle makes no comparison, so the ranks agree on its
 * duration, too. */
static void begin_sample(struct learn *l, struct learn_cell *cell, int sample, bool is_mpi,
                         const struct comparison *compared)
{
    struct learn_times *times = &cell->times;

    l->end_ns = &times->end_ns[sample];
    *l->end_ns = l->clock_ns();
    times->begin_ns[sample] = *l->end_ns - (is_mpi ? compared->end_ns - compared->begin_ns : 0);
    if (is_mpi && !hud_learner_decided(&cell->learner)) {
        times->begin_ns[LEARNER_OPEN] = compared->begin_ns;
        times->end_ns[LEARNER_OPEN] = compared->end_ns;
    }
}

/* Makes the learner's next step.  compared: all zero if the ranks compare no sizes. */
static int take_step(struct hud_team *team, struct learn_cell *cell,
                     const struct comparison *compared, const struct plan_entry **entry)
{
    struct learn *l = team->hooks.learn;
    struct learner_step step = hud_learner_next(&cell->learner);

    if (step.agree) {
        int status = agree(team, cell);
        if (status != HUD_OK)
            return status;
        step = hud_learner_next(&cell->learner);
    }
    bool rests = hud_learner_rests(&cell->learner);
    l->choice[cell->at] = rests
                              ? learn_candidate(team, cell->at, hud_learner_choice(&cell->learner))
                              : &team->plan.shared->entry[PLAN_OPEN];
    *entry = learn_candidate(team, cell->at, step.candidate);
    hud_learn_count_slow(team, cell->source, step.candidate != hud_learner_choice(&cell->learner),
                         *entry);
    if (rests)
        hud_learn_count_as(team, cell->source);
    if (step.sample >= 0)
        begin_sample(l, cell, step.sample, (*entry)->slot < 0, compared);
    return HUD_OK;
}

const struct plan_entry *hud_learn_present(const struct hud_team *team, int at)
{
    const struct learn *l = team->hooks.learn;
    int number = l->cell_of[at], known = number == 0 ? known_candidate(team, at) : -1;

    return number == LEARN_FIXED ? l->choice[at]
           : number != 0
               ? learn_candidate(team, at, hud_learner_choice(&l->cell[number - 1].learner))
               : learn_candidate(team, at, known >= 0 ? known : 0);
}

const struct plan_entry *hud_learn_by_huddle(const struct hud_team *team, int at)
{
    const struct plan_entry *present =
        team->hooks.learn ? hud_learn_present(team, at) : team->plan.choice[at];

    return present->slot >= 0 ? present : team->plan.shared->choice[at];
}

/* Begins a call within a sample of the MPI's own collective. */
static const struct plan_entry *nest(const struct hud_team *team, int at)
{
    team->hooks.learn->nested++;
    return hud_learn_by_huddle(team, at);
}

int hud_learn_enter(struct hud_team *team, int at, const struct coll *call, bool due,
                    const struct plan_entry **entry)
{
    struct learn *l = team->hooks.learn;
    int kind = at / PLAN_CLASSES % COLL_KINDS;
    bool compares = may_be_truncated(team, at);
    bool equal = true;
    struct comparison compared = { .begin_ns = compares ? l->clock_ns() : 0 };

    l->calls++;
    if (l->end_ns) {
        *entry = nest(team, at);
        return HUD_OK;
    }
    l->shape = member_shape(kind, coll_has(kind, COLL_ROOTED) ? call->root : -1, call->bytes);
    int status = compares ? hud_learn_compare(team, at, call->bytes, &equal, entry) : HUD_OK;
    if (status != HUD_OK || !equal)
        return status;
    if (l->cell_of[at] == 0) /* all ranks are in the same cell from here on */
        open_cell(team, at);
    struct learn_cell *cell = cell_at(l, at);
    if (!cell || (!due && hud_learner_rests(&cell->learner))) {
        *entry = l->choice[at];
        bool first = *entry == learn_candidate(team, at, 0);
        hud_learn_count_as(team, cell ? cell->source : first ? LEARN_FIRST : LEARN_KNOWN);
        hud_learn_count_slow(team, l->source, false, *entry);
        return HUD_OK;
    }
    compared.end_ns = compares ? l->clock_ns() : 0;
    return take_step(team, cell, &compared, entry);
}
