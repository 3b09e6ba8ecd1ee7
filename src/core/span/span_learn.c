/* SPDX-License-Identifier: BSD-3-Clause */
/* span_learn.c - see span_learn.h. */
#include "core/span/span_learn.h"
#include "base/clock.h"
#include "base/hash.h"
#include "core/config/log.h"
#include "core/job/wisdom_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known ---- */

/* Fills a table with what this rank knows about spans of such a shape.  The lock is held. */
static bool tabulate(struct hud_context *c, const struct plan_facts *facts,
                     struct span_table *table)
{
    int lines = hud_wisdom_select(&c->wisdom, facts, NULL), count = 0;
    struct wisdom_line *line = malloc(((size_t)lines + 1) * sizeof *line);
    struct wisdom_table *all = malloc(sizeof *all);
    bool allocated = line && all;

    if (allocated) {
        hud_wisdom_select(&c->wisdom, facts, line);
        hud_wisdom_tabulate(line, lines, facts, all);
    }
    for (int at = 0; allocated && at < PLAN_CELLS && count < SPAN_KNOWN; at++)
        if (all->known[at].name != 0)
            table->known[count++] =
                (struct span_known){ (uint32_t)at, all->known[at].name, all->known[at].ns };
    free(line);
    free(all);
    return allocated;
}

static const struct span_known *find_known(const struct span_learn *l, int at)
{
    const struct span_known *known = l->table[l->facts.oversubscribed].known;
    int i = 0;

    while (i < SPAN_KNOWN && known[i].name != 0 && known[i].at != (uint32_t)at)
        i++;
    return i < SPAN_KNOWN && known[i].name != 0 ? &known[i] : NULL;
}

/* Looks up what this rank knows.  Returns false if out of memory. */
static bool look_up(struct hud_context *c, struct span_learn *l)
{
    bool allocated = true;

    pthread_mutex_lock(&c->lock);
    for (int over = 0; over < 2; over++) {
        l->facts.oversubscribed = over != 0;
        allocated = allocated && tabulate(c, &l->facts, &l->table[over]);
    }
    pthread_mutex_unlock(&c->lock);
    return allocated;
}

bool hud_span_learn_create(struct span *span)
{
    struct hud_context *c = span->whole->context;

    if (c->config.number[SET_WISDOM] == WISDOM_OFF)
        return true;
    struct span_learn *l = span->learn = calloc(1, sizeof *l);
    if (!l || hud_op_find(HUD_MAX, HUD_UINT64, &l->max) != HUD_OK)
        return false;
    l->clock_ns = clock_ns;
    l->facts = (struct plan_facts){ .ranks = span->map.ranks,
                                    .nodes = span->map.nodes,
                                    .within = "machine" };
    if (span->whole->id.rank == 0)
        hud_wisdom_load(c);
    return look_up(c, l);
}

uint32_t hud_span_learn_hash(const struct span *span)
{
    const struct span_learn *l = span->learn;
    uint64_t h = HASH_START;

    for (int over = 0; l && over < 2; over++)
        for (int i = 0; i < SPAN_KNOWN; i++) {
            const struct span_known *known = &l->table[over].known[i];
            h = hash_number(hash_number(h, known->at), (uint64_t)known->name << 32 | known->ns);
        }
    return l ? (uint32_t)(h >> 32) | 1 : 0;
}

/* Varies the distance between samples, so that no period of the program coincides with the
 * distance. */
static void set_distance(struct span_learn *l)
{
    l->seed = l->seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
    l->until_sample = LEARNER_EVERY / 2 + (int)((l->seed >> 16) % LEARNER_EVERY);
}

void hud_span_learn_start(struct span *span, const struct reply *reply)
{
    struct span_learn *l = span->learn;

    if (!l)
        return;
    set_distance(l);
    l->facts.oversubscribed = false;
    for (int r = 0; r < span->map.ranks; r++) {
        l->facts.oversubscribed = l->facts.oversubscribed || reply[r].oversubscribed != 0;
        l->shares = l->shares || reply[r].span_known != reply[0].span_known;
    }
}

/* Gives all ranks what rank 0 knows. */
static void share(struct hud_team *team)
{
    struct span_learn *l = team->hooks.span->learn;
    struct span_table *table = &l->table[l->facts.oversubscribed];
    const struct hud_view view = { .base = table, .bytes = sizeof *table };
    const struct coll call = { .bytes = sizeof *table, .out = &view };

    l->shares = false;
    hud_span_call_own(team, NET_BCAST, &call);
}

/* Returns the rule of a cell that has such a choice. */
static struct rule choice_rule(const struct span_learn *l, const struct span_cell *cell,
                               int candidate, uint64_t ns)
{
    const struct span_choice *it = &cell->choice[candidate];
    struct rule rule = hud_wisdom_rule(&l->facts, cell->at);

    rule.row = it->tag;
    rule.version = it->tag >= 0 ? hud_shm_nodes_algs[it->tag]->version : 0;
    rule.ns = ns;
    for (int p = 0; p < SPAN_PARAMS && it->tag >= 0; p++) {
        rule.given[p] = it->param[p] != SPAN_AUTO;
        rule.param[p] = rule.given[p] ? it->param[p] : 0;
    }
    return rule;
}

/* Stores a decision, for later spans of this shape and, on rank 0, for later programs. */
static void store(struct hud_team *team, const struct span_cell *cell)
{
    struct hud_context *c = team->context;
    const struct span_learn *s = team->hooks.span->learn;
    const struct learner *l = &cell->learner;
    int choice = hud_learner_choice(l), next = hud_learner_runner_up(l);
    struct learner_winner before = hud_learner_before(l);
    struct rule rule = choice_rule(s, cell, choice, hud_learner_ns(l, choice)),
                other = { .kind = -1 };

    rule.samples = (int)(hud_learner_samples(l) & INT_MAX);
    rule.runner_up = next >= 0 ? cell->choice[next].tag : -1;
    rule.runner_up_ns = next >= 0 ? hud_learner_ns(l, next) : 0;
    rule.mpi_ns = cell->mpi >= 0 ? hud_learner_ns(l, cell->mpi) : 0;
    rule.before = choice != cell->first ? cell->choice[cell->first].tag : -1;
    rule.before_ns = choice != cell->first ? hud_learner_ns(l, cell->first) : 0;
    if (before.candidate >= 0)
        other = choice_rule(s, cell, before.candidate, before.ns);
    pthread_mutex_lock(&c->lock);
    hud_wisdom_store(&c->wisdom, &c->config, &rule, before.candidate >= 0 ? &other : NULL,
                     team->id.rank == 0);
    pthread_mutex_unlock(&c->lock);
}

/* ---- decisions ---- */

/* Reports a decision, by the span's rank 0. */
static void report(struct hud_team *team, const struct span_cell *cell)
{
    int choice = hud_learner_choice(&cell->learner);
    struct wisdom_decision decision = { .at = cell->at,
                                        .ranks = team->id.size,
                                        .nodes = team->hooks.span->map.nodes,
                                        .changed = choice != cell->first,
                                        .ns = hud_learner_ns(&cell->learner, choice) };

    if (team->id.rank != 0)
        return;
    hud_span_choice_name(&cell->choice[choice], decision.choice);
    hud_span_choice_name(&cell->choice[cell->first], decision.first);
    hud_wisdom_report(team->context, &decision);
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
    int decisions = hud_learner_decisions(&cell->learner);
    hud_learner_agreed(&cell->learner, cell->ns);
    memset(cell->ns, 0, sizeof cell->ns);
    if (decisions != hud_learner_decisions(&cell->learner)) {
        cell->learned = true;
        store(team, cell);
        report(team, cell);
    }
    return HUD_OK;
}

/* ---- calls ---- */

/* Returns whether a span measures, and does not only use what is known. */
static bool measures(const struct span *span)
{
    return span->whole->context->config.number[SET_WISDOM] != WISDOM_READ;
}

static void open_cell(struct span *span, struct span_cell *cell, enum coll_kind kind,
                      const struct coll *call, int at)
{
    const struct span_known *known = find_known(span->learn, at);
    struct span_run run;
    int is_known;

    memset(cell, 0, sizeof *cell);
    cell->at = at;
    cell->count = hud_span_candidates(span, at, kind, call, known ? known->name : 0, cell->choice,
                                      &cell->mpi, &is_known);
    cell->known = is_known >= 0;
    int mpi = cell->mpi;
    if (cell->count < 2) {
        cell->count = cell->count == 1 && is_known == 0;
        return;
    }
    bool gains = hud_span_find(span, kind, call, &cell->choice[0], &run) &&
                 hud_span_gains(span, kind, call, run.alg);
    cell->first = gains || mpi < 0 ? 0 : mpi;
    if (!measures(span)) {
        cell->choice[0] = cell->choice[is_known >= 0 ? is_known : 0];
        cell->count = is_known >= 0;
    } else if (is_known >= 0)
        hud_learner_known(&cell->learner, cell->count, mpi,
                          (struct learner_winner){ known->ns, (int8_t)is_known },
                          (struct learner_winner){ 0, -1 });
    else if (!gains && mpi < 0)
        cell->count = 0;
    else
        hud_learner_begin(&cell->learner, cell->count, cell->first, mpi, NULL);
}

struct span_cell *hud_span_cell(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                                int at)
{
    struct span *span = team->hooks.span;
    struct span_learn *l = span->learn;

    if (l->cell_of[at] == 0) {
        if (l->cells == SPAN_CELLS ||
            hud_config_forced(&team->context->config, (int)kind) != FORCED_NONE)
            return NULL;
        if (l->shares && span->ended == HUD_OK)
            share(team); /* a failure ends all calls */
        open_cell(span, &l->cell[l->cells], kind, call, at);
        bool learns = l->cell[l->cells].count != 0;
        l->cells += learns;
        l->cell_of[at] = learns ? (uint8_t)l->cells : SPAN_NO_CELL;
    }
    return l->cell_of[at] != SPAN_NO_CELL ? &l->cell[l->cell_of[at] - 1] : NULL;
}

/* Begins a sample, after a barrier.  Returns as hud_span_enter. */
static int begin_sample(struct hud_team *team, uint64_t *sample_ns)
{
    struct span_learn *l = team->hooks.span->learn;
    const struct coll call = { .bytes = 0 };
    int status = hud_span_call_own(team, NET_BARRIER, &call);

    *sample_ns = UINT32_MAX; /* a call that has no end must not win */
    l->sample_ns = sample_ns;
    l->begin_ns = l->clock_ns();
    return status;
}

/* Counts a call by where its choice is from. */
static void count_choice(struct hud_team *team, const struct span_cell *cell, int candidate)
{
    struct stats *stats = context_stats(team->context);
    bool threads = team->context->host.threads != 0,
         native = cell->choice[candidate].tag == SPAN_MPI;

    if (cell->count > 1 && candidate != hud_learner_choice(&cell->learner))
        mem_count(native ? &stats->tried_native : &stats->tried, 1, threads);
    else if (!native && (cell->learned || cell->known))
        mem_count(cell->learned ? &stats->learned : &stats->known, 1, threads);
}

int hud_span_enter(struct hud_team *team, struct span_cell *cell, const struct span_choice **choice)
{
    struct span_learn *l = team->hooks.span->learn;
    bool decided = cell->count == 1 || hud_learner_decided(&cell->learner);
    int status = HUD_OK, present = cell->count == 1 ? 0 : hud_learner_choice(&cell->learner);
    bool nested = l->nested > 0; /* the MPI's own collective makes this call */

    *choice = &cell->choice[present];
    if (nested || (decided && (cell->count == 1 || --l->until_sample > 0))) {
        count_choice(team, cell, present);
        return HUD_OK;
    }
    struct learner_step step = hud_learner_next(&cell->learner);
    if (step.agree) {
        status = agree(team, cell);
        if (status != HUD_OK)
            return status;
        step = hud_learner_next(&cell->learner);
    }
    if (decided)
        set_distance(l);
    *choice = &cell->choice[step.candidate];
    count_choice(team, cell, step.candidate);
    return step.sample >= 0 ? begin_sample(team, &cell->ns[step.sample]) : HUD_OK;
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
