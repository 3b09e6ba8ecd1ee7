/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * candidates.c - collects the candidates of a plan: forced algorithms, then the matching rules of
 * the tuning file, then those of the built-in table, for which there is always room.
 */
#include "core/plan/plan_builder.h"

void hud_plan_params(const struct config *config, const struct rule *rule, int row,
                     long param[ALG_PARAMS])
{
    for (int p = 0; p < ALG_PARAMS; p++)
        param[p] = rule && rule->given[p] && !config->given[row][p] ? rule->param[p]
                                                                    : config->param[row][p];
}

bool hud_candidate_accepts(const struct candidate *c, size_t bytes, const struct alg_place *place,
                           int ranks)
{
    const struct coll call = { .bytes = bytes, .param = c->param, .place = place };

    return alg_accepts(hud_shm_algs[c->row], &call, ranks);
}

/* Searches by doubling, since limits are small, then by bisection. */
bool hud_candidate_limit(struct candidate *c, const struct alg_place *place, int ranks)
{
    size_t good = c->min_bytes, bad = c->max_bytes;

    if (!hud_candidate_accepts(c, good, place, ranks))
        return false;
    if (hud_candidate_accepts(c, bad, place, ranks))
        return true;
    for (size_t next = 2 * good + 1; next > good && next < bad; next = 2 * good + 1)
        *(hud_candidate_accepts(c, next, place, ranks) ? &good : &bad) = next;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (hud_candidate_accepts(c, middle, place, ranks))
            good = middle;
        else
            bad = middle;
    }
    c->max_bytes = good;
    return true;
}

/* Returns whether the team makes calls of a collective. */
static bool asks(const struct plan_builder *k, int kind)
{
    const struct plan_single_call *only = &k->plan->facts.single_call;

    return !only->enabled || kind == only->axis % COLL_KINDS;
}

/* Limits a candidate of a single-call team to the size of the call.  Returns false if the candidate
 * does not cover that size.  Smaller sizes stay included: a rank of a wrong program may pass a
 * smaller size, and the algorithm finds the mismatch. */
static bool narrow(const struct plan_builder *k, struct candidate *c)
{
    const struct plan_single_call *only = &k->plan->facts.single_call;

    if (!only->enabled)
        return true;
    if (only->bytes < c->min_bytes || only->bytes > c->max_bytes)
        return false;
    c->min_bytes = 0;
    c->max_bytes = only->bytes;
    return true;
}

void hud_candidate_add(struct plan_builder *k, struct candidate c)
{
    const struct plan *plan = k->plan;

    if (k->count == PLAN_RULES || plan_lacks_direct(c.row, &plan->facts))
        return;
    if (c.row >= 0) {
        const struct alg *alg = hud_shm_algs[c.row];
        if (!c.other)
            hud_plan_params(k->config, c.rule, c.row, c.param);
        const struct alg_place place =
            alg_place_alone(alg, c.param, plan->facts.ranks, 0, plan->max_bytes);
        if (alg_holds_data(alg) && (!plan->windows || (k->lean && !coll_has(c.kind, COLL_REDUCES))))
            return;
        if (!hud_candidate_limit(&c, &place, plan->facts.ranks))
            return;
    }
    if (!narrow(k, &c))
        return;
    k->candidate[k->count++] = c;
}

/* Returns whether a rule may serve calls of the team, and sets *min_bytes to their minimum size.
 * Asks the time model last: each plan checks all rules, and the first team of a process makes
 * dozens of plans. */
static bool fits(const struct plan_builder *k, const struct rule *r, size_t *min_bytes)
{
    if (!asks(k, r->kind) || hud_rule_misfit_team(r, &k->plan->facts) ||
        hud_config_forced(k->config, r->kind) != FORCED_NONE)
        return false;
    *min_bytes = hud_rule_min_bytes(r, &k->plan->facts);
    return *min_bytes <= r->max_bytes;
}

static int fitting(const struct plan_builder *k, const struct rules *rules)
{
    int count = 0;
    size_t min_bytes;

    for (int i = 0; rules && i < rules->count; i++)
        count += fits(k, &rules->rule[i], &min_bytes);
    return count;
}

/* Adds a candidate for each matching rule.  Returns false if there is no room for all. */
static bool add_rules(struct plan_builder *k, const struct rules *rules, int room)
{
    size_t min_bytes;

    for (int i = 0; rules && i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (!fits(k, r, &min_bytes))
            continue;
        if (k->count >= room)
            return false;
        hud_candidate_add(k, (struct candidate){ .rule = r,
                                                 .rules = rules,
                                                 .kind = r->kind,
                                                 .row = r->row,
                                                 .min_bytes = min_bytes,
                                                 .max_bytes = r->max_bytes });
    }
    return true;
}

void hud_plan_builder_leave_tuning(struct plan_builder *k)
{
    k->tuning = NULL;
    k->plan->too_rich = true;
}

void hud_plan_builder_sort(struct plan_builder *k)
{
    int at = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        k->kind_at[kind] = at;
        for (int i = 0; i < k->count; i++)
            if (k->candidate[i].kind == kind)
                k->of_kind[at++] = i;
    }
    k->kind_at[COLL_KINDS] = at;
}

void hud_plan_builder_collect(struct plan_builder *k)
{
    k->count = 0;
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int forced = hud_config_forced(k->config, kind);
        if (forced != FORCED_NONE && asks(k, kind))
            hud_candidate_add(k, (struct candidate){ .kind = kind,
                                                     .row = forced >= 0 ? forced : -1,
                                                     .max_bytes = SIZE_MAX });
    }
    int before = k->count;
    if (k->tuning && k->tuning->count > 0 &&
        !add_rules(k, k->tuning, PLAN_RULES - fitting(k, k->prior))) {
        k->count = before;
        hud_plan_builder_leave_tuning(k);
    }
    add_rules(k, k->prior, PLAN_RULES);
    hud_plan_builder_sort(k);
}
