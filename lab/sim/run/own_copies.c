/* SPDX-License-Identifier: BSD-3-Clause */
/* own_copies.c - see own_copies.h. */
#include "lab/sim/run/own_copies.h"
#include "check/grow.h"
#include "lab/sim/copies.h"
#include "lab/sim/links.h"

#include <math.h>

enum { MIN_BYTES = 2 * HUD_LINE, MAX_BYTES = 1 << 30, MAX_REPETITIONS = 1000 };

struct own_copies {
    const struct sim_machine *machine;
    struct sim_copies *copies;
    size_t bytes;
    int repetitions;
    int *made;                 /* [cores] copies so far; -1 if it makes none */
    double *begin_ns, *end_ns; /* [cores] times of the measured copies */
};

static void copy(struct own_copies *a, int core, double now_ns)
{
    /* buffers overlap neither each other nor address 0 */
    uintptr_t first = (uintptr_t)(core + 1) * 2 * MAX_BYTES, half = a->bytes / 2;
    const struct copies_call call = { .kind = COPIES_COPY,
                                      .from = { first },
                                      .froms = 1,
                                      .to = { first + half },
                                      .tos = 1,
                                      .bytes = half };

    if (a->made[core] == 0)
        hud_copies_home(a->copies, first, a->bytes, a->machine->node[core]);
    hud_copies_begin(a->copies, core, &call, now_ns);
}

static void ended(struct own_copies *a, int core, double now_ns)
{
    if (a->made[core]++ == 0)
        a->begin_ns[core] = now_ns;
    a->end_ns[core] = now_ns;
    if (a->made[core] <= a->repetitions)
        copy(a, core, now_ns);
}

static double run(struct own_copies *a)
{
    double longest = 0;

    for (int core = 0; core < a->machine->cores; core++)
        if (a->made[core] == 0)
            copy(a, core, 0);
    for (double now; (now = hud_copies_next(a->copies)) < INFINITY;) {
        int core = hud_copies_step(a->copies);
        if (core >= 0)
            ended(a, core, now);
    }
    for (int core = 0; core < a->machine->cores; core++)
        longest = fmax(longest, a->end_ns[core] - a->begin_ns[core]);
    return longest / a->repetitions;
}

/* Sets the cores in the list to make copies.  Returns false if the list is empty, or names a core
 * twice or a core that does not exist. */
static bool name_cores(struct own_copies *a, const json_t *list)
{
    size_t count = json_array_size(list);

    for (int core = 0; core < a->machine->cores; core++)
        a->made[core] = -1;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(list, i);
        json_int_t core = json_is_integer(number) ? json_integer_value(number) : -1;
        if (core < 0 || core >= a->machine->cores || a->made[core] == 0)
            return false;
        a->made[core] = 0;
    }
    return count > 0;
}

static bool between(json_int_t value, json_int_t min, json_int_t max)
{
    return min <= value && value <= max;
}

json_t *own_copies_times_json(const struct sim_machine *machine, const json_t *asked, char *error,
                              size_t error_bytes)
{
    json_int_t bytes = json_integer_value(json_object_get(asked, "bytes")),
               repetitions = json_integer_value(json_object_get(asked, "repetitions"));
    size_t cores = (size_t)machine->cores;
    struct sim_links *links = hud_links_create(machine);
    struct own_copies a = { .machine = machine,
                            .copies = hud_copies_create(machine, links),
                            .bytes = (size_t)bytes,
                            .repetitions = (int)repetitions,
                            .made = hud_must(calloc(cores, sizeof(int))),
                            .begin_ns = hud_must(calloc(cores, sizeof(double))),
                            .end_ns = hud_must(calloc(cores, sizeof(double))) };
    json_t *answer = NULL;

    if (between(bytes, MIN_BYTES, MAX_BYTES) && between(repetitions, 1, MAX_REPETITIONS) &&
        name_cores(&a, json_object_get(asked, "cores")))
        answer = json_pack("{s:f}", "time_ns", run(&a));
    else
        snprintf(
            error, error_bytes,
            "own_copies: accepted are bytes of %d to %d, repetitions of 1 to %d, and cores of the "
            "machine, none twice",
            MIN_BYTES, MAX_BYTES, MAX_REPETITIONS);
    free(a.made);
    free(a.begin_ns);
    free(a.end_ns);
    hud_copies_free(a.copies);
    hud_links_free(links);
    return answer;
}
