/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * candidates.c - the rules that fit a team, as candidates for its plan: forced algorithms, then a
 * tuning file's, then the built-in table's, which always have room.
 */
#include "core/choose/making.h"

void hud_plan_params(const struct config *config, const struct rule *rule, int row,
                     long param[ALG_PARAMS])
{
    for (int p = 0; p < ALG_PARAMS; p++)
        param[p] = rule && rule->given[p] && !config->given[row][p] ? rule->param[p]
                                                                    : config->param[row][p];
}

bool hud_candidate_takes(const struct candidate *c, size_t bytes, const struct alg_place *place,
                         int ranks)
{
    const struct coll call = { .bytes = bytes, .param = c->param, .place = place };

    return alg_accepts(hud_shm_algs[c->row], &call, ranks);
}

/* By doubling, as limits are small, then by halving. */
bool hud_candidate_limit(struct candidate *c, const struct alg_place *place, int ranks)
{
    size_t good = c->min_bytes, bad = c->max_bytes;

    if (!hud_candidate_takes(c, good, place, ranks))
        return false;
    if (hud_candidate_takes(c, bad, place, ranks))
        return true;
    for (size_t next = 2 * good + 1; next > good && next < bad; next = 2 * good + 1)
        *(hud_candidate_takes(c, next, place, ranks) ? &good : &bad) = next;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (hud_candidate_takes(c, middle, place, ranks))
            good = middle;
        else
            bad = middle;
    }
    c->max_bytes = good;
    return true;
}

/* Whether the team makes calls of that collective. */
static bool asks(const struct making *k, int kind)
{
    const struct plan_only *only = &k->plan->facts.only;

    return !only->is || kind == only->axis % COLL_KINDS;
}

/* Calls that are all alike need one candidate, for their size.  A rank of a wrong program may ask
 * for less than it gets: it finds that out in the same algorithm, as in a call of any size. */
static bool narrow(const struct making *k, struct candidate *c)
{
    const struct plan_only *only = &k->plan->facts.only;

    if (!only->is)
        return true;
    if (only->bytes < c->min_bytes || only->bytes > c->max_bytes)
        return false;
    c->min_bytes = 0;
    c->max_bytes = only->bytes;
    return true;
}

static void add(struct making *k, struct candidate c)
{
    const struct plan *plan = k->plan;

    if (k->count == PLAN_RULES || plan_lacks_direct(c.row, &plan->facts))
        return;
    if (c.row >= 0) {
        const struct alg *alg = hud_shm_algs[c.row];
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

bool hud_making_adapts(const struct making *k)
{
    return k->config->number[SET_ADAPT] == SWITCH_ON && k->plan->windows && !k->plan->facts.only.is;
}

/* Whether a rule may serve calls of the team; *min_bytes: from which size on.  The time model comes
 * last: a plan asks this of all rules, and the first team of a process makes dozens of plans. */
static bool fits(const struct making *k, const struct rule *r, size_t *min_bytes)
{
    if (!asks(k, r->kind) || hud_rule_misfit_team(r, &k->plan->facts) ||
        hud_config_forced(k->config, r->kind) != FORCED_NONE ||
        (r->second && !hud_making_adapts(k)))
        return false;
    *min_bytes = hud_rule_min_bytes(r, &k->plan->facts);
    return *min_bytes <= r->max_bytes;
}

static int fitting(const struct making *k, const struct rules *rules)
{
    int count = 0;
    size_t min_bytes;

    for (int i = 0; rules && i < rules->count; i++)
        count += fits(k, &rules->rule[i], &min_bytes);
    return count;
}

/* False: one that fits finds no room. */
static bool add_rules(struct making *k, const struct rules *rules, int room)
{
    size_t min_bytes;

    for (int i = 0; rules && i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (!fits(k, r, &min_bytes))
            continue;
        if (k->count >= room)
            return false;
        add(k, (struct candidate){ .rule = r,
                                   .rules = rules,
                                   .kind = r->kind,
                                   .row = r->row,
                                   .min_bytes = min_bytes,
                                   .max_bytes = r->max_bytes });
    }
    return true;
}

void hud_making_leave_tuning(struct making *k)
{
    k->tuning = NULL;
    k->plan->too_rich = true;
}

static void sort_by_kind(struct making *k)
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

void hud_making_collect(struct making *k)
{
    const struct rules *builtin = hud_rules_builtin();

    k->count = 0;
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int forced = hud_config_forced(k->config, kind);
        if (forced != FORCED_NONE && asks(k, kind))
            add(k, (struct candidate){
                       .kind = kind, .row = forced >= 0 ? forced : -1, .max_bytes = SIZE_MAX });
    }
    int before = k->count;
    if (k->tuning && k->tuning->count > 0 &&
        !add_rules(k, k->tuning, PLAN_RULES - fitting(k, builtin))) {
        k->count = before;
        hud_making_leave_tuning(k);
    }
    add_rules(k, builtin, PLAN_RULES);
    sort_by_kind(k);
}
