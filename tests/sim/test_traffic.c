/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_traffic.c - copies and reductions of a large message read and write as many bytes as the
 * heads of the algorithms' files say.
 *
 * Two ranks, and four in two units of two; one operation of each, root 0, contiguous views, a
 * kernel that copies all it is asked to.
 */
#include "made_up.h"
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* after the above */
#include <cmocka.h>

enum { MOST = 4, UNIT = 2, N = 3 << 18, ARENA = 1 << 21 };

/* Units of n that each rank reads and writes, beyond its input and its result: n the message, of an
 * alltoall a block. */
static const struct traffic {
    const char *coll, *name;
    double of_two[2], of_four[MOST];
} rows[] = {
    { "allreduce", "slices", { 2, 2 }, { 2.5, 2.5, 2.5, 2.5 } }, /* (3 - 2/p) n */
    { "allreduce",
      "levels",
      { 2, 2 },
      { 3.5, 3.5, 3.5, 3.5 } }, /* (3 + 2/g - 2/p) n; one unit: as slices */
    { "allreduce", "exchange", { 3, 3 }, { 5, 5, 5, 5 } }, /* (p + 1) n */
    { "allreduce", "tree", { 2, 2 }, { 3, 2, 3, 2 } },     /* (c + 2) n, at rank 0 (c + 1) n */
    { "allreduce", "single", { 1.5, 1.5 }, { 2.25, 2.25, 2.25, 2.25 } }, /* 3 (1 - 1/p) n */
    { "allreduce", "push", { 1.5, 1.5 }, { 2.25, 2.25, 2.25, 2.25 } },   /* 3 (1 - 1/p) n */
    { "reduce", "slices", { 2, 2 }, { 2, 2, 2, 2 } },                    /* 2 n */
    { "reduce", "gather", { 1, 1 }, { 3, 1, 1, 1 } }, /* n, at the root (p - 1) n */
    { "reduce", "tree", { 1, 1 }, { 2, 1, 2, 1 } },   /* (c + 1) n, at the root c n */
    { "reduce_scatter", "slices", { 1, 1 }, { 1.5, 1.5, 1.5, 1.5 } }, /* 2 (1 - 1/p) n */
    { "reduce_scatter",
      "exchange",
      { 1, 1 },
      { 1.5, 1.5, 1.5, 1.5 } }, /* (1 - 1/p) n + (p - 1) n/p */
    { "reduce_scatter", "single", { 1, 1 }, { 1.5, 1.5, 1.5, 1.5 } }, /* 2 (1 - 1/p) n */
    { "alltoall", "windows", { 2, 2 }, { 6, 6, 6, 6 } },              /* 2 (p - 1) n */
    { "alltoall", "single", { 0, 0 }, { 0, 0, 0, 0 } },
    { "alltoall", "push", { 0, 0 }, { 0, 0, 0, 0 } },
};

struct job {
    const struct traffic *row;
    const struct alg *alg;
    int ranks;
    struct shape_groups groups;
    struct sim_team *team;
    long param[ALG_PARAMS];
    size_t block_bytes[MOST];
    struct alg_place place;
    double *in[MOST], *out[MOST];
};

static void sum(const struct hud_op *op, void *dst, const void *const *src, int sources,
                size_t elements)
{
    double *to = dst;

    (void)op;
    for (size_t i = 0; i < elements; i++) {
        double x = ((const double *)src[0])[i];
        for (int s = 1; s < sources; s++)
            x += ((const double *)src[s])[i];
        to[i] = x;
    }
}

static bool is(const struct job *job, const char *coll)
{
    return strcmp(job->row->coll, coll) == 0;
}

/* Bytes that a rank sends and gets. */
static size_t sends(const struct job *job)
{
    return is(job, "alltoall") ? (size_t)job->ranks * N : N;
}

static size_t gets(const struct job *job, int rank)
{
    if (is(job, "reduce"))
        return rank == 0 ? N : 0;
    return is(job, "reduce_scatter") ? job->block_bytes[rank] : sends(job);
}

static void body(struct sim *s, int rank, void *arg)
{
    const struct job *job = arg;
    const struct hud_op op = {
        .element_bytes = sizeof(double), .commutative = 1, .combine = sum, .name = "sum"
    };
    const struct hud_view in = { .base = job->in[rank], .bytes = sends(job) },
                          out = { .base = job->out[rank], .bytes = gets(job, rank) };
    const struct coll c = { .bytes = N,
                            .in = &in,
                            .out = &out,
                            .block_bytes = job->block_bytes,
                            .reduction = &op,
                            .op = 1,
                            .groups = &job->groups,
                            .param = job->param,
                            .place = &job->place };

    (void)s;
    hud_sim_call(hud_sim_team_mem(job->team, rank), job->alg, &c);
}

static const struct alg *find(const struct traffic *row)
{
    for (int a = 0; hud_sim_algs[a]; a++)
        if (strcmp(hud_sim_algs[a]->coll, row->coll) == 0 &&
            strcmp(hud_sim_algs[a]->name, row->name) == 0)
            return hud_sim_algs[a];
    fail_msg("no %s/%s", row->coll, row->name);
    return NULL;
}

static void check(const struct traffic *row, int ranks, const double *units)
{
    struct job job = { .row = row, .alg = find(row), .ranks = ranks };
    int members[MOST], unit[MOST];
    struct sim_machine *machine = made_up_machine(1, UNIT);
    const struct shape_place place = { .ranks = ranks, .levels = 1, .unit = unit };

    for (int r = 0; r < ranks; r++) {
        members[r] = r;
        unit[r] = r / UNIT;
        job.block_bytes[r] = N / (size_t)ranks;
        job.in[r] = calloc(sends(&job), 1);
        job.out[r] = calloc(sends(&job), 1);
    }
    for (int p = 0; alg_param_at(job.alg, p); p++)
        job.param[p] = alg_param_at(job.alg, p)->preset;
    assert_int_equal(hud_shape_groups_build(&place, &job.groups), 0);
    job.place = alg_place_alone(job.alg, job.param, ranks, 0, ARENA);
    const struct sim_options options = {
        .ranks = ranks, .arena_bytes = ARENA, .machine = machine, .core = members
    };
    struct sim *s = hud_sim_create(&options);
    job.team = hud_sim_team_create(s, ranks, members, 0, ARENA);
    if (!hud_sim_run(s, body, &job))
        fail_msg("%s/%s: %s", row->coll, row->name, hud_sim_report(s));
    for (int r = 0; r < ranks; r++) {
        double beyond = (double)hud_sim_moved(s, r) - (double)(sends(&job) + gets(&job, r));
        if (beyond != units[r] * N)
            fail_msg("%s/%s, rank %d of %d: %g n beyond its input and result, not %g n", row->coll,
                     row->name, r, ranks, beyond / N, units[r]);
        free(job.in[r]);
        free(job.out[r]);
    }
    hud_sim_free(s);
    made_up_free(machine);
    hud_shape_groups_free(&job.groups);
}

static void heads_tell_the_truth(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(&rows[i], 2, rows[i].of_two);
        check(&rows[i], MOST, rows[i].of_four);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(heads_tell_the_truth) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
