/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_lines.c - the lines of a rule of a table, by their keys: what a rule is for, who reads it,
 * its algorithm and parameters. */
#include "core/choose/model.h"
#include "core/choose/reading.h"
#include "core/config/text.h"

#include <stdio.h>
#include <string.h>

/* "8", "2-8", "2-" */
static bool parse_range(const char *text, bool bytes, long max, long range[2])
{
    char first[32];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);

    if (length >= sizeof first)
        return false;
    hud_text_copy(first, length + 1, text);
    if (!hud_config_number(first, bytes, 0, max, &range[0]))
        return false;
    range[1] = dash ? max : range[0];
    return (!dash || dash[1] == '\0' || hud_config_number(dash + 1, bytes, 0, max, &range[1])) &&
           range[0] <= range[1];
}

static int take_ranks(struct reader *r, const char *value, int line)
{
    long range[2];

    if (!parse_range(value, false, INT_MAX, range))
        return hud_reading_complain(
            r, line, "ranks = \"%.60s\" is not understood (accepted: a number, \"2-8\", \"2-\")",
            value);
    reading_last(r)->min_ranks = range[0];
    reading_last(r)->max_ranks = range[1];
    return 0;
}

static int take_bytes(struct reader *r, const char *value, int line)
{
    long range[2];

    if (coll_has(reading_last(r)->kind, COLL_VIEWS) &&
        coll_has(reading_last(r)->kind, COLL_UNSIZED))
        return hud_reading_complain(r, line,
                                    "bytes = \"%.60s\": each rank knows only its own bytes of %s "
                                    "(accepted: no such line)",
                                    value, coll_name(reading_last(r)->kind));
    if (!parse_range(value, true, LONG_MAX, range))
        return hud_reading_complain(
            r, line,
            "bytes = \"%.60s\" is not understood (accepted: \"64K\", \"4K-1M\", "
            "\"1M-\"; K, M and G)",
            value);
    reading_last(r)->min_bytes = (size_t)range[0];
    reading_last(r)->max_bytes = range[1] == LONG_MAX ? SIZE_MAX : (size_t)range[1];
    return 0;
}

/* "E7", "E7 E12" */
static int take_series(struct reader *r, const char *key, const char *value, int line)
{
    const char *c = value;
    bool good = strlen(value) < sizeof reading_last(r)->evidence;

    while (good && *c != '\0') {
        size_t digits = *c == 'E' ? strspn(c + 1, "0123456789") : 0;
        good = digits > 0;
        c += good ? 1 + digits : 0;
        good = good && (*c == '\0' || (*c == ' ' && c[1] != '\0'));
        c += *c == ' ';
    }
    if (!good || c == value)
        return hud_reading_complain(
            r, line, "%s = \"%.60s\" is not understood (accepted: \"E7\", \"E7 E12\")", key, value);
    hud_text_copy(reading_last(r)->evidence, sizeof reading_last(r)->evidence, value);
    return 0;
}

static int take_evidence(struct reader *r, const char *value, int line)
{
    return take_series(r, "evidence", value, line);
}

static int take_like(struct reader *r, const char *value, int line)
{
    reading_last(r)->like = true;
    return take_series(r, "like", value, line);
}

/* A number of at most three digits, and the character after it. */
static bool take_digits(const char **at, char after, int *number)
{
    int digits = 0;

    for (*number = 0; (*at)[digits] >= '0' && (*at)[digits] <= '9' && digits < 3; digits++)
        *number = 10 * *number + (*at)[digits] - '0';
    bool good = digits > 0 && (*at)[digits] == after;
    *at += good ? digits + (after != '\0') : 0;
    return good;
}

/* "6/9 1.12"; by whole numbers, since a program's locale may have another decimal point */
static int take_holds(struct reader *r, const char *value, int line)
{
    struct rule *rule = reading_last(r);
    const char *at = value;
    int whole, hundredths;
    bool good = take_digits(&at, '/', &rule->best) && take_digits(&at, ' ', &rule->points) &&
                take_digits(&at, '.', &whole) && strlen(at) == 2 &&
                take_digits(&at, '\0', &hundredths);

    if (!good || whole < 1 || rule->best > rule->points || rule->points < 1)
        return hud_reading_complain(
            r, line, "holds = \"%.60s\" is not understood (accepted: \"6/9 1.12\")", value);
    rule->regret_percent = 100 * whole + hundredths;
    return 0;
}

static int take_within(struct reader *r, const char *value, int line)
{
    bool one =
        value[0] != '\0' && !strchr(value, ',') && strlen(value) < sizeof reading_last(r)->within;

    if (!one || (strcmp(value, "machine") != 0 && strcmp(value, "unit") != 0 &&
                 !hud_topo_names_valid(value)))
        return hud_reading_complain(
            r, line,
            "within = \"%.60s\" is not understood (accepted: l2, l3, die, group, numa, "
            "socket, unit, machine)",
            value);
    hud_text_copy(reading_last(r)->within, sizeof reading_last(r)->within, value);
    return 0;
}

/* Most names differ in their first character, and a table has many. */
static bool is_name(const char *name, const char *text)
{
    return *name == *text && strcmp(name, text) == 0;
}

/* Whether a row is an algorithm of the rule's collective, and of those that the time model knows or
 * of all. */
static bool is_choice(struct reader *r, int row, bool with_cost)
{
    return strcmp(hud_shm_algs[row]->coll, coll_name(reading_last(r)->kind)) == 0 &&
           (!with_cost || hud_model_knows(row));
}

/* -1: there is none. */
static int find_row(struct reader *r, const char *value, bool with_cost)
{
    for (int a = 0; hud_shm_algs[a]; a++)
        if (is_name(hud_shm_algs[a]->name, value) && is_choice(r, a, with_cost))
            return a;
    return -1;
}

/* The names that find_row accepts, behind those that are there. */
static void list_rows(struct reader *r, bool with_cost, char names[SET_TEXT])
{
    for (int a = 0; hud_shm_algs[a]; a++) {
        size_t used = strlen(names);
        if (is_choice(r, a, with_cost))
            snprintf(names + used, SET_TEXT - used, "%s%s", used != 0 ? ", " : "",
                     hud_shm_algs[a]->name);
    }
}

static int take_algorithm(struct reader *r, const char *value, int line)
{
    char names[SET_TEXT] = "mpi";

    r->bare = false;
    reading_last(r)->row = find_row(r, value, false);
    if (reading_last(r)->row >= 0 || strcmp(value, "mpi") == 0)
        return 0;
    list_rows(r, false, names);
    return hud_reading_complain(r, line, "algorithm = \"%.60s\" is none of %s's (accepted: %s)",
                                value, coll_name(reading_last(r)->kind), names);
}

static int take_cheaper_than(struct reader *r, const char *value, int line)
{
    char names[SET_TEXT] = "";

    reading_last(r)->than = find_row(r, value, true);
    if (!r->bare && hud_model_knows(reading_last(r)->row) && reading_last(r)->than >= 0)
        return 0;
    list_rows(r, true, names);
    return hud_reading_complain(
        r, line,
        "cheaper_than = \"%.60s\": the time model knows no such two of %s (accepted: "
        "after an algorithm of: %s)",
        value, coll_name(reading_last(r)->kind), names[0] != '\0' ? names : "(none)");
}

static const struct line {
    const char *key;
    int (*take)(struct reader *r, const char *value, int line); /* NULL: true or false, an int */
    size_t at;                                                  /* of a rule */
} lines[] = { { "ranks", take_ranks },
              { "bytes", take_bytes },
              { "oversubscribed", NULL, offsetof(struct rule, oversubscribed) },
              { "direct", NULL, offsetof(struct rule, direct) },
              { "quick", NULL, offsetof(struct rule, quick) },
              { "intel", NULL, offsetof(struct rule, intel) },
              { "divided", NULL, offsetof(struct rule, divided) },
              { "fallback", NULL, offsetof(struct rule, fallback) },
              { "second", NULL, offsetof(struct rule, second) },
              { "evidence", take_evidence },
              { "like", take_like },
              { "holds", take_holds },
              { "within", take_within },
              { "algorithm", take_algorithm },
              { "cheaper_than", take_cheaper_than } };

static int take_line(struct reader *r, const struct line *how, const char *value, int line)
{
    bool on = strcmp(value, "true") == 0;

    if (how->take)
        return how->take(r, value, line);
    if (!on && strcmp(value, "false") != 0)
        return hud_reading_complain(r, line, "%s = %.60s is not understood (accepted: true, false)",
                                    how->key, value);
    *(int *)(void *)((char *)reading_last(r) + how->at) = on;
    return 0;
}

static int take_param(struct reader *r, const char *key, const char *value, int line)
{
    struct rule *rule = reading_last(r);
    const struct alg_param *params =
        rule->row >= 0 ? hud_shm_algs[rule->row]->family->params : NULL;
    const char *accepted;

    for (int p = 0; params && params[p].name; p++)
        if (strcmp(params[p].name, key) == 0) {
            rule->given[p] = true;
            if (hud_config_param(rule->row, p, value, &rule->param[p], &accepted))
                return 0;
            return hud_reading_complain(r, line, "%s = \"%.60s\" is not understood (accepted: %s)",
                                        key, value, accepted);
        }
    return hud_reading_complain(
        r, line,
        "%.60s is no line of a rule (accepted: ranks, bytes, oversubscribed, direct, "
        "quick, intel, divided, within, fallback, second, evidence, like, holds, algorithm, "
        "and after it cheaper_than and the algorithm's parameters)",
        key);
}

/* Parameters follow the algorithm whose they are. */
int hud_reading_take(struct reader *r, const char *key, const char *value, int line)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (is_name(lines[i].key, key))
            return take_line(r, &lines[i], value, line);
    return take_param(r, key, value, line);
}
