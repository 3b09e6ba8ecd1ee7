/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_ranks.c - runs barriers of very many ranks in simulated time under the checker, and prints
 * the simulated time. The runs must end within seconds.
 *
 *   sim_many_ranks [RANKS [CALLS [ALGORITHM...]]]     on a made-up machine of dies of 64 cores
 */
#include "lab/sim/timing.h"
#include "made_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIE = 64, ARENA = 1 << 13 };

struct job {
    const struct alg *alg;
    struct sim_team *team;
    struct coll call;
    int calls;
    double last_ns;
};

static void body(struct sim *s, int rank, void *arg)
{
    struct job *job = arg;
    struct mem *m = hud_sim_team_mem(job->team, rank);
    struct coll c = job->call;

    (void)s;
    for (c.op = 1; c.op <= (uint64_t)job->calls; c.op++)
        hud_sim_call(m, job->alg, &c);
    if (hud_sim_now(m) > job->last_ns)
        job->last_ns = hud_sim_now(m);
}

/* Returns groups of two levels: dies, and all ranks. */
static struct shape_groups groups_of(const struct sim_machine *machine, int ranks)
{
    struct shape_groups groups;
    const struct shape_place place = { .ranks = ranks, .levels = 1, .unit = machine->node };

    if (hud_shape_groups_build(&place, &groups) != 0)
        abort();
    return groups;
}

static bool run(const struct alg *alg, const struct sim_machine *machine, int ranks, int calls)
{
    long param[ALG_PARAMS] = { 0 };
    struct shape_groups groups = groups_of(machine, ranks);
    struct alg_place place;
    struct job job = { .alg = alg,
                       .calls = calls,
                       .call = { .groups = &groups, .param = param, .place = &place } };
    clock_t began = clock();

    for (int p = 0; alg_param_at(alg, p); p++)
        param[p] = alg_param_at(alg, p)->preset;
    place = alg_place_alone(alg, param, ranks, 0, ARENA);
    if (place.slot_bytes == 0) { /* such as an algorithm with a queue for each pair of ranks */
        printf("%-14s %d ranks: more than a slot of %d bytes\n", alg->name, ranks, ARENA);
        hud_shape_groups_free(&groups);
        return true;
    }
    struct sim *s = made_up_sim(machine, ranks, ARENA, 1, &job.team);
    bool clean = hud_sim_run(s, body, &job);
    printf("%-14s %d ranks, %d calls: simulated %.0f ns a call, %lu events, %.2f s of this "
           "processor%s%s\n",
           alg->name, ranks, calls, job.last_ns / calls, hud_sim_events(s),
           (double)(clock() - began) / CLOCKS_PER_SEC, clean ? "" : "\n", hud_sim_report(s));
    fflush(stdout);
    hud_sim_free(s);
    hud_shape_groups_free(&groups);
    return clean;
}

static bool asked(const struct alg *alg, int count, char **names)
{
    bool named = count == 0;

    for (int i = 0; i < count; i++)
        named = named || strcmp(alg->name, names[i]) == 0;
    return named && strcmp(alg->coll, "barrier") == 0;
}

int main(int argc, char **argv)
{
    int ranks = argc > 1 ? atoi(argv[1]) : 4096, calls = argc > 2 ? atoi(argv[2]) : 3;
    struct sim_machine *machine = made_up_machine((ranks + 2 * DIE - 1) / (2 * DIE), DIE);
    bool clean = ranks > 0 && calls > 0;

    for (int a = 0; clean && hud_sim_algs[a]; a++)
        if (asked(hud_sim_algs[a], argc > 3 ? argc - 3 : 0, argv + 3))
            clean = run(hud_sim_algs[a], machine, ranks, calls);
    made_up_free(machine);
    return clean ? 0 : 1;
}
