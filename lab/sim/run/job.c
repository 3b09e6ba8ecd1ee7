/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - sets up a team as the core does for a real team, except for the choice of its algorithm,
 * and runs its ranks' calls.  Several nodes have equal numbers of ranks, bound alike. */
#include "lab/sim/run/job.h"
#include "alg/nodes/nodes.h"
#include "check/grow.h"
#include "coll/coll.h"

#include <string.h>

enum { PAGE = 4096 };

static const double MAX_DATA = 8e9; /* bytes of all ranks' buffers */

static void bind_ranks(struct job *job, struct topo_cpus *cpus)
{
    const struct sim_machine *m = job->q->machine;
    int here = request_ranks_here(job->q);
    struct topo_cpus all;

    hud_topo_all(m->topo, &all);
    hud_must(hud_topo_bind(m->topo, &all, job->q->map, here, cpus) ? cpus : NULL);
    for (int r = 0; r < here; r++)
        while (!(cpus[r].word[m->cpu[job->core[r]] / 64] >> (m->cpu[job->core[r]] % 64) & 1))
            job->core[r]++;
    for (int r = 0; r < job->q->ranks; r++) {
        job->node_of[r] = r / here;
        job->core[r] = job->core[r % here];
    }
}

static void place_ranks(struct job *job)
{
    const struct request *q = job->q;
    int here = request_ranks_here(q);
    struct topo_cpus *cpus = hud_must(calloc((size_t)here, sizeof *cpus));
    int *cache = hud_must(calloc((size_t)here, sizeof *cache));
    struct topo_caches caches = hud_topo_caches(q->machine->topo);
    struct shape_place place;

    job->core = hud_must(calloc((size_t)q->ranks, sizeof *job->core));
    job->node_of = hud_must(calloc((size_t)q->ranks, sizeof *job->node_of));
    bind_ranks(job, cpus);
    if (hud_topo_place(q->machine->topo, cpus, here, q->levels_off, &place) != 0 ||
        hud_shape_groups_build(&place, &job->groups) != 0)
        hud_must(NULL);
    hud_topo_cache_units(q->machine->topo, cpus, here, cache);
    for (int i = 0; i < job->parts; i++) {
        job->part[i].call.cache_bytes = hud_topo_cache_share(&caches, cache, here);
        job->part[i].call.groups = &job->groups;
    }
    free((void *)(uintptr_t)place.unit);
    free(cache);
    free(cpus);
}

/* Lays out the slots, then the line of the handover, then the shared window, as in a plan
 * (core/plan/layout.c). */
static void share_window(struct job *job)
{
    size_t at = 0;

    for (int i = 0; i < job->parts; i++) {
        job->part[i].place.slot_offset = at;
        at += job->part[i].place.slot_bytes;
    }
    for (int i = 0; i < job->parts; i++) {
        job->part[i].place.window_offset = at + HUD_LINE;
        job->part[i].place.user = i + 1;
    }
}

/* Lays out the parts, with their windows in one region or each in its own memory. */
static void lay_out(struct job *job)
{
    size_t at = 0;
    bool shared = job->parts > 1;

    for (int i = 0; i < job->parts; i++) {
        struct job_part *part = &job->part[i];
        part->place = alg_place_alone(part->q->alg, part->q->param, request_ranks_here(job->q), at,
                                      part->q->slot_bytes);
        part->call.place = &part->place;
        at += alg_place_bytes(&part->place);
        shared = shared && part->q->shared && part->place.window_bytes != 0;
    }
    if (shared)
        share_window(job);
}

static size_t end_of(const struct job *job)
{
    size_t end = 0;

    for (int i = 0; i < job->parts; i++) {
        const struct alg_place *p = &job->part[i].place;
        size_t at = p->window_bytes != 0 ? p->window_offset + mem_lines(p->window_bytes)
                                         : p->slot_offset + p->slot_bytes;
        end = at > end ? at : end;
    }
    return end;
}

static void create_team(struct job *job)
{
    const struct request *q = job->q;
    const struct sim_timing timing = { .machine = q->machine,
                                       .core = job->core,
                                       .nodes = q->nodes,
                                       .node_of = job->node_of,
                                       .together = q->placement == PLACEMENT_OFF };
    const struct sim_options options = { .ranks = q->ranks,
                                         .arena_bytes = (end_of(job) + PAGE - 1) / PAGE * PAGE,
                                         .seed = q->seed,
                                         .mutate_file = q->drop_file,
                                         .mutate_line = q->drop_line,
                                         .mutate = SIM_DROP_RELEASE | SIM_DROP_ACQUIRE,
                                         .time = &hud_timing,
                                         .timing = &timing };
    int *members = hud_must(calloc((size_t)q->ranks, sizeof *members));

    job->sim = hud_sim_create(&options);
    for (int i = 0; i < job->parts; i++)
        job->part[i].data = hud_must(calloc((size_t)q->ranks, sizeof(struct data)));
    job->start = hud_must(calloc((size_t)job->rounds, sizeof *job->start));
    job->span = hud_must(calloc((size_t)job->rounds * (size_t)q->ranks, sizeof *job->span));
    for (int r = 0; r < q->ranks; r++) {
        members[r] = r;
        for (int i = 0; i < job->parts; i++)
            data_create(job->part[i].q, r, &job->part[i].data[r]);
    }
    if (q->nodes > 1)
        job->nodes = hud_sim_span_create(job->sim, q->nodes, job->node_of, options.arena_bytes,
                                         nodes_messages(q->nodes));
    else
        job->team = hud_sim_team_create(job->sim, q->ranks, members, 0, options.arena_bytes);
    free(members);
}

static void add_part(struct job *job, const struct request *q)
{
    struct job_part *part = &job->part[job->parts++];

    part->q = q;
    part->call = (struct coll){ .root = q->root, .param = q->param };
    part->call.bytes = coll_has(q->kind, COLL_UNSIZED) ? 0 : q->bytes;
}

/* Checks a part.  Returns false with the reason in *error. */
static bool check_part(const struct job_part *part, char *error, size_t error_bytes)
{
    const struct request *q = part->q;
    const struct alg *a = q->alg;

    error[0] = '\0';
    if (part->place.slot_bytes == 0)
        snprintf(error, error_bytes,
                 "slot_bytes: %zu is too little for %s/%s with these parameters on %d ranks",
                 q->slot_bytes, a->coll, a->name, q->ranks);
    else if (q->nodes == 1 && !alg_accepts(a, &part->call, q->ranks))
        snprintf(error, error_bytes,
                 "bytes: %s/%s does not take %zu bytes on %d ranks with these parameters", a->coll,
                 a->name, q->bytes, q->ranks);
    else if (data_bytes(q) * q->ranks > MAX_DATA)
        snprintf(error, error_bytes, "bytes: %zu on %d ranks are more than %.0f GB of buffers",
                 q->bytes, q->ranks, MAX_DATA / 1e9);
    return error[0] == '\0';
}

/* Checks a part as check_part() does, with the map of the span. */
static bool check_between_nodes(const struct job *job, char *error, size_t error_bytes)
{
    struct job_part part = job->part[JOB_COUNTED];
    const struct alg *a = part.q->alg;

    part.call.net = hud_sim_span_net(job->nodes, 0);
    data_call(part.q, 0, &part.data[0], &part.call);
    snprintf(error, error_bytes, "bytes: %s/%s does not take %zu bytes on %d nodes", a->coll,
             a->name, part.q->bytes, part.q->nodes);
    return alg_accepts(a, &part.call, part.q->ranks);
}

bool job_create(const struct request *q, struct job *job, char *error, size_t error_bytes)
{
    static const char *const prefix[JOB_PARTS] = { "", "alternate: " };

    *job = (struct job){ .q = q, .rounds = q->warmup + q->repetitions };
    add_part(job, q);
    if (q->other)
        add_part(job, q->other);
    lay_out(job);
    for (int i = 0; i < job->parts; i++) {
        size_t used = (size_t)snprintf(error, error_bytes, "%s", prefix[i]);
        if (!check_part(&job->part[i], error + used, error_bytes - used))
            return false;
    }
    place_ranks(job);
    create_team(job);
    return q->nodes == 1 || check_between_nodes(job, error, error_bytes);
}

void job_free(struct job *job)
{
    hud_sim_free(job->sim);
    for (int i = 0; i < job->parts; i++) {
        for (int r = 0; job->part[i].data && r < job->q->ranks; r++)
            data_free(&job->part[i].data[r]);
        free(job->part[i].data);
    }
    free(job->start);
    free(job->span);
    free(job->core);
    free(job->node_of);
    hud_shape_groups_free(&job->groups);
}

/* ---- one rank ---- */

static struct span call(struct job *job, struct job_part *part, int rank, int round)
{
    struct mem *m = job_mem(job, rank);
    struct coll c = part->call;
    struct span span;

    c.op = (uint64_t)round + 1;
    c.root = (part->q->root + (part->q->root_shift ? round : 0)) % part->q->ranks;
    c.net = job->nodes ? hud_sim_span_net(job->nodes, rank) : NULL;
    data_call(part->q, rank, &part->data[rank], &c);
    span.enter_ns = hud_sim_now(m);
    hud_sim_call(m, part->q->alg, &c);
    span.leave_ns = hud_sim_now(m);
    return span;
}

/* Runs a measured call. */
static void call_counted(struct job *job, int rank, int round)
{
    job->span[(size_t)round * (size_t)job->q->ranks + (size_t)rank] =
        call(job, &job->part[JOB_COUNTED], rank, round);
}

/* Writes fresh data, which is then in the caches of the rank. */
static void fill(struct job *job, struct job_part *part, int rank, int round)
{
    struct data *d = &part->data[rank];
    size_t bytes = data_fill(part->q, rank, round, d);

    hud_sim_wrote(job_mem(job, rank), d->in, bytes);
}

static void verify(struct job *job, const struct job_part *part, int rank, int round)
{
    const struct data *d = &part->data[rank];
    size_t wrong = data_wrong(part->q, rank, round, d);

    if (wrong < d->out_bytes)
        hud_sim_fail(job->sim, "wrong result: byte %zu of %zu of %s/%s at rank %d, call %d\n",
                     wrong, d->out_bytes, part->q->alg->coll, part->q->alg->name, rank, round);
}

/* Starts a call on all ranks at once, without an order for the checker.  Counts and traces then
 * include only this call. */
static void start(struct job *job, int rank, int round)
{
    enum {
        PAUSE_NS = 10000
    }; /* pause between two calls, so that stores and claims of the earlier call have ended */
    struct mem *m = job_mem(job, rank);

    hud_sim_spend(m, PAUSE_NS);
    hud_sim_meet(job_all(job, rank));
    if (rank == 0)
        hud_sim_trace(job->sim, job->q->trace && round == job->rounds - 1);
    hud_sim_meet(job_all(job, rank));
    job->start[round] = hud_sim_now(m);
}

/* Returns a random delay, a multiple of 1/1024 of the skew. */
static double late_ns(struct job *job)
{
    return job->q->skew_ns > 0 ? job->q->skew_ns * (double)hud_sim_random(job->sim, 1024) / 1024
                               : 0;
}

static void run_single(struct job *job, int rank)
{
    struct job_part *counted = &job->part[JOB_COUNTED], *other = &job->part[JOB_OTHER];

    for (int round = 0; round < job->rounds; round++) {
        if (job->q->other) {
            fill(job, other, rank, round);
            start(job, rank, round);
            call(job, other, rank, round);
            verify(job, other, rank, round);
        }
        fill(job, counted, rank, round);
        start(job, rank, round);
        hud_sim_spend(job_mem(job, rank), late_ns(job));
        call_counted(job, rank, round);
        verify(job, counted, rank, round);
    }
}

static void run_loop(struct job *job, int rank)
{
    for (int i = 0; i < job->parts; i++)
        fill(job, &job->part[i], rank, 0);
    start(job, rank, 0);
    for (int round = 0; round < job->rounds; round++) {
        if (job->q->other)
            call(job, &job->part[JOB_OTHER], rank, round);
        if (job->q->root_shift && round == job->q->warmup)
            hud_sim_meet(job_all(job, rank)); /* a root may be far ahead */
        call_counted(job, rank, round);
    }
    for (int i = 0; i < job->parts; i++)
        verify(job, &job->part[i], rank, 0);
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
