/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c - a plan in words, and the verdict on each rule. */
#include "tools/query/pieces.h"
#include "tools/query/query.h"

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

/* Returns whether calls that must keep the ranks' order have other pieces. */
static bool differs_in_order(const struct plan *plan, int kind)
{
    bool same = true;

    for (int class = 0; class < PLAN_CLASSES; class ++) {
        const struct plan_cell *a = &plan->cell[kind + PLAN_ANY_ORDER][class],
                               *b = &plan->cell[kind + PLAN_IN_ORDER][class];
        same = same && a->candidate[0] == b->candidate[0] && a->rule == b->rule;
    }
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

/* Explains a cell that follows from a setting. */
static json_t *forced_json(const struct plan *plan, const struct config *config, int axis,
                           const struct plan_cell *cell, size_t bytes)
{
    const struct plan_entry *e = &plan->entry[cell->candidate[0]];
    int forced = hud_config_forced(config, axis % COLL_KINDS);
    char text[REJECT_TEXT];

    if (forced == FORCED_NONE)
        return json_pack("{s:s}", "by", "no rule whose algorithm fits into the memory");
    if (e->slot >= 0 || forced == FORCED_MPI)
        return json_pack("{s:s}", "by", "setting");
    hud_plan_reject_text(config, plan, hud_plan_reject(config, plan, NULL, forced, axis, bytes),
                         text);
    return json_pack("{s:s+}", "by", "setting, but ", text);
}

static const char *rules_name(const struct rules *rules, const struct config *config)
{
    return rules == hud_rules_builtin()                        ? "built-in table"
           : strcmp(rules->file, config->text[SET_PRIOR]) == 0 ? "HUDDLE_LAB_PRIOR"
                                                               : "tuning file";
}

static json_t *why_json(const struct plan *plan, const struct config *config, int axis,
                        size_t bytes)
{
    const struct plan_cell *e = plan_cell(plan, axis, bytes);
    const char *refused = hud_query_refusal(plan, config);

    if (refused)
        return json_pack("{s:s}", "by", refused);
    if (!e->rule)
        return forced_json(plan, config, axis, e, bytes);
    return json_pack("{s:s, s:s, s:i, s:b, s:s}", "by", rules_name(e->rules, config), "file",
                     e->rules->file, "line", e->rule->line, "model", e->rule->than >= 0, "evidence",
                     e->rule->evidence);
}

/* Lists by name the candidates that are tried against the first choice of a cell. */
static json_t *others_json(const struct plan *plan, const struct plan_cell *cell)
{
    json_t *list = json_array();

    for (int i = 1; i < cell->tried; i++) {
        char name[PLAN_ENTRY_NAME];
        hud_plan_entry_name(&plan->entry[cell->candidate[i]], name);
        json_array_append_new(list, json_string(name));
    }
    return list;
}

/* Returns whether one of the candidates to try of a cell has a name. */
static bool has_named(const struct plan *plan, const struct plan_cell *cell, const char *name)
{
    bool found = false;

    for (int i = 0; i < cell->tried && !found; i++) {
        char its[PLAN_ENTRY_NAME];
        hud_plan_entry_name(&plan->entry[cell->candidate[i]], its);
        found = strcmp(its, name) == 0;
    }
    return found;
}

/* Lists the candidates that the calls would have with more memory, if candidates are tried. */
static json_t *no_room_json(const struct query *a)
{
    const struct plan_cell *has = plan_cell(&a->plan, a->kind, a->q->bytes),
                           *would = plan_cell(&a->roomy, a->kind, a->q->bytes);
    json_t *list = json_array();
    bool tries =
        a->config.number[SET_WISDOM] != WISDOM_OFF && !hud_query_refusal(&a->plan, &a->config);

    for (int i = 0; tries && i < would->tried; i++) {
        char name[PLAN_ENTRY_NAME];
        hud_plan_entry_name(&a->roomy.entry[would->candidate[i]], name);
        if (!has_named(&a->plan, has, name))
            json_array_append_new(list, json_string(name));
    }
    return list;
}

static json_t *pieces_json(const struct plan *plan, const struct config *config, int axis)
{
    json_t *list = json_array();
    size_t min = 0;

    for (int class = 0, last; class < PLAN_CLASSES; class = last + 1) {
        last = hud_plan_same_up_to(plan, axis, class);
        size_t max = plan_class_bytes(last);
        json_t *piece = json_pack("{s:I, s:o, s:o, s:o}", "min_bytes", (json_int_t)min, "serves",
                                  taker_json(plan, plan_find(plan, axis, max)), "why",
                                  why_json(plan, config, axis, max), "others",
                                  others_json(plan, &plan->cell[axis][last]));
        json_object_set_new(piece, "max_bytes",
                            max == SIZE_MAX ? json_null() : json_integer((json_int_t)max));
        json_array_append_new(list, piece);
        min = max + 1;
    }
    return list;
}

json_t *hud_pieces_json(const struct plan *plan, const struct config *config, int kind)
{
    return pieces_json(plan, config, kind);
}

json_t *hud_ordered_json(const struct plan *plan, const struct config *config, int kind)
{
    return differs_in_order(plan, kind) ? pieces_json(plan, config, kind + PLAN_IN_ORDER)
                                        : json_null();
}

/* Returns why a rule that fits does not serve. */
static const char *rejection_of(const struct query *a, const struct rule *r)
{
    enum plan_reject reject =
        hud_plan_reject(&a->config, &a->plan, r, r->row, a->kind, a->q->bytes);

    return reject == REJECT_MEMORY  ? "not enough memory for its algorithm"
           : reject == REJECT_ORDER ? "its algorithm does not combine the ranks in their order"
                                    : "its algorithm does not support this call";
}

/* Adds the verdict on each rule.  Sets *served once a rule serves. */
static void add_rules(const struct query *a, const struct rules *rules, bool *served, json_t *list)
{
    const struct plan_cell *entry = plan_cell(&a->plan, a->kind, a->q->bytes);
    bool forced = hud_config_forced(&a->config, a->kind) != FORCED_NONE,
         left_aside = a->plan.too_rich && rules == &a->tuning;

    for (int i = 0; i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        const char *misfit =
            hud_rule_misfit(r, &a->facts, a->kind, plan_class_bytes(plan_class(a->q->bytes)));
        if (r->kind != a->kind)
            continue;
        const char *verdict = r == entry->rule ? "serves"
                              : forced         ? "a setting overrides it"
                              : left_aside     ? "the file has too many rules"
                              : misfit         ? misfit
                              : *served        ? "an earlier rule serves"
                                               : rejection_of(a, r);
        *served = *served || r == entry->rule;
        json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:s}", "file", rules->file, "line",
                                              r->line, "algorithm",
                                              r->row >= 0 ? hud_shm_algs[r->row]->name : "mpi",
                                              "verdict", verdict));
    }
}

static json_t *groups_json(const struct query *a)
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

static json_t *answer_json(const struct query *a)
{
    const struct plan_entry *entry = plan_find(&a->plan, a->kind, a->q->bytes);
    json_t *rules = json_array();
    bool served = false;

    add_rules(a, &a->tuning, &served, rules);
    add_rules(a, hud_planner_prior(a->planner), &served, rules);
    return json_pack(
        "{s:s, s:I, s:i, s:s, s:o, s:o, s:{s:b, s:b, s:b, s:b, s:i, s:s, s:o}, s:o, s:o, s:o, s:o, "
        "s:{s:I, s:o}, s:s, s:o}",
        "collective", a->q->collective, "bytes", (json_int_t)a->q->bytes, "ranks", a->q->ranks,
        "map", a->q->map, "serves", taker_json(&a->plan, entry), "why",
        why_json(&a->plan, &a->config, a->kind, a->q->bytes), "facts", "oversubscribed",
        a->facts.oversubscribed, "direct", a->facts.direct, "quick", a->facts.quick, "divided",
        a->facts.divided, "processors", a->processors, "within", a->facts.within, "groups",
        groups_json(a), "rules", rules, "pieces", hud_pieces_json(&a->plan, &a->config, a->kind),
        "ordered", hud_ordered_json(&a->plan, &a->config, a->kind), "no_room", no_room_json(a),
        "lease", "bytes", (json_int_t)a->plan.total_bytes, "slots", slots_json(&a->plan), "tuning",
        a->tuning.file, "error",
        a->config.error[0] != '\0' ? json_string(a->config.error) : json_null());
}

int hud_explain_json(const struct hud_question *q, char **json)
{
    struct query *a = NULL;

    if (!json)
        return HUD_ERR_ARGUMENT;
    *json = NULL;
    int status = hud_query_open(q, &a);
    if (status == HUD_OK && hud_query_plan(a, q->ranks)) {
        hud_query_plan_roomy(a);
        json_t *answer = answer_json(a);
        *json = answer ? json_dumps(answer, JSON_INDENT(2)) : NULL;
        json_decref(answer);
    }
    hud_query_close(a);
    return status == HUD_OK && !*json ? HUD_ERR_MEMORY : status;
}
