/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.c - the table of settings, and how it is read.
 *
 * A value is checked completely before it is used.  The first bad one becomes config->error: a line
 * with the variable, its value and the accepted values.  The core then passes on every collective.
 * An unknown variable that starts with HUDDLE_ is an error too, since a misspelt name would
 * otherwise go unnoticed.
 */
#include "core/config/config.h"
#include "coll/coll.h"
#include "core/config/text.h"
#include "core/elevated.h"
#include "core/hash.h"
#include "topo/topo.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum kind { WORD, BYTES, TEXT, NUMBER };

struct row {
    struct setting shown;
    enum kind kind;
    bool agree;
    const char *const *words;
    const char *(*check)(const char *value); /* TEXT: NULL if fine, else what is accepted */
    long min, max;
    int alg, param; /* -1: not an algorithm's */
};

static const char *const words_switch[] = { "off", "on", NULL };
static const char *const words_wait[] = { "poll", "yield", "sleep", "adaptive",
                                          NULL }; /* as enum mem_way */
static const char *const words_log[] = { "quiet", "error", "warn", "info", "debug", NULL };
static const char *const words_death[] = { "wait", "abort", NULL }; /* as enum config_death */
static const char *const words_order[] = { "any", "fixed", NULL };
static const char *words_of[COLL_KINDS][SET_ALGS + 3]; /* choices of a collective */

static const char *check_any(const char *value)
{
    return value ? NULL : "any text in UTF-8 of at most 255 bytes";
}

static const char *check_levels(const char *value)
{
    return hud_topo_names_valid(value)
               ? NULL
               : "a comma-separated list of l2, l3, die, group, numa, socket";
}

static const char *check_stats(const char *value)
{
    bool plain = strcmp(value, "off") == 0 || strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ||
                 strcmp(value, "on") == 0;
    bool file = strncmp(value, "json:", 5) == 0 && value[5] != '\0';

    return plain || file ? NULL : "off, 1 or json:FILE";
}

#define SETTING(id, name_, kind_, preset_, unit_, agree_, words_, check_, doc_)                    \
    [SET_##id] = { .shown = { .name = name_, .preset = preset_, .unit = unit_, .doc = doc_ },      \
                   .kind = kind_,                                                                  \
                   .agree = agree_,                                                                \
                   .words = words_,                                                                \
                   .check = check_,                                                                \
                   .min = kind_ == NUMBER,                                                         \
                   .max = 1L << 30,                                                                \
                   .alg = -1 },
static struct row rows[SET_MAX] = {
#include "core/config/config.def"
};
#undef SETTING
static struct setting shown[SET_MAX];
static int row_count;

/* A copy for the life of the process, in memory that is there: the table of settings cannot fail.
 * What does not fit is cut off; a test looks. */
static char *keep(const char *text)
{
    static char kept[SET_KEPT];
    static size_t used;
    size_t bytes = strlen(text) + 1, room = sizeof kept - used;
    char *copy = kept + used;

    snprintf(copy, room, "%s", text);
    used += bytes < room ? bytes : room - 1; /* the last byte stays an empty text */
    return copy;
}

/* "a, b or c" */
static char *join(const char *const *words)
{
    char text[SET_TEXT] = "";

    for (int i = 0; words[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s",
                 i == 0         ? ""
                 : words[i + 1] ? ", "
                                : " or ",
                 words[i]);
    }
    return keep(text);
}

/* "bcast_queue_fragment" from HUDDLE_BCAST_QUEUE_FRAGMENT; "on" from HUDDLE itself */
static char *lower(const char *name)
{
    char *out = keep(name[6] == '_' ? name + 7 : "on");

    for (char *c = out; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return out;
}

static void collect_choices(void)
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int n = 0;
        words_of[kind][n++] = "auto";
        words_of[kind][n++] = "mpi";
        for (int a = 0; hud_shm_algs[a]; a++)
            if (hud_coll_kind(hud_shm_algs[a]->coll) == kind)
                words_of[kind][n++] = hud_shm_algs[a]->name;
    }
}

static void add_param(int alg, int param)
{
    const struct alg *a = hud_shm_algs[alg];
    const struct alg_param *p = alg_param_at(a, param);
    struct row *row = &rows[row_count];
    char name[SET_TEXT], preset[32];

    snprintf(name, sizeof name, "HUDDLE_%s_%s_%s", a->coll, a->name, p->name);
    for (char *c = name; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    snprintf(preset, sizeof preset, "%ld", p->preset);
    *row = (struct row){ .shown = { .name = keep(name), .unit = p->unit, .doc = p->doc },
                         .kind = p->words                    ? WORD
                                 : strcmp(p->unit, "B") == 0 ? BYTES
                                                             : NUMBER,
                         .agree = true,
                         .words = p->words,
                         .min = p->min,
                         .max = p->max,
                         .alg = alg,
                         .param = param };
    row->shown.preset = keep(p->words ? p->words[p->preset - p->min] : preset);
    row_count++;
}

static void describe(struct row *row)
{
    char text[SET_TEXT];

    row->shown.mca = lower(row->shown.name);
    if (row->kind == WORD)
        row->shown.accepted = join(row->words);
    else if (row->kind == TEXT)
        row->shown.accepted = row->check == check_any     ? check_any(NULL)
                              : row->check == check_stats ? check_stats("?")
                                                          : check_levels("?");
    else {
        const char *bytes = row->alg < 0 ? "auto, or a number of bytes (K, M and G allowed)"
                                         : "bytes (K, M and G allowed)";
        snprintf(text, sizeof text, "%s from %ld to %ld", row->kind == BYTES ? bytes : "a number",
                 row->min, row->max);
        row->shown.accepted = keep(text);
    }
}

static void build(void)
{
    collect_choices();
    row_count = SET_FIXED;
    for (int a = 0; hud_shm_algs[a]; a++)
        for (int p = 0; alg_param_at(hud_shm_algs[a], p); p++)
            add_param(a, p);
    for (int i = 0; i < row_count; i++) {
        describe(&rows[i]);
        shown[i] = rows[i].shown;
    }
}

const struct setting *hud_settings(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, build);
    *count = row_count;
    return shown;
}

bool hud_config_number(const char *text, bool bytes, long min, long max, long *number)
{
    char *end;

    if (text[0] < '0' ||
        text[0] > '9') /* strtol would take a newline, a space or a sign before it */
        return false;
    errno = 0;
    long n = strtol(text, &end, 10);
    long scale = !bytes || *end == '\0'       ? 1
                 : *end == 'K' || *end == 'k' ? 1L << 10
                 : *end == 'M' || *end == 'm' ? 1L << 20
                 : *end == 'G' || *end == 'g' ? 1L << 30
                                              : 0;
    if (errno != 0 || scale == 0 || (*end != '\0' && (scale == 1 || end[1] != '\0')))
        return false;
    if (n > max / scale || n * scale < min)
        return false;
    *number = n * scale;
    return true;
}

static bool parse_number(const struct row *row, const char *value, long *number)
{
    if (row->alg < 0 && row->kind == BYTES && strcmp(value, "auto") == 0) {
        *number = -1;
        return true;
    }
    return hud_config_number(value, row->kind == BYTES, row->min, row->max, number);
}

static bool parse_word(const struct row *row, const char *value, long *number)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], value) == 0) {
            *number = row->min + i;
            return true;
        }
    if (row->words == words_switch && (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)) {
        *number = value[0] - '0';
        return true;
    }
    return false;
}

static void complain(struct config *config, const char *name, const char *value,
                     const char *accepted)
{
    if (config->error[0] == '\0')
        snprintf(config->error, sizeof config->error, "%s=%.100s is not understood (accepted: %s)",
                 name, value, accepted);
}

static void take(struct config *config, int i, const char *value, const char *origin)
{
    const struct row *row = &rows[i];
    long number = 0;
    bool fine;

    if (row->kind == TEXT)
        fine = strlen(value) < SET_TEXT && hud_text_is_plain(value) && row->check(value) == NULL;
    else
        fine =
            row->kind == WORD ? parse_word(row, value, &number) : parse_number(row, value, &number);
    if (!fine) {
        complain(config, row->shown.name, i == SET_JOB ? "(a secret)" : value, row->shown.accepted);
        return;
    }
    config->number[i] = number;
    config->origin[i] = origin;
    snprintf(config->text[i], SET_TEXT, "%s", value);
    if (row->alg >= 0) {
        config->param[row->alg][row->param] = number;
        config->given[row->alg][row->param] = strcmp(origin, "default") != 0;
    }
    if (row->agree) {
        char canonical[32];
        snprintf(canonical, sizeof canonical, "%ld", number);
        config->digest[i] =
            (uint32_t)hash_text(HASH_START, row->kind == TEXT ? value : canonical) | 1;
    }
}

bool hud_config_param(int alg, int param, const char *text, long *number, const char **accepted)
{
    int count, i = SET_FIXED;

    hud_settings(&count);
    while (rows[i].alg != alg || rows[i].param != param)
        i++;
    *accepted = rows[i].shown.accepted;
    return rows[i].kind == WORD ? parse_word(&rows[i], text, number)
                                : parse_number(&rows[i], text, number);
}

static int find(const char *name, size_t length)
{
    for (int i = 0; i < row_count; i++)
        if (strlen(rows[i].shown.name) == length && strncmp(rows[i].shown.name, name, length) == 0)
            return i;
    return -1;
}

/* Letters to insert, remove or change to get from a to b. */
static int distance(const char *a, const char *b)
{
    int row[SET_TEXT], na = (int)strlen(a), nb = (int)strlen(b);

    if (nb >= SET_TEXT)
        return SET_TEXT;
    for (int j = 0; j <= nb; j++)
        row[j] = j;
    for (int i = 1; i <= na; i++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = before + (a[i - 1] != b[j - 1]);
            before = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[nb];
}

static void complain_unknown(struct config *config, const char *assignment)
{
    char name[SET_TEXT];
    int nearest = 0, min = SET_TEXT;

    if (config->error[0] != '\0')
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(assignment, "="), assignment);
    for (int i = 0; i < row_count; i++) {
        int d = distance(name, rows[i].shown.name);
        if (d < min) {
            min = d;
            nearest = i;
        }
    }
    bool near =
        min <= 3 && 2 * min + 7 <= (int)strlen(name); /* at most half of what follows HUDDLE_ */
    snprintf(config->error, sizeof config->error,
             "%.100s is not a setting (%s%s%s'huddle settings' lists them)", assignment,
             near ? "nearest: " : "", near ? rows[nearest].shown.name : "", near ? "; " : "");
}

static void take_assignment(struct config *config, const char *assignment, const char *origin)
{
    size_t length = strcspn(assignment, "=");

    if (assignment[length] != '=')
        return;
    int i = find(assignment, length);
    if (i >= 0)
        take(config, i, assignment + length + 1, origin);
    else
        complain_unknown(config, assignment);
}

void hud_config_read(const char *const *host, struct config *config)
{
    int count;

    memset(config, 0, sizeof *config);
    hud_settings(&count);
    for (int i = 0; i < count; i++)
        take(config, i, rows[i].shown.preset, "default");
    for (char **e = environ; e && *e && !process_is_elevated(); e++)
        if (strncmp(*e, "HUDDLE_", 7) == 0 || strncmp(*e, "HUDDLE=", 7) == 0)
            take_assignment(config, *e, "environment");
    for (; host && *host; host++)
        take_assignment(config, *host, "host");
    if (process_is_elevated())
        config->number[SET_ON] =
            SWITCH_OFF; /* what huddle uses (hwloc) trusts the environment too */
    hud_text_make_plain(config->error);
    config->agree = HASH_START;
    for (int i = 0; i < count; i++)
        config->agree = hash_number(config->agree, config->digest[i]);
    /* a parameter that is given wins over a rule's, also where it is given as what it is anyway */
    for (int i = SET_FIXED; i < count; i++)
        config->agree = hash_number(config->agree, config->given[rows[i].alg][rows[i].param]);
}

bool hud_config_checks(const char *const *host)
{
    struct config *config = malloc(sizeof *config);
    bool on = false;

    if (config) {
        hud_config_read(host, config);
        on = config->number[SET_CHECK] == SWITCH_ON;
    }
    free(config);
    return on;
}

#define COLL(ID, ...) [COLL_##ID] = SET_##ID,
static const int choice_of[COLL_KINDS] = {
#include "coll/coll.def"
};
#undef COLL

int hud_config_forced(const struct config *config, int coll_kind)
{
    long left = config->number[choice_of[coll_kind]];

    if (left == CHOICE_AUTO || left == CHOICE_MPI)
        return left == CHOICE_AUTO ? -1 : -2;
    left -= CHOICE_FIRST;
    for (int a = 0; hud_shm_algs[a]; a++)
        if (hud_coll_kind(hud_shm_algs[a]->coll) == coll_kind && left-- == 0)
            return a;
    return -1;
}
