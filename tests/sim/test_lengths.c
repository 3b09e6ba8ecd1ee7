/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lengths.c - an alltoallv, a gatherv and a scatterv whose two ends disagree about the length
 * of a block. A shorter block ends at the sender's length. A longer block is truncated, and its
 * receiver gets an error. Nothing hangs, nothing is written beyond a block, and the next operation
 * is not disturbed. There are enough operations to reuse each ring of lines.
 */
#include "check/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { RANKS = 3, MAX_BYTES = 6000, OPS = 80, SEEDS = 30, ARENA = 1 << 16, NOTHING = 0xEE };

/* Bytes of a block at its sender and at its receiver, chosen by operation and pair. */
static const size_t ends[][2] = { { 1000, 5000 }, { 5000, 1000 }, { 40, 41 }, { 40, 0 },
                                  { 41, 40 },     { 3000, 3000 }, { 0, 0 },   { 6000, 1 },
                                  { 0, 3000 },    { 6000, 0 },    { 40, 40 } };
enum { ENDS = sizeof ends / sizeof *ends };

/* Which ranks have blocks for which. */
enum way { ALL_TO_ALL, TO_ROOT, FROM_ROOT };

struct job {
    const struct alg *alg;
    enum way way;
    bool root_moves;
    long param[ALG_PARAMS];
    struct shape_groups groups;
    struct sim_team *team;
    struct alg_place place;
    unsigned char in[RANKS][RANKS][MAX_BYTES], out[RANKS][RANKS][MAX_BYTES];
};

static const size_t *ends_of(int op, int from, int to)
{
    return ends[(op * 5 + from * 3 + to) % ENDS];
}

static unsigned char byte_of(int op, int from, int to, size_t i)
{
    return (unsigned char)((op * 31 + from * 7 + to * 13 + (int)(i % 101)) % 200);
}

static bool goes(const struct job *job, int root, int from, int to)
{
    return job->way == ALL_TO_ALL || (job->way == TO_ROOT ? to == root : from == root);
}

/* Fills in the blocks to send and clears the blocks to receive. */
static void prepare(struct job *job, int rank, int op, struct hud_view *ins, struct hud_view *outs)
{
    for (int r = 0; r < RANKS; r++) {
        const size_t *to = ends_of(op, rank, r), *from = ends_of(op, r, rank);
        for (size_t i = 0; i < to[0]; i++)
            job->in[rank][r][i] = byte_of(op, rank, r, i);
        memset(job->out[rank][r], NOTHING, MAX_BYTES);
        ins[r] = (struct hud_view){ .base = job->in[rank][r], .bytes = to[0] };
        outs[r] = (struct hud_view){ .base = job->out[rank][r], .bytes = from[1] };
    }
}

static void check_blocks(const struct job *job, int root, int rank, int op, int status)
{
    bool cut = false,
         unheard = false; /* the rank of a view of no bytes may or may not get the error */

    for (int r = 0; r < RANKS; r++) {
        const size_t *from = ends_of(op, r, rank), come = from[0] < from[1] ? from[0] : from[1];
        bool comes = goes(job, root, r, rank) && (job->way == ALL_TO_ALL || r != rank);
        cut = cut || (comes && from[1] != 0 && from[0] > from[1]);
        unheard = unheard || (comes && from[1] == 0 && from[0] != 0);
        for (size_t i = 0; comes && i < come; i++)
            assert_int_equal(job->out[rank][r][i], byte_of(op, r, rank, i));
        for (size_t i = comes ? come : 0; i < MAX_BYTES && r != rank; i++)
            assert_int_equal(job->out[rank][r][i], NOTHING);
    }
    if (job->way != ALL_TO_ALL && rank == root)
        assert_true(status == HUD_OK || status == HUD_ERR_TRUNCATE);
    else if (cut || !unheard)
        assert_int_equal(status, cut ? HUD_ERR_TRUNCATE : HUD_OK);
    else
        assert_true(status == HUD_OK || status == HUD_ERR_TRUNCATE);
}

static void operate(struct job *job, int rank, int op)
{
    struct hud_view ins[RANKS], outs[RANKS];
    int root = job->root_moves ? op % RANKS : 0;
    bool many_in = job->way == ALL_TO_ALL || (job->way == FROM_ROOT && rank == root),
         many_out = job->way == ALL_TO_ALL || (job->way == TO_ROOT && rank == root);

    prepare(job, rank, op, ins, outs);
    const struct coll c = { .in = many_in ? ins : &ins[root],
                            .out = many_out ? outs : &outs[root],
                            .op = (uint64_t)op,
                            .root = root,
                            .groups = &job->groups,
                            .param = job->param,
                            .place = &job->place };
    int status = hud_sim_call(hud_sim_team_mem(job->team, rank), job->alg, &c);
    check_blocks(job, root, rank, op, status);
}

static void body(struct sim *s, int rank, void *arg)
{
    (void)s;
    for (int op = 1; op <= OPS; op++)
        operate(arg, rank, op);
}

static void check(const struct alg *alg, enum way way, uint64_t seed)
{
    static struct job job;
    const int unit[RANKS] = { -1, -1, -1 }, members[RANKS] = { 0, 1, 2 };
    const struct shape_place place = { .ranks = RANKS, .levels = 1, .unit = unit };
    const struct sim_options options = { .ranks = RANKS,
                                         .arena_bytes = ARENA,
                                         .seed = seed,
                                         .strategy = (enum sim_strategy)(seed % SIM_STRATEGIES) };

    job = (struct job){ .alg = alg, .way = way, .root_moves = seed % 2 };
    for (int p = 0; alg_param_at(alg, p); p++)
        job.param[p] = strcmp(alg_param_at(alg, p)->name, "tile") == 0 && seed % 3 == 0
                           ? 256
                           : alg_param_at(alg, p)->preset;
    for (int p = 0; alg_param_at(alg, p); p++)
        if (strcmp(alg_param_at(alg, p)->name, "cma") == 0)
            job.param[p] = seed % 5 == 0 ? 0 : seed % 5 == 1 ? 1 : 50;
    assert_int_equal(hud_shape_groups_build(&place, &job.groups), 0);
    job.place = alg_place_alone(alg, job.param, RANKS, 0, seed % 2 == 0 ? ARENA : ARENA / 4);
    assert_int_not_equal(job.place.slot_bytes, 0);
    struct sim *s = hud_sim_create(&options);
    job.team = hud_sim_team_create(s, RANKS, members, 0, ARENA);
    assert_true(hud_sim_run(s, body, &job));
    hud_sim_free(s);
    hud_shape_groups_free(&job.groups);
}

static void all(const char *collective, enum way way)
{
    int algs = 0;

    for (int a = 0; hud_sim_algs[a]; a++)
        if (strcmp(hud_sim_algs[a]->coll, collective) == 0) {
            algs++;
            for (uint64_t seed = 0; seed < SEEDS; seed++)
                check(hud_sim_algs[a], way, seed);
        }
    assert_true(algs > 0);
}

static void blocks_of_disagreeing_lengths_are_truncated(void **state)
{
    (void)state;
    all("alltoallv", ALL_TO_ALL);
    all("gatherv", TO_ROOT);
    all("scatterv", FROM_ROOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        blocks_of_disagreeing_lengths_are_truncated) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
