/* SPDX-License-Identifier: BSD-3-Clause */
/* decision.c - see decision.h. */
#include "core/job/decision.h"
#include "core/config/log.h"

#include <stdio.h>

void hud_decision_set(struct rule *rule, const struct decision_candidate *candidate)
{
    const struct alg *alg = rule_alg(rule, candidate->row);

    rule->row = candidate->row;
    rule->version = alg ? alg->version : 0;
    for (int p = 0; p < candidate->params && alg && alg_param_at(alg, p); p++) {
        long unset = rule->nodes != 0 ? -1 : alg_param_at(alg, p)->preset;
        rule->given[p] = candidate->param[p] != unset;
        rule->param[p] = rule->given[p] ? candidate->param[p] : 0;
    }
}

/* Returns the rule that describes a decision. */
static struct rule rule_of(const struct decision *cell, const struct learner *l)
{
    struct rule rule = hud_wisdom_rule(cell->facts, cell->at);
    int choice = hud_learner_choice(l), next = hud_learner_runner_up(l);

    hud_decision_set(&rule, &cell->candidate[choice]);
    rule.ns = hud_learner_ns(l, choice);
    rule.samples = (int)(hud_learner_samples(l) & INT_MAX);
    rule.runner_up = next >= 0 ? cell->candidate[next].row : -1;
    rule.runner_up_ns = next >= 0 ? hud_learner_ns(l, next) : 0;
    rule.mpi_ns = hud_learner_mpi_ns(l);
    rule.mpi_ns -= cell->mpi_extra_ns < rule.mpi_ns ? cell->mpi_extra_ns : 0;
    rule.before = choice != cell->first ? cell->candidate[cell->first].row : -1;
    rule.before_ns = choice != cell->first ? hud_learner_ns(l, cell->first) : 0;
    return rule;
}

/* Counts a decision, and prints a line about it. */
static void report(struct hud_context *c, const struct decision *cell, const struct rule *rule,
                   bool changed)
{
    struct rule before = { .nodes = rule->nodes };
    struct stats *stats = context_stats(c);
    int class = cell->at % PLAN_CLASSES;
    char sizes[64] = "", nodes[32] = "", choice[PLAN_ENTRY_NAME], first[PLAN_ENTRY_NAME];

    hud_decision_set(&before, &cell->candidate[cell->first]);
    hud_rule_write_choice(rule, choice, sizeof choice);
    hud_rule_write_choice(&before, first, sizeof first);
    mem_count(&stats->decided, 1, c->host.threads != 0);
    mem_count(&stats->changed, changed, c->host.threads != 0);
    if (class == PLAN_CLASSES - 1)
        snprintf(sizes, sizeof sizes, " of more than %zu bytes", plan_class_bytes(class - 1));
    else if (!coll_has(rule->kind, COLL_UNSIZED))
        snprintf(sizes, sizeof sizes, " of at most %zu bytes", plan_class_bytes(class));
    if (rule->nodes != 0)
        snprintf(nodes, sizeof nodes, " on %d nodes", rule->nodes);
    hud_log(&c->config, LOG_INFO, "learned: %s%s, %d ranks%s: %s, %.2f us (first choice: %s)",
            coll_name(rule->kind), sizes, cell->facts->ranks, nodes, choice,
            (double)rule->ns * 1e-3, first);
}

/* Stores a decision, with the winner in another state of the machine.  is_new: the file does not
 * have the decision. */
static void store(struct hud_context *c, const struct decision *cell, const struct learner *l,
                  const struct rule *rule, bool is_new)
{
    struct learner_winner winner = hud_learner_before(l);
    struct rule before = hud_wisdom_rule(cell->facts, cell->at);

    if (winner.candidate >= 0)
        hud_decision_set(&before, &cell->candidate[winner.candidate]);
    before.ns = winner.ns;
    pthread_mutex_lock(&c->lock);
    hud_wisdom_store(&c->learn.wisdom, &c->config, rule, winner.candidate >= 0 ? &before : NULL,
                     cell->is_rank_0 && is_new);
    pthread_mutex_unlock(&c->lock);
}

void hud_decision_keep_open(struct hud_context *c, const struct decision *cell,
                            const struct learner *l)
{
    struct rule rule = hud_wisdom_rule(cell->facts, cell->at);

    hud_decision_set(&rule, &cell->candidate[hud_learner_choice(l)]);
    rule.ns = hud_learner_ns(l, hud_learner_choice(l));
    pthread_mutex_lock(&c->lock);
    hud_wisdom_store_open(&c->learn.wisdom, &c->config, &rule, hud_learner_balance(l));
    pthread_mutex_unlock(&c->lock);
}

bool hud_decision_take(struct hud_context *c, const struct decision *cell, struct learner *l,
                       const uint64_t ns[LEARNER_BATCH])
{
    int decisions = hud_learner_decisions(l), choice = hud_learner_choice(l);
    bool checked = hud_learner_checks(l);

    hud_learner_agreed(l, ns);
    bool decided = decisions != hud_learner_decisions(l),
         confirmed = checked && !decided && hud_learner_decided(l);
    if (decided || confirmed) {
        struct rule rule = rule_of(cell, l);
        store(c, cell, l, &rule, decided);
        if (decided && cell->is_rank_0)
            report(c, cell, &rule, hud_learner_choice(l) != cell->first);
    }
    return decided || choice != hud_learner_choice(l);
}
