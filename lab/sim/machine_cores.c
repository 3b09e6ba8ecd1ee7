/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_cores.c - see machine_cores.h. */
#include "lab/sim/machine_cores.h"

#include "check/grow.h"
#include "lab/sim/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    struct sim_machine *m;
    char *error;
    size_t error_bytes;
};

/* Writes the error and returns false. */
static __attribute__((format(printf, 2, 3))) bool refuse(const struct reader *r, const char *format,
                                                         ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(r->error, r->error_bytes, format, list);
    va_end(list);
    plain_make(r->error);
    return false;
}

/* Finds the unit of each core on a level.  Below level 0, all cores are in one unit. */
static bool read_units(const struct reader *r, int level, int *of)
{
    const struct sim_machine *m = r->m;

    for (int c = 0; c < m->cores; c++) {
        struct topo_cpus one = { { 0 } };
        one.word[m->cpu[c] / 64] = (uint64_t)1 << (m->cpu[c] % 64);
        of[c] = level < 0 ? 0 : hud_topo_unit(m->topo, level, &one);
        if (of[c] < 0)
            return refuse(
                r,
                "topology: processor %d lies in no %s (accepted: levels that hold every processor)",
                m->cpu[c], hud_topo_level_name(m->topo, level));
    }
    return true;
}

static int count_units(const struct sim_machine *m, int level)
{
    return level < 0 ? 1 : hud_topo_level_units(m->topo, level);
}

static bool read_processors(const struct reader *r)
{
    struct sim_machine *m = r->m;
    struct topo_cpus all;

    hud_topo_all(m->topo, &all);
    m->cpu = hud_must(calloc((size_t)hud_topo_cpus_count(&all) + 1, sizeof *m->cpu));
    for (int cpu = 0; cpu < TOPO_CPUS; cpu++)
        if (all.word[cpu / 64] >> (cpu % 64) & 1)
            m->cpu[m->cores++] = cpu;
    return m->cores == hud_topo_cores(m->topo) ||
           refuse(r, "topology: %d threads on %d cores (accepted: one thread per core)", m->cores,
                  hud_topo_cores(m->topo));
}

/* Reads the units of all levels, the nodes and the sockets. */
static bool read_levels(const struct reader *r)
{
    struct sim_machine *m = r->m;
    size_t cores = (size_t)m->cores;
    int numa = hud_topo_level_of(m->topo, "numa"), socket = hud_topo_level_of(m->topo, "socket");

    m->levels = hud_topo_levels(m->topo);
    m->classes = m->levels + 2;
    m->nodes = count_units(m, numa);
    m->sockets = count_units(m, socket);
    m->unit = hud_must(calloc((size_t)m->levels * cores + 1, sizeof *m->unit));
    m->node = hud_must(calloc(cores + 1, sizeof *m->node));
    m->socket = hud_must(calloc(cores + 1, sizeof *m->socket));
    m->first = hud_must(calloc((size_t)m->nodes + 1, sizeof *m->first));
    for (int l = 0; l < m->levels; l++)
        if (!read_units(r, l, m->unit + (size_t)l * cores))
            return false;
    if (!read_units(r, numa, m->node) || !read_units(r, socket, m->socket))
        return false;
    for (int c = m->cores - 1; c >= 0; c--)
        m->first[m->node[c]] = c;
    return true;
}

bool hud_machine_read_cores(struct sim_machine *m, const char *topology, char *error,
                            size_t error_bytes)
{
    const struct reader r = { m, error, error_bytes };

    m->topo = hud_topo_load_described(topology);
    if (!m->topo)
        return refuse(&r,
                      "topology: \"%s\" is not understood (accepted: hwloc's \"pack:2 l3:1 core:8 "
                      "pu:1\", or the path of an .xml; at most %d "
                      "processors)",
                      topology, TOPO_CPUS);
    return read_processors(&r) && read_levels(&r);
}

void hud_machine_free(struct sim_machine *m)
{
    if (!m)
        return;
    hud_topo_free(m->topo);
    free(m->cpu);
    free(m->unit);
    free(m->node);
    free(m->socket);
    free(m->first);
    free(m);
}

struct sim_machine *hud_machine_place(const char *topology, char *error, size_t error_bytes)
{
    struct sim_machine *m = hud_must(calloc(1, sizeof *m));

    if (hud_machine_read_cores(m, topology, error, error_bytes))
        return m;
    hud_machine_free(m);
    return NULL;
}
