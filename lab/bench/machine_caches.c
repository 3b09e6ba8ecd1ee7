/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_caches.c - which bytes read by its cores a unit's shared cache contains; where bytes go
 * that one core has written and another core reads; and at which level cores fetch a line once for
 * all of them.  The time of dependent loads shows where the bytes were. */
#include "machine.h"
#include "pinned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORES = 3 };

/* The accesses of the threads to the bytes, in order.  The last access is timed. */
enum act { NOTHING, FLUSH, READ, WRITE };

struct use {
    int thread;
    enum act act;
};

struct where {
    struct pinned_meeting meeting;
    const struct use *use;
    int uses;
    void *nodes;
    size_t count;
    double ns[PINNED_ROUNDS];
};

static void act(struct where *w, const struct use *use)
{
    if (use->act == FLUSH)
        pinned_flush(w->nodes, w->count * MEASURED_APART);
    if (use->act == READ)
        measured_follow(w->nodes, w->count);
    for (size_t i = 0; use->act == WRITE && i < w->count; i++)
        memset((char *)w->nodes + i * MEASURED_APART + sizeof(void *), use->thread + 1, 1);
    pinned_keep(w->nodes);
}

/* Carries out the accesses.  Core 0's thread touches the bytes first.  The last access is a read,
 * and timed. */
static void body_where(void *arg, int thread)
{
    struct where *w = arg;

    if (thread == 0 && (w->nodes = measured_buffer(w->count * MEASURED_APART)) != NULL)
        measured_link(w->nodes, w->count);
    pinned_meet(&w->meeting);
    for (int r = 0; w->nodes && r < PINNED_ROUNDS; r++) {
        for (int u = 0; u < w->uses; u++) {
            double begin = pinned_ns();
            if (w->use[u].thread == thread)
                act(w, &w->use[u]);
            if (w->use[u].thread == thread && u == w->uses - 1)
                w->ns[r] = (pinned_ns() - begin) / (double)w->count;
            pinned_meet(&w->meeting);
        }
    }
    pinned_meet(&w->meeting);
    if (thread == 0)
        free(w->nodes);
}

/* Returns the ns of a load of the last access, by threads on these cores, or a negative number
 * without threads. */
static double after(const struct measured *on, const int *core, int threads, const struct use *use,
                    int uses)
{
    struct where w = { .meeting.threads = threads,
                       .use = use,
                       .uses = uses,
                       .count = measured_share(on) / MEASURED_APART };
    int cpus[CORES];

    for (int i = 0; i < threads; i++)
        cpus[i] = on->os[core[i]];
    return pinned_run(cpus, threads, body_where, &w) == 0 ? pinned_median(w.ns, PINNED_ROUNDS) : -1;
}

static bool same_unit(const struct sim_machine *m, int a, int b)
{
    return m->caches.shared_level < 0 ||
           machine_unit(m, m->caches.shared_level, a) == machine_unit(m, m->caches.shared_level, b);
}

/* Returns the first core from `first` on that shares a cache with core 0, or does not; or -1 if
 * there is none. */
static int core_from(const struct measured *on, int first, bool with)
{
    int core = first;

    while (core < on->m->cores && same_unit(on->m, 0, core) != with)
        core++;
    return core < on->m->cores ? core : -1;
}

/* Measures with two cores of a unit: bytes that the first core has only read come from memory for
 * the second core, unless the shared cache contains them. */
const char *measure_fill(const struct measured *on, char note[MACHINE_NOTE])
{
    static const struct use read[] = { { 0, FLUSH }, { 0, READ }, { 1, READ } },
                            memory[] = { { 0, FLUSH }, { 1, READ } };
    const int core[CORES] = { 0, core_from(on, 1, true) };

    if (core[1] < 0)
        return snprintf(note, MACHINE_NOTE, "no two cores share a cache"), NULL;
    double here = after(on, core, 2, read, 3), far = after(on, core, 2, memory, 2);
    if (here < 0 || far < 0)
        return snprintf(note, MACHINE_NOTE, "no threads could be had"), NULL;
    snprintf(note, MACHINE_NOTE,
             "measured: loads of what another core has just read: %.1f ns; from memory: %.1f", here,
             far);
    return here < far / 2 ? "read" : here > far / 1.25 ? "victim" : NULL;
}

/* Returns the name of the reference time within a quarter of `ns`, or NULL if none or several
 * are. */
static const char *nearest(double ns, double cache, double owner, double memory)
{
    static const char *const name[] = { "cache", "owner", "memory" };
    const double as[] = { cache, owner, memory };
    int found = -1;

    for (int i = 0; i < 3; i++)
        if (fabs(log(ns / as[i])) < log(1.25)) {
            if (found >= 0)
                return NULL;
            found = i;
        }
    return found < 0 ? NULL : name[found];
}

/* Measures a line after a write by core 0, a read by a core of another unit, and a read by another
 * core of core 0's unit.  The last core finds the bytes in the shared cache, like bytes evicted by
 * core 0; in core 0, as if no core had read them; or in memory. */
const char *measure_dirty(const struct measured *on, char note[MACHINE_NOTE])
{
    static const struct use shared[] = { { 0, WRITE }, { 1, READ }, { 2, READ } },
                            owner[] = { { 0, WRITE }, { 2, READ } },
                            memory[] = { { 0, WRITE }, { 0, FLUSH }, { 2, READ } },
                            read[] = { { 0, FLUSH }, { 0, READ }, { 2, READ } };
    const int core[CORES] = { 0, core_from(on, 1, false), core_from(on, 1, true) };

    if (core[1] < 0 || core[2] < 0)
        return snprintf(note, MACHINE_NOTE,
                        "it needs two cores of one shared cache, and one of another"),
               NULL;
    double ns = after(on, core, 3, shared, 3), of_cache = after(on, core, 3, read, 3),
           of_owner = after(on, core, 3, owner, 2), of_memory = after(on, core, 3, memory, 3);
    if (ns < 0 || of_cache < 0 || of_owner < 0 || of_memory < 0)
        return snprintf(note, MACHINE_NOTE, "no threads could be had"), NULL;
    snprintf(note, MACHINE_NOTE,
             "measured: loads after another unit's: %.1f ns; cache %.1f, owner %.1f, memory %.1f",
             ns, of_cache, of_owner, of_memory);
    return nearest(ns, of_cache, of_owner, of_memory);
}

/* Finds two cores in the same unit of a level, and in no lower common unit, which does not contain
 * core 0.  Returns false if there are none. */
static bool neighbours(const struct sim_machine *m, int level, int *a, int *b)
{
    for (*a = 1; *a < m->cores; ++*a)
        for (*b = *a + 1; *b < m->cores; ++*b)
            if (machine_class(m, *a, *b) == level + 1 && machine_class(m, 0, *a) > level + 1)
                return true;
    return false;
}

/* Measures a line that core 0 writes, then a core of another unit reads, then its neighbour there.
 * The last read takes as long as from a core of the unit if the unit shares lines, otherwise as
 * long as from core 0.  The highest such level counts. */
const char *measure_share(const struct measured *on, char note[MACHINE_NOTE])
{
    static const struct use second[] = { { 0, WRITE }, { 1, READ }, { 2, READ } },
                            within[] = { { 1, WRITE }, { 2, READ } },
                            across[] = { { 0, WRITE }, { 2, READ } };
    const char *found = NULL;
    int core[CORES] = { 0 };

    snprintf(note, MACHINE_NOTE, "it needs two cores of one unit, and one of another");
    for (int level = on->m->levels - 1; level >= 0; level--) {
        if (!neighbours(on->m, level, &core[1], &core[2]))
            continue;
        double ns = after(on, core, 3, second, 3), near = after(on, core, 3, within, 2),
               far = after(on, core, 3, across, 2);
        if (ns < 0 || near < 0 || far < 0)
            return snprintf(note, MACHINE_NOTE, "no threads could be had"), NULL;
        snprintf(note, MACHINE_NOTE,
                 "measured: loads after a neighbour's: %.1f ns; of its own lines %.1f, of the "
                 "writer's %.1f",
                 ns, near, far);
        if (far < near * 1.25)
            return NULL; /* both are equally far, so they cannot be distinguished */
        if (ns < sqrt(near * far))
            return hud_topo_level_name(on->m->topo, level);
        found = "none";
    }
    return found;
}
