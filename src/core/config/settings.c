/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - builds the table of settings, once in a process. */
#include "core/config/settings.h"

#include "coll/coll.h"
#include "core/config/text.h"
#include "topo/topo.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const words_switch[] = { "off", "on", NULL };
/* Values of enum config_wisdom; any other value is a path. */
static const char *const words_wisdom[] = { "off", "on", "read", NULL };
/* Values of enum config_switch. */
static const char *const words_on[] = { "off", "on", "require", NULL };
static const char *const words_check[] = { "off", "on", "abort", NULL }; /* CHECK_ABORT */
static const char *const words_single_copy[] = { "off", "on", "auto", NULL };
static const char *const words_devices[] = { "auto", "off", NULL };     /* enum config_devices */
static const char *const words_nodes[] = { "off", "on", "auto", NULL }; /* enum config_nodes */
static const char *const words_nonblocking[] = { "off", "on", "auto", NULL };
static const char *const words_wait[] = { "poll", "yield", "sleep", "adaptive",
                                          NULL }; /* enum mem_way */
static const char *const words_lines[] = {
    "kept", "nontemporal", "returned", "both", "auto", NULL
}; /* LINES_NONTEMPORAL and LINES_RETURNED; then any */
static const char *const words_log[] = { "quiet", "error", "warn", "info", "debug", NULL };
static const char *const words_xpmem[] = { "off", "copy", "keep", NULL }; /* enum config_xpmem */
static const char *const words_death[] = { "wait", "abort", NULL };       /* enum config_death */
/* Values of enum config_tree: auto, then those of enum shape_kind. */
static const char *const words_trees[] = { "auto",     "flat",    "chain", "kary",
                                           "balanced", "knomial", NULL };
static const char *const words_order[] = { "any", "fixed", NULL };
static const char *words_of[COLL_KINDS][SET_ALGS + 3]; /* choices of a collective */

static const char *check_any(const char *value)
{
    return value ? NULL : "any text in UTF-8 of at most 255 bytes";
}

/* Checks a secret: other users of the machine could try all short secrets. */
static const char *check_job(const char *value)
{
    enum { JOB_BYTES = 16 };

    return value[0] == '\0' || strlen(value) >= JOB_BYTES ? NULL : "random text of 16 to 255 bytes";
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
static struct setting_row rows[SET_MAX] = {
#include "core/config/config.def"
};
#undef SETTING
static struct setting shown[SET_MAX];

/* Minima of rows of config.def that are not their kind's. */
static const struct minimum {
    enum set set;
    long value;
} minima[] = {
    { SET_LEASE, 4096 }, /* a page */
};
static int row_count;
static int first_row[SET_ALGS]; /* row of an algorithm's first parameter */

/* Copies a text for the life of the process, in static memory: the table of settings cannot
 * fail.  A text without room is cut off; a test looks. */
static char *keep(const char *text)
{
    static char kept[SET_KEPT];
    static size_t used;
    char *copy = kept + used;

    used += hud_text_copy(copy, sizeof kept - used, text);
    used += used < sizeof kept - 1; /* the last byte stays an empty text */
    return copy;
}

/* Joins words as "a, b or c", with the text before the last word and the text after it. */
static char *list(const char *const *words, const char *last, const char *after)
{
    char text[SET_TEXT] = "";
    size_t used = 0;

    for (int i = 0; words[i]; i++) {
        used += hud_text_copy(text + used, sizeof text - used,
                              i == 0         ? ""
                              : words[i + 1] ? ", "
                                             : last);
        used += hud_text_copy(text + used, sizeof text - used, words[i]);
    }
    hud_text_copy(text + used, sizeof text - used, after);
    return keep(text);
}

/* Returns "bcast_queue_fragment" for HUDDLE_BCAST_QUEUE_FRAGMENT, and "on" for HUDDLE. */
static char *lower(const char *name)
{
    char *out = keep(name[6] == '_' ? name + 7 : "on");

    for (char *c = out; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return out;
}

static void collect_choices(void)
{
    int count[COLL_KINDS] = { 0 };

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        words_of[kind][count[kind]++] = "auto";
        words_of[kind][count[kind]++] = "mpi";
    }
    for (int a = 0; hud_shm_algs[a]; a++) {
        int kind = hud_coll_kind(hud_shm_algs[a]->coll);
        if (kind >= 0)
            words_of[kind][count[kind]++] = hud_shm_algs[a]->name;
    }
}

static void add_param(int alg, int param)
{
    const struct alg *a = hud_shm_algs[alg];
    const struct alg_param *p = alg_param_at(a, param);
    struct setting_row *row = &rows[row_count];
    const char *const parts[] = { "HUDDLE_LAB_", a->coll, "_", a->name, "_", p->name, NULL };
    char name[SET_TEXT], preset[32];
    size_t used = 0;

    for (int i = 0; parts[i]; i++)
        used += hud_text_copy(name + used, sizeof name - used, parts[i]);
    for (char *c = name; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    snprintf(preset, sizeof preset, "%ld", p->preset);
    *row = (struct setting_row){ .shown = { .name = keep(name), .unit = p->unit, .doc = p->doc },
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

static void describe(struct setting_row *row)
{
    char text[SET_TEXT];

    row->shown.mca = lower(row->shown.name);
    row->shown.lab = strncmp(row->shown.name, SET_LAB, strlen(SET_LAB)) == 0;
    row->is_switch = row->words && row->words[1] && strcmp(row->words[0], "off") == 0 &&
                     strcmp(row->words[1], "on") == 0;
    if (row->kind == WORD)
        row->shown.accepted = list(row->words, " or ", "");
    else if (row->kind == WORD_OR_FILE)
        row->shown.accepted = list(row->words, ", ", " or a path with a /");
    else if (row->kind == TEXT)
        row->shown.accepted = row->check(row->check == check_any ? NULL : "?");
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
    for (size_t i = 0; i < sizeof minima / sizeof *minima; i++)
        rows[minima[i].set].min = minima[i].value;
    row_count = SET_FIXED;
    for (int a = 0; hud_shm_algs[a]; a++) {
        first_row[a] = row_count;
        for (int p = 0; alg_param_at(hud_shm_algs[a], p); p++)
            add_param(a, p);
    }
    for (int i = 0; i < row_count; i++) {
        describe(&rows[i]);
        shown[i] = rows[i].shown;
    }
}

const struct setting_row *hud_settings_rows(int *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, build);
    if (count)
        *count = row_count;
    return rows;
}

const struct setting_row *hud_settings_param(int alg, int param)
{
    return &hud_settings_rows(NULL)[first_row[alg] + param];
}

const struct setting *hud_settings(int *count)
{
    hud_settings_rows(count);
    return shown;
}
