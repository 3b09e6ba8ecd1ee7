/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - reads tables of choices. */
#define _GNU_SOURCE
#include "core/choose/rules.h"
#include "core/choose/model.h"
#include "core/choose/network.h"
#include "core/choose/toml.h"
#include "core/config/text.h"
#include "core/hash.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct rules *rules;
    bool machine, bare; /* within [machine]; in a rule that has no algorithm yet */
    int network;        /* line of [network], while it is read */
    char cpu[SET_TEXT]; /* of this machine, once it was asked for */
    char *error;
    size_t error_bytes;
};

static int complain(struct reader *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "FILE:LINE: what is wrong"; of a long path the end, so that a line holds what follows.  One line,
 * whatever the file holds. */
static int complain(struct reader *r, int line, const char *format, ...)
{
    enum { SHOWN = 80 };
    va_list args;
    size_t length = strlen(r->rules->file), cut = length > SHOWN ? length - SHOWN : 0;
    int used = snprintf(r->error, r->error_bytes, "%s%s:%d: ", cut != 0 ? "..." : "",
                        r->rules->file + cut, line);

    va_start(args, format);
    if (used > 0 && (size_t)used < r->error_bytes)
        vsnprintf(r->error + used, r->error_bytes - (size_t)used, format, args);
    va_end(args);
    hud_text_make_plain(r->error);
    return -1;
}

static struct rule *last(struct reader *r)
{
    return &r->rules->rule[r->rules->count - 1];
}

/* "8", "2-8", "2-" */
static bool parse_range(const char *text, bool bytes, long max, long range[2])
{
    char first[32];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);

    if (length >= sizeof first)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (!hud_config_number(first, bytes, 0, max, &range[0]))
        return false;
    range[1] = dash ? max : range[0];
    return (!dash || dash[1] == '\0' || hud_config_number(dash + 1, bytes, 0, max, &range[1])) &&
           range[0] <= range[1];
}

/* ---- the lines of a rule ---- */

static int take_ranks(struct reader *r, const char *value, int line)
{
    long range[2];

    if (!parse_range(value, false, INT_MAX, range))
        return complain(r, line,
                        "ranks = \"%.60s\" is not understood (accepted: a number, \"2-8\", \"2-\")",
                        value);
    last(r)->min_ranks = range[0];
    last(r)->max_ranks = range[1];
    return 0;
}

static int take_bytes(struct reader *r, const char *value, int line)
{
    long range[2];

    if (coll_has(last(r)->kind, COLL_VIEWS) && coll_has(last(r)->kind, COLL_UNSIZED))
        return complain(r, line,
                        "bytes = \"%.60s\": each rank knows only its own bytes of %s "
                        "(accepted: no such line)",
                        value, coll_name(last(r)->kind));
    if (!parse_range(value, true, LONG_MAX, range))
        return complain(r, line,
                        "bytes = \"%.60s\" is not understood (accepted: \"64K\", \"4K-1M\", "
                        "\"1M-\"; K, M and G)",
                        value);
    last(r)->min_bytes = (size_t)range[0];
    last(r)->max_bytes = range[1] == LONG_MAX ? SIZE_MAX : (size_t)range[1];
    return 0;
}

/* "E7", "E7 E12" */
static int take_evidence(struct reader *r, const char *value, int line)
{
    const char *c = value;
    bool good = strlen(value) < sizeof last(r)->evidence;

    while (good && *c != '\0') {
        size_t digits = *c == 'E' ? strspn(c + 1, "0123456789") : 0;
        good = digits > 0;
        c += good ? 1 + digits : 0;
        good = good && (*c == '\0' || (*c == ' ' && c[1] != '\0'));
        c += *c == ' ';
    }
    if (!good || c == value)
        return complain(r, line,
                        "evidence = \"%.60s\" is not understood (accepted: \"E7\", \"E7 E12\")",
                        value);
    snprintf(last(r)->evidence, sizeof last(r)->evidence, "%s", value);
    return 0;
}

/* "6/9 1.12"; by whole numbers, since a program's locale may have another decimal point */
static int take_holds(struct reader *r, const char *value, int line)
{
    struct rule *rule = last(r);
    int whole, dot = 0, hundredths, end = 0, found;

    found = sscanf(value, "%3d/%3d %3d.%n%2d%n", &rule->best, &rule->points, &whole, &dot,
                   &hundredths, &end);
    if (found != 4 || end != dot + 2 || value[end] != '\0' || hundredths < 0 || whole < 1 ||
        rule->best < 0 || rule->best > rule->points || rule->points < 1)
        return complain(r, line, "holds = \"%.60s\" is not understood (accepted: \"6/9 1.12\")",
                        value);
    rule->regret_percent = 100 * whole + hundredths;
    return 0;
}

static int take_within(struct reader *r, const char *value, int line)
{
    bool one = value[0] != '\0' && !strchr(value, ',') && strlen(value) < sizeof last(r)->within;

    if (!one || (strcmp(value, "machine") != 0 && strcmp(value, "unit") != 0 &&
                 !hud_topo_names_valid(value)))
        return complain(r, line,
                        "within = \"%.60s\" is not understood (accepted: l2, l3, die, group, numa, "
                        "socket, unit, machine)",
                        value);
    snprintf(last(r)->within, sizeof last(r)->within, "%s", value);
    return 0;
}

/* The row of the collective's algorithm with that name, of those that the time model knows or of
 * all; names gets theirs.  -1: there is none. */
static int find_row(struct reader *r, const char *value, bool with_cost, char names[SET_TEXT])
{
    int row = -1;

    for (int a = 0; hud_shm_algs[a]; a++) {
        if (hud_coll_kind(hud_shm_algs[a]->coll) != last(r)->kind ||
            (with_cost && !hud_model_knows(a)))
            continue;
        if (strcmp(hud_shm_algs[a]->name, value) == 0)
            row = a;
        size_t used = strlen(names);
        snprintf(names + used, SET_TEXT - used, "%s%s", used != 0 ? ", " : "",
                 hud_shm_algs[a]->name);
    }
    return row;
}

static int take_algorithm(struct reader *r, const char *value, int line)
{
    char names[SET_TEXT] = "mpi";

    r->bare = false;
    last(r)->row = find_row(r, value, false, names);
    if (last(r)->row >= 0 || strcmp(value, "mpi") == 0)
        return 0;
    return complain(r, line, "algorithm = \"%.60s\" is none of %s's (accepted: %s)", value,
                    coll_name(last(r)->kind), names);
}

static int take_cheaper_than(struct reader *r, const char *value, int line)
{
    char names[SET_TEXT] = "";
    bool known = !r->bare && hud_model_knows(last(r)->row);

    last(r)->than = find_row(r, value, true, names);
    if (known && last(r)->than >= 0)
        return 0;
    return complain(r, line,
                    "cheaper_than = \"%.60s\": the time model knows no such two of %s (accepted: "
                    "after an algorithm of: %s)",
                    value, coll_name(last(r)->kind), names[0] != '\0' ? names : "(none)");
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
        return complain(r, line, "%s = %.60s is not understood (accepted: true, false)", how->key,
                        value);
    *(int *)(void *)((char *)last(r) + how->at) = on;
    return 0;
}

static int take_param(struct reader *r, const char *key, const char *value, int line)
{
    struct rule *rule = last(r);
    const struct alg_param *params =
        rule->row >= 0 ? hud_shm_algs[rule->row]->family->params : NULL;
    const char *accepted;

    for (int p = 0; params && params[p].name; p++)
        if (strcmp(params[p].name, key) == 0) {
            rule->given[p] = true;
            if (hud_config_param(rule->row, p, value, &rule->param[p], &accepted))
                return 0;
            return complain(r, line, "%s = \"%.60s\" is not understood (accepted: %s)", key, value,
                            accepted);
        }
    return complain(r, line,
                    "%.60s is no line of a rule (accepted: ranks, bytes, oversubscribed, direct, "
                    "quick, intel, divided, within, fallback, second, evidence, holds, algorithm, "
                    "then cheaper_than and its parameters)",
                    key);
}

static int take_machine(struct reader *r, const char *key, const char *value)
{
    if (strcmp(key, "cpu") == 0 && r->cpu[0] == '\0') /* once: a file may hold many of these lines,
                                                         and the answer is read from a file */
        hud_topo_cpu_name(r->cpu, sizeof r->cpu);
    if (strcmp(key, "processors") == 0)
        r->rules->elsewhere |= strtol(value, NULL, 10) != sysconf(_SC_NPROCESSORS_ONLN);
    if (strcmp(key, "cpu") == 0)
        r->rules->elsewhere |= strcmp(value, r->cpu) != 0;
    return 0; /* others are for people: when, by whom */
}

/* ---- the file ---- */

static int on_strange(void *arg, const char *what, int line)
{
    return complain(
        arg, line,
        "%.120s: not understood (accepted: tables [machine], [network], [[barrier]], [[bcast]], "
        "[[allreduce]]... with texts, numbers, true and false)",
        what);
}

static int check_whole(struct reader *r)
{
    char why[SET_TEXT];
    int network = r->network;

    r->network = 0;
    if (network != 0 && !hud_network_end(&r->rules->network, why, sizeof why))
        return complain(r, network, "%s", why);
    return r->bare ? complain(r, last(r)->line,
                              "the rule names no algorithm (accepted: algorithm = \"...\")")
                   : 0;
}

static int on_table(void *arg, const char *name, int line)
{
    struct reader *r = arg;
    int kind = hud_coll_kind(name);

    if (check_whole(r) != 0)
        return -1;
    r->machine = strcmp(name, "machine") == 0;
    r->network = strcmp(name, "network") == 0 ? line : 0;
    if (r->network != 0)
        hud_network_begin(&r->rules->network);
    r->bare = !r->machine && r->network == 0;
    if (!r->bare)
        return 0;
    if (kind < 0)
        return on_strange(arg, name, line);
    if (r->rules->count == r->rules->room) {
        int room = 2 * r->rules->room + 16;
        struct rule *more = realloc(r->rules->rule, (size_t)room * sizeof *more);
        if (!more)
            return complain(r, line, "out of memory");
        r->rules->rule = more;
        r->rules->room = room;
    }
    r->rules->count++;
    *last(r) = (struct rule){ .kind = kind,
                              .row = -1,
                              .than = -1,
                              .line = line,
                              .oversubscribed = -1,
                              .direct = -1,
                              .quick = -1,
                              .intel = -1,
                              .divided = -1,
                              .max_ranks = INT_MAX,
                              .max_bytes = SIZE_MAX };
    return 0;
}

/* Parameters follow the algorithm whose they are. */
static int on_pair(void *arg, const char *key, const char *value, int line)
{
    struct reader *r = arg;
    char why[SET_TEXT];

    if (r->machine)
        return take_machine(r, key, value);
    if (r->network != 0)
        return hud_network_take(&r->rules->network, key, value, why, sizeof why)
                   ? 0
                   : complain(r, line, "%s", why);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(lines[i].key, key) == 0)
            return take_line(r, &lines[i], value, line);
    return take_param(r, key, value, line);
}

static uint64_t digest_of(const char *text, size_t bytes)
{
    uint64_t digest = hash_number(HASH_START, bytes);

    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ (unsigned char)text[i]) * 1099511628211ULL;
    return digest;
}

bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes)
{
    struct reader reader = { .rules = rules, .error = error, .error_bytes = error_bytes };
    const struct toml_visitor visitor = { on_table, on_pair, on_strange, &reader };

    *rules = (struct rules){ .digest = digest_of(text, bytes) };
    snprintf(rules->file, sizeof rules->file, "%s", file);
    hud_text_make_plain(rules->file); /* for people and JSON; nothing opens it */
    if (hud_toml_read(text, bytes, &visitor) == 0 && check_whole(&reader) == 0)
        return true;
    hud_rules_free(rules);
    return false;
}

void hud_rules_free(struct rules *rules)
{
    free(rules->rule);
    *rules = (struct rules){ .rule = NULL };
}

/* ---- the built-in table ---- */

extern const char hud_builtin_toml[];

uint64_t hud_rules_builtin_digest(void)
{
    return digest_of(hud_builtin_toml, strlen(hud_builtin_toml));
}

const struct rules *hud_rules_builtin(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rules builtin;
    static bool known;
    char error[SET_TEXT];

    pthread_mutex_lock(&lock);
    if (!known)
        known = hud_rules_read(&builtin, "built-in table", hud_builtin_toml,
                               strlen(hud_builtin_toml), error, sizeof error);
    bool there = known;
    pthread_mutex_unlock(&lock);
    return there ? &builtin : NULL;
}
