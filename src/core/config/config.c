/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.c - reads the settings of a context.
 *
 * A value is checked completely before it is used.  The first bad one becomes config->error: a line
 * with the variable, its value and the accepted values; further ones follow in config->more.  The
 * core then passes on every collective.  An unknown variable that starts with HUDDLE_ is an error
 * too, since a misspelt name would otherwise go unnoticed.
 */
#include "core/config/config.h"
#include "base/hash.h"
#include "base/name.h"
#include "base/process_atomics.h"
#include "base/setuid.h"
#include "coll/coll.h"
#include "core/config/settings.h"
#include "core/config/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#define COLL(ID, ...) [COLL_##ID] = SET_##ID,
static const int choice_of[COLL_KINDS] = {
#include "coll/coll.def"
};
#undef COLL

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

static bool parse_number(const struct setting_row *row, const char *value, long *number)
{
    if (row->alg < 0 && row->kind == BYTES && strcmp(value, "auto") == 0) {
        *number = -1;
        return true;
    }
    return hud_config_number(value, row->kind == BYTES, row->min, row->max, number);
}

/* Accepts a path of a setting that also has words.  Its number is the number of words. */
static bool parse_file(const struct setting_row *row, const char *value, long *number)
{
    if (!strchr(value, '/') || strlen(value) >= SET_TEXT || !hud_text_is_plain(value))
        return false;
    for (*number = 0; row->words[*number];)
        ++*number;
    return true;
}

static bool parse_word(const struct setting_row *row, const char *value, long *number)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], value) == 0) {
            *number = row->min + i;
            return true;
        }
    if (row->is_switch && (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)) {
        *number = value[0] - '0';
        return true;
    }
    return false;
}

/* Returns whether there is room for a line about a further bad value.  The last line has the
 * number of the others. */
static bool has_room(const struct config *config)
{
    return config->error[0] == '\0' || config->more_count < SET_ERRORS - 2;
}

static void complain(struct config *config, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct config *config, const char *format, ...)
{
    va_list args;

    if (!has_room(config)) {
        config->untold++;
        return;
    }
    va_start(args, format);
    vsnprintf(config->error[0] == '\0' ? config->error : config->more[config->more_count++],
              sizeof config->error, format, args);
    va_end(args);
}

static void count_untold(struct config *config)
{
    if (config->untold > 0)
        snprintf(config->more[config->more_count++], sizeof config->error,
                 "%d further settings are not valid ('huddle settings' lists the accepted values)",
                 config->untold);
}

static bool parse(const struct setting_row *row, const char *value, long *number)
{
    if (row->kind == TEXT)
        return strlen(value) < SET_TEXT && hud_text_is_plain(value) && row->check(value) == NULL;
    if (row->kind == WORD_OR_FILE && parse_file(row, value, number))
        return true;
    return row->words ? parse_word(row, value, number) : parse_number(row, value, number);
}

/* Stores a valid value; its text stays there. */
static void set(struct config *config, int i, const char *value, long number, const char *origin)
{
    const struct setting_row *row = &hud_settings_rows(NULL)[i];

    if (i == SET_ON) { /* require counts as on, also for ranks that only set on */
        config->required = number == SWITCH_REQUIRE;
        number = number == SWITCH_REQUIRE ? SWITCH_ON : number;
    }
    if (i == SET_CHECK) {
        config->check_aborts = number == CHECK_ABORT;
        number = number == CHECK_ABORT ? SWITCH_ON : number;
    }
    config->number[i] = number;
    config->origin[i] = origin;
    config->text[i] = value;
    if (row->alg >= 0) {
        config->param[row->alg][row->param] = number;
        config->given[row->alg][row->param] = strcmp(origin, "default") != 0;
    }
    if (row->agree)
        config->digest[i] =
            (uint32_t)(row->kind == TEXT ? hash_text(HASH_START, value)
                                         : hash_number(HASH_START, (uint64_t)number)) |
            1;
}

/* Returns whether a text is a number with an optional sign, and K, M or G if it is bytes. */
static bool is_number(const char *text, bool bytes)
{
    size_t digits = strspn(text += *text == '-', "0123456789");

    return digits > 0 && (text[digits] == '\0' ||
                          (bytes && strchr("KkMmGg", text[digits]) && text[digits + 1] == '\0'));
}

const char *hud_setting_refusal(int at, const char *value)
{
    const struct setting_row *row = &hud_settings_rows(NULL)[at];
    long number;

    if (value[0] == '\0' || parse(row, value, &number))
        return NULL;
    bool is_far =
        (row->kind == BYTES || row->kind == NUMBER) && is_number(value, row->kind == BYTES);
    return is_far ? "out of range" : "not valid";
}

/* Stores a value that somebody gave.  Copies the text, as the environment may change later. */
static void take(struct config *config, int i, const char *value, const char *origin)
{
    const struct setting_row *row = &hud_settings_rows(NULL)[i];
    const char *shown = i == SET_JOB ? "(a secret)" : value;
    size_t bytes = strlen(value) + 1;
    long number = 0;

    if (!parse(row, value, &number)) {
        complain(config, "%s=%.100s is %s (accepted: %s)", row->shown.name, shown,
                 hud_setting_refusal(i, value), row->shown.accepted);
    } else if (bytes > sizeof config->kept - config->used) {
        complain(config,
                 "%s=%.100s is too long (accepted: at most %d bytes for all values together)",
                 row->shown.name, shown, SET_GIVEN);
    } else {
        memcpy(config->kept + config->used, value, bytes);
        set(config, i, config->kept + config->used, number, origin);
        config->used += bytes;
    }
}

static void preset(struct config *config, int i)
{
    const struct setting_row *row = &hud_settings_rows(NULL)[i];
    long number = 0;

    parse(row, row->shown.preset, &number);
    set(config, i, row->shown.preset, number, "default");
}

bool hud_config_param(int alg, int param, const char *text, long *number, const char **accepted)
{
    const struct setting_row *row = hud_settings_param(alg, param);

    *accepted = row->shown.accepted;
    return parse(row, text, number);
}

static int find(const char *name, size_t length)
{
    int count;
    const struct setting_row *rows = hud_settings_rows(&count);

    for (int i = 0; i < count; i++)
        if (name_is(rows[i].shown.name, name, length))
            return i;
    return -1;
}

/* Returns the number of letters to insert, remove or change to get from a to b. */
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

/* Finds the setting for experiments that was called so before its name began with HUDDLE_LAB_. */
static const struct setting *find_renamed(const char *name)
{
    char now[SET_TEXT];
    int length = strncmp(name, "HUDDLE_", 7) == 0
                     ? snprintf(now, sizeof now, SET_LAB "%s", name + 7)
                     : SET_TEXT;
    int i = length < SET_TEXT ? find(now, (size_t)length) : -1;

    return i >= 0 ? &hud_settings(NULL)[i] : NULL;
}

const struct setting *hud_setting_nearest(const char *name)
{
    const struct setting *renamed = find_renamed(name);
    int nearest = 0, min = SET_TEXT, count;
    const struct setting *rows_shown = hud_settings(&count);

    if (renamed)
        return renamed;
    for (int i = 0; i < count; i++) {
        int d = distance(name, rows_shown[i].name);
        if (d < min) {
            min = d;
            nearest = i;
        }
    }
    /* at most half of what follows HUDDLE_ */
    return min <= 3 && 2 * min + 7 <= (int)strlen(name) ? &rows_shown[nearest] : NULL;
}

static void complain_unknown(struct config *config, const char *assignment)
{
    char name[SET_TEXT];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(assignment, "="), assignment);
    const struct setting *renamed = find_renamed(name);
    if (renamed) {
        complain(config, "%.100s is not a setting (renamed to %s)", assignment, renamed->name);
        return;
    }
    const struct setting *near = has_room(config) ? hud_setting_nearest(name) : NULL;
    const char *lab = strncmp(name, "HUDDLE_LAB_", strlen("HUDDLE_LAB_")) == 0 ? " --lab" : "";
    complain(config, "%.100s is not a setting (%s%s%s'huddle settings%s' lists them)", assignment,
             near ? "nearest: " : "", near ? near->name : "", near ? "; " : "", lab);
}

static void take_assignment(struct config *config, const char *assignment, const char *origin)
{
    size_t length = strcspn(assignment, "=");

    if (assignment[length] != '=')
        return;
    int i = find(assignment, length);
    if (i >= 0 && assignment[length + 1] == '\0')
        return; /* a script's own variable may not be set */
    if (i >= 0)
        take(config, i, assignment + length + 1, origin);
    else
        complain_unknown(config, assignment);
}

void hud_config_read(const char *const *host, struct config *config)
{
    int count;
    const struct setting_row *rows = hud_settings_rows(&count);

    memset(config, 0, sizeof *config);
    for (int i = 0; i < count; i++)
        preset(config, i);
    /* while a thread asks hwloc, the array is another one (topo/no_plugins.c) */
    for (char **e = local_array(&environ); e && *e && !process_is_elevated(); e++)
        if (strncmp(*e, "HUDDLE_", 7) == 0 || strncmp(*e, "HUDDLE=", 7) == 0)
            take_assignment(config, *e, "environment");
    for (; host && *host; host++)
        take_assignment(config, *host, "host");
    if (process_is_elevated())
        config->number[SET_ON] =
            SWITCH_OFF; /* what huddle uses (hwloc) trusts the environment too */
    count_untold(config);
    hud_text_make_plain(config->error);
    for (int i = 0; i < config->more_count; i++)
        hud_text_make_plain(config->more[i]);
    config->agree = HASH_START;
    for (int i = 0; i < count; i++)
        config->agree = hash_number(config->agree, config->digest[i]);
    /* a parameter set by the user overrides a rule, even if it equals the default */
    for (int i = SET_FIXED; i < count; i++)
        config->agree = hash_number(config->agree, config->given[rows[i].alg][rows[i].param]);
}

unsigned hud_config_manner(const char *const *host, bool waits_alone)
{
    struct config *config = malloc(sizeof *config);
    unsigned manner = 0;

    if (config) {
        hud_config_read(host, config);
        long requests = config->number[SET_NONBLOCKING];
        manner = (config->number[SET_CHECK] == SWITCH_ON ? MANNER_CHECKED : 0) |
                 (requests == NONBLOCKING_ON || (requests == NONBLOCKING_AUTO && !waits_alone)
                      ? MANNER_REQUESTS
                      : 0);
    }
    free(config);
    return manner;
}

/* Returns the value of a setting, or `without` if memory is missing. */
static long number_of(const char *const *host, int setting, long without)
{
    struct config *config = malloc(sizeof *config);

    if (config) {
        hud_config_read(host, config);
        without = config->number[setting];
    }
    free(config);
    return without;
}

bool hud_config_spans(const char *const *host, int ranks)
{
    long nodes = number_of(host, SET_NODES, NODES_OFF);

    return nodes == NODES_ON || (nodes == NODES_AUTO && ranks <= CONFIG_SPAN_RANKS);
}

bool hud_config_asks_devices(const char *const *host)
{
    return number_of(host, SET_DEVICES, DEVICES_AUTO) != DEVICES_OFF;
}

const char *hud_config_choice(int coll_kind)
{
    int count;

    return hud_settings_rows(&count)[choice_of[coll_kind]].shown.name;
}

int hud_config_forced(const struct config *config, int coll_kind)
{
    long left = config->number[choice_of[coll_kind]];

    if (left == CHOICE_AUTO || left == CHOICE_MPI)
        return left == CHOICE_AUTO ? FORCED_NONE : FORCED_MPI;
    left -= CHOICE_FIRST;
    for (int a = 0; hud_shm_algs[a]; a++)
        if (hud_coll_kind(hud_shm_algs[a]->coll) == coll_kind && left-- == 0)
            return a;
    return FORCED_NONE;
}
