/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.h - ranks as fibers of one process, under a seeded scheduler and a race checker.  For tests;
 * not part of libhuddle.
 *
 * A run fails, with a report that names both source lines, when
 *   - two accesses to bytes of shared memory, at least one of them a write, are not ordered by
 *     posts and awaits; this includes bytes in a flag's line,
 *   - two writes to a flag are not ordered, or its value does not grow, or a flag's bytes are
 *     accessed as plain bytes,
 *   - shared memory is accessed without mem.h, or outside the running algorithm's regions, or
 *     the line of the team's window (alg/window.c) by anything but its handover,
 *   - a byte of an algorithm's window is read that was not written in the same call: others may
 *     have left it there,
 *   - a rank returns before its collective allows it (barrier: every rank has entered, bcast: the
 *     root has),
 *   - a use of a user's buffer is not ordered with its owner's return, which counts as a read and
 *     write of the whole buffer,
 *   - a slice is leased again while a rank may still use it,
 *   - bytes are used while a message owns them (messages.c), or both ends of one differ in length,
 *   - all ranks wait, or nothing is posted any more.
 *
 * A peek may return, and an await may accept, any value that the order allows, not only the newest.
 *
 * A rank with several lanes has a fiber for each, which advance in any order.  Nothing orders the
 * lanes of a rank: what holds here holds for requests of one thread, and of several.  Where
 * functions below ask for a rank of the job, l * ranks + r is lane l of rank r, which uses r's
 * arena.
 *
 * On a modelled machine (clock.h) a run has times as well, under the same checker.
 *
 * One simulation runs at a time in a process.  The same options give the same run.
 */
#ifndef HUD_SIM_H
#define HUD_SIM_H

#include "alg/alg.h"

enum sim_strategy {
    SIM_RANDOM,   /* any rank, at every call */
    SIM_BURST,    /* the same rank for a while */
    SIM_BLOCK,    /* the same rank until it must wait */
    SIM_STARVE,   /* one rank only when no other can go on */
    SIM_PRIORITY, /* the most important rank; it becomes the least important at random moments */
    SIM_STRATEGIES
};

extern const char
    *const hud_sim_strategies[SIM_STRATEGIES + 1]; /* "random", "burst", ...; ended by NULL */

/*
 * What a mutation changes of the calls on one line.
 *   DROP_RELEASE, DROP_ACQUIRE   the value still moves, but nothing is ordered by it
 *   GIVE_BACK                    mem_out and mem_reduce count as those of a last reader
 */
enum sim_mutation { SIM_DROP_RELEASE = 1, SIM_DROP_ACQUIRE = 2, SIM_GIVE_BACK = 4 };

struct sim_options {
    int ranks;          /* of the simulated job; each has an arena */
    int lanes;          /* of each rank: see above; 0: 1 */
    size_t arena_bytes; /* a multiple of 4096 */
    uint64_t seed;
    enum sim_strategy strategy;
    const char *mutate_file;           /* the end of a path; NULL: no mutation */
    int mutate_line, mutate;           /* enum sim_mutation, added up */
    const struct sim_machine *machine; /* NULL: no time, `strategy` says who goes next; else the
                                          rank whose time is least does */
    const int *core;    /* [ranks] of that machine: where each is bound, no two of a node alike */
    int nodes;          /* machines of that kind; 0: 1 */
    const int *node_of; /* [ranks] where there are several */
    bool together; /* all shared memory lies on rank 0's node; else each rank's arena on its own */
};

struct sim;
struct sim_machine;
struct sim_trace;
struct sim_team;
struct sim_span;

struct sim *hud_sim_create(const struct sim_options *options);
/* Frees its teams, too. */
void hud_sim_free(struct sim *s);

/* Each lane of each rank of the job runs body on its fiber, once.  True: clean.  What a body
 * allocates is lost if the run fails. */
bool hud_sim_run(struct sim *s, void (*body)(struct sim *s, int rank, void *arg), void *arg);
const char *hud_sim_report(const struct sim *s);    /* lines of text; "" while clean */
unsigned long hud_sim_mutated(const struct sim *s); /* calls that were mutated */
unsigned long hud_sim_events(const struct sim *s);  /* calls of mem.h */
unsigned long hud_sim_posts(const struct sim *s);   /* posts and additions */
unsigned hud_sim_hops(const struct sim *s); /* longest chain of posts, each seen by another rank */
size_t
hud_sim_moved(const struct sim *s,
              int rank); /* bytes its copies and reductions have read, and written, added up */
uint64_t hud_sim_random(struct sim *s,
                        uint64_t max); /* 0..most; part of the run: the same for the same seed */

/* ---- with a clock (clock.h) ---- */

/* Simulated time of a rank; and it does something else for so long. */
double hud_sim_now(const struct mem *m);
void hud_sim_spend(struct mem *m, double ns);
/* The rank has just written these bytes of its user's: they lie in its caches, as far as those hold
 * them. */
void hud_sim_wrote(struct mem *m, const void *at, size_t bytes);
/* Steps of all ranks are kept from now on, or no longer; those kept so far are forgotten, and what
 * has crossed links is. */
void hud_sim_trace(struct sim *s, bool on);
/* NULL: no clock. */
const struct sim_trace *hud_sim_steps(const struct sim *s);

/* What bytes and lines cross: links, memories, shared caches (ways.h). */
struct sim_traffic {
    char name[48];
    double gbps, bytes; /* the latter since the trace was switched */
};

int hud_sim_resources(const struct sim *s); /* 0: no clock */
struct sim_traffic hud_sim_traffic(const struct sim *s, int resource);
/* Lines that came to a core from another one of that class (machine.h) since the trace was
 * switched: misses of loads, stores and additions, polls among them; not those of copies. */
unsigned long hud_sim_lines(const struct sim *s, int class);

/* The ranks of the job in `members` get a lease: `bytes` of each one's arena at offset_bytes, both
 * multiples of HUD_LINE. */
struct sim_team *hud_sim_team_create(struct sim *s, int size, const int *members,
                                     size_t offset_bytes, size_t bytes);
/* A member's handle, for as long as the simulation lives. */
struct mem *hud_sim_team_mem(struct sim_team *t, int rank);

/*
 * The ranks of the job on so many nodes, node_of[rank]: each node's share memory, as a team of
 * `bytes` of each arena, and messages connect them.  A number of messages per rank at a time.
 */
struct sim_span *hud_sim_span_create(struct sim *s, int nodes, const int *node_of, size_t bytes,
                                     int messages);
/* Of a rank of the job: its handles, for as long as the simulation lives. */
struct mem *hud_sim_span_mem(struct sim_span *span, int rank);
struct net *hud_sim_span_net(struct sim_span *span, int rank);
/* Its handle on all of them, to meet. */
struct mem *hud_sim_span_whole(struct sim_span *span, int rank);

/* ---- in a body ---- */

/*
 * One collective call: what core and its caller do around a->run.  It may use of each slice what
 * c->place says.  The caller owns c's views before and after.  HUD_OK or HUD_ERR_TRUNCATE.
 */
int hud_sim_call(struct mem *m, const struct alg *a, const struct coll *c);
/* Calls of mem.h outside of an algorithm may use this region of each slice. */
void hud_sim_region(struct mem *m, size_t offset_bytes, size_t bytes);
/* An allgather of the host among the team: what its members did before happens before what they do
 * next.  Takes no time: all go on when the last has come. */
void hud_sim_gather(struct mem *m);
/* As that, but by time only: nothing happens before anything. */
void hud_sim_meet(struct mem *m);
/* The owner zeroes its slice for a new lease. */
void hud_sim_lease(struct mem *m);
/* Ends the run with a report. */
void hud_sim_fail(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
