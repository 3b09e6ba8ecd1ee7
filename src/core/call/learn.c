/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.c - see learn.h. */
#include "core/call/learn.h"
#include "base/clock.h"
#include "core/config/log.h"
#include "core/job/decision.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE_LEARNS = 4 };

/* Takes the memory of a team that has ended, or allocates some.  A program may create and free
 * communicators in turn, and the C library would return such large blocks to the system. */
static struct learn *obtain(struct hud_context *c)
{
    pthread_mutex_lock(&c->lock);
    struct learn *l = c->learn.idle;
    if (l)
        c->learn.idle = l->next;
    pthread_mutex_unlock(&c->lock);
    return l ? l : malloc(sizeof *l);
}

/* Keeps the memory of a team for later ones, or frees it. */
static void give_back(struct hud_context *c, struct learn *l)
{
    int idle = 0;

    pthread_mutex_lock(&c->lock);
    for (const struct learn *other = c->learn.idle; other; other = other->next)
        idle++;
    bool keeps = idle < IDLE_LEARNS;
    l->next = c->learn.idle;
    if (keeps)
        c->learn.idle = l;
    pthread_mutex_unlock(&c->lock);
    if (!keeps)
        free(l);
}

void hud_learn_free_idle(struct hud_context *c)
{
    while (c->learn.idle) {
        struct learn *l = c->learn.idle;
        c->learn.idle = l->next;
        free(l);
    }
}

bool hud_learn_create(struct hud_team *team)
{
    if (team->context->config.number[SET_WISDOM] == WISDOM_OFF || team->plan.single_call.enabled)
        return true;
    if (!team->hooks.learn) { /* else there was an early round */
        team->hooks.learn = obtain(team->context);
        if (!team->hooks.learn)
            return false;
        team->hooks.learn->spare = hud_wisdom_start_reserve(team->context);
        team->hooks.learn->start = NULL;
        team->hooks.learn->line = NULL;
    }
    team->hooks.learn->end_ns = NULL;
    team->hooks.learn->nested = 0;
    team->hooks.learn->resumed = LEARN_STAYS;
    team->hooks.learn->seed = 1;
    team->hooks.learn->closely = 0;
    team->hooks.learn->cells = 0;
    team->hooks.learn->fast_calls = team->hooks.learn->uncounted = 0;
    team->hooks.learn->checked_calls = 0;
    team->hooks.learn->calls = 0;
    team->hooks.learn->source = LEARN_FIRST;
    return team->hooks.learn->spare != NULL;
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
    if (!agrees || l->start->open == 0) {
        hud_learn_free(team);
        return;
    }
    memcpy(l->cell_of, l->start->cell_of, sizeof l->cell_of);
    team->plan.choice = l->start->choice;
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
        const struct learner *learner = &l->cell[i].learner;
        if (hud_learner_tries(learner) && !hud_learner_checks(learner))
            hud_decision_keep_open(team->context, &what, learner);
    }
}

void hud_learn_free(struct hud_team *team)
{
    struct learn *l = team->hooks.learn;

    if (l && team->state.now == TEAM_READY) {
        hud_learn_count_fast(team, team->state.fast_calls);
        hud_learn_count_as(team, l->source);
        keep_open_cells(team);
    }
    if (l && l->start)
        hud_wisdom_start_leave(team->context, l->start);
    if (l) {
        hud_wisdom_start_return(team->context, l->spare);
        free(l->line);
        give_back(team->context, l);
    }
    team->hooks.learn = NULL;
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

/* Returns the team's own table of choices, which differs from the start once a cell is open. */
static const struct plan_entry **own_choices(struct hud_team *team)
{
    struct learn *l = team->hooks.learn;

    if (team->plan.choice != l->choice)
        memcpy(l->choice, l->start->choice, sizeof l->choice);
    team->plan.choice = l->choice;
    return l->choice;
}

/* Fixes the choice of a cell for the life of the team: to the known choice, else to the first. */
static void fix_choice(struct hud_team *team, int at)
{
    struct learn *l = team->hooks.learn;
    int known = l->start->known[at];

    own_choices(team)[at] = learn_candidate(team, at, known >= 0 ? known : 0);
    l->cell_of[at] = LEARN_FIXED;
}

/* Begins to measure a cell. */
static void begin_cell(struct hud_team *team, int at)
{
    struct learn *l = team->hooks.learn;
    struct learn_cell *cell = &l->cell[l->cells++];
    int mpi, count = hud_learn_tried(team, at, &mpi), known = l->start->known[at];
    uint16_t percent[LEARNER_CANDIDATES];

    memset(cell, 0, sizeof *cell);
    cell->at = at;
    hud_learn_predict(team, at, count, percent);
    bool open = known >= 0 && l->start->table.known[at].open;
    if (open) {
        hud_learner_begin(&cell->learner, count, known, mpi, percent);
        hud_learner_resume(&cell->learner, l->start->table.known[at].balance_ns);
    } else if (known >= 0)
        hud_learner_known(&cell->learner, count, mpi,
                          (struct learner_winner){ l->start->table.known[at].ns, (int8_t)known },
                          hud_learn_known_before(team, at, count));
    else
        hud_learner_begin(&cell->learner, count, 0, mpi, percent);
    if (known >= 0 && !open && l->start->table.known[at].unchecked)
        cell->learner.rival = 0;
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
    return l->closely > 0 ? 1 + (int)((l->seed >> 16) % LEARN_NEAR)
                          : LEARNER_EVERY / 2 + (int)((l->seed >> 16) % LEARNER_EVERY);
}

bool hud_learn_may_handle(const struct hud_team *team, int at)
{
    const struct learn *l = team->hooks.learn;

    return l && (l->cell_of[at] != LEARN_FIXED || learn_may_truncate(team->plan.shared, at));
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

/* Notes for the agreement whether this rank tries how to treat its lines of an entry's slot. */
static void note_settling(struct hud_team *team, struct learn_cell *cell,
                          const struct plan_entry *entry)
{
    if (!hud_learner_decided(&cell->learner) && !hud_learner_tries(&cell->learner) &&
        entry->slot >= 0 && !hud_lines_settled(&team->shm.mem, (unsigned)entry->slot))
        cell->times.end_ns[LEARNER_SETTLES] = 1;
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
    own_choices(team)[cell->at] =
        rests ? learn_candidate(team, cell->at, hud_learner_choice(&cell->learner))
              : &team->plan.shared->entry[PLAN_OPEN];
    *entry = learn_candidate(team, cell->at, step.candidate);
    hud_learn_count_slow(team, cell->source, step.candidate != hud_learner_choice(&cell->learner),
                         *entry);
    if (rests)
        hud_learn_count_as(team, cell->source);
    team->shm.mem_team.keeps_ways = hud_learner_tries(&cell->learner);
    if (hud_learner_confirms(&cell->learner))
        l->closely = LEARNER_BATCH;
    else
        l->closely -= l->closely > 0;
    if (step.sample >= 0) {
        note_settling(team, cell, *entry);
        begin_sample(l, cell, step.sample, (*entry)->slot < 0, compared);
    }
    return HUD_OK;
}

const struct plan_entry *hud_learn_present(const struct hud_team *team, int at)
{
    const struct learn *l = team->hooks.learn;
    int number = l->cell_of[at], known = number == 0 ? l->start->known[at] : -1;

    return number == LEARN_FIXED ? team->plan.choice[at]
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

/* Returns whether this is one of the first calls of a team, which open no cell. */
static bool is_early(const struct hud_team *team, int at)
{
    const struct learn *l = team->hooks.learn;
    bool is_bcast = coll_has(at / PLAN_CLASSES % COLL_KINDS, COLL_ONE_BUFFER);

    return l->calls <= LEARN_EARLY && !(is_bcast && l->start->mpi_first);
}

int hud_learn_enter(struct hud_team *team, int at, const struct coll *call, bool due,
                    const struct plan_entry **entry)
{
    struct learn *l = team->hooks.learn;
    int kind = at / PLAN_CLASSES % COLL_KINDS;
    bool compares = learn_may_truncate(team->plan.shared, at);
    bool equal = true;

    l->calls++;
    if (l->end_ns) {
        *entry = nest(team, at);
        return HUD_OK;
    }
    if (is_early(team, at)) {
        *entry = hud_learn_present(team, at);
        hud_learn_count_unmeasured(team, at, NULL, *entry);
        return HUD_OK;
    }
    l->shape = member_shape(kind, coll_has(kind, COLL_ROOTED) ? call->root : -1, call->bytes);
    struct comparison compared = { .begin_ns = compares ? l->clock_ns() : 0 };
    int status = compares ? hud_learn_compare(team, at, call->bytes, &equal, entry) : HUD_OK;
    if (status != HUD_OK || !equal)
        return status;
    if (l->cell_of[at] == 0) /* all ranks are in the same cell from here on */
        open_cell(team, at);
    struct learn_cell *cell = cell_at(l, at);
    if (!cell || (!due && hud_learner_rests(&cell->learner))) {
        *entry = team->plan.choice[at];
        hud_learn_count_unmeasured(team, at, cell, *entry);
        return HUD_OK;
    }
    compared.end_ns = compares ? l->clock_ns() : 0;
    return take_step(team, cell, &compared, entry);
}
