/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats_json.c - the statistics of a job in a file (HUDDLE_STATS=json:FILE).
 *
 * The library writes JSON only here.  A job without the command `huddle` has the setting, too, and
 * no program runs after it that could convert another format.
 */
#include "core/job/stats_sums.h"

#include <errno.h>
#include <stdio.h>

static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fprintf(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', to);
}

/* Writes a real number with a point, whichever mark the program's locale has. */
static void put_real(FILE *to, const char *name, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", value);
    int digits = (int)strspn(text, "0123456789+-");
    size_t mark = strcspn(text + digits, "0123456789e"); /* bytes of the mark */
    bool whole = text[digits] == '\0';
    fprintf(to, "\"%s\": %.*s%s%s", name, digits, text, mark > 0 ? "." : "",
            whole ? ".0" : text + digits + mark);
}

struct number {
    const char *name;
    uint64_t value;
};

static void put_numbers(FILE *to, const char *group, const struct number *numbers, int count)
{
    fprintf(to, "  \"%s\": {\n", group);
    for (int i = 0; i < count; i++)
        fprintf(to, "    \"%s\": %llu%s\n", numbers[i].name, (unsigned long long)numbers[i].value,
                i < count - 1 ? "," : "");
    fprintf(to, "  },\n");
}

static void put_collective(FILE *to, const struct stats_sums *s, int k)
{
    const char *before = "\n";

    fprintf(to, "    \"%s\": {\n      \"calls\": %llu,\n      \"handled\": %llu,\n", coll_name(k),
            (unsigned long long)s->calls[k], (unsigned long long)s->reason_calls[k][REASON_NONE]);
    fprintf(to, "      \"passed\": {");
    for (int r = 1; r < REASON_COUNT; r++) {
        if (s->reason_calls[k][r] == 0)
            continue;
        fprintf(to, "%s        \"%s\": %llu", before, hud_reason_text[r],
                (unsigned long long)s->reason_calls[k][r]);
        before = ",\n";
    }
    fprintf(to, "%s},\n      \"empty\": %llu,\n      \"bytes\": %llu,\n      ",
            before[0] == ',' ? "\n      " : "", (unsigned long long)s->empty[k],
            (unsigned long long)s->bytes[k]);
    put_real(to, "seconds", (double)s->ns[k] * 1e-9);
    fprintf(to, "\n    }%s\n", k < COLL_KINDS - 1 ? "," : "");
}

static void put_network(FILE *to, const struct cost_network *n)
{
    const struct {
        const char *name;
        double value;
    } reals[] = { { "alpha_ns", n->alpha_ns },
                  { "beta_ns", n->beta_ns },
                  { "overhead_ns", n->overhead_ns },
                  { "send_ns", n->send_ns } };

    fprintf(to, "  \"network\": {");
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        fprintf(to, "%s\n    ", i == 0 ? "" : ",");
        put_real(to, reals[i].name, reals[i].value);
    }
    fprintf(to, "\n  }\n");
}

static void put_all(FILE *to, const struct hud_context *c, const struct stats_sums *s)
{
    const struct number memory[] = {
        { "arena_bytes", s->arena },        { "leased_bytes", s->leased },
        { "leased_peak_bytes", s->peak },   { "leases", s->leases },
        { "teams_refused", s->refused },    { "pages_home", s->home },
        { "pages_elsewhere", s->elsewhere }
    };
    const struct number nodes[] = { { "messages", s->messages }, { "bytes", s->message_bytes } };
    const struct stats_choices n = hud_stats_choices(s);
    const struct number learned[] = { { "decided", s->decided }, { "changed", s->changed },
                                      { "known", n.known },      { "learned", n.learned },
                                      { "first", n.first },      { "trials", n.trials },
                                      { "native", n.native } };

    fprintf(to, "{\n  \"mpi\": ");
    put_text(to, c->host.name);
    fprintf(to, ",\n  \"ranks\": %d,\n  \"ranks_seen\": %d,\n  \"collectives\": {\n",
            c->host.world_size > 0 ? c->host.world_size : s->ranks, s->ranks);
    for (int k = 0; k < COLL_KINDS; k++)
        put_collective(to, s, k);
    fprintf(to, "  },\n");
    put_numbers(to, "memory", memory, sizeof memory / sizeof *memory);
    put_numbers(to, "nodes", nodes, sizeof nodes / sizeof *nodes);
    put_numbers(to, "learned", learned, sizeof learned / sizeof *learned);
    put_network(to, &c->plan.network);
    fprintf(to, "}");
}

int hud_stats_write_json(const char *path, const struct hud_context *c, const struct stats_sums *s)
{
    FILE *to = fopen(path, "we");

    if (!to)
        return errno;
    errno = 0;
    put_all(to, c, s);
    bool failed = ferror(to) != 0;
    int why = errno;
    if (fclose(to) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    return !failed ? 0 : why != 0 ? why : EIO;
}
