/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_keys.c - reads the conditions and the notes of a rule, by their keys. */
#include "core/config/text.h"
#include "core/plan/model.h"
#include "core/plan/rules_reader.h"

#include <stdio.h>
#include <string.h>

/* BAD: the value is not understood; TOLD: the error has been written already. */
enum verdict { GOOD, BAD, TOLD };

struct key {
    const char *name;
    enum reader_part part;
    enum verdict (*take)(struct reader *r, const struct key *key, const char *value);
    size_t at; /* offset in struct rule of the field that take sets */
    const char *accepted;
};

static void *field_of(struct reader *r, const struct key *key)
{
    return (char *)reading_last(r) + key->at;
}

/* Parses "8", "2-8" or "2-". */
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

static enum verdict take_ranks(struct reader *r, const struct key *key, const char *value)
{
    long range[2];

    (void)key;
    if (!parse_range(value, false, INT_MAX, range))
        return BAD;
    reading_last(r)->min_ranks = range[0];
    reading_last(r)->max_ranks = range[1];
    return GOOD;
}

static enum verdict take_bytes(struct reader *r, const struct key *key, const char *value)
{
    const int kind = reading_last(r)->kind;
    long range[2];

    (void)key;
    if (coll_has(kind, COLL_VIEWS) && coll_has(kind, COLL_UNSIZED)) {
        hud_rules_reader_complain(
            r, "bytes=%.60s: each rank knows only its own bytes of %s (accepted: no bytes)", value,
            coll_name(kind));
        return TOLD;
    }
    if (!parse_range(value, true, LONG_MAX, range))
        return BAD;
    reading_last(r)->min_bytes = (size_t)range[0];
    reading_last(r)->max_bytes = range[1] == LONG_MAX ? SIZE_MAX : (size_t)range[1];
    return GOOD;
}

static enum verdict take_yes_or_no(struct reader *r, const struct key *key, const char *value)
{
    bool yes = strcmp(value, "yes") == 0;

    *(int *)field_of(r, key) = yes;
    return yes || strcmp(value, "no") == 0 ? GOOD : BAD;
}

static enum verdict take_reduction(struct reader *r, const struct key *key, const char *value)
{
    const int kind = reading_last(r)->kind;
    int axis = 0;

    (void)key;
    if (!coll_has(kind, COLL_REDUCES)) {
        hud_rules_reader_complain(r, "reduction=%.60s: %s does not reduce (accepted: no reduction)",
                                  value, coll_name(kind));
        return TOLD;
    }
    while (hud_rule_reductions[axis] && strcmp(hud_rule_reductions[axis], value) != 0)
        axis++;
    reading_last(r)->reduction = axis;
    return hud_rule_reductions[axis] ? GOOD : BAD;
}

static enum verdict take_within(struct reader *r, const struct key *key, const char *value)
{
    bool one = value[0] != '\0' && !strchr(value, ',') && strlen(value) < TOPO_NAME;

    if (!one || (strcmp(value, "machine") != 0 && strcmp(value, "unit") != 0 &&
                 !hud_topo_names_valid(value)))
        return BAD;
    hud_text_copy(field_of(r, key), TOPO_NAME, value);
    return GOOD;
}

/* Keeps the value, since the algorithm is not known yet. */
static enum verdict take_cheaper_than(struct reader *r, const struct key *key, const char *value)
{
    (void)key;
    r->than = value;
    return GOOD;
}

/* Takes "E7", "E7,E12" or "prior". */
static enum verdict take_series(struct reader *r, const struct key *key, const char *value)
{
    char *to = field_of(r, key);
    const char *c = value;

    if (strlen(value) >= RULE_EVIDENCE)
        return BAD;
    for (bool more = strcmp(value, "prior") != 0; more; more = *c++ == ',') {
        size_t digits = *c == 'E' ? strspn(c + 1, "0123456789") : 0;
        c += digits > 0 ? 1 + digits : 0;
        if (digits == 0 || (*c != ',' && *c != '\0'))
            return BAD;
    }
    hud_text_copy(to, RULE_EVIDENCE, value);
    for (; *to != '\0'; to++)
        *to = *to == ',' ? ' ' : *to;
    return GOOD;
}

static enum verdict take_ns(struct reader *r, const struct key *key, const char *value)
{
    long number;

    if (!hud_config_number(value, false, 1, LONG_MAX, &number))
        return BAD;
    *(uint64_t *)field_of(r, key) = (uint64_t)number;
    return GOOD;
}

static enum verdict take_count_from(struct reader *r, const struct key *key, long min,
                                    const char *value)
{
    long number;

    if (!hud_config_number(value, false, min, INT_MAX, &number))
        return BAD;
    *(int *)field_of(r, key) = (int)number;
    return GOOD;
}

static enum verdict take_count(struct reader *r, const struct key *key, const char *value)
{
    return take_count_from(r, key, 1, value);
}

static enum verdict take_version(struct reader *r, const struct key *key, const char *value)
{
    return take_count_from(r, key, 0, value);
}

static enum verdict take_date(struct reader *r, const struct key *key, const char *value)
{
    static const char form[] = "0000-00-00";
    size_t i = 0;

    while (form[i] != '\0' &&
           (form[i] == '0' ? value[i] >= '0' && value[i] <= '9' : value[i] == form[i]))
        i++;
    if (form[i] != '\0' || value[i] != '\0')
        return BAD;
    hud_text_copy(field_of(r, key), RULE_DATE, value);
    return GOOD;
}

/* Compares names.  Most differ in their first characters, and a file has thousands of names. */
static bool is_name(const char *a, const char *b)
{
    return a[0] == b[0] && strcmp(a, b) == 0;
}

/* Returns whether a row is an algorithm of the last rule's collective.  with_cost: and known to the
 * time model. */
static bool is_choice(struct reader *r, int row, bool with_cost)
{
    const struct rule *rule = reading_last(r);

    return strcmp(rule_alg(rule, row)->coll, coll_name(rule->kind)) == 0 &&
           (!with_cost || (rule->nodes == 0 && hud_model_knows(row)));
}

int hud_rules_reader_row(struct reader *r, const char *name, bool with_cost)
{
    const struct alg *const *algs = rule_algs(reading_last(r));

    for (int a = 0; algs[a]; a++)
        if (is_name(algs[a]->name, name) && is_choice(r, a, with_cost))
            return a;
    return -1;
}

void hud_rules_reader_list(char names[SET_TEXT], const char *name)
{
    size_t used = strlen(names);

    snprintf(names + used, SET_TEXT - used, "%s%s", used != 0 ? ", " : "", name);
}

void hud_rules_reader_rows(struct reader *r, bool with_cost, char names[SET_TEXT])
{
    const struct alg *const *algs = rule_algs(reading_last(r));

    for (int a = 0; algs[a]; a++)
        if (is_choice(r, a, with_cost))
            hud_rules_reader_list(names, algs[a]->name);
}

/* Takes "slices:35000". */
static enum verdict take_timed(struct reader *r, const char *value, int *row, uint64_t *ns)
{
    char name[64];
    const char *colon = strchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : sizeof name;
    long number;

    if (length >= sizeof name || !hud_config_number(colon + 1, false, 1, LONG_MAX, &number))
        return BAD;
    hud_text_copy(name, length + 1, value);
    *row = hud_rules_reader_row(r, name, false);
    *ns = (uint64_t)number;
    if (*row >= 0 || strcmp(name, "mpi") == 0)
        return GOOD;
    r->unknown = true;
    return BAD;
}

static enum verdict take_runner_up(struct reader *r, const struct key *key, const char *value)
{
    (void)key;
    return take_timed(r, value, &reading_last(r)->runner_up, &reading_last(r)->runner_up_ns);
}

static enum verdict take_before(struct reader *r, const struct key *key, const char *value)
{
    (void)key;
    return take_timed(r, value, &reading_last(r)->before, &reading_last(r)->before_ns);
}

#define FIELD(name) offsetof(struct rule, name)
#define YES_OR_NO(name)                                                                            \
    {                                                                                              \
#name, CONDITIONS, take_yes_or_no, FIELD(name), "yes, no"                                  \
    }

static const struct key keys[] = {
    { "ranks", CONDITIONS, take_ranks, 0, "8, 2-8, 2-" },
    { "nodes", CONDITIONS, take_count, FIELD(nodes), "a number from 1 on" },
    { "bytes", CONDITIONS, take_bytes, 0, "64K, 4K-1M, 1M-; K, M and G" },
    YES_OR_NO(oversubscribed),
    YES_OR_NO(direct),
    YES_OR_NO(quick),
    YES_OR_NO(divided),
    { "reduction", CONDITIONS, take_reduction, 0, "exact, ordered, inexact" },
    { "within", CONDITIONS, take_within, FIELD(within),
      "l2, l3, die, group, numa, socket, unit, machine" },
    { "cheaper_than", CONDITIONS, take_cheaper_than, 0, "an algorithm" },
    { "evidence", NOTES, take_series, FIELD(evidence), "E7, E7,E12, prior" },
    { "ns", NOTES, take_ns, FIELD(ns), "a time from 1 on" },
    { "samples", NOTES, take_count, FIELD(samples), "a number from 1 on" },
    { "runner_up", NOTES, take_runner_up, 0, "an algorithm and its time: NAME:35000" },
    { "mpi_ns", NOTES, take_ns, FIELD(mpi_ns), "a time from 1 on" },
    { "before", NOTES, take_before, 0, "an algorithm and its time: NAME:35000" },
    { "version", NOTES, take_version, FIELD(version), "a number from 0 on" },
    { "date", NOTES, take_date, FIELD(date), "2026-11-29" },
};
enum { KEYS = sizeof keys / sizeof *keys };

static int refuse_name(struct reader *r, enum reader_part part, const char *name)
{
    static const char *const parts[] = { [CONDITIONS] = "condition", [NOTES] = "note" };
    char names[SET_TEXT] = "";

    r->unknown = true;
    for (int k = 0; k < KEYS; k++)
        if (keys[k].part == part)
            hud_rules_reader_list(names, keys[k].name);
    return hud_rules_reader_complain(r, "%.60s is not a %s of a rule (accepted: %s%s)", name,
                                     parts[part], names,
                                     part == CONDITIONS ? ", and then -> ALGORITHM" : "");
}

int hud_rules_reader_key(struct reader *r, enum reader_part part, const struct word *word)
{
    int k = 0;

    while (k < KEYS && (keys[k].part != part || !is_name(keys[k].name, word->name)))
        k++;
    if (k == KEYS)
        return refuse_name(r, part, word->name);
    if ((r->seen >> k & 1) != 0)
        return hud_rules_reader_complain(r, "%s: a second time (accepted: once)", word->name);
    r->seen |= 1U << k;
    const char *value = word->value ? word->value : "";
    enum verdict verdict = keys[k].take(r, &keys[k], value);
    return verdict == GOOD ? 0
           : verdict == TOLD
               ? -1
               : hud_rules_reader_complain(r, "%s=%.60s is not understood (accepted: %s)",
                                           word->name, value, keys[k].accepted);
}
