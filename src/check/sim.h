/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.h - runs ranks as fibers of one process, under a seeded scheduler and a race checker.  For
 * tests; not part of libhuddle.
 *
 * A run fails, with a report that names both source lines, when
 *   - two accesses to bytes of shared memory, at least one of them a write, are not ordered by
 *     posts and awaits; this includes bytes in a flag's line,
 *   - two writes to a flag are not ordered, or its value does not grow, or a flag's bytes are
 *     accessed as plain bytes,
 *   - shared memory is accessed without mem.h, or outside the running algorithm's regions, or
 *     the line of the team's window (alg/window.c) by anything but its handover,
 *   - a byte of an algorithm's window is read that was not written in the same call: another
 *     algorithm may have left it there,
 *   - a rank returns before its collective allows it (a barrier requires that every rank has
 *     entered, a bcast that the root has),
 *   - a use of a user's buffer is not ordered with its owner's return, which counts as a read and
 *     write of the whole buffer,
 *   - a slice is leased again while a rank may still use it,
 *   - bytes are used while a message owns them (messages.c), or the two ends of a message differ
 *     in length,
 *   - all ranks wait, or no rank posts any more.
 *
 * A peek may return, and an await may accept, any value that the order allows, not only the newest.
 *
 * A rank with several flights has a fiber for each, and the fibers advance in any order.  Nothing
 * orders the flights of a rank, so a run covers requests of one thread as well as of several.
 * Where the functions below take a rank of the job, f * ranks + r is flight f of rank r, which uses
 * r's arena.
 *
 * With a model of time (time.h) a run also has times, under the same checker.
 *
 * One simulation runs at a time in a process.  The same options give the same run.
 */
#ifndef HUD_SIM_H
#define HUD_SIM_H

#include "alg/alg.h"

enum sim_strategy {
    SIM_RANDOM,   /* runs any rank at every call */
    SIM_BURST,    /* runs the same rank for a while */
    SIM_BLOCK,    /* runs the same rank until it must wait */
    SIM_STARVE,   /* runs a chosen rank only when no other can run */
    SIM_PRIORITY, /* runs the rank of highest priority, which may change at random moments */
    SIM_STRATEGIES
};

extern const char
    *const hud_sim_strategies[SIM_STRATEGIES + 1]; /* "random", "burst", ...; NULL ends it */

/*
 * How a mutation changes the calls on one line.
 *   DROP_RELEASE, DROP_ACQUIRE   the value still moves, but it orders nothing
 *   RETURN_LINES                 mem_out, mem_copy and mem_reduce count as calls of a last reader
 */
enum sim_mutation { SIM_DROP_RELEASE = 1, SIM_DROP_ACQUIRE = 2, SIM_RETURN_LINES = 4 };

struct sim_options {
    int ranks;          /* ranks of the simulated job; each rank has an arena */
    int flights;        /* flights of each rank, see above; 0 means 1 */
    size_t arena_bytes; /* a multiple of 4096 */
    uint64_t seed;
    enum sim_strategy strategy;
    const char *mutate_file; /* the end of a path; NULL for no mutation */
    int mutate_line, mutate; /* a sum of enum sim_mutation */
    /* Without a model (NULL) there is no time, and `strategy` chooses the rank that runs next.
     * With a model the rank with the earliest time runs next. */
    const struct sim_time *time;
    const void *timing; /* options of the model */
};

struct sim;
struct sim_team;
struct sim_span;

struct sim *hud_sim_create(const struct sim_options *options);
/* Frees a simulation and its teams. */
void hud_sim_free(struct sim *s);

/* Runs body once on the fiber of each flight of each rank.  Returns whether the run was clean.
 * Memory allocated by a body leaks if the run fails. */
bool hud_sim_run(struct sim *s, void (*body)(struct sim *s, int rank, void *arg), void *arg);
/* Returns the report as lines of text, which is "" while the run is clean. */
const char *hud_sim_report(const struct sim *s);
/* Returns the number of calls that were mutated. */
unsigned long hud_sim_mutated(const struct sim *s);
/* Returns the number of calls of mem.h. */
unsigned long hud_sim_events(const struct sim *s);
/* Returns the number of posts and additions. */
unsigned long hud_sim_posts(const struct sim *s);
/* Returns the length of the longest chain of posts, each seen by another rank. */
unsigned hud_sim_hops(const struct sim *s);
/* Returns the number of bytes that the rank's copies and reductions have read and written. */
size_t hud_sim_moved(const struct sim *s, int rank);
/* Returns a number of 0..max.  The same seed gives the same numbers. */
uint64_t hud_sim_random(struct sim *s, uint64_t max);

/* Creates a team of the ranks of the job in `members`.  Its lease is `bytes` of each member's arena
 * at offset_bytes; both are multiples of HUD_LINE. */
struct sim_team *hud_sim_team_create(struct sim *s, int size, const int *members,
                                     size_t offset_bytes, size_t bytes);
/* Returns a member's handle, which is valid until the simulation is freed. */
struct mem *hud_sim_team_mem(struct sim_team *t, int rank);

/*
 * Creates a span, which puts the ranks of the job on several nodes by node_of[rank].  The ranks of
 * a node share memory, as a team with `bytes` of each arena, and messages connect the nodes.  A
 * rank has at most `messages` messages in flight.
 */
struct sim_span *hud_sim_span_create(struct sim *s, int nodes, const int *node_of, size_t bytes,
                                     int messages);
/* Returns the handle of a rank of the job on its node's team.  hud_sim_span_net returns its handle
 * for messages.  Both are valid until the simulation is freed. */
struct mem *hud_sim_span_mem(struct sim_span *span, int rank);
struct net *hud_sim_span_net(struct sim_span *span, int rank);
/* Returns the rank's handle on the team of all ranks, for hud_sim_meet. */
struct mem *hud_sim_span_whole(struct sim_span *span, int rank);

/* ---- in a body ---- */

/*
 * Runs a collective call, including the work of core and its caller around a->run.  The call may
 * use the part of each slice given by c->place.  The caller owns c's views before and after.
 * Returns HUD_OK or HUD_ERR_TRUNCATE.
 */
int hud_sim_call(struct mem *m, const struct alg *a, const struct coll *c);
/* Sets the region of each slice that calls of mem.h outside of an algorithm may use. */
void hud_sim_region(struct mem *m, size_t offset_bytes, size_t bytes);
/* Simulates an allgather of the host among the team: everything that members did before happens
 * before everything they do next.  Takes no time; all members continue when the last has
 * arrived. */
void hud_sim_gather(struct mem *m);
/* Synchronises the team's members in time, like hud_sim_gather, but without a happens-before
 * order. */
void hud_sim_meet(struct mem *m);
/* Zeroes the owner's slice for a new lease. */
void hud_sim_lease(struct mem *m);
/* Ends the run with a report. */
void hud_sim_fail(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
