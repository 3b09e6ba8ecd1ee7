/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_share.c - what a new team knows from other teams and earlier programs, and what later ones
 * will know from this team (core/job/wisdom.h). */
#include "core/call/learn.h"
#include "core/job/wisdom_file.h"

#include <stdlib.h>

/* Writes the lines about such teams, or all lines if facts is NULL, into an area of the arena.
 * Returns the area, of no lines if there are none or there is no memory. */
static struct reply_known write_area(struct hud_context *c, const struct plan_facts *facts)
{
    const char *why;
    int lines = hud_wisdom_select(&c->wisdom, facts, NULL);
    size_t offset = lines == 0 ? 0
                               : hud_arena_reserve(&c->arena,
                                                   sizeof(struct wisdom_area) +
                                                       (size_t)lines * sizeof(struct wisdom_line),
                                                   1, &why);

    if (offset == 0)
        return (struct reply_known){ .lines = 0 };
    struct wisdom_area *area = (void *)((char *)c->arena.head + offset);
    hud_wisdom_select(&c->wisdom, facts, area->line);
    return (struct reply_known){ .offset = offset, .lines = (uint32_t)lines, .whole = !facts };
}

struct reply_known hud_learn_share(struct hud_team *team, const struct place_table *places)
{
    struct hud_context *c = team->context;
    struct plan_facts facts = { .ranks = team->id.size,
                                .oversubscribed = places->oversubscribed != 0 };
    struct reply_known known = { .lines = 0 };

    if (!team->hooks.learn)
        return known;
    bool read = hud_wisdom_load(c);
    hud_plan_locate(places, &facts);
    pthread_mutex_lock(&c->lock);
    if (read)
        known = write_area(c, NULL);
    if (read && c->wisdom.lines == 0)
        known.whole = 1;
    if (known.lines == 0)
        known = write_area(c, &facts);
    pthread_mutex_unlock(&c->lock);
    return known;
}

void hud_learn_unshare(struct hud_team *team, struct reply_known known)
{
    struct hud_context *c = team->context;

    pthread_mutex_lock(&c->lock);
    if (known.lines != 0)
        hud_arena_release(&c->arena, (size_t)known.offset);
    pthread_mutex_unlock(&c->lock);
}

/* Keeps all lines of the file, for teams with this rank as rank 0. */
static void keep(struct hud_context *c, const struct wisdom_line *line, int lines)
{
    pthread_mutex_lock(&c->lock);
    if (!c->wisdom.asked)
        hud_wisdom_add_file(&c->wisdom, line, lines);
    c->wisdom.asked = true;
    pthread_mutex_unlock(&c->lock);
}

/* Leaves the area, which rank 0 leases again when all ranks have left it. */
static void leave(struct hud_team *team, char *area, struct reply_known known)
{
    struct hud_context *c = team->context;
    struct mem mem = team->shm.mem;

    mem.rank = 0;
    mem.size = 1;
    mem.slices = &area;
    hud_shm_team_leave(&mem);
    if (team->id.rank != 0)
        return;
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->arena, (size_t)known.offset, team->id.size);
    pthread_mutex_unlock(&c->lock);
}

void hud_learn_take(struct hud_team *team, char *arena, struct reply_known known)
{
    struct learn *l = team->hooks.learn;
    char *area = arena + known.offset;
    const struct wisdom_line *line = ((const struct wisdom_area *)(const void *)area)->line;

    if (l && known.lines != 0) {
        hud_wisdom_tabulate(line, (int)known.lines, &team->plan.shared->facts, &l->table);
        l->known = &l->table;
    }
    if (known.whole && team->id.rank != 0)
        keep(team->context, line, (int)known.lines);
    if (known.lines != 0)
        leave(team, area, known);
}

/* Returns the rule of a cell that has such a choice. */
static struct rule choice_rule(const struct hud_team *team, int at, int candidate, uint64_t ns)
{
    const struct plan_entry *e = learn_candidate(team, at, candidate);
    const struct alg *alg = e->row >= 0 ? hud_shm_algs[e->row] : NULL;
    struct rule rule = hud_wisdom_rule(&team->plan.shared->facts, at);

    rule.row = e->row;
    rule.version = alg ? alg->version : 0;
    rule.ns = ns;
    for (int p = 0; alg && alg_param_at(alg, p); p++) { /* presets are not written */
        rule.given[p] = e->param[p] != alg_param_at(alg, p)->preset;
        rule.param[p] = rule.given[p] ? e->param[p] : 0;
    }
    return rule;
}

/* Sets the notes of a rule about the other candidates. */
static void set_notes(struct hud_team *team, const struct learn_cell *cell, int mpi,
                      struct rule *rule)
{
    const struct learner *l = &cell->learner;
    int choice = hud_learner_choice(l), next = hud_learner_runner_up(l);

    rule->samples = (int)(hud_learner_samples(l) & INT_MAX);
    rule->runner_up = next >= 0 ? learn_candidate(team, cell->at, next)->row : -1;
    rule->runner_up_ns = next >= 0 ? hud_learner_ns(l, next) : 0;
    rule->mpi_ns = mpi >= 0 ? hud_learner_ns(l, mpi) : 0;
    rule->before = choice != 0 ? learn_candidate(team, cell->at, 0)->row : -1;
    rule->before_ns = choice != 0 ? hud_learner_ns(l, 0) : 0;
}

void hud_learn_store(struct hud_team *team, const struct learn_cell *cell, int mpi)
{
    struct hud_context *c = team->context;
    int choice = hud_learner_choice(&cell->learner);
    struct learner_winner before = hud_learner_before(&cell->learner);
    struct rule rule = choice_rule(team, cell->at, choice, hud_learner_ns(&cell->learner, choice)),
                other = { .kind = -1 };

    set_notes(team, cell, mpi, &rule);
    if (before.candidate >= 0)
        other = choice_rule(team, cell->at, before.candidate, before.ns);
    pthread_mutex_lock(&c->lock);
    hud_wisdom_store(&c->wisdom, &c->config, &rule, before.candidate >= 0 ? &other : NULL,
                     team->id.rank == 0);
    pthread_mutex_unlock(&c->lock);
}
