/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c - reads a modelled machine.  A table lists the keys (machine_rows.h).  Any other key is
 * an error, which names the key. */
#include "lab/sim/machine.h"

#include "check/grow.h"
#include "lab/sim/machine_cores.h"
#include "lab/sim/machine_rows.h"
#include "lab/sim/machine_rules.h"
#include "lab/sim/plain.h"

#include <stdarg.h>
#include <string.h>

static const char *const texts[] = { "name", "source", "topology", "doubt" };

enum { TEXTS = sizeof texts / sizeof *texts };

/* ---- complaints: only the first is kept ---- */

struct reader {
    struct sim_machine *m;
    char *error;
    size_t error_bytes;
    bool failed;
};

static __attribute__((format(printf, 2, 3))) void complain(struct reader *r, const char *format,
                                                           ...)
{
    va_list list;

    va_start(list, format);
    if (!r->failed) {
        vsnprintf(r->error, r->error_bytes, format, list);
        plain_make(r->error);
    }
    va_end(list);
    r->failed = true;
}

struct words {
    char text[256];
    size_t used;
};

static void add_word(struct words *w, const char *word)
{
    int n =
        snprintf(w->text + w->used, sizeof w->text - w->used, "%s%s", w->used ? ", " : "", word);

    w->used += n > 0 && w->used + (size_t)n < sizeof w->text ? (size_t)n : 0;
}

/* Writes a JSON value as text. */
static const char *shown(const json_t *value, char *text, size_t bytes)
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    snprintf(text, bytes, "%s", dump ? dump : "?");
    free(dump);
    return text;
}

/* ---- numbers ---- */

static void read_number(struct reader *r, const struct machine_row *row, const char *what,
                        const json_t *value, double *number)
{
    char text[64], accepted[64];

    *number = json_number_value(value);
    if (!json_is_number(value) || !hud_machine_fits(row->range, *number))
        complain(r, "%s: %s (accepted: %s)", what,
                 value ? shown(value, text, sizeof text) : "missing",
                 hud_machine_accepted(row->range, accepted, sizeof accepted));
}

/* Returns the key of a class in a table of this form, or NULL if the form has none. */
static const char *class_key(const struct sim_machine *m, enum machine_form form, int class)
{
    int numa = hud_topo_level_of(m->topo, "numa"), lowest_away = numa < 0 ? m->classes : numa + 2;

    if (class == MACHINE_OWN)
        return form == FORM_CACHES || form == FORM_NEAREST    ? "own"
               : form == FORM_MEMORIES || form == FORM_DELAYS ? "local"
                                                              : NULL;
    if ((form == FORM_MEMORIES || form == FORM_DELAYS || form == FORM_HOMES) && class < lowest_away)
        return NULL;
    return hud_machine_class_name(m, class);
}

static void read_classes(struct reader *r, const struct machine_row *row, const char *what,
                         const json_t *table)
{
    double *by_class = (double *)(void *)((char *)r->m + row->offset);
    struct words accepted = { .used = 0 };
    char text[64], full[96];
    const char *key, *known;
    json_t *value;

    for (int c = 0; c < r->m->classes; c++)
        if ((known = class_key(r->m, row->form, c)) != NULL)
            add_word(&accepted, known);
    if (!table && accepted.used == 0)
        return;
    if (!json_is_object(table)) {
        complain(r, "%s: %s (accepted: a table of %s)", what,
                 table ? shown(table, text, sizeof text) : "missing",
                 accepted.used ? accepted.text : "nothing");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)table, key, value)
    {
        bool found = false;
        for (int c = 0; c < r->m->classes && !found; c++)
            found = (known = class_key(r->m, row->form, c)) != NULL && strcmp(known, key) == 0;
        if (!found)
            complain(r, "%s.%s: not known of this machine (accepted: %s)", what, key,
                     accepted.used ? accepted.text : "nothing");
    }
    for (int c = 0; c < r->m->classes && !r->failed; c++) {
        known = class_key(r->m, row->form, c);
        value = known ? json_object_get(table, known) : NULL;
        snprintf(full, sizeof full, "%s.%s", what, known ? known : "");
        if (known && (value || row->form != FORM_MESHES))
            read_number(r, row, full, value, &by_class[c]);
    }
}

/* Reads a table whose keys are numbers of cores. */
static void read_streams(struct reader *r, const struct machine_row *row, const char *what,
                         const json_t *table)
{
    double *gbps = (double *)(void *)((char *)r->m + row->offset);
    char text[64], full[96];
    const char *key;
    json_t *value;

    if (!json_is_object(table))
        complain(r, "%s: %s (accepted: a table of numbers of cores)", what,
                 shown(table, text, sizeof text));
    json_object_foreach((json_t *)(uintptr_t)table, key, value)
    {
        long cores = strtol(key, NULL, 10);
        snprintf(full, sizeof full, "%ld", cores);
        if (cores < 1 || cores > MACHINE_STREAMS || strcmp(full, key) != 0) {
            complain(r, "%s.%s: not a number of cores (accepted: 1 to %d)", what, key,
                     MACHINE_STREAMS);
            return;
        }
        snprintf(full, sizeof full, "%s.%ld", what, cores);
        read_number(r, row, full, value, &gbps[cores]);
    }
}

static void read_word(struct reader *r, const struct machine_row *row, const char *what,
                      const json_t *value, int *word)
{
    char text[64], accepted[64];

    *word = hud_machine_word(row->range, json_string_value(value));
    if (*word < 0)
        complain(r, "%s: %s (accepted: %s)", what, shown(value, text, sizeof text),
                 hud_machine_accepted(row->range, accepted, sizeof accepted));
}

/* Reads a level's name.  `unshared` allows "none". */
static void read_level(struct reader *r, const char *what, const json_t *value, bool unshared,
                       int *level)
{
    struct words accepted = { .used = 0 };
    const char *name = json_string_value(value);
    char text[64];

    if (unshared && name && strcmp(name, "none") == 0) {
        *level = MACHINE_UNSHARED;
        return;
    }
    if (unshared)
        add_word(&accepted, "none");
    *level = name ? hud_topo_level_of(r->m->topo, name) : -1;
    for (int c = 1; c < r->m->classes; c++)
        add_word(&accepted, hud_machine_class_name(r->m, c));
    if (*level < 0 && !(name && strcmp(name, "machine") == 0))
        complain(r, "%s: %s (accepted: %s)", what,
                 value ? shown(value, text, sizeof text) : "missing", accepted.text);
}

static bool may_lack(enum machine_form form)
{
    return form == FORM_OPTION || form == FORM_ADDED || form == FORM_NEAREST ||
           form == FORM_DELAYS || form == FORM_MESHES || form == FORM_STREAMS ||
           form == FORM_SHARE || form == FORM_WORD;
}

static void read_row(struct reader *r, const struct machine_row *row, const json_t *value)
{
    void *field = (char *)r->m + row->offset;
    char what[64], text[64];

    snprintf(what, sizeof what, "%s.%s", row->table, row->key);
    if (row->form == FORM_NUMBER || (row->form == FORM_OPTION && value) ||
        (row->form == FORM_SOCKETS && r->m->sockets > 1))
        read_number(r, row, what, value, field);
    else if (row->form == FORM_LEVEL || (row->form == FORM_SHARE && value))
        read_level(r, what, value, row->form == FORM_SHARE, field);
    else if (row->form == FORM_WORD && value)
        read_word(r, row, what, value, field);
    else if (row->form == FORM_STREAMS && value)
        read_streams(r, row, what, value);
    else if (row->form != FORM_SOCKETS && (value || !may_lack(row->form)))
        read_classes(r, row, what, value);
    else if (value)
        complain(r, "%s: %s (accepted: nothing, there is one socket)", what,
                 shown(value, text, sizeof text));
}

/* ---- texts ---- */

static const char *read_text(struct reader *r, const json_t *description, const char *key)
{
    const json_t *value = json_object_get(description, key);
    char text[64];

    if (!json_is_string(value))
        complain(r, "%s: %s (accepted: a text)", key,
                 value ? shown(value, text, sizeof text) : "missing");
    return json_is_string(value) ? json_string_value(value) : "";
}

/* Copies as much of the name as fits, but no part of a character, since answers are JSON. */
static void read_name(struct sim_machine *m, const char *name)
{
    size_t bytes = strlen(name);

    if (bytes >= sizeof m->name)
        bytes = sizeof m->name - 1;
    /* The next byte continues a character. */
    while (bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
        bytes--;
    snprintf(m->name, sizeof m->name, "%.*s", (int)bytes, name);
}

/* ---- the whole ---- */

/* Reports keys of the description that have no row. */
static void find_strange(struct reader *r, const char *table, const json_t *object)
{
    struct words accepted = { .used = 0 };
    const char *key, *before = "";
    json_t *value;

    for (int t = 0; !table && t < TEXTS; t++)
        add_word(&accepted, texts[t]);
    for (int i = 0; i < machine_rows_count; i++) {
        const char *name = table ? machine_rows[i].key : machine_rows[i].table;
        if ((!table || strcmp(table, machine_rows[i].table) == 0) && strcmp(name, before) != 0)
            add_word(&accepted, before = name);
    }
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool found = false;
        for (int t = 0; !table && t < TEXTS; t++)
            found = found || strcmp(key, texts[t]) == 0;
        for (int i = 0; i < machine_rows_count; i++)
            found = found || (table ? strcmp(table, machine_rows[i].table) == 0 &&
                                          strcmp(key, machine_rows[i].key) == 0
                                    : strcmp(key, machine_rows[i].table) == 0);
        if (!found)
            complain(r, "%s%s%s: not known (accepted: %s)", table ? table : "", table ? "." : "",
                     key, accepted.text);
    }
}

static void read_tables(struct reader *r, const json_t *description)
{
    for (int i = 0; i < machine_rows_count && !r->failed; i++) {
        const json_t *table = json_object_get(description, machine_rows[i].table);
        if (!table && offsetof(struct sim_machine, call) <= machine_rows[i].offset)
            continue; /* these tables are optional */
        if (!json_is_object(table)) {
            complain(r, "%s: missing (accepted: a table, [%s])", machine_rows[i].table,
                     machine_rows[i].table);
            return;
        }
        if (i == 0 || strcmp(machine_rows[i].table, machine_rows[i - 1].table) != 0)
            find_strange(r, machine_rows[i].table, table);
        if (!r->failed)
            read_row(r, &machine_rows[i], json_object_get(table, machine_rows[i].key));
    }
}

struct sim_machine *hud_machine_read(const json_t *description, char *error, size_t error_bytes)
{
    struct sim_machine *m = hud_must(calloc(1, sizeof *m));
    struct reader r = { .m = m, .error = error, .error_bytes = error_bytes };
    const char *topology;

    hud_machine_blank(m);
    if (!json_is_object(description))
        complain(&r, "a machine is an object");
    else
        find_strange(&r, NULL, description);
    read_name(m, read_text(&r, description, "name"));
    topology = read_text(&r, description, "topology");
    if (!r.failed)
        r.failed = !hud_machine_read_cores(m, topology, error, error_bytes);
    if (!r.failed)
        read_tables(&r, description);
    if (!r.failed)
        hud_machine_assume(m);
    if (!r.failed && hud_machine_check(m, error, error_bytes))
        return m;
    hud_machine_free(m);
    return NULL;
}

const char *hud_machine_class_name(const struct sim_machine *m, int class)
{
    return class == MACHINE_OWN ? "own"
           : class <= m->levels ? hud_topo_level_name(m->topo, class - 1)
                                : "machine";
}
