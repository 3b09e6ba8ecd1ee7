/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate.c - the program simulate, which `huddle lab simulate` runs: reads a request (request.h)
 * from standard input and writes the result to standard output, both as JSON.
 *
 * Exit status: 0; 1 if the checker found a fault, which is in the answer; 2 for a bad request, with
 * a line on standard error.
 */
#include "lab/sim/run/own_copies.h"
#include "lab/sim/run/times.h"

#include "check/grow.h"

#include <string.h>

static json_t *list_levels(const struct sim_machine *m)
{
    json_t *list = json_array();

    for (int l = 0; l < m->levels; l++)
        json_array_append_new(list, json_pack("{s:s, s:i}", "name", hud_topo_level_name(m->topo, l),
                                              "units", hud_topo_level_units(m->topo, l)));
    return list;
}

static json_t *describe(const struct sim_machine *m)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:o}", "name", m->name, "cores", m->cores, "numa_nodes",
                     m->nodes, "sockets", m->sockets, "levels", list_levels(m));
}

static json_t *list_params(const struct request *q)
{
    json_t *params = json_object();

    for (int p = 0; alg_param_at(q->alg, p); p++) {
        const struct alg_param *row = alg_param_at(q->alg, p);
        json_object_set_new(params, row->name,
                            row->words ? json_string(row->words[q->param[p] - row->min])
                                       : json_integer(q->param[p]));
    }
    return params;
}

static json_t *list_cores(const struct job *job)
{
    json_t *list = json_array();

    for (int r = 0; r < job->q->ranks; r++)
        json_array_append_new(list, json_integer(job->core[r]));
    return list;
}

static json_t *list_groups(const struct job *job)
{
    const struct request *q = job->q;
    char names[SHAPE_LEVELS][TOPO_NAME];
    json_t *list = json_array();

    hud_topo_kept(q->machine->topo, q->levels_off, names);
    for (int l = 0; l < job->groups.levels; l++) {
        const struct shape_level *level = &job->groups.level[l];
        json_array_append_new(list, json_pack("{s:s, s:i}", "level",
                                              level->from >= 0 ? names[level->from] : "team",
                                              "groups", level->groups));
    }
    return list;
}

static json_t *other_json(const struct job *job)
{
    const struct request *q = job->q->other;

    return q ? json_pack("{s:s, s:s, s:o, s:I, s:b}", "collective", q->alg->coll, "algorithm",
                         q->alg->name, "parameters", list_params(q), "bytes", (json_int_t)q->bytes,
                         "handover", job_hands_over(job))
             : json_null();
}

/* Returns the call as it was made, and the checker's result. */
static json_t *call_json(const struct job *job, bool clean)
{
    const struct request *q = job->q;

    return json_pack(
        "{s:s, s:s, s:o, s:I, s:I, s:i, s:i, s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:I, s:o, s:o, "
        "s:o, "
        "s:{s:b, s:s, s:I, s:I, s:I}}",
        "collective", q->alg->coll, "algorithm", q->alg->name, "parameters", list_params(q),
        "slot_bytes", (json_int_t)alg_place_bytes(&job->part[JOB_COUNTED].place), "bytes",
        (json_int_t)q->bytes, "ranks", q->ranks, "nodes", q->nodes, "map", q->map, "levels_off",
        q->levels_off, "placement", request_placements[q->placement], "root", q->root, "method",
        request_methods[q->method], "repetitions", q->repetitions, "warmup", q->warmup, "seed",
        (json_int_t)q->seed, "core_of", list_cores(job), "groups", list_groups(job), "alternate",
        other_json(job), "checker", "clean", clean, "report", hud_sim_report(job->sim), "events",
        (json_int_t)hud_sim_events(job->sim), "posts", (json_int_t)hud_sim_posts(job->sim), "hops",
        (json_int_t)hud_sim_hops(job->sim));
}

static int print(json_t *answer, int status)
{
    hud_must(answer);
    json_object_set_new(answer, "simulated", json_true());
    json_dumpf(answer, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(answer);
    return status;
}

static int simulate(const struct request *q, json_t *answer)
{
    struct job job;
    char error[256];

    if (!job_create(q, &job, error, sizeof error)) {
        json_decref(answer); /* the rest of the job is freed at the program's end */
        return fprintf(stderr, "huddle: simulate: %s\n", error), 2;
    }
    bool clean = job_run(&job);
    json_t *call = hud_must(call_json(&job, clean));
    if (clean)
        times_add_json(&job, call);
    json_object_set_new(answer, "call", call);
    job_free(&job);
    return print(answer, clean ? 0 : 1);
}

/* Runs the copies of "own_copies", without a team. */
static int copy_own(const struct request *q, const json_t *asked, json_t *answer)
{
    char error[256];
    json_t *own_copies = own_copies_times_json(q->machine, asked, error, sizeof error);

    if (!own_copies) {
        json_decref(answer);
        return fprintf(stderr, "huddle: simulate: %s\n", error), 2;
    }
    json_object_set_new(answer, "own_copies", own_copies);
    return print(answer, 0);
}

int main(void)
{
    struct request q;
    json_error_t bad;
    char error[256];
    json_t *json = json_loadf(stdin, 0, &bad);

    if (!json)
        return fprintf(stderr, "huddle: simulate: no JSON: %s at line %d\n", bad.text, bad.line), 2;
    if (!request_read(json, &q, error, sizeof error)) {
        json_decref(json);
        return fprintf(stderr, "huddle: simulate: %s\n", error), 2;
    }
    json_t *answer = json_pack("{s:o}", "machine", describe(q.machine));
    const json_t *own_copies = json_object_get(json, "own_copies");
    int status = q.alg        ? simulate(&q, hud_must(answer))
                 : own_copies ? copy_own(&q, own_copies, hud_must(answer))
                              : print(answer, 0);
    request_free(&q);
    json_decref(json);
    return status;
}
