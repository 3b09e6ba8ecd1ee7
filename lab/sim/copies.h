/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copies.h - the cost of copies and reductions in simulated time, from the places of their bytes
 * (caches.h), the resources that they share (bandwidth.h) and a machine's numbers (machine.h).
 *
 * A call handles its bytes in legs: at most COPIES_LEG bytes, of which each operand is in one
 * place.  A leg is a flow.
 *
 * Rate without other traffic.  The time per byte of a copy is the sum of its two ends.  An end in
 * the core's own private cache takes half of 1 / cached_gbps.own.  Another end takes 1 / gbps of
 * its place, less that half.  In nearest caches nearest_gbps is used in the same way.  A
 * destination counts like a source, since its bytes are fetched before they are written, and takes
 * longer if other cores have read it (writes.h).  A
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
 * Several readers of the same bytes.  The first reader's leg brings them into the shared cache of
 * its unit.  Other cores of that unit that find the bytes on their way there read at the shared
 * cache's speed, and end no sooner than that leg.
 *
 * The ends of a copy through the kernel are found in the same way.  A byte takes 1 / kernel_gbps,
 * and for each end elsewhere the extra time of that end compared with the core's own private cache.
 * The copy begins kernel_call_ns later, and kernel_other_ns later for each other such copy in
 * progress that uses one of the same two processes, since the lines of the kernel's locks and
 * counters move between the cores.  Several copies from or to one process share
 * kernel_process_gbps, since the kernel pins that process's pages for each of them.  A leg that
 * begins while no other such copy is in progress is not limited by it.
 */
#ifndef HUD_COPIES_H
#define HUD_COPIES_H

#include "lab/sim/rates.h"
#include "mem/mem.h"

enum { COPIES_LEG = 32 * 1024, COPIES_TO = 2 };

enum copies_kind {
    COPIES_COPY,
    COPIES_CLAIM,       /* prefetches `to` for ownership */
    COPIES_RETURN,      /* returns the lines of `to`, which the core has just read */
    COPIES_NONTEMPORAL, /* copies to memory with non-temporal stores */
    COPIES_REDUCE,
    COPIES_KERNEL /* a copy by the kernel */
};

/* Operands of a call.  Addresses of shared memory are those that algorithms see; addresses of user
 * memory are real.  0 means that the bytes are in the core's own cache at no known address, like
 * elements of a packed view. */
struct copies_call {
    enum copies_kind kind;
    uintptr_t from[MEM_SOURCES], to[COPIES_TO];
    int froms, tos;
    size_t bytes;
    int process; /* the core of the other process, for COPIES_KERNEL */
};

struct sim_copies;

/* Creates the copies of a machine.  `machine` and `links` must outlive the result. */
struct sim_copies *hud_copies_create(const struct sim_machine *machine,
                                     const struct sim_links *links);
/* Frees the copies, which may be NULL. */
void hud_copies_free(struct sim_copies *c);

/* Sets the node whose memory has these bytes: see caches.h. */
void hud_copies_home(struct sim_copies *c, uintptr_t first, size_t bytes, int node);
/* Records that a core writes these bytes without taking time, as fresh data. */
void hud_copies_touch(struct sim_copies *c, int core, uintptr_t first, size_t bytes);

/* Returns the time of a call whose operands are all in the core's nearest cache.  Prefetches for
 * ownership take no time there. */
double hud_copies_alone(const struct sim_copies *c, int core, const struct copies_call *call);
/* Reports whether returning just read bytes costs the core less time than their owner gains in its
 * next write. */
bool hud_copies_returns(const struct sim_copies *c, int core, int owner, uintptr_t first,
                        size_t bytes);
/* Begins a call of a core, which must have no call in progress.  now_ns is neither before the
 * latest time given here nor after hud_copies_next. */
void hud_copies_begin(struct sim_copies *c, int core, const struct copies_call *call,
                      double now_ns);
/* Returns the time at which the next leg of any call ends, or INFINITY if there is none. */
double hud_copies_next(struct sim_copies *c);
/* Handles the end of a leg at the time of hud_copies_next.  Returns the core whose whole call ends,
 * or -1 if no call ends: another leg begins, or the same leg must wait for bytes. */
int hud_copies_step(struct sim_copies *c);

/* Returns the resources used by copies.  hud_copies_carried returns the bytes that have crossed a
 * resource, and hud_copies_forget resets these counts. */
const struct sim_rates *hud_copies_rates(const struct sim_copies *c);
double hud_copies_carried(const struct sim_copies *c, int resource);
void hud_copies_forget(struct sim_copies *c);

#endif
