/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.h - simulated time of a run on a modelled machine.  Each rank, bound to a core, has a time,
 * and the rank with the earliest time runs next.
 *
 * A call of mem.h begins at its rank's time and advances it by the costs of lines.h, links.h and
 * the engine that moves bytes.  Calls run in the order of their start times, so each finds lines
 * and links as the earlier calls have left them.  The same checker watches the run.  Two things
 * differ: the next rank is not chosen at random, and a reader sees the newest value that is visible
 * at its time.
 *
 * Asking for a rank, a size or a slot costs nothing, and neither does polling until the line
 * changes.  A waiting rank has read the line once and holds it.  It fetches the line again whenever
 * it has lost it, even if the new value is not the value that it awaits.
 *
 * Ranks of a span are on several nodes, each of them a machine of this description.  Each node has
 * its own lines, links and copies (struct sim_part).  Time and messages (ports.h) connect the
 * nodes.
 */
#ifndef HUD_SIM_CLOCK_H
#define HUD_SIM_CLOCK_H

#include "check/time.h"
#include "lab/sim/ports.h"
#include "lab/sim/time_queue.h"
#include "lab/sim/timing.h"
#include "lab/sim/trace.h"
#include "lab/sim/transfers.h"

/* The state of a node. */
struct sim_part {
    struct sim_lines *lines;
    struct sim_links *links;
    struct sim_transfers *transfers;
    struct sim_copies *copies; /* see mem_ops.h */
    int *rank_on;              /* [cores] the rank bound to each core */
    double next_ns;            /* time of the next event of its copies; INFINITY without copies */
};

/* What a rank has of time. */
struct sim_timed {
    int node;                /* its node */
    int core;                /* its core */
    double now_ns;           /* its time */
    struct sim_step step;    /* what it does now */
    struct sim_fetch adding; /* fetch of the line of its addition */
};

struct sim_clock {
    const struct sim_machine *machine;
    struct sim_timing timing; /* timing of the request */
    struct sim_timed *rank;   /* [ranks] */
    struct sim_part *part;    /* [parts] */
    int parts;
    struct sim_ports *ports;     /* network ports of the nodes; NULL with one node */
    struct sim_line ***line;     /* [ranks][line_count] NULL until the first use */
    size_t line_count;           /* lines of an arena */
    struct sim_time_queue queue; /* the ranks that can run */
    double now_ns;               /* time of the running rank */
    /* Advances the copies of a node, and sets next_ns. */
    void (*run)(struct sim *s, struct sim_part *p);
    struct sim_trace trace;
};

static inline struct sim_timed *timed(const struct sim_rank *r)
{
    return &r->s->clock->rank[r->number];
}

static inline struct sim_part *clock_part(const struct sim_rank *r)
{
    return &r->s->clock->part[timed(r)->node];
}

void hud_clock_create(struct sim *s);
void hud_clock_free(struct sim *s);
/* Returns the NUMA node of the shared memory of a rank bound to this core. */
int hud_clock_node(const struct sim *s, int core);

/* ---- which rank runs ---- */

/* Ends the rank's previous call and begins its next, after earlier ranks have run. */
void hud_clock_step(struct sim_rank *r);
/* Ends the rank's call.  No other call begins yet. */
void hud_clock_end(struct sim_rank *r);

/* Returns the rank that runs next, and sets the clock to its time.  Returns NULL if no rank can
 * run. */
struct sim_rank *hud_clock_next(struct sim *s);
/* Continues the current rank at this time, after ranks with earlier times. */
void hud_clock_until(struct sim_rank *r, double ns);
/* Schedules a rank, held by hud_sched_block or not yet started, for this time. */
void hud_clock_ready(struct sim_rank *r, double ns);

/* ---- calls on flags (posts.c): m's rank, at a flag of an arena ---- */

/* Waits until a post with at least this value is visible, and loads the line.  hud_clock_peek loads
 * the line without waiting.  Afterwards the flag's oldest post is the value seen by the rank. */
void hud_clock_await(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot,
                     uint64_t min);
void hud_clock_peek(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot);
/* Waits until the core's store buffer has an entry for the next post. */
void hud_clock_entry(struct mem *m);
/* Sets when the post will be visible, and advances the rank's time.  After hud_clock_add,
 * hud_clock_added must wait for the addition. */
void hud_clock_post(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
void hud_clock_add(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
void hud_clock_added(struct mem *m, const struct sim_spot *spot);
/* Removes posts that no rank will see any more: a newer post is visible at this rank's time, which
 * is the current time. */
void hud_clock_forget(struct sim_rank *r, struct sim_flag *flag);
/* Wakes the ranks that wait for the flag if its newest post is sufficient.  The other waiting ranks
 * fetch the line again. */
void hud_clock_wake_waiting(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot);

/* ---- plain words and claims ---- */

/* Loads each line of these bytes in turn.  hud_clock_store stores to each line, and hud_clock_claim
 * claims each line. */
void hud_clock_load(struct mem *m, const struct sim_spot *spot, size_t bytes);
void hud_clock_store(struct mem *m, const struct sim_spot *spot, size_t bytes);
void hud_clock_claim(struct mem *m, const struct sim_spot *spot, size_t bytes);
/* Ends the rank's run of misses: the next line that misses is the first of a new run (lines.h). */
void hud_clock_pause(struct mem *m);

#endif
