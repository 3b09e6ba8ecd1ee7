/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c - a plan in words, and the verdict on each rule. */
#include "core/choose/explain.h"
#include "core/choose/asked.h"

#include <string.h>

static json_t *params_json(const struct alg *alg, const long *param)
{
    json_t *params = json_object();

    for (int p = 0; alg_param_at(alg, p); p++) {
        const struct alg_param *row = alg_param_at(alg, p);
        json_object_set_new(params, row->name,
                            row->words ? json_string(row->words[param[p] - row->min])
                                       : json_integer(param[p]));
    }
    return params;
}

/* A call takes another way if it must keep the ranks' order. */
static bool differs_in_order(const struct plan *plan, int kind)
{
    int pieces = plan->first[kind + 1] - plan->first[kind], ordered = kind + COLL_KINDS;
    const struct plan_entry *a = &plan->entry[plan->first[kind]],
                            *b = &plan->entry[plan->first[ordered]];
    bool same = pieces == plan->first[ordered + 1] - plan->first[ordered];

    for (int e = 0; same && e < pieces; e++)
        same = a[e].max_bytes == b[e].max_bytes && a[e].rule == b[e].rule && a[e].row == b[e].row &&
               a[e].slot == b[e].slot;
    return coll_has(kind, COLL_REDUCES) && !same;
}

static json_t *taker_json(const struct plan *plan, const struct plan_entry *e)
{
    const struct alg *alg = e->slot >= 0 ? hud_shm_algs[e->row] : NULL;

    return alg ? json_pack("{s:s, s:s, s:b, s:o, s:I, s:b}", "algorithm", alg->name, "doc",
                           alg->doc, "baseline", alg->baseline, "parameters",
                           params_json(alg, e->param), "slot_bytes",
                           (json_int_t)alg_place_bytes(&plan->slot[e->slot].place), "shared",
                           plan->slot[e->slot].place.user != 0)
               : json_null();
}

static json_t *holds_json(const struct rule *rule)
{
    return rule->points > 0 ? json_pack("{s:i, s:i, s:i}", "best", rule->best, "points",
                                        rule->points, "regret_percent", rule->regret_percent)
                            : json_null();
}

/* Of a setting; bytes: a size that the entry is for. */
static json_t *forced_json(const struct plan *plan, const struct config *config, int axis,
                           const struct plan_entry *e, size_t bytes)
{
    int forced = hud_config_forced(config, axis % COLL_KINDS);
    char text[LACK_TEXT];

    if (forced == FORCED_NONE)
        return json_pack("{s:s}", "by", "no rule that memory has room for");
    if (e->slot >= 0 || forced == FORCED_MPI)
        return json_pack("{s:s}", "by", "setting");
    hud_plan_lack_text(config, plan, hud_plan_lack(config, plan, NULL, forced, axis, bytes), text);
    return json_pack("{s:s+}", "by", "setting, but ", text);
}

static json_t *why_json(const struct plan *plan, const struct config *config, int axis,
                        const struct plan_entry *e, size_t bytes)
{
    const char *refused = hud_asked_refusal(plan, config);

    if (refused)
        return json_pack("{s:s}", "by", refused);
    if (!e->rule)
        return forced_json(plan, config, axis, e, bytes);
    return json_pack("{s:s, s:s, s:i, s:b, s:s, s:b, s:o}", "by",
                     e->rules == hud_rules_builtin() ? "built-in table" : "tuning file", "file",
                     e->rules->file, "line", e->rule->line, "model", e->rule->than >= 0, "evidence",
                     e->rule->evidence, "like", e->rule->like, "holds", holds_json(e->rule));
}

static json_t *pieces_json(const struct plan *plan, const struct config *config, int axis)
{
    json_t *list = json_array();
    size_t min = 0;

    for (int e = plan->first[axis]; e < plan->first[axis + 1]; e++) {
        const struct plan_entry *entry = &plan->entry[e];
        json_t *piece =
            json_pack("{s:I, s:o, s:o}", "min_bytes", (json_int_t)min, "serves",
                      taker_json(plan, entry), "why", why_json(plan, config, axis, entry, min));
        if (entry->second != 0)
            json_object_set_new(piece, "second", taker_json(plan, &plan->entry[entry->second]));
        json_object_set_new(piece, "max_bytes",
                            entry->max_bytes == SIZE_MAX
                                ? json_null()
                                : json_integer((json_int_t)entry->max_bytes));
        json_array_append_new(list, piece);
        min = entry->max_bytes + 1;
    }
    return list;
}

json_t *hud_pieces_json(const struct plan *plan, const struct config *config, int kind)
{
    return pieces_json(plan, config, kind);
}

json_t *hud_ordered_json(const struct plan *plan, const struct config *config, int kind)
{
    return differs_in_order(plan, kind)
               ? pieces_json(plan, config, plan_axis((enum coll_kind)kind, true))
               : json_null();
}

/* Why a rule that fits does not serve. */
static const char *lack_of(const struct asked *a, const struct rule *r)
{
    enum plan_lack lack = hud_plan_lack(&a->config, &a->plan, r, r->row, a->kind, a->q->bytes);

    return lack == LACK_MEMORY  ? "memory has no room for its algorithm"
           : lack == LACK_ORDER ? "its algorithm does not combine the ranks in their order"
                                : "its algorithm does not support this call";
}

/* *served: a rule before these does. */
static void add_rules(const struct asked *a, const struct rules *rules, bool *served, json_t *list)
{
    const struct plan_entry *entry = plan_find(&a->plan, a->kind, a->q->bytes);
    const struct rule *second = entry->second != 0 ? a->plan.entry[entry->second].rule : NULL;
    bool forced = hud_config_forced(&a->config, a->kind) != FORCED_NONE,
         left_aside = a->plan.too_rich && rules == &a->tuning;

    for (int i = 0; i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        const char *misfit = hud_rule_misfit(r, &a->facts, a->q->bytes);
        if (r->kind != a->kind)
            continue;
        const char *verdict = r == entry->rule ? "serves"
                              : r == second    ? "tried against the one that serves"
                              : r->second      ? "only tried, with HUDDLE_ADAPT"
                              : forced         ? "a setting comes first"
                              : left_aside     ? "the file has more choices than a plan holds"
                              : misfit         ? misfit
                              : *served        ? "one before it serves"
                                               : lack_of(a, r);
        *served = *served || r == entry->rule;
        json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:s}", "file", rules->file, "line",
                                              r->line, "algorithm",
                                              r->row >= 0 ? hud_shm_algs[r->row]->name : "mpi",
                                              "verdict", verdict));
    }
}

static json_t *groups_json(const struct asked *a)
{
    json_t *levels = json_array();

    for (int l = 0; l < a->groups.levels; l++) {
        const struct shape_level *level = &a->groups.level[l];
        json_array_append_new(levels,
                              json_pack("{s:s, s:i}", "level",
                                        level->from >= 0 ? a->table->name[level->from] : "team",
                                        "groups", level->groups));
    }
    return levels;
}

static json_t *slots_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (int s = 0; s < plan->slots; s++) {
        const struct alg *alg = hud_shm_algs[plan->slot[s].row];
        const struct alg_place *place = &plan->slot[s].place;
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:b}", "collective", alg->coll,
                                              "algorithm", alg->name, "bytes",
                                              (json_int_t)alg_place_bytes(place), "shared",
                                              place->user != 0));
    }
    return list;
}

static json_t *answer_json(const struct asked *a)
{
    const struct plan_entry *entry = plan_find(&a->plan, a->kind, a->q->bytes);
    json_t *rules = json_array();
    bool served = false;

    add_rules(a, &a->tuning, &served, rules);
    add_rules(a, hud_rules_builtin(), &served, rules);
    return json_pack(
        "{s:s, s:I, s:i, s:s, s:o, s:o, s:{s:b, s:b, s:b, s:b, s:b, s:i, s:s, s:o}, s:o, s:o, s:o, "
        "s:{s:I, s:o}, s:s, s:o}",
        "collective", a->q->collective, "bytes", (json_int_t)a->q->bytes, "ranks", a->q->ranks,
        "map", a->q->map, "serves", taker_json(&a->plan, entry), "why",
        why_json(&a->plan, &a->config, a->kind, entry, a->q->bytes), "facts", "oversubscribed",
        a->facts.oversubscribed, "direct", a->facts.direct, "quick", a->facts.quick, "intel",
        a->facts.intel, "divided", a->facts.divided, "processors", a->processors, "within",
        a->facts.within, "groups", groups_json(a), "rules", rules, "pieces",
        hud_pieces_json(&a->plan, &a->config, a->kind), "ordered",
        hud_ordered_json(&a->plan, &a->config, a->kind), "lease", "bytes",
        (json_int_t)a->plan.total_bytes, "slots", slots_json(&a->plan), "tuning", a->tuning.file,
        "error", a->config.error[0] != '\0' ? json_string(a->config.error) : json_null());
}

int hud_explain_json(const struct hud_question *q, char **json)
{
    struct asked *a = NULL;

    if (!json)
        return HUD_ERR_ARGUMENT;
    *json = NULL;
    int status = hud_asked_open(q, &a);
    if (status == HUD_OK && hud_asked_plan(a, q->ranks)) {
        json_t *answer = answer_json(a);
        *json = answer ? json_dumps(answer, JSON_INDENT(2)) : NULL;
        json_decref(answer);
    }
    hud_asked_close(a);
    return status == HUD_OK && !*json ? HUD_ERR_MEMORY : status;
}
