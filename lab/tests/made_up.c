/* SPDX-License-Identifier: BSD-3-Clause */
/* made_up.c - makes the tables of a machine without a description. */
#include "made_up.h"
#include "lab/sim/timing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIES = 2, LEVELS = 2 };

static int *table(int count)
{
    int *t = calloc((size_t)count, sizeof *t);

    if (!t)
        abort();
    return t;
}

struct sim_machine *made_up_machine(int sockets, int cores_of_die)
{
    struct sim_machine *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    *m = (struct sim_machine){ .name = "made up",
                               .cores = sockets * DIES * cores_of_die,
                               .levels = LEVELS,
                               .classes = LEVELS + 2,
                               .nodes = sockets * DIES };
    m->sockets = sockets;
    m->cpu = table(m->cores);
    m->unit = table(LEVELS * m->cores);
    m->node = table(m->cores);
    m->socket = table(m->cores);
    m->first = table(m->nodes);
    for (int core = m->cores - 1; core >= 0; core--) {
        int die = core / cores_of_die, socket = die / DIES;
        m->cpu[core] = core;
        m->unit[core] = m->node[core] = die;
        m->unit[m->cores + core] = m->socket[core] = socket;
        m->first[die] = core;
    }
    m->lines = (struct machine_lines){ .size_bytes = 64,
                                       .hit_ns = .5,
                                       .post_ns = .25,
                                       .add_ns = 2,
                                       .transfer_ns = { 0, 10, 20, 40 },
                                       .gap_ns = { 0, 1, 2, 4 },
                                       .serve_ns = { 0, 3, 5, 7 },
                                       .home_ns = { 0, 0, 8, 16 } };
    m->copy = (struct machine_copy){ .cached_gbps = { 20, 10, 5, 2.5 },
                                     .memory_gbps = { 4, 0, 2, 1 },
                                     .shared_gbps = 12.5,
                                     .kernel_gbps = 8,
                                     .kernel_call_ns = 100 };
    m->memory = (struct machine_memory){ .node_gbps = 12, .latency_ns = { 10, 0, 20, 40 } };
    m->caches = (struct machine_caches){ .private_bytes = 64 * 1024,
                                         .shared_level = 0,
                                         .shared_bytes = 1024 * 1024,
                                         .shared_gbps = 40 };
    m->reduce.core_gbps = 25;
    return m;
}

void made_up_free(struct sim_machine *m)
{
    free(m->cpu);
    free(m->unit);
    free(m->node);
    free(m->socket);
    free(m->first);
    free(m);
}

struct sim *made_up_sim(const struct sim_machine *m, int ranks, size_t arena_bytes, uint64_t seed,
                        struct sim_team **team)
{
    const struct sim_timing timing = { .machine = m, .core = m->cpu };
    const struct sim_options options = { .ranks = ranks,
                                         .arena_bytes = arena_bytes,
                                         .seed = seed,
                                         .time = &hud_timing,
                                         .timing = &timing };
    struct sim *s = hud_sim_create(&options);

    *team = hud_sim_team_create(s, ranks, m->cpu, 0, arena_bytes);
    return s;
}

const struct alg *made_up_alg(const char *coll, const char *name)
{
    for (int a = 0; hud_sim_algs[a]; a++)
        if (strcmp(hud_sim_algs[a]->coll, coll) == 0 && strcmp(hud_sim_algs[a]->name, name) == 0)
            return hud_sim_algs[a];
    fail_msg("no %s/%s", coll, name);
    return NULL;
}

void made_up_near(double is, double wanted, int line)
{
    if (fabs(is - wanted) > 1e-6 * (1 + fabs(wanted)))
        fail_msg("line %d: got %.9g, expected %.9g", line, is, wanted);
}
