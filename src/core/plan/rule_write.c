/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_write.c - writes a rule as the line that rule_line.c reads. */
#include "core/plan/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const hud_rule_reductions[] = { "exact", "ordered", "inexact", NULL };

struct out {
    char *line;
    size_t bytes, used; /* used >= bytes: the line does not fit */
};

static void put(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
    size_t room = o->used < o->bytes ? o->bytes - o->used : 0;
    va_list args;

    va_start(args, format);
    int length = vsnprintf(room > 0 ? o->line + o->used : NULL, room, format, args);
    va_end(args);
    o->used += length > 0 ? (size_t)length : 0;
}

/* Writes a number, in bytes with the largest unit of which it is a multiple. */
static void put_number(struct out *o, size_t number, bool bytes)
{
    static const char *const units[] = { "", "K", "M", "G" };
    size_t unit = 0;

    for (; bytes && number != 0 && number % 1024 == 0 && unit < 3; unit++)
        number /= 1024;
    put(o, "%zu%s", number, units[unit]);
}

/* Writes a range, whose end is open if it is max.  A range of all numbers is left out. */
static void put_range(struct out *o, const char *name, size_t first, size_t last, size_t max)
{
    bool bytes = max == SIZE_MAX;

    if (first == 0 && last == max)
        return;
    put(o, " %s=", name);
    put_number(o, first, bytes);
    if (first != last)
        put(o, "-");
    if (first != last && last != max)
        put_number(o, last, bytes);
}

static void put_conditions(struct out *o, const struct rule *r)
{
    const struct {
        const char *name;
        int value;
    } conditions[] = { { "oversubscribed", r->oversubscribed },
                       { "direct", r->direct },
                       { "quick", r->quick },
                       { "divided", r->divided } };

    if (r->reduction >= 0)
        put(o, " reduction=%s", hud_rule_reductions[r->reduction]);
    put_range(o, "ranks", (size_t)r->min_ranks, (size_t)r->max_ranks, INT_MAX);
    if (r->nodes != 0)
        put(o, " nodes=%d", r->nodes);
    put_range(o, "bytes", r->min_bytes, r->max_bytes, SIZE_MAX);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (conditions[i].value >= 0)
            put(o, " %s=%s", conditions[i].name, conditions[i].value ? "yes" : "no");
    if (r->within[0] != '\0')
        put(o, " within=%s", r->within);
    if (r->than >= 0)
        put(o, " cheaper_than=%s", hud_shm_algs[r->than]->name);
}

static void put_choice(struct out *o, const struct rule *r)
{
    put(o, "%s", r->row >= 0 ? rule_alg(r, r->row)->name : "mpi");
    for (int p = 0; r->row >= 0 && p < ALG_PARAMS; p++) {
        const struct alg_param *param = r->given[p] ? alg_param_at(rule_alg(r, r->row), p) : NULL;
        if (!param)
            continue;
        put(o, " %s=", param->name);
        if (param->words)
            put(o, "%s", param->words[r->param[p] - param->min]);
        else
            put_number(o, (size_t)r->param[p], strcmp(param->unit, "B") == 0);
    }
}

static void put_evidence(struct out *o, const struct rule *r)
{
    put(o, " evidence=");
    for (const char *c = r->evidence; *c != '\0'; c++)
        put(o, "%c", *c == ' ' ? ',' : *c);
}

static void put_timed(struct out *o, const struct rule *r, const char *name, int row, uint64_t ns)
{
    if (ns != 0)
        put(o, " %s=%s:%" PRIu64, name, row >= 0 ? rule_alg(r, row)->name : "mpi", ns);
}

static void put_notes(struct out *o, const struct rule *r)
{
    size_t before = o->used;

    put(o, " |");
    if (r->evidence[0] != '\0')
        put_evidence(o, r);
    if (r->ns != 0)
        put(o, " ns=%" PRIu64, r->ns);
    if (r->samples != 0)
        put(o, " samples=%d", r->samples);
    put_timed(o, r, "runner_up", r->runner_up, r->runner_up_ns);
    if (r->mpi_ns != 0)
        put(o, " mpi_ns=%" PRIu64, r->mpi_ns);
    put_timed(o, r, "before", r->before, r->before_ns);
    if (r->version != 0)
        put(o, " version=%d", r->version);
    if (r->date[0] != '\0')
        put(o, " date=%s", r->date);
    if (o->used == before + 2) { /* there are none */
        o->used = before;
        if (before < o->bytes)
            o->line[before] = '\0';
    }
}

bool hud_rule_write(const struct rule *r, char *line, size_t bytes)
{
    struct out o = { line, bytes, 0 };

    put(&o, "%s", coll_name(r->kind));
    put_conditions(&o, r);
    put(&o, " -> ");
    put_choice(&o, r);
    put_notes(&o, r);
    return o.used < bytes;
}

void hud_rule_write_choice(const struct rule *r, char *text, size_t bytes)
{
    put_choice(&(struct out){ text, bytes, 0 }, r);
}
