/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.c - where a program finds wisdom, and which lines of a file it uses, as JSON. */
#include "core/job/wisdom_file.h"
#include "tools/query/answers.h"
#include "tools/query/pieces.h"

#include <stdio.h>
#include <stdlib.h>

int hud_wisdom_json(const char *mpi, char **json)
{
    struct wisdom_place *place = calloc(1, sizeof *place);
    struct config *config = malloc(sizeof *config);
    int status = mpi && json ? HUD_ERR_MEMORY : HUD_ERR_ARGUMENT;

    if (place && config && status == HUD_ERR_MEMORY) {
        hud_config_read(NULL, config);
        if (!hud_wisdom_place(config->text[SET_WISDOM], mpi, place))
            place->path[0] = '\0';
        *json = NULL;
        status = hud_json_give(json_pack("{s:s, s:s, s:b}", "file", place->path, "machine",
                                         place->machine, "named", place->named),
                               json);
    }
    free(config);
    free(place);
    return status;
}

/* Returns why a program does not use a rule of an earlier or later version of its algorithm. */
static json_t *version_text(const struct rule *rule)
{
    const struct alg *alg = rule_alg(rule, rule->row);

    return json_sprintf("measured with version %d of %s, and this huddle has version %d",
                        rule->version, alg ? alg->name : "mpi", alg ? alg->version : 0);
}

static json_t *lines_of(const struct rules *rules, bool current)
{
    json_t *list = json_array();

    for (int i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->rule[i];
        if (rule_is_current(rule) && current)
            json_array_append_new(list, json_integer(rule->line));
        else if (!rule_is_current(rule) && !current)
            json_array_append_new(
                list, json_pack("{s:i, s:o}", "line", rule->line, "why", version_text(rule)));
    }
    return list;
}

/* Answers for rules that were read from a file with `error`. */
static json_t *judged(const struct wisdom_place *place, const struct rules *rules,
                      const char *error)
{
    char not_used[WISDOM_WHY], not_written[WISDOM_WHY];

    hud_wisdom_refuses(place, rules, false, not_used);
    hud_wisdom_refuses(place, rules, true, not_written);
    return json_pack("{s:o, s:o, s:s, s:b, s:s, s:s}", "lines", lines_of(rules, true), "other",
                     lines_of(rules, false), "error", error, "elsewhere", rules->elsewhere,
                     "not_used", not_used, "not_written", not_written);
}

int hud_lines_json(const struct hud_lines *q, char **json)
{
    struct wisdom_place *place = calloc(1, sizeof *place);
    char error[SET_TEXT];
    struct rules rules;

    if (!q || !q->text || !json) {
        free(place);
        return HUD_ERR_ARGUMENT;
    }
    *json = NULL;
    if (!place)
        return HUD_ERR_MEMORY;
    hud_wisdom_place(q->named ? q->name : "on", q->mpi, place);
    snprintf(place->path, sizeof place->path, "%s", q->name);
    bool read = hud_rules_read_some(&rules, q->name, q->text, q->bytes, error, sizeof error);
    json_t *found = judged(place, &rules, error);
    hud_rules_free(&rules);
    free(place);
    if (read)
        return hud_json_give(found, json);
    json_decref(found);
    return HUD_ERR_MEMORY;
}
