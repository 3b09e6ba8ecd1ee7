/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copies.h - the cost of copies and reductions in simulated time, from the places of their bytes
 * (caches.h), the resources that they share (flows.h) and a machine's numbers (machine.h).
 *
 * A call handles its bytes in legs: at most COPIES_LEG bytes, of which each operand is in one
 * place.  A leg is a flow.
 *
 * Rate without other traffic.  The time per byte of a copy is the sum of its two ends.  An end in
 * the core's own private cache takes half of 1 / cached_gbps.own.  Another end takes 1 / gbps of
 * its place, less that half.  In nearest caches nearest_gbps is used in the same way.  A
 * destination counts like a source, since its bytes are fetched before they are written.  A
 * reduction of n sources takes n / reduce.core_gbps, and for each operand elsewhere the extra time
 * of its end compared with its own private cache.  A second destination counts as one more copy.
 * Ends add up, since a core is limited by the number of lines in flight, from any place.
 *
 * Shared resources.  Each operand's bytes cross the links from their place to the core, the memory
 * controller of their node if they are in memory, the shared cache of the core's unit unless they
 * are in its own cache, and the shared cache of another unit if they are there.  Bytes that a
 * shared cache evicts for them cross the path to their memory.
 *
 * Before the first byte, the first line of a call is fetched.  It takes hit_ns, or the longest of
 * its operands: transfer_ns of the class, or latency_ns of the memory.  Lines written with
 * non-temporal stores are not fetched.
 *
 * Several readers of the same bytes.  The first one's leg brings them into the shared cache of its
 * unit.  Other cores of that unit that find them on their way there read at the shared cache's
 * speed, and end no sooner than that leg.
 *
 * The ends of a copy through the kernel are found in the same way.  A byte takes 1 / kernel_gbps,
 * and for each end elsewhere what that takes more than the core's own private cache.  It begins
 * kernel_call_ns later, and kernel_other_ns for each such copy under way by another core that uses
 * one of the same two processes: the lines of what the kernel locks and counts go to and fro.
 * Several from or to one process share kernel_process_gbps, since the kernel pins that process's
 * pages for each of them.  A leg that finds no other is not limited by it.
 */
#ifndef HUD_COPIES_H
#define HUD_COPIES_H

#include "mem/mem.h"
#include "sim/ways.h"

enum { COPIES_LEG = 32 * 1024, COPIES_TO = 2 };

enum copies_kind {
    COPIES_COPY,
    COPIES_CLAIM, /* of `to`, which is fetched as for a write */
    COPIES_PAST,  /* a copy with non-temporal stores, to memory */
    COPIES_REDUCE,
    COPIES_KERNEL /* a copy by the kernel */
};

/* Addresses: of shared memory as algorithms see it, of a user's as it is.  0: in the core's own
 * cache, wherever (what a packed view gives or takes). */
struct copies_call {
    enum copies_kind kind;
    uintptr_t from[MEM_SOURCES], to[COPIES_TO];
    int froms, tos;
    size_t bytes;
    int process; /* COPIES_KERNEL: the core of the other process */
};

struct sim_copies;

/* The machine and its links must live as long. */
struct sim_copies *hud_copies_create(const struct sim_machine *machine,
                                     const struct sim_links *links);
void hud_copies_free(struct sim_copies *c); /* NULL is allowed */

/* These bytes are in the memory of a node: see caches.h. */
void hud_copies_home(struct sim_copies *c, uintptr_t first, size_t bytes, int node);
/* A core writes these bytes, in no time: fresh data. */
void hud_copies_touch(struct sim_copies *c, int core, uintptr_t first, size_t bytes);

/* What a call takes all of whose operands are in the core's nearest cache.  Claims of those cost
 * nothing. */
double hud_copies_alone(const struct sim_copies *c, int core, const struct copies_call *call);
/* A core begins a call.  It has none yet; now_ns is neither before the latest time given here nor
 * after hud_copies_next. */
void hud_copies_begin(struct sim_copies *c, int core, const struct copies_call *call,
                      double now_ns);
/* When the next leg of any call ends; INFINITY: there is none. */
double hud_copies_next(struct sim_copies *c);
/* It is that time: the core whose whole call ends, -1: another leg begins, or the same may be due
 * once more. */
int hud_copies_step(struct sim_copies *c);

/* What they cross, and the bytes that have crossed each of its resources so far. */
const struct sim_ways *hud_copies_ways(const struct sim_copies *c);
double hud_copies_carried(const struct sim_copies *c, int resource);
void hud_copies_forget(struct sim_copies *c); /* them */

#endif
