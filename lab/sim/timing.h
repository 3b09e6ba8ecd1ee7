/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timing.h - runs of the checker (check/sim.h) on a modelled machine, which have times.  Their
 * options have `time = &hud_timing` and `timing`, the options below.
 */
#ifndef HUD_SIM_TIMING_H
#define HUD_SIM_TIMING_H

#include "check/sim.h"

struct sim_machine;
struct sim_trace;

struct sim_timing {
    const struct sim_machine *machine;
    const int *core;    /* [ranks] core of each rank; no two ranks of a node share a core */
    int nodes;          /* machines of that kind; 0: 1 */
    const int *node_of; /* [ranks] where there are several */
    bool together; /* all shared memory lies on rank 0's node; else each rank's arena on its own */
};

extern const struct sim_time hud_timing;

/* Returns the simulated time of the rank in ns.  hud_sim_spend advances the time, like a
 * computation. */
double hud_sim_now(const struct mem *m);
void hud_sim_spend(struct mem *m, double ns);
/* Records that the rank has just written these bytes of its user's memory.  The bytes are then in
 * the rank's caches, up to their sizes. */
void hud_sim_wrote(struct mem *m, const void *at, size_t bytes);
/* Turns the recording of all ranks' steps on or off.  Deletes the steps recorded so far, and resets
 * the counts of bytes and lines that have crossed resources. */
void hud_sim_trace(struct sim *s, bool on);
/* Returns the recorded steps, or NULL without a clock. */
const struct sim_trace *hud_sim_steps(const struct sim *s);

/* Traffic of a resource that bytes and lines cross: a link, a memory, or a shared cache
 * (rates.h). */
struct sim_traffic {
    char name[48];
    double gbps, bytes; /* bytes are counted since the last hud_sim_trace */
};

/* Returns the number of resources, or 0 without a clock. */
int hud_sim_resources(const struct sim *s);
struct sim_traffic hud_sim_traffic(const struct sim *s, int resource);
/* Returns the number of lines that came to a core from another core of this class (machine.h) since
 * the last hud_sim_trace.  Misses of loads, stores and additions count, including polls, but copies
 * do not. */
unsigned long hud_sim_lines(const struct sim *s, int class);

#endif
