/* SPDX-License-Identifier: BSD-3-Clause */
/* times.c - figures of a run, as JSON. */
#include "lab/sim/run/times.h"

#include "check/grow.h"
#include "lab/sim/trace.h"

#include <string.h>

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static const struct span *spans_of(const struct job *job, int round)
{
    return &job->span[(size_t)round * (size_t)job->q->ranks];
}

static double last_leave(const struct job *job, int round)
{
    double last = 0;

    for (int r = 0; r < job->q->ranks; r++)
        last = spans_of(job, round)[r].leave_ns > last ? spans_of(job, round)[r].leave_ns : last;
    return last;
}

/* Returns the start of the last single call, or of the loop. */
static double first_ns(const struct job *job)
{
    return job->start[job->q->method == METHOD_SINGLE ? job->rounds - 1 : 0];
}

/* Returns the mean time of the measured calls of a loop on a rank. */
static double mean_ns(const struct job *job, int rank)
{
    const struct request *q = job->q;
    double sum = 0;

    if (!q->other)
        sum =
            spans_of(job, job->rounds - 1)[rank].leave_ns - spans_of(job, q->warmup)[rank].enter_ns;
    for (int round = q->warmup; q->other && round < job->rounds; round++)
        sum += spans_of(job, round)[rank].leave_ns - spans_of(job, round)[rank].enter_ns;
    return sum / q->repetitions;
}

static json_t *times_json(const struct job *job)
{
    const struct request *q = job->q;
    bool single = q->method == METHOD_SINGLE;
    int count = single ? q->repetitions : q->ranks;
    double *ns = hud_must(calloc((size_t)count, sizeof *ns));

    for (int i = 0; i < count; i++)
        ns[i] =
            single ? last_leave(job, q->warmup + i) - job->start[q->warmup + i] : mean_ns(job, i);
    qsort(ns, (size_t)count, sizeof *ns, rising);
    double median = (ns[(count - 1) / 2] + ns[count / 2]) / 2;
    json_t *times = json_pack("{s:f, s:f, s:f}", "time_ns", single ? median : ns[count - 1],
                              "min_ns", ns[0], "max_ns", ns[count - 1]);
    free(ns);
    return times;
}

static json_t *links_json(const struct job *job)
{
    double duration = last_leave(job, job->rounds - 1) - first_ns(job);
    json_t *list = json_array();

    for (int i = 0; i < hud_sim_resources(job->sim); i++) {
        struct sim_traffic t = hud_sim_traffic(job->sim, i);
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:f}", "name", t.name, "bytes", t.bytes, "busy",
                                        duration > 0 ? t.bytes / t.gbps / duration : 0.0));
    }
    return list;
}

/* Returns the lines per rank and call, in the last single call or over a loop with its warm-up. */
static json_t *lines_json(const struct job *job)
{
    const struct request *q = job->q;
    const struct sim_machine *machine = q->machine;
    int calls = q->method == METHOD_SINGLE ? 1 : job->rounds;
    json_t *lines = json_object();

    for (int class = 1; class < machine->classes; class ++)
        json_object_set_new(
            lines, hud_machine_class_name(machine, class),
            json_real((double)hud_sim_lines(job->sim, class) / (double)(calls * q->ranks)));
    return lines;
}

/* ---- the trace ---- */

static const char *kind_of(const struct sim_step *step)
{
    static const struct {
        const char *what, *kind;
    } kinds[] = { { "copies in", "copy" }, { "copies out", "copy" }, { "copies", "copy" },
                  { "moves", "copy" },     { "pulls", "copy" },      { "pushes", "copy" },
                  { "reduces", "reduce" } };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].what, step->what) == 0)
            return kinds[i].kind;
    return "line";
}

static void add_span(json_t *list, int rank, const struct sim_step *step, const char *what,
                     double begin_ns, double end_ns)
{
    char at[256];

    if (end_ns <= begin_ns)
        return;
    snprintf(at, sizeof at, "%s:%d", step->file, step->line);
    json_t *span = json_pack("{s:i, s:f, s:f, s:s, s:s, s:s, s:I}", "rank", rank, "begin_ns",
                             begin_ns, "end_ns", end_ns, "what", what, "call", step->what, "at", at,
                             "bytes", (json_int_t)step->bytes);
    if (step->by >= 0)
        json_object_set_new(hud_must(span), "for", json_integer(step->by));
    json_array_append_new(list, hud_must(span));
}

static json_t *spans_json(const struct job *job, const struct sim_trace *trace)
{
    double first = first_ns(job);
    json_t *list = json_array();

    for (int r = 0; r < trace->ranks; r++)
        for (int i = 0; i < trace->of[r].count; i++) {
            const struct sim_step *s = &trace->of[r].step[i];
            add_span(list, r, s, "wait", s->begin_ns - first, s->ready_ns - first);
            add_span(list, r, s, "queue", s->ready_ns - first, s->turn_ns - first);
            add_span(list, r, s, kind_of(s), s->turn_ns - first, s->end_ns - first);
        }
    return list;
}

static int slowest(const struct job *job)
{
    const struct span *spans = spans_of(job, job->rounds - 1);
    int rank = 0;

    for (int r = 1; r < job->q->ranks; r++)
        rank = spans[r].leave_ns > spans[rank].leave_ns ? r : rank;
    return rank;
}

static json_t *path_json(const struct job *job, const struct sim_trace *trace)
{
    double first = first_ns(job);
    struct sim_leg *legs;
    int count = hud_trace_path(trace, slowest(job), &legs);
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        add_span(list, legs[i].rank, legs[i].step, kind_of(legs[i].step), legs[i].begin_ns - first,
                 legs[i].end_ns - first);
    free(legs);
    return list;
}

void times_add_json(const struct job *job, json_t *call)
{
    const struct sim_trace *trace = hud_sim_steps(job->sim);

    json_object_set_new(call, "times", hud_must(times_json(job)));
    json_object_set_new(call, "links", hud_must(links_json(job)));
    json_object_set_new(call, "lines", hud_must(lines_json(job)));
    if (job->q->trace && job->q->method == METHOD_SINGLE) {
        json_object_set_new(call, "spans", hud_must(spans_json(job, trace)));
        json_object_set_new(call, "path", hud_must(path_json(job, trace)));
    }
}
