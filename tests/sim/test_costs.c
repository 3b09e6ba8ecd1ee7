/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_costs.c - the number of posts of each barrier, and the longest chain of lines from rank to
 * rank, are as documented in the head of its file.
 *
 * One operation of 16 ranks runs without groups and in four groups of four. The seed decides which
 * rank is the last in a counter, but not the totals.
 */
#include "check/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { RANKS = 16, GROUP = 4, SEEDS = 10, ARENA = 1 << 16 };

/* Each addition to one line is a hop after the addition before. */
static const struct cost {
    const char *name;
    long param[2]; /* the first parameters, if there are any */
    unsigned long posts;
    unsigned hops;
    unsigned long grouped_posts;
    unsigned grouped_hops;
} costs[] = {
    { "groups", { 1, 16 }, 16, 2, 16, 3 },    /* p - 1 arrivals, one release */
    { "groups", { 4, 16 }, 16, 2, 20, 3 },    /* four exchange flags, and release three ranks
                                               * each */
    { "groups", { 16, 16 }, 16, 1, 16, 1 },   /* all exchange flags */
    { "groups", { 1, 4 }, 16, 3, 16, 3 },     /* sixteen gather in two steps, groups of four in
                                               * one */
    { "central", { 0 }, 17, 16, 17, 16 },     /* p additions, one post */
    { "dissemination", { 0 }, 64, 4, 64, 4 }, /* p h; h */
#ifdef HUD_LAB_ALGS
    { "counters", { 0 }, 16, 2, 16, 2 },   /* p */
    { "gather", { 0 }, 30, 2, 30, 2 },     /* 2 (p - 1) */
    { "combining", { 2 }, 45, 8, 45, 8 },  /* p + p/2 + ... additions, p - 1 posts; k h hops, h =
                                                 log2 p */
    { "combining", { 4 }, 25, 8, 25, 8 },  /* p + p/4 additions, 5 posts; h = log4 p */
    { "mcs", { 0 }, 30, 6, 30, 6 },        /* 2 (p - 1); depths 2 and 4 */
    { "tournament", { 0 }, 30, 8, 30, 8 }, /* 2 (p - 1); 2 h */
    { "cells", { 0 }, 16, 2, 19, 4 },      /* p, and an arrival of each chip leader but rank 0 */
#endif
};

struct job {
    const struct alg *alg;
    long param[ALG_PARAMS];
    struct shape_groups groups;
    struct sim_team *team;
    struct alg_place place;
};

static void body(struct sim *s, int rank, void *arg)
{
    const struct job *job = arg;
    const struct coll c = {
        .op = 1, .groups = &job->groups, .param = job->param, .place = &job->place
    };

    (void)s;
    hud_sim_call(hud_sim_team_mem(job->team, rank), job->alg, &c);
}

static const struct alg *find(const char *name)
{
    for (int a = 0; hud_sim_algs[a]; a++)
        if (strcmp(hud_sim_algs[a]->coll, "barrier") == 0 &&
            strcmp(hud_sim_algs[a]->name, name) == 0)
            return hud_sim_algs[a];
    fail_msg("no barrier/%s", name);
    return NULL;
}

static void check(const struct cost *cost, bool grouped, uint64_t seed)
{
    struct job job = { .alg = find(cost->name), .param = { cost->param[0], cost->param[1] } };
    int unit[RANKS], members[RANKS];

    for (int r = 0; r < RANKS; r++) {
        members[r] = r;
        unit[r] = grouped ? r / GROUP : -1;
    }
    const struct shape_place place = { .ranks = RANKS, .levels = 1, .unit = unit };
    assert_int_equal(hud_shape_groups_build(&place, &job.groups), 0);
    job.place = alg_place_alone(job.alg, job.param, RANKS, 0, ARENA);
    assert_int_not_equal(job.place.slot_bytes, 0);
    const struct sim_options options = { .ranks = RANKS,
                                         .arena_bytes = ARENA,
                                         .seed = seed,
                                         .strategy = (enum sim_strategy)(seed % SIM_STRATEGIES) };
    struct sim *s = hud_sim_create(&options);
    job.team = hud_sim_team_create(s, RANKS, members, 0, ARENA);
    assert_true(hud_sim_run(s, body, &job));
    unsigned long posts = hud_sim_posts(s);
    unsigned hops = hud_sim_hops(s);
    if (posts != (grouped ? cost->grouped_posts : cost->posts) ||
        hops != (grouped ? cost->grouped_hops : cost->hops))
        fail_msg("%s (%ld)%s: %lu posts, %u hops", cost->name, cost->param[0],
                 grouped ? " in groups" : "", posts, hops);
    hud_sim_free(s);
    hud_shape_groups_free(&job.groups);
}

static void barriers_post_as_often_as_documented(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        for (uint64_t seed = 0; seed < 2 * SEEDS; seed++)
            check(&costs[i], seed % 2 != 0, seed / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(barriers_post_as_often_as_documented) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
