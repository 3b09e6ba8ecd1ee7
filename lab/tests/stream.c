/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c - runs STREAM on a described machine, with arrays of each core that no cache holds.
 * Reads a request from stdin and prints GB/s. Like STREAM, counts bytes read and bytes written, but
 * not bytes fetched in order to be written.
 *
 *   {"machine": {...}, "kind": "copy", "cores": 8, "node": 0}      cores 0 to 7, memory of node 0
 */
#include "lab/sim/copies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SOURCES = 2, PASSES = 2 };

static const struct kind {
    const char *name;
    enum copies_kind does;
    int froms, tos;
} kinds[] = { { "load", COPIES_COPY, 1, 0 },
              { "copy", COPIES_COPY, 1, 1 },
              { "triad", COPIES_REDUCE, 2, 1 } };

struct run {
    struct sim_machine *machine;
    struct sim_copies *copies;
    const struct kind *kind;
    int cores, node;
    size_t bytes; /* size of each array */
};

static int fail(const char *why)
{
    fprintf(stderr, "sim_stream: %s\n", why);
    return 2;
}

/* Returns the address of a core's i-th array. Bytes that are only loaded go to the core's own
 * cache. */
static uintptr_t array(const struct run *r, int core, int i)
{
    return ((uintptr_t)core + 1) * ((uintptr_t)1 << 36) + (uintptr_t)i * 2 * r->bytes;
}

static void begin(const struct run *r, int core, double now_ns)
{
    struct copies_call call = {
        .kind = r->kind->does, .froms = r->kind->froms, .tos = 1, .bytes = r->bytes
    };

    for (int i = 0; i < r->kind->froms; i++)
        call.from[i] = array(r, core, i);
    for (int i = 0; i < r->kind->tos; i++)
        call.to[i] = array(r, core, SOURCES + i);
    hud_copies_begin(r->copies, core, &call, now_ns);
}

/* Passes once over the arrays of all cores. Returns the time at which the last core has
 * finished. */
static double pass(const struct run *r, double now_ns)
{
    for (int core = 0; core < r->cores; core++)
        begin(r, core, now_ns);
    for (double next; next = hud_copies_next(r->copies), next < INFINITY;
         hud_copies_step(r->copies))
        now_ns = next;
    return now_ns;
}

/* Returns the size of an array, which exceeds a core's part of the caches. */
static size_t array_bytes(const struct run *r)
{
    const struct machine_caches *caches = &r->machine->caches;
    int level = caches->shared_level, sharers = 0;

    for (int core = 0; core < r->cores; core++)
        sharers += level < 0 ||
                   machine_unit(r->machine, level, core) == machine_unit(r->machine, level, 0);
    return ((size_t)(2 * (caches->private_bytes + caches->shared_bytes / sharers)) / COPIES_LEG +
            1) *
           COPIES_LEG;
}

/* Returns the bandwidth of the last pass. Earlier passes fill the caches, so that the last pass
 * evicts bytes. */
static double gbps(struct run *r)
{
    double begin_ns = 0, end_ns = 0;

    r->bytes = array_bytes(r);
    for (int core = 0; core < r->cores; core++)
        for (int i = 0; i <= SOURCES; i++)
            hud_copies_home(r->copies, array(r, core, i), r->bytes, r->node);
    for (int i = 0; i < PASSES; i++) {
        begin_ns = end_ns;
        end_ns = pass(r, begin_ns);
    }
    return r->cores * (double)r->bytes * (r->kind->froms + r->kind->tos) / (end_ns - begin_ns);
}

int main(void)
{
    json_t *request = json_loadf(stdin, 0, NULL);
    const char *kind = json_string_value(json_object_get(request, "kind"));
    struct run r = { .cores = (int)json_integer_value(json_object_get(request, "cores")),
                     .node = (int)json_integer_value(json_object_get(request, "node")) };
    char error[256] = "";

    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        r.kind = strcmp(kinds[i].name, kind) == 0 ? &kinds[i] : r.kind;
    r.machine = hud_machine_read(json_object_get(request, "machine"), error, sizeof error);
    if (!r.machine || !r.kind || r.cores < 1 || r.cores > r.machine->cores || r.node < 0 ||
        r.node >= r.machine->nodes)
        return fail(error[0] ? error : "no such kind, cores or node");
    struct sim_links *links = hud_links_create(r.machine);
    r.copies = hud_copies_create(r.machine, links);
    printf("%.6g\n", gbps(&r));
    hud_copies_free(r.copies);
    hud_links_free(links);
    hud_machine_free(r.machine);
    json_decref(request);
    return 0;
}
