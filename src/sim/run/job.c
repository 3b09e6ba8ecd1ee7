/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - sets a team up as the core does for a real one, but for the choice of its algorithm, and
 * lets its ranks call. */
#include "sim/run/job.h"
#include "coll/coll.h"
#include "sim/grow.h"

#include <string.h>

enum { PAGE = 4096 };

static const double MAX_DATA = 8e9; /* bytes of all ranks' buffers */

static void bind_ranks(struct job *job, struct topo_cpus *cpus)
{
    const struct sim_machine *m = job->q->machine;
    struct topo_cpus all;

    hud_topo_all(m->topo, &all);
    hud_topo_bind(m->topo, &all, job->q->map, job->q->ranks, cpus);
    for (int r = 0; r < job->q->ranks; r++)
        while (!(cpus[r].word[m->cpu[job->core[r]] / 64] >> (m->cpu[job->core[r]] % 64) & 1))
            job->core[r]++;
}

static void place_ranks(struct job *job)
{
    const struct request *q = job->q;
    struct topo_cpus *cpus = hud_must(calloc((size_t)q->ranks, sizeof *cpus));
    struct shape_place place;

    job->core = hud_must(calloc((size_t)q->ranks, sizeof *job->core));
    bind_ranks(job, cpus);
    if (hud_topo_place(q->machine->topo, cpus, q->ranks, q->levels_off, &place) != 0 ||
        hud_shape_groups_build(&place, &job->groups) != 0)
        hud_must(NULL);
    job->call.cache_bytes = hud_topo_cache_share(q->machine->topo, cpus, q->ranks);
    free((void *)(uintptr_t)place.unit);
    free(cpus);
}

static void create_team(struct job *job)
{
    const struct request *q = job->q;
    const struct sim_options options = { .ranks = q->ranks,
                                         .arena_bytes = (alg_place_bytes(&job->place) + PAGE - 1) /
                                                        PAGE * PAGE,
                                         .seed = q->seed,
                                         .mutate_file = q->drop_file,
                                         .mutate_line = q->drop_line,
                                         .mutate = SIM_DROP_RELEASE | SIM_DROP_ACQUIRE,
                                         .machine = q->machine,
                                         .core = job->core,
                                         .together = q->placement == PLACEMENT_OFF };
    int *members = hud_must(calloc((size_t)q->ranks, sizeof *members));

    job->sim = hud_sim_create(&options);
    job->data = hud_must(calloc((size_t)q->ranks, sizeof *job->data));
    job->start = hud_must(calloc((size_t)job->rounds, sizeof *job->start));
    job->span = hud_must(calloc((size_t)job->rounds * (size_t)q->ranks, sizeof *job->span));
    for (int r = 0; r < q->ranks; r++) {
        members[r] = r;
        data_create(q, r, &job->data[r]);
    }
    job->team = hud_sim_team_create(job->sim, q->ranks, members, 0, options.arena_bytes);
    free(members);
}

bool job_create(const struct request *q, struct job *job, char *error, size_t error_bytes)
{
    const struct alg *a = q->alg;
    int kind = hud_coll_kind(a->coll);

    *job = (struct job){ .q = q, .rounds = q->warmup + q->repetitions };
    job->call = (struct coll){ .root = q->root, .param = q->param };
    job->call.bytes = coll_has(kind, COLL_UNSIZED) ? 0 : q->bytes;
    job->place = alg_place_alone(a, q->param, q->ranks, 0, q->slot_bytes);
    job->call.place = &job->place;
    error[0] = '\0';
    if (job->place.slot_bytes == 0)
        snprintf(error, error_bytes,
                 "slot_bytes: %zu is too little for %s/%s with these parameters on %d ranks",
                 q->slot_bytes, a->coll, a->name, q->ranks);
    else if (!alg_accepts(a, &job->call, q->ranks))
        snprintf(error, error_bytes,
                 "bytes: %s/%s does not take %zu bytes on %d ranks with these parameters", a->coll,
                 a->name, q->bytes, q->ranks);
    else if (data_bytes(q) * q->ranks > MAX_DATA)
        snprintf(error, error_bytes, "bytes: %zu on %d ranks are more than %.0f GB of buffers",
                 q->bytes, q->ranks, MAX_DATA / 1e9);
    if (error[0] != '\0')
        return false;
    place_ranks(job);
    job->call.groups = &job->groups;
    create_team(job);
    return true;
}

void job_free(struct job *job)
{
    hud_sim_free(job->sim);
    for (int r = 0; job->data && r < job->q->ranks; r++)
        data_free(&job->data[r]);
    free(job->data);
    free(job->start);
    free(job->span);
    free(job->core);
    hud_shape_groups_free(&job->groups);
}

/* ---- one rank ---- */

static void call(struct job *job, int rank, int round)
{
    const struct request *q = job->q;
    struct mem *m = hud_sim_team_mem(job->team, rank);
    struct span *span = &job->span[(size_t)round * (size_t)q->ranks + (size_t)rank];
    struct coll c = job->call;

    c.op = (uint64_t)round + 1;
    data_call(q, rank, &job->data[rank], &c);
    span->enter_ns = hud_sim_now(m);
    hud_sim_call(m, q->alg, &c);
    span->leave_ns = hud_sim_now(m);
}

/* Fresh data, which lie in the caches of the rank that has made them. */
static void fill(struct job *job, int rank, int round)
{
    struct data *d = &job->data[rank];
    size_t bytes = data_fill(job->q, rank, round, d);

    hud_sim_wrote(hud_sim_team_mem(job->team, rank), d->in, bytes);
}

static void verify(struct job *job, int rank, int round)
{
    size_t wrong = data_wrong(job->q, rank, round, &job->data[rank]);

    if (wrong < job->data[rank].out_bytes)
        hud_sim_fail(job->sim, "wrong result: byte %zu of %zu at rank %d, call %d\n", wrong,
                     job->data[rank].out_bytes, rank, round);
}

/* All go on at once, in no order that the checker would know of; what is counted and traced from
 * then on is this call's. */
static void start(struct job *job, int rank, int round)
{
    enum {
        PAUSE_NS = 10000
    }; /* a program does something between two calls: stores and claims of the one before have ended
        */
    struct mem *m = hud_sim_team_mem(job->team, rank);

    hud_sim_spend(m, PAUSE_NS);
    hud_sim_meet(m);
    if (rank == 0)
        hud_sim_trace(job->sim, job->q->trace && round == job->rounds - 1);
    hud_sim_meet(m);
    job->start[round] = hud_sim_now(m);
}

/* A part in 1024 of the skew, at random. */
static double late_ns(struct job *job)
{
    return job->q->skew_ns > 0 ? job->q->skew_ns * (double)hud_sim_random(job->sim, 1024) / 1024
                               : 0;
}

static void run_single(struct job *job, int rank)
{
    for (int round = 0; round < job->rounds; round++) {
        fill(job, rank, round);
        start(job, rank, round);
        hud_sim_spend(hud_sim_team_mem(job->team, rank), late_ns(job));
        call(job, rank, round);
        verify(job, rank, round);
    }
}

static void run_loop(struct job *job, int rank)
{
    fill(job, rank, 0);
    start(job, rank, 0);
    for (int round = 0; round < job->rounds; round++)
        call(job, rank, round);
    verify(job, rank, 0);
}

static void body(struct sim *sim, int rank, void *arg)
{
    static void (*const run[])(
        struct job * job, int rank) = { [METHOD_SINGLE] = run_single, [METHOD_LOOP] = run_loop };
    struct job *job = arg;

    (void)sim;
    run[job->q->method](job, rank);
}

bool job_run(struct job *job)
{
    return hud_sim_run(job->sim, body, job);
}
