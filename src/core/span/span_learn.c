/* SPDX-License-Identifier: BSD-3-Clause */
/* span_learn.c - see span_learn.h. */
#include "core/span/span_learn.h"
#include "base/hash.h"
#include "core/job/decision.h"

#include <string.h>

/* ---- decisions ---- */

/* Returns a cell in the terms of a decision. */
static struct decision describe(const struct hud_team *team, const struct span_cell *cell)
{
    struct decision d = { .facts = &team->hooks.span->learn->facts,
                          .at = cell->at,
                          .first = cell->first,
                          .mpi_extra_ns = cell->precede_ns,
                          .is_rank_0 = team->id.rank == 0 };

    for (int i = 0; i < cell->count; i++)
        d.candidate[i] =
            (struct decision_candidate){ cell->choice[i].tag, SPAN_PARAMS, cell->choice[i].param };
    return d;
}

/* Gives all ranks the longest times, and the learner the samples.  Returns HUD_OK, or the status
 * with which calls have ended. */
static int agree(struct hud_team *team, struct span_cell *cell)
{
    struct span_learn *l = team->hooks.span->learn;
    uint64_t mine[LEARNER_BATCH];
    const struct hud_view in = { .base = mine, .bytes = sizeof mine },
                          out = { .base = cell->ns, .bytes = sizeof mine };
    const struct coll call = { .bytes = sizeof mine, .in = &in, .out = &out, .reduction = &l->max };

    memcpy(mine, cell->ns, sizeof mine);
    int status = hud_span_call_own(team, NET_ALLREDUCE, &call);
    if (status != HUD_OK)
        return status;
    const struct decision what = describe(team, cell);
    cell->learned =
        hud_decision_take(team->context, &what, &cell->learner, cell->ns) || cell->learned;
    memset(cell->ns, 0, sizeof cell->ns);
    return HUD_OK;
}

/* ---- broadcasts ---- */

/* Compares this rank's size of a broadcast with the root's, which comes by a broadcast of huddle's
 * own.  Ends this rank's calls if the sizes differ, or if the root is in another call.  Returns
 * HUD_OK, or the status with which calls have ended. */
static int compare_sizes(struct hud_team *team, const struct coll *call)
{
    struct span *span = team->hooks.span;
    struct {
        uint64_t bytes, hash; /* no data of a program equal the hash */
    } own = { call->bytes,
              hash_number(hash_number(hash_number(HASH_START, span->calls), call->bytes), 1) },
      root = own;
    const struct hud_view view = { .base = &root, .bytes = sizeof root };
    const struct coll header = { .bytes = sizeof root, .root = call->root, .out = &view };
    int status = hud_span_call_own(team, NET_BCAST, &header);

    if (status != HUD_OK || memcmp(&root, &own, sizeof root) == 0)
        return status;
    return hud_span_give_up(team, root.bytes > own.bytes ? HUD_ERR_TRUNCATE : HUD_ERR_UNLIKE);
}

/* Waits until all ranks have come here. */
static int meet(struct hud_team *team)
{
    return hud_span_call_own(team, NET_BARRIER, &(struct coll){ .bytes = 0 });
}

/* Makes sure that all ranks are about to make the MPI's own broadcast. */
static int precede_mpi(struct hud_team *team, const struct coll *call)
{
    int status = compare_sizes(team, call);

    return status == HUD_OK ? meet(team) : status;
}

/* Does the same within a sample, and keeps the shortest time, which a program without huddle does
 * not need. */
static int precede_sample(struct hud_team *team, struct span_cell *cell, const struct coll *call)
{
    struct span_learn *l = team->hooks.span->learn;
    int status = precede_mpi(team, call);
    uint64_t ns = l->clock_ns() - l->begin_ns;

    if (cell->precede_ns == 0 || ns < cell->precede_ns)
        cell->precede_ns = ns;
    return status;
}

/* Makes a comparison after a barrier, and notes its time. */
static int time_comparison(struct hud_team *team, struct span_cell *cell, const struct coll *call)
{
    struct span_learn *l = team->hooks.span->learn;
    int status = meet(team);
    uint64_t begin_ns = l->clock_ns();

    if (status == HUD_OK)
        status = compare_sizes(team, call);
    cell->ns[LEARNER_OPEN] = l->clock_ns() - begin_ns;
    return status;
}

/* ---- cells ---- */

static void fix_choice(struct span_learn *l, int at, const struct span_choice *choice)
{
    l->fixed[l->fixed_count++] = *choice;
    l->cell_of[at] = (uint8_t)(SPAN_CELLS + l->fixed_count);
}

/* Returns whether a call's own algorithm serves it, as long as nothing has been measured. */
static bool model_gains(struct span *span, enum coll_kind kind, const struct coll *call,
                        const struct span_cell *cell)
{
    struct span_run run;

    return hud_span_find(span, kind, call, &cell->choice[0], &run) &&
           hud_span_gains(span, kind, call, run.alg);
}

/* Returns whether a cell is measured. */
static bool is_measured(struct span *span, enum coll_kind kind, const struct coll *call,
                        const struct span_cell *cell, bool is_known)
{
    return span->whole->context->config.number[SET_WISDOM] != WISDOM_READ && cell->count > 1 &&
           span->learn->cells < SPAN_CELLS &&
           (is_known || cell->mpi >= 0 || model_gains(span, kind, call, cell));
}

/* Returns the known winner in another state of the machine, if it is a candidate. */
static struct learner_winner known_before(const struct span_cell *cell,
                                          const struct span_known *known)
{
    int i = cell->count - 1;

    while (i >= 0 && hud_span_choice_number(&cell->choice[i]) != known->choice.before_name)
        i--;
    return (struct learner_winner){ known->choice.before_ns, (int8_t)i };
}

/* Begins to measure a cell with several candidates.  known: the known choice, at index is_known,
 * or NULL. */
static void begin_cell(struct span *span, struct span_cell *cell, enum coll_kind kind,
                       const struct coll *call, const struct span_known *known, int is_known)
{
    bool gains = model_gains(span, kind, call, cell);

    cell->first = gains || cell->mpi < 0 ? 0 : cell->mpi;
    cell->known = is_known >= 0;
    cell->compares = coll_has((int)kind, COLL_ONE_BUFFER);
    if (is_known >= 0) {
        hud_learner_known(&cell->learner, cell->count, cell->mpi,
                          (struct learner_winner){ known->choice.ns, (int8_t)is_known },
                          known_before(cell, known));
        cell->learner.rival = known->choice.unchecked ? (int8_t)cell->first : -1;
    } else
        hud_learner_begin(&cell->learner, cell->count, cell->first, cell->mpi, NULL);
}

/* Decides whether a cell is measured, has a fixed choice, or none. */
static void open_cell(struct span *span, enum coll_kind kind, const struct coll *call, int at)
{
    struct span_learn *l = span->learn;
    const struct span_known *known = hud_span_find_known(l, at);
    struct span_cell cell = { .at = at };
    int is_known;

    cell.count = hud_span_candidates(span, at, kind, call, known ? known->choice.name : 0,
                                     cell.choice, &cell.mpi, &is_known);
    if (is_measured(span, kind, call, &cell, is_known >= 0)) {
        begin_cell(span, &cell, kind, call, known, is_known);
        l->cell[l->cells++] = cell;
        l->cell_of[at] = (uint8_t)l->cells;
    } else if (is_known >= 0) {
        fix_choice(l, at, &cell.choice[is_known]);
    } else {
        l->cell_of[at] = SPAN_NO_CELL;
    }
}

/* Gives all ranks what rank 0 knows.  A failure ends all calls. */
static void share(struct hud_team *team)
{
    struct span_learn *l = team->hooks.span->learn;
    struct span_table *table = &l->table[l->facts.oversubscribed];
    const struct hud_view view = { .base = table, .bytes = sizeof *table };
    const struct coll call = { .bytes = sizeof *table, .out = &view };

    l->shares = false;
    hud_span_call_own(team, NET_BCAST, &call);
}

void hud_span_open(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at)
{
    struct span *span = team->hooks.span;
    struct span_learn *l = span->learn;

    if (l->shares && span->ended == HUD_OK)
        share(team);
    if (hud_config_forced(&team->context->config, (int)kind) != FORCED_NONE)
        l->cell_of[at] = SPAN_NO_CELL;
    else
        open_cell(span, kind, call, at);
}

/* ---- calls ---- */

/* Begins a sample, after a barrier.  Returns as hud_span_enter. */
static int begin_sample(struct hud_team *team, struct span_cell *cell, int sample,
                        const struct coll *call)
{
    struct span_learn *l = team->hooks.span->learn;
    bool times = cell->compares && sample == 0 && cell->learner.open_ns == 0 &&
                 !hud_learner_decided(&cell->learner);
    int status = times ? time_comparison(team, cell, call) : HUD_OK;

    if (status == HUD_OK)
        status = meet(team);
    cell->ns[sample] = UINT32_MAX; /* a call that has no end must not win */
    l->sample_ns = &cell->ns[sample];
    l->begin_ns = l->clock_ns();
    return status;
}

/* Counts a call by where its choice is from. */
static void count_choice(struct hud_team *team, const struct span_choice *choice, bool is_trial,
                         bool learned, bool known)
{
    struct stats *stats = context_stats(team->context);
    bool threads = team->context->host.threads != 0, native = choice->tag == SPAN_MPI;

    if (native) /* counted by its reason */
        return;
    if (is_trial)
        mem_count(&stats->tried, 1, threads);
    else if (learned || known)
        mem_count(learned ? &stats->learned : &stats->known, 1, threads);
}

/* Makes the learner's next step.  Sets *candidate and *sample, the number of the call's sample or
 * -1.  Returns as hud_span_enter. */
static int take_step(struct hud_team *team, struct span_cell *cell, int *candidate, int *sample)
{
    struct learner_step step = hud_learner_next(&cell->learner);
    int status = step.agree ? agree(team, cell) : HUD_OK;

    if (step.agree && status == HUD_OK)
        step = hud_learner_next(&cell->learner);
    *candidate = step.candidate;
    *sample = step.sample;
    return status;
}

/* Begins a call of a measured cell.  Returns as hud_span_enter. */
static int enter_cell(struct hud_team *team, struct span_cell *cell, const struct coll *call,
                      const struct span_choice **choice)
{
    struct span_learn *l = team->hooks.span->learn;
    int candidate = hud_learner_choice(&cell->learner), sample = -1, status = HUD_OK;
    bool nested = l->nested > 0; /* the MPI's own collective makes this call */
    bool rests = hud_learner_rests(&cell->learner),
         asks = !nested && (!rests || --l->until_sample <= 0);

    if (asks && cell->compares)
        status = compare_sizes(team, call);
    if (asks && status == HUD_OK)
        status = take_step(team, cell, &candidate, &sample);
    if (asks && rests)
        span_set_distance(l);
    *choice = &cell->choice[candidate];
    count_choice(team, *choice, candidate != hud_learner_choice(&cell->learner), cell->learned,
                 cell->known);
    if (sample >= 0 && status == HUD_OK)
        status = begin_sample(team, cell, sample, call);
    if (status == HUD_OK && !nested && cell->compares && (*choice)->tag == SPAN_MPI)
        status = sample >= 0 ? precede_sample(team, cell, call)
                 : asks      ? meet(team)
                             : precede_mpi(team, call);
    return status;
}

int hud_span_enter(struct hud_team *team, int at, const struct coll *call,
                   const struct span_choice **choice)
{
    struct span_learn *l = team->hooks.span->learn;
    int number = l->cell_of[at] - 1; /* number of a cell; from SPAN_CELLS on: of a fixed choice */

    if (number < SPAN_CELLS)
        return enter_cell(team, &l->cell[number], call, choice);
    *choice = &l->fixed[number - SPAN_CELLS];
    count_choice(team, *choice, false, false, true);
    if (l->nested == 0 && (*choice)->tag == SPAN_MPI &&
        coll_has(at / PLAN_CLASSES % COLL_KINDS, COLL_ONE_BUFFER))
        return precede_mpi(team, call);
    return HUD_OK;
}

void hud_span_nest(struct hud_team *team)
{
    struct span_learn *l = team->hooks.span->learn;

    if (l && l->sample_ns)
        l->nested++;
}

void hud_span_exit(struct hud_team *team)
{
    struct span_learn *l = team->hooks.span->learn;

    if (!l || !l->sample_ns)
        return;
    if (l->nested > 0) {
        l->nested--;
        return;
    }
    *l->sample_ns = l->clock_ns() - l->begin_ns;
    l->sample_ns = NULL;
}
