/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.h - simulated time of a run on a modelled machine: each rank, bound to a core, has a time,
 * and the rank with the earliest time runs next.
 *
 * A call of mem.h begins at its rank's time and advances it by the costs of lines.h, links.h and
 * the engine that moves bytes.  Calls run in the order of their start times, so each finds lines
 * and links as the earlier ones have left them.  The same checker watches the run.  Two things
 * differ: the next rank is not chosen at random, and a reader sees the newest value that is visible
 * at its time.
 *
 * These cost nothing: asking for a rank, a size or a slot, and polling until the line changes.  A
 * waiting rank has read the line once and holds it.  It fetches the line again whenever it has lost
 * it, even if the new value is not the one that it waits for.
 *
 * Ranks of a span are on several nodes, each of them a machine of that description.  What one has
 * of lines, links and bytes is a part of its own; time and messages (ports.h) join them.
 */
#ifndef HUD_SIM_CLOCK_H
#define HUD_SIM_CLOCK_H

#include "sim/crossings.h"
#include "sim/ports.h"
#include "sim/time_queue.h"
#include "sim/trace.h"
#include "sim/world.h"

/* A node. */
struct sim_part {
    struct sim_lines *lines;
    struct sim_links *links;
    struct sim_crossings *crossings;
    struct sim_copies *copies; /* carry.h */
    int *rank_on;              /* [cores] */
    double next_ns;            /* when its copies have something to do; INFINITY: they have not */
};

struct sim_clock {
    const struct sim_machine *machine;
    struct sim_part *part; /* [parts] */
    int parts;
    struct sim_ports *ports;     /* between them; NULL: there is one */
    struct sim_line ***line;     /* [ranks][line_count], NULL: untouched so far */
    size_t line_count;           /* of an arena */
    struct sim_time_queue queue; /* of ranks that can go on */
    double now_ns;               /* of the rank that runs */
    void (*run)(struct sim *s, struct sim_part *p); /* moves its bytes, and sets next_ns anew */
    struct sim_trace trace;
};

static inline struct sim_part *clock_part(const struct sim_rank *r)
{
    return &r->s->clock->part[r->node];
}

struct sim_clock *hud_clock_create(struct sim *s, const struct sim_machine *machine);
void hud_clock_free(struct sim_clock *c, int ranks); /* c may be NULL */
/* The NUMA node of the shared memory of a rank that is bound to a core. */
int hud_clock_node(const struct sim *s, int core);

/* ---- which rank runs ---- */

/* The rank's next call begins: the one before has ended; the earlier rank goes first. */
void hud_clock_step(struct sim_rank *r);
/* The rank's call has ended, and no other begins yet. */
void hud_clock_end(struct sim_rank *r);

/* The rank that goes on next, whose time it now is; NULL: none can. */
struct sim_rank *hud_clock_next(struct sim *s);
/* The current rank goes on at this time, after the ranks that go on earlier. */
void hud_clock_until(struct sim_rank *r, double ns);
/* A rank that hud_sched_block holds, or that has not begun, goes on at this time. */
void hud_clock_ready(struct sim_rank *r, double ns);

/* ---- calls on flags (posts.c): m's rank, at a flag of an arena ---- */

/* Waits until a post with this value, or more, is visible, and loads it; or just loads what is
 * visible.  The flag's oldest post is then what the rank sees. */
void hud_clock_await(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot,
                     uint64_t min);
void hud_clock_peek(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot);
/* The rank waits until its core's store buffer has an entry for the post to come. */
void hud_clock_entry(struct mem *m);
/* Says when the post will be visible, and moves the rank's time on.  An addition has yet to be
 * awaited (hud_clock_added). */
void hud_clock_post(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
struct sim_fetch hud_clock_add(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
void hud_clock_added(struct mem *m, const struct sim_spot *spot, struct sim_fetch *f);
/* Posts that nobody will see any more go: at this rank's time, which it is, a newer one is
 * visible. */
void hud_clock_forget(struct sim_rank *r, struct sim_flag *flag);
/* Those who wait for the flag hear of its newest post. */
void hud_clock_tell(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot);

/* ---- plain words and claims ---- */

/* Each line of these bytes is loaded or stored to, one after the other. */
void hud_clock_load(struct mem *m, const struct sim_spot *spot, size_t bytes);
void hud_clock_store(struct mem *m, const struct sim_spot *spot, size_t bytes);
void hud_clock_claim(struct mem *m, const struct sim_spot *spot, size_t bytes);
/* The rank does something else: the next line that it misses is the first of a run (lines.h). */
void hud_clock_pause(struct mem *m);

#endif
