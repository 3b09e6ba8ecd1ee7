/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rates.c - maps places to ends of links: a core, and the class of the units whose mesh has the
 * place.
 */
#include "lab/sim/rates.h"
#include "check/grow.h"
#include "lab/sim/writes.h"

#include <math.h>

/* Returns the class of cores within one unit of a level.  Level -1 is the machine. */
static int class_within(const struct sim_machine *m, int level)
{
    return level < 0 ? m->classes - 1 : level + 1;
}

static int unit_of(const struct sim_machine *m, int class, int core)
{
    return class <= m->levels ? machine_unit(m, class - 1, core) : 0;
}

static struct links_end seat_of(const struct sim_rates *w, const struct caches_place *place)
{
    const struct sim_machine *m = w->machine;

    if (place->kind == CACHES_NODE)
        return (struct links_end){ m->first[place->of], w->node_class };
    if (place->kind == CACHES_UNIT)
        return (struct links_end){ w->unit_seat[place->of],
                                   class_within(m, m->caches.shared_level) };
    return (struct links_end){ place->of, MACHINE_OWN };
}

int hud_rates_class(const struct sim_rates *w, int core, const struct caches_place *place)
{
    struct links_end seat = seat_of(w, place);
    int class = machine_class(w->machine, core, seat.core);

    return class < seat.lowest ? seat.lowest : class;
}

/* Returns the speed of a copy from a class, out of the nearest cache or the private cache. */
static double gbps_of(const struct machine_copy *copy, int class, bool near)
{
    return near && copy->nearest_gbps[class] > 0 ? copy->nearest_gbps[class]
                                                 : copy->cached_gbps[class];
}

/* Subtracts the half of a copy's time that its end in the core's own cache takes. */
double hud_rates_byte_ns(const struct sim_rates *w, int core, const struct caches_place *place)
{
    const struct machine_copy *copy = &w->machine->copy;
    double half = .5 / gbps_of(copy, MACHINE_OWN, place->near);
    double gbps = gbps_of(copy, hud_rates_class(w, core, place), place->near);

    if (place->kind == CACHES_NODE)
        gbps = copy->memory_gbps[machine_away(w->machine, core, place->of)];
    if (place->kind == CACHES_UNIT && place->of == w->unit[core])
        gbps = copy->shared_gbps;
    double fetched_ns = fmax(half, 1 / gbps - half);
    if (place->readers == 0)
        return fetched_ns;
    return fmax(fetched_ns,
                hud_writes_byte_ns(w->machine, hud_rates_class(w, core, place), place->readers));
}

double hud_rates_return_ns(const struct sim_rates *w, int core, const struct caches_place *place)
{
    return hud_writes_return_ns(w->machine, hud_rates_class(w, core, place), place->readers);
}

double hud_rates_extra_ns(const struct sim_rates *w, int core, const struct caches_place *place)
{
    return fmax(0,
                hud_rates_byte_ns(w, core, place) - .5 / w->machine->copy.cached_gbps[MACHINE_OWN]);
}

void hud_rates_cross(const struct sim_rates *w, int core, const struct caches_place *place,
                     bool outwards, double weight, struct flow_path *path)
{
    struct links_end here = { core, MACHINE_OWN }, there = seat_of(w, place);
    int way[LINKS_WAY],
        count = hud_links_between(w->links, outwards ? here : there, outwards ? there : here, way);

    for (int i = 0; i < count; i++)
        hud_flow_use(path, way[i], weight);
    if (place->kind == CACHES_NODE)
        hud_flow_use(path, w->node_at + place->of, weight);
    if (place->kind == CACHES_UNIT && place->of != w->unit[core])
        hud_flow_use(path, w->unit_at + place->of, weight);
    if (!outwards)
        hud_flow_use(path, w->unit_at + w->unit[core], weight);
}

void hud_rates_process(const struct sim_rates *w, int core, struct flow_path *path)
{
    if (w->process_at < w->resources)
        hud_flow_use(path, w->process_at + core, 1);
}

/* ---- resources of a machine ---- */

static int *ints(int count, int value)
{
    int *all = hud_must(malloc((size_t)(count + 1) * sizeof *all));

    for (int i = 0; i < count; i++)
        all[i] = value;
    return all;
}

static void find_units(struct sim_rates *w)
{
    const struct sim_machine *m = w->machine;
    int class = class_within(m, m->caches.shared_level);

    w->unit = ints(m->cores, 0);
    w->unit_seat = ints(m->cores, 0);
    for (int core = m->cores - 1; core >= 0; core--) {
        int unit = w->unit[core] = unit_of(m, class, core),
            away = machine_class(m, core, m->first[m->node[core]]);
        w->unit_seat[unit] = core;
        w->units = unit >= w->units ? unit + 1 : w->units;
        w->node_class = away > w->node_class ? away : w->node_class;
    }
}

/* Returns the next number of streams above `count` for which the machine has a limit, or 0. */
static int streams_after(const struct machine_memory *memory, int count)
{
    do
        count++;
    while (count <= MACHINE_STREAMS && memory->streams_gbps[count] <= 0);
    return count <= MACHINE_STREAMS ? count : 0;
}

/* Computes the limit of each number of streams to a node, by linear interpolation between the given
 * numbers.  Fewer streams than the first given number are not limited. */
static void find_streams(struct sim_rates *w)
{
    const struct machine_memory *memory = &w->machine->memory;
    int low = 0;

    w->streams_gbps[0] = INFINITY;
    for (int high; (high = streams_after(memory, low)) != 0; low = high) {
        double from = low > 0 ? memory->streams_gbps[low] : INFINITY,
               to = memory->streams_gbps[high];
        for (int n = low + 1; n < high; n++)
            w->streams_gbps[n] = low > 0 ? from + (to - from) * (n - low) / (high - low) : INFINITY;
        w->streams_gbps[high] = to;
        w->streams = high;
    }
}

struct sim_rates *hud_rates_create(const struct sim_machine *machine, const struct sim_links *links)
{
    struct sim_rates *w = hud_must(calloc(1, sizeof *w));

    w->machine = machine;
    w->links = links;
    find_units(w);
    find_streams(w);
    w->node_at = hud_links_count(links);
    w->unit_at = w->node_at + machine->nodes;
    w->process_at = w->unit_at + w->units;
    w->resources = w->process_at + (machine->copy.kernel_process_gbps > 0 ? machine->cores : 0);
    return w;
}

void hud_rates_free(struct sim_rates *w)
{
    if (!w)
        return;
    free(w->unit);
    free(w->unit_seat);
    free(w);
}

double hud_rates_gbps(const struct sim_rates *w, int resource)
{
    if (resource < w->node_at)
        return hud_links_get(w->links, resource)->gbps;
    return resource < w->unit_at      ? w->machine->memory.node_gbps
           : resource < w->process_at ? w->machine->caches.shared_gbps
                                      : w->machine->copy.kernel_process_gbps;
}

struct sim_bandwidth *hud_rates_flows(const struct sim_rates *w)
{
    double *capacity = hud_must(calloc((size_t)w->resources, sizeof *capacity));

    for (int i = 0; i < w->resources; i++)
        capacity[i] = hud_rates_gbps(w, i);
    struct sim_bandwidth *f = hud_bandwidth_create(capacity, w->resources);
    free(capacity);
    for (int node = 0; w->streams > 0 && node < w->machine->nodes; node++)
        hud_bandwidth_limit(f, w->node_at + node, w->streams_gbps, w->streams);
    return f;
}

static int distance(const void *where, int a, int b)
{
    return machine_class(where, a, b);
}

struct sim_caches *hud_rates_caches(const struct sim_rates *w)
{
    const struct machine_caches *caches = &w->machine->caches;
    const struct caches_shape shape = { .cores = w->machine->cores,
                                        .units = w->units,
                                        .unit = w->unit,
                                        .nearest_bytes = (size_t)caches->nearest_bytes,
                                        .private_bytes = (size_t)caches->private_bytes,
                                        .shared_bytes = (size_t)caches->shared_bytes,
                                        .victim = caches->shared_fill == MACHINE_FILL_VICTIM,
                                        .dirty = caches->dirty_share == MACHINE_SHARE_OWNER
                                                     ? CACHES_KEEP
                                                 : caches->dirty_share == MACHINE_SHARE_MEMORY
                                                     ? CACHES_WRITE_BACK
                                                     : CACHES_HAND_ON,
                                        .distance = distance,
                                        .where = w->machine };

    return hud_caches_create(&shape);
}

void hud_rates_name(const struct sim_rates *w, int resource, char name[WAYS_NAME])
{
    if (resource < w->node_at)
        hud_links_name(w->links, resource, name);
    else if (resource < w->unit_at)
        snprintf(name, WAYS_NAME, "memory %d", resource - w->node_at);
    else if (resource < w->process_at)
        snprintf(name, WAYS_NAME, "shared cache %d", resource - w->unit_at);
    else
        snprintf(name, WAYS_NAME, "process on core %d", resource - w->process_at);
}
