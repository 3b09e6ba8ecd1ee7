/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - see session.h. */
#include "session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* Returns the whole number in [min, max] that the text contains, or -1 if the text is invalid. */
static long number_of(const char *text, long min, long max)
{
    char *end;

    errno = 0;
    long n = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && n >= min && n <= max ? n : -1;
}

static bool parse_sizes(struct session *session, char *list)
{
    session->sizes = 0;
    for (char *rest, *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        long bytes = number_of(word, 0, INT_MAX);
        if (bytes < 0 || session->sizes == SESSION_SIZES)
            return false;
        session->bytes[session->sizes++] = (size_t)bytes;
    }
    return session->sizes > 0;
}

static bool parse_colls(struct session *session, char *list)
{
    memset(session->chosen, 0, sizeof session->chosen);
    for (char *rest, *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int row = 0;
        while (session->table[row].name && strcmp(session->table[row].name, word) != 0)
            row++;
        if (!session->table[row].name)
            return false;
        session->chosen[row] = true;
    }
    return true;
}

static bool parse_way(struct session *session, const char *text)
{
    static const char *const names[] = { "blocking", "nonblocking", "persistent" };
    size_t i = 0;

    while (i < sizeof names / sizeof *names && strcmp(text, names[i]) != 0)
        i++;
    session->way = (enum shots_way)i;
    return i < sizeof names / sizeof *names;
}

/* Parses an option and its value.  Returns false if either is not valid. */
static bool parse_option(struct session *session, const char *option, char *value)
{
    struct shots_plan *plan = &session->plan;
    const struct {
        const char *name;
        long min, max, scale;
        int *number;
        int64_t *time_ns;
    } numbers[] = {
        { "--figure-ms", 1, 600000, 1000000, NULL, &plan->figure_ns },
        { "--min", 1, SHOTS_MAX, 1, &plan->min, NULL },
        { "--max", 1, SHOTS_MAX, 1, &plan->max, NULL },
        { "--warmups", 0, SHOTS_MAX, 1, &plan->warmups, NULL },
        { "--loop", 1, INT_MAX, 1, &plan->loop, NULL },
        { "--skew-us", 0, 10000000, 1000, NULL, &plan->skew_ns },
        { "--late-us", 0, 10000000, 1000, NULL, &plan->skew_ns },
        { "--root", 0, INT_MAX, 1, &plan->root, NULL },
    };

    if (!strcmp(option, "--coll"))
        return parse_colls(session, value);
    if (!strcmp(option, "--bytes"))
        return parse_sizes(session, value);
    if (!strcmp(option, "--way"))
        return parse_way(session, value);
    if (!strcmp(option, "--root") && !strcmp(value, "shift"))
        return plan->root = SHOTS_SHIFT, true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        long n = number_of(value, numbers[i].min, numbers[i].max);
        if (strcmp(option, numbers[i].name) != 0)
            continue;
        if (n >= 0 && numbers[i].number)
            *numbers[i].number = (int)n;
        else if (n >= 0)
            *numbers[i].time_ns = n * numbers[i].scale;
        plan->one_late |= !strcmp(option, "--late-us");
        return n >= 0;
    }
    return false;
}

const char *session_parse(struct session *session, const struct shots_coll *table, int argc,
                          char **argv)
{
    *session = (struct session){ .table = table, .bytes = { 8, 4096, 1 << 20 }, .sizes = 3 };
    session->plan =
        (struct shots_plan){ .figure_ns = 40000000, .min = 15, .max = 2000, .warmups = 3 };
    memset(session->chosen, true, sizeof session->chosen);
    for (int i = 1; i < argc; i++) {
        bool *on = !strcmp(argv[i], "--cold")         ? &session->plan.cold
                   : !strcmp(argv[i], "--unlabelled") ? &session->plan.unlabelled
                   : !strcmp(argv[i], "--integers")   ? &session->integers
                                                      : NULL;
        if (on) {
            *on = true;
            continue;
        }
        if (i + 1 == argc || !parse_option(session, argv[i], argv[i + 1]))
            return argv[i];
        i++;
    }
    if (session->plan.loop > 0 && session->plan.warmups > 1)
        session->plan.warmups = 1; /* a loop takes long */
    if (session->plan.max < session->plan.min)
        session->plan.min = session->plan.max;
    return NULL;
}

static void print_figure(const char *name, size_t bytes, const struct shots_figure *f)
{
    double sum = 0;

    for (int i = 0; i < f->shots; i++)
        sum += f->took_ns[i];
    printf("{\"collective\": \"%s\", \"bytes\": %zu, \"median_ns\": %.1f, \"p99_ns\": %.1f, "
           "\"min_ns\": %.1f, \"mean_ns\": %.1f, \"max_ns\": %.1f, ",
           name, bytes, shots_percentile(f, 50), shots_percentile(f, 99), shots_percentile(f, 0),
           f->shots > 0 ? sum / f->shots : 0, shots_percentile(f, 100));
    printf("\"shots\": %d, \"late\": %d, \"refused\": %ld, \"wrong\": %ld, \"cpu_ns\": %.0f, "
           "\"line_before_ns\": %.1f, \"line_after_ns\": "
           "%.1f}",
           f->shots, f->late, f->refused, f->wrong, f->cpu_ns, f->line_before_ns, f->line_after_ns);
    fflush(stdout);
}

/* Measures all sizes of a collective; a collective without bytes has a single figure.  Returns how
 * many bytes were wrong. */
static long measure(const struct session *session, const struct shots_coll *coll, struct shots *s,
                    struct shots_call *call, double *took_ns, bool *first)
{
    struct shots_figure f = { .took_ns = took_ns };
    long wrong = 0;

    for (int i = 0; i < (coll->moves != SHOTS_NO_BYTES ? session->sizes : 1); i++) {
        call->bytes = coll->moves != SHOTS_NO_BYTES ? session->bytes[i] : 0;
        shots_measure(s, &session->plan, coll, call, &f);
        wrong += f.wrong;
        if (s->rank != 0)
            continue;
        printf(*first ? "\n" : ",\n");
        *first = false;
        print_figure(coll->name, call->bytes, &f);
    }
    return wrong;
}

static void *buffer_of(const struct session *session, int ranks)
{
    size_t largest = 0;

    for (int row = 0; session->table[row].name; row++)
        for (int i = 0; session->chosen[row] && i < session->sizes; i++) {
            size_t needed = shots_buffer_bytes(&session->table[row], session->bytes[i], ranks);
            largest = needed > largest ? needed : largest;
        }
    size_t bytes = (largest / PAGE + 1) * PAGE;
    void *buffer = aligned_alloc(PAGE, bytes);
    return buffer ? memset(buffer, 0, bytes) : NULL;
}

int session_run(const struct session *session, struct shots *s, const char *program, void *host)
{
    struct shots_call call = { .in = buffer_of(session, s->ranks),
                               .out = buffer_of(session, s->ranks),
                               .integers = session->integers,
                               .host = host };
    double *took_ns = calloc((size_t)session->plan.max, sizeof *took_ns);
    bool first = true;
    long wrong = 0;

    if (!call.in || !call.out || !took_ns)
        return fprintf(stderr, "huddle: bench: out of memory\n"), 2;
    if (session->plan.root >= s->ranks)
        return fprintf(stderr, "huddle: bench: --root %d: there are %d ranks\n", session->plan.root,
                       s->ranks),
               2;
    if (s->rank == 0)
        printf("{\"program\": \"%s\", \"ranks\": %d, \"oversubscribed\": %s, \"start_ns\": %.1f, "
               "\"figures\": [",
               program, s->ranks, s->oversubscribed ? "true" : "false", shots_start_ns());
    for (int row = 0; session->table[row].name; row++)
        if (session->chosen[row])
            wrong += measure(session, &session->table[row], s, &call, took_ns, &first);
    if (s->rank == 0)
        printf("\n], \"wrong\": %ld}\n", wrong);
    free(took_ns);
    free(call.in);
    free(call.out);
    return wrong != 0;
}
