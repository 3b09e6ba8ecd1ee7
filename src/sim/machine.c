/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c - reads a modelled machine.  A table lists the required keys.  Any other key is an
 * error, and is named. */
#include "sim/machine.h"

#include "sim/grow.h"
#include "sim/machine_cores.h"
#include "sim/machine_rules.h"
#include "sim/plain.h"

#include <stdarg.h>
#include <string.h>

/* ---- what a description has ---- */

enum form {
    NUMBER,   /* one number */
    OPTION,   /* the same, or nothing */
    CLASSES,  /* a table: a number for each class but the core itself */
    ADDED,    /* the same, or nothing */
    CACHES,   /* as CLASSES, and "own" */
    NEAREST,  /* the same, or nothing */
    MEMORIES, /* a table: "local" and a number for each class above a NUMA node */
    DELAYS,   /* the same, or nothing */
    HOMES,    /* as MEMORIES without "local" */
    MESHES,   /* a table, or nothing: a number for any class but the core itself */
    SOCKETS,  /* a number where there are several sockets, else nothing */
    LEVEL     /* a level's name, or "machine" */
};

static const struct row {
    const char *table, *key;
    enum form form;
    enum machine_range range;
    size_t offset; /* in struct sim_machine */
} rows[] = {
    { "lines", "size_bytes", NUMBER, RANGE_LINE, offsetof(struct sim_machine, lines.size_bytes) },
    { "lines", "hit_ns", NUMBER, RANGE_TIME, offsetof(struct sim_machine, lines.hit_ns) },
    { "lines", "post_ns", NUMBER, RANGE_TIME, offsetof(struct sim_machine, lines.post_ns) },
    { "lines", "store_entries", OPTION, RANGE_ENTRIES,
      offsetof(struct sim_machine, lines.store_entries) },
    { "lines", "add_ns", NUMBER, RANGE_TIME, offsetof(struct sim_machine, lines.add_ns) },
    { "lines", "transfer_ns", CLASSES, RANGE_TIME,
      offsetof(struct sim_machine, lines.transfer_ns) },
    { "lines", "revoke_ns", ADDED, RANGE_DELAY, offsetof(struct sim_machine, lines.revoke_ns) },
    { "lines", "gap_ns", CLASSES, RANGE_TIME, offsetof(struct sim_machine, lines.gap_ns) },
    { "lines", "store_gap_ns", ADDED, RANGE_TIME,
      offsetof(struct sim_machine, lines.store_gap_ns) },
    { "lines", "revoke_each_ns", OPTION, RANGE_DELAY,
      offsetof(struct sim_machine, lines.revoke_each_ns) },
    { "lines", "serve_ns", CLASSES, RANGE_TIME, offsetof(struct sim_machine, lines.serve_ns) },
    { "lines", "home_ns", HOMES, RANGE_DELAY, offsetof(struct sim_machine, lines.home_ns) },
    { "links", "mesh_gbps", MESHES, RANGE_SPEED, offsetof(struct sim_machine, links.mesh_gbps) },
    { "links", "port_gbps", MESHES, RANGE_SPEED, offsetof(struct sim_machine, links.port_gbps) },
    { "links", "port_out_gbps", MESHES, RANGE_SPEED,
      offsetof(struct sim_machine, links.port_out_gbps) },
    { "links", "socket_gbps", SOCKETS, RANGE_SPEED,
      offsetof(struct sim_machine, links.socket_gbps) },
    { "copy", "cached_gbps", CACHES, RANGE_SPEED, offsetof(struct sim_machine, copy.cached_gbps) },
    { "copy", "nearest_gbps", NEAREST, RANGE_SPEED,
      offsetof(struct sim_machine, copy.nearest_gbps) },
    { "copy", "memory_gbps", MEMORIES, RANGE_SPEED,
      offsetof(struct sim_machine, copy.memory_gbps) },
    { "copy", "shared_gbps", NUMBER, RANGE_SPEED, offsetof(struct sim_machine, copy.shared_gbps) },
    { "copy", "past_gbps", OPTION, RANGE_SPEED, offsetof(struct sim_machine, copy.past_gbps) },
    { "copy", "kernel_gbps", NUMBER, RANGE_SPEED, offsetof(struct sim_machine, copy.kernel_gbps) },
    { "copy", "kernel_call_ns", NUMBER, RANGE_TIME,
      offsetof(struct sim_machine, copy.kernel_call_ns) },
    { "copy", "kernel_other_ns", OPTION, RANGE_DELAY,
      offsetof(struct sim_machine, copy.kernel_other_ns) },
    { "copy", "kernel_process_gbps", OPTION, RANGE_SPEED,
      offsetof(struct sim_machine, copy.kernel_process_gbps) },
    { "memory", "latency_ns", DELAYS, RANGE_TIME, offsetof(struct sim_machine, memory.latency_ns) },
    { "memory", "node_gbps", NUMBER, RANGE_SPEED, offsetof(struct sim_machine, memory.node_gbps) },
    { "caches", "nearest_bytes", OPTION, RANGE_CACHE,
      offsetof(struct sim_machine, caches.nearest_bytes) },
    { "caches", "private_bytes", NUMBER, RANGE_CACHE,
      offsetof(struct sim_machine, caches.private_bytes) },
    { "caches", "shared_level", LEVEL, RANGE_NONE,
      offsetof(struct sim_machine, caches.shared_level) },
    { "caches", "shared_bytes", NUMBER, RANGE_CACHE,
      offsetof(struct sim_machine, caches.shared_bytes) },
    { "caches", "shared_gbps", NUMBER, RANGE_SPEED,
      offsetof(struct sim_machine, caches.shared_gbps) },
    { "reduce", "core_gbps", NUMBER, RANGE_SPEED, offsetof(struct sim_machine, reduce.core_gbps) },
    { "call", "enter_ns", OPTION, RANGE_DELAY, offsetof(struct sim_machine, call.enter_ns) },
    { "call", "data_ns", OPTION, RANGE_DELAY, offsetof(struct sim_machine, call.data_ns) },
    { "call", "reduce_ns", OPTION, RANGE_DELAY, offsetof(struct sim_machine, call.reduce_ns) },
    { "call", "host_ns", OPTION, RANGE_DELAY, offsetof(struct sim_machine, call.host_ns) },
    { "call", "clock_ns", OPTION, RANGE_DELAY, offsetof(struct sim_machine, call.clock_ns) },
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *const texts[] = { "name", "source", "topology", "doubt" };

enum { TEXTS = sizeof texts / sizeof *texts };

/* ---- complaints: the first counts ---- */

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

/* A JSON value as it stood. */
static const char *shown(const json_t *value, char *text, size_t bytes)
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    snprintf(text, bytes, "%s", dump ? dump : "?");
    free(dump);
    return text;
}

/* ---- numbers ---- */

static void read_number(struct reader *r, const struct row *row, const char *what,
                        const json_t *value, double *number)
{
    char text[64], accepted[64];

    *number = json_number_value(value);
    if (!json_is_number(value) || !hud_machine_fits(row->range, *number))
        complain(r, "%s: %s (accepted: %s)", what,
                 value ? shown(value, text, sizeof text) : "missing",
                 hud_machine_accepted(row->range, accepted, sizeof accepted));
}

/* The key of a class in a table of this form; NULL: it has none. */
static const char *class_key(const struct sim_machine *m, enum form form, int class)
{
    int numa = hud_topo_level_of(m->topo, "numa"), lowest_away = numa < 0 ? m->classes : numa + 2;

    if (class == MACHINE_OWN)
        return form == CACHES || form == NEAREST    ? "own"
               : form == MEMORIES || form == DELAYS ? "local"
                                                    : NULL;
    if ((form == MEMORIES || form == DELAYS || form == HOMES) && class < lowest_away)
        return NULL;
    return hud_machine_class_name(m, class);
}

static void read_classes(struct reader *r, const struct row *row, const char *what,
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
        if (known && (value || row->form != MESHES))
            read_number(r, row, full, value, &by_class[c]);
    }
}

static void read_level(struct reader *r, const char *what, const json_t *value, int *level)
{
    struct words accepted = { .used = 0 };
    const char *name = json_string_value(value);
    char text[64];

    *level = name ? hud_topo_level_of(r->m->topo, name) : -1;
    for (int c = 1; c < r->m->classes; c++)
        add_word(&accepted, hud_machine_class_name(r->m, c));
    if (*level < 0 && !(name && strcmp(name, "machine") == 0))
        complain(r, "%s: %s (accepted: %s)", what,
                 value ? shown(value, text, sizeof text) : "missing", accepted.text);
}

static bool may_lack(enum form form)
{
    return form == OPTION || form == ADDED || form == NEAREST || form == DELAYS || form == MESHES;
}

static void read_row(struct reader *r, const struct row *row, const json_t *value)
{
    void *field = (char *)r->m + row->offset;
    char what[64], text[64];

    snprintf(what, sizeof what, "%s.%s", row->table, row->key);
    if (row->form == NUMBER || (row->form == OPTION && value) ||
        (row->form == SOCKETS && r->m->sockets > 1))
        read_number(r, row, what, value, field);
    else if (row->form == LEVEL)
        read_level(r, what, value, field);
    else if (row->form != SOCKETS && (value || !may_lack(row->form)))
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

/* As much as there is room for, but no part of a character: answers are JSON. */
static void read_name(struct sim_machine *m, const char *name)
{
    size_t bytes = strlen(name);

    if (bytes >= sizeof m->name)
        bytes = sizeof m->name - 1;
    while (bytes > 0 &&
           ((unsigned char)name[bytes] & 0xc0) == 0x80) /* the next byte goes on with a character */
        bytes--;
    snprintf(m->name, sizeof m->name, "%.*s", (int)bytes, name);
}

/* ---- the whole ---- */

/* What stands in the description and has no row. */
static void find_strange(struct reader *r, const char *table, const json_t *object)
{
    struct words accepted = { .used = 0 };
    const char *key, *before = "";
    json_t *value;

    for (int t = 0; !table && t < TEXTS; t++)
        add_word(&accepted, texts[t]);
    for (int i = 0; i < ROWS; i++) {
        const char *name = table ? rows[i].key : rows[i].table;
        if ((!table || strcmp(table, rows[i].table) == 0) && strcmp(name, before) != 0)
            add_word(&accepted, before = name);
    }
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool found = false;
        for (int t = 0; !table && t < TEXTS; t++)
            found = found || strcmp(key, texts[t]) == 0;
        for (int i = 0; i < ROWS; i++)
            found =
                found || (table ? strcmp(table, rows[i].table) == 0 && strcmp(key, rows[i].key) == 0
                                : strcmp(key, rows[i].table) == 0);
        if (!found)
            complain(r, "%s%s%s: not known (accepted: %s)", table ? table : "", table ? "." : "",
                     key, accepted.text);
    }
}

static void read_tables(struct reader *r, const json_t *description)
{
    for (int i = 0; i < ROWS && !r->failed; i++) {
        const json_t *table = json_object_get(description, rows[i].table);
        if (!table && offsetof(struct sim_machine, call) <= rows[i].offset)
            continue; /* all of it may be left out */
        if (!json_is_object(table)) {
            complain(r, "%s: missing (accepted: a table, [%s])", rows[i].table, rows[i].table);
            return;
        }
        if (i == 0 || strcmp(rows[i].table, rows[i - 1].table) != 0)
            find_strange(r, rows[i].table, table);
        if (!r->failed)
            read_row(r, &rows[i], json_object_get(table, rows[i].key));
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

void hud_machine_free(struct sim_machine *m)
{
    if (!m)
        return;
    hud_topo_free(m->topo);
    free(m->cpu);
    free(m->unit);
    free(m->node);
    free(m->socket);
    free(m->first);
    free(m);
}

const char *hud_machine_class_name(const struct sim_machine *m, int class)
{
    return class == MACHINE_OWN ? "own"
           : class <= m->levels ? hud_topo_level_name(m->topo, class - 1)
                                : "machine";
}
