/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_traffic.c - copies and reductions of a large message read and write as many bytes as
 * documented in the heads of the algorithms' files.
 *
 * One operation of each algorithm, with two ranks, and with four ranks in two units of two. The
 * root is 0, views are contiguous, and the kernel copies as many bytes as asked for.
 */
#include "lab/sim/timing.h"
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { MAX_RANKS = 4, UNIT = 2, N = 3 << 18, ARENA = 1 << 21 };

/* Units of n that each rank reads and writes, in addition to its input and its result. n is the
 * size of the message, or of a block in an alltoall. */
static const struct traffic {
    const char *coll, *name;
    double of_two[2], of_four[MAX_RANKS];
} rows[] = {
    { "allreduce", "slices", { 2, 2 }, { 2.5, 2.5, 2.5, 2.5 } }, /* (3 - 2/p) n */
    { "allreduce",
      "levels",
      { 2, 2 },
      { 3.5, 3.5, 3.5, 3.5 } }, /* (3 + 2/g - 2/p) n; with one unit, as slices */
    { "allreduce", "exchange", { 3, 3 }, { 5, 5, 5, 5 } }, /* (p + 1) n */
    { "allreduce", "tree", { 2, 2 }, { 3, 2, 3, 2 } },     /* (c + 2) n; (c + 1) n at rank 0 */
    { "allreduce", "cma_read", { 1.5, 1.5 }, { 2.25, 2.25, 2.25, 2.25 } },  /* 3 (1 - 1/p) n */
    { "allreduce", "cma_write", { 1.5, 1.5 }, { 2.25, 2.25, 2.25, 2.25 } }, /* 3 (1 - 1/p) n */
    { "reduce", "slices", { 2, 2 }, { 2, 2, 2, 2 } },                       /* 2 n */
    { "reduce", "gather", { 1, 1 }, { 3, 1, 1, 1 } }, /* n; (p - 1) n at the root */
    { "reduce", "tree", { 1, 1 }, { 2, 1, 2, 1 } },   /* (c + 1) n; c n at the root */
    { "reduce_scatter", "slices", { 1, 1 }, { 1.5, 1.5, 1.5, 1.5 } }, /* 2 (1 - 1/p) n */
    { "reduce_scatter",
      "exchange",
      { 1, 1 },
      { 1.5, 1.5, 1.5, 1.5 } }, /* (1 - 1/p) n + (p - 1) n/p */
    { "reduce_scatter", "cma_read", { 1, 1 }, { 1.5, 1.5, 1.5, 1.5 } }, /* 2 (1 - 1/p) n */
    { "alltoall", "windows", { 2, 2 }, { 6, 6, 6, 6 } },                /* 2 (p - 1) n */
    { "alltoall", "cma_read", { 0, 0 }, { 0, 0, 0, 0 } },
    { "alltoall", "cma_write", { 0, 0 }, { 0, 0, 0, 0 } },
};

struct job {
    const struct traffic *row;
    const struct alg *alg;
    int ranks;
    struct shape_groups groups;
    struct sim_team *team;
    long param[ALG_PARAMS];
    size_t block_bytes[MAX_RANKS];
    struct alg_place place;
    double *in[MAX_RANKS], *out[MAX_RANKS];
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

/* Returns the bytes that a rank sends; gets() below returns the bytes of its result. */
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

static void check(const struct traffic *row, int ranks, const double *units)
{
    struct job job = { .row = row, .alg = made_up_alg(row->coll, row->name), .ranks = ranks };
    int unit[MAX_RANKS];
    struct sim_machine *machine = made_up_machine(1, UNIT);
    const struct shape_place place = { .ranks = ranks, .levels = 1, .unit = unit };

    for (int r = 0; r < ranks; r++) {
        unit[r] = r / UNIT;
        job.block_bytes[r] = N / (size_t)ranks;
        job.in[r] = calloc(sends(&job), 1);
        job.out[r] = calloc(sends(&job), 1);
    }
    for (int p = 0; alg_param_at(job.alg, p); p++)
        job.param[p] = alg_param_at(job.alg, p)->preset;
    assert_int_equal(hud_shape_groups_build(&place, &job.groups), 0);
    job.place = alg_place_alone(job.alg, job.param, ranks, 0, ARENA);
    struct sim *s = made_up_sim(machine, ranks, ARENA, 0, &job.team);
    if (!hud_sim_run(s, body, &job))
        fail_msg("%s/%s: %s", row->coll, row->name, hud_sim_report(s));
    for (int r = 0; r < ranks; r++) {
        double beyond = (double)hud_sim_moved(s, r) - (double)(sends(&job) + gets(&job, r));
        if (beyond != units[r] * N)
            fail_msg("%s/%s, rank %d of %d: %g n moved beyond its input and result, expected %g n",
                     row->coll, row->name, r, ranks, beyond / N, units[r]);
        free(job.in[r]);
        free(job.out[r]);
    }
    hud_sim_free(s);
    made_up_free(machine);
    hud_shape_groups_free(&job.groups);
}

static void algorithms_move_as_many_bytes_as_documented(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(&rows[i], 2, rows[i].of_two);
        check(&rows[i], MAX_RANKS, rows[i].of_four);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        algorithms_move_as_many_bytes_as_documented) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
