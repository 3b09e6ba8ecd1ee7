/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_line.c - reads the line of a rule: the words between its conditions and its notes, which
 * rule_keys.c reads. */
#include "core/plan/model.h"
#include "core/plan/rules_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a value of a parameter that no setting has. */
static bool read_value(const struct alg_param *param, const char *value, long *number,
                       const char **accepted)
{
    *accepted = param->words ? "a word of its list" : "a number in its range";
    if (!param->words)
        return hud_config_number(value, strcmp(param->unit, "B") == 0, param->min, param->max,
                                 number);
    *number = param->min;
    while (*number < param->max && strcmp(param->words[*number - param->min], value) != 0)
        ++*number;
    return strcmp(param->words[*number - param->min], value) == 0;
}

static int refuse_param(struct reader *r, const struct alg *alg, const char *name)
{
    char names[SET_TEXT] = "";

    for (int p = 0; alg && alg_param_at(alg, p); p++)
        hud_rules_reader_list(names, alg_param_at(alg, p)->name);
    r->unknown = true;
    return hud_rules_reader_complain(r, "%.60s is not a parameter of %s (accepted: %s)", name,
                                     alg ? alg->name : "mpi", names[0] != '\0' ? names : "none");
}

static int take_param(struct reader *r, const struct word *word)
{
    struct rule *rule = reading_last(r);
    const struct alg *alg = rule_alg(rule, rule->row);
    const char *value = word->value ? word->value : "", *accepted;

    for (int p = 0; alg && alg_param_at(alg, p); p++) {
        if (strcmp(alg_param_at(alg, p)->name, word->name) != 0)
            continue;
        if (rule->given[p])
            return hud_rules_reader_complain(r, "%s: a second time (accepted: once)", word->name);
        rule->given[p] = true;
        if (rule->nodes != 0 ? read_value(alg_param_at(alg, p), value, &rule->param[p], &accepted)
                             : hud_config_param(rule->row, p, value, &rule->param[p], &accepted))
            return 0;
        return hud_rules_reader_complain(r, "%s=%.60s is not understood (accepted: %s)", word->name,
                                         value, accepted);
    }
    return refuse_param(r, alg, word->name);
}

/* Takes the algorithm, the word after "->". */
static int take_algorithm(struct reader *r)
{
    struct rule *rule = reading_last(r);
    char names[SET_TEXT] = "mpi";
    struct word word = { .name = "" };

    if (hud_rules_reader_word(r, &word) < 0)
        return -1;
    if (!word.value)
        rule->row = hud_rules_reader_row(r, word.name, false);
    if (word.value || (rule->row < 0 && strcmp(word.name, "mpi") != 0)) {
        hud_rules_reader_rows(r, false, names);
        r->unknown = true;
        return hud_rules_reader_complain(r, "-> %.60s is not an algorithm of %s (accepted: %s)",
                                         word.name, coll_name(rule->kind), names);
    }
    if (!r->than)
        return 0;
    rule->than = hud_rules_reader_row(r, r->than, true);
    if (rule->row >= 0 && rule->than >= 0 && hud_model_knows(rule->row))
        return 0;
    names[0] = '\0';
    hud_rules_reader_rows(r, true, names);
    return hud_rules_reader_complain(
        r, "cheaper_than=%.60s: the time model does not know both it and %s (accepted: of %s %s)",
        r->than, word.name, coll_name(rule->kind), names[0] != '\0' ? names : "none");
}

/* Adds a rule that matches each call of a collective. */
static int add_rule(struct reader *r, int kind)
{
    if (r->rules->count == r->room) {
        int room = 2 * r->room + 16;
        struct rule *more = realloc(r->rule, (size_t)room * sizeof *more);
        r->out_of_memory = r->out_of_memory || !more;
        if (!more)
            return hud_rules_reader_complain(r, "out of memory");
        r->rules->rule = r->rule = more;
        r->room = room;
    }
    r->rules->count++;
    *reading_last(r) = (struct rule){ .kind = kind,
                                      .row = -1,
                                      .than = -1,
                                      .line = r->line,
                                      .oversubscribed = -1,
                                      .direct = -1,
                                      .quick = -1,
                                      .divided = -1,
                                      .reduction = -1,
                                      .max_ranks = INT_MAX,
                                      .max_bytes = SIZE_MAX,
                                      .runner_up = -1,
                                      .before = -1 };
    return 0;
}

/* Takes the next word, which may lead to another part of the line. */
static int take_word(struct reader *r, enum reader_part *part, const struct word *word)
{
    if (*part == CONDITIONS && strcmp(word->name, "->") == 0 && !word->value) {
        *part = PARAMS;
        return take_algorithm(r);
    }
    if (*part == PARAMS && strcmp(word->name, "|") == 0 && !word->value) {
        *part = NOTES;
        return 0;
    }
    return *part == PARAMS ? take_param(r, word) : hud_rules_reader_key(r, *part, word);
}

int hud_rules_reader_rule(struct reader *r, int kind)
{
    enum reader_part part = CONDITIONS;
    struct word word;
    int rc = add_rule(r, kind);

    r->than = NULL;
    r->seen = 0;
    if (rc != 0)
        return rc;
    while ((rc = hud_rules_reader_word(r, &word)) == 1)
        if (take_word(r, &part, &word) != 0)
            return -1;
    return rc == 0 && part == CONDITIONS
               ? hud_rules_reader_complain(
                     r, "%s: the rule names no algorithm (accepted: -> ALGORITHM)", coll_name(kind))
               : rc;
}
