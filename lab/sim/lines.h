/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - cache lines in simulated time: the cores that hold each line, when it is available, and
 * the cost of a load, a store and an addition.
 *
 * A line belongs to the core that wrote it last; others may have copies.  Times are those of
 * machine.h.  "cross" is transfer_ns by the class of the two cores, plus home_ns if the line's home
 * is farther from the reader than its holder is.
 *
 * Load   A load of a line that the core holds takes hit_ns.  Otherwise it begins when the line is
 *        visible and free, and takes cross.  The line's holder serves the next reader serve_ns
 *        later, so many readers queue.
 * Share  A core that loads a line from a core of another unit (lines.share) leaves a copy for its
 *        own unit.  Further cores of that unit load the copy as soon as the first core has it, and
 *        queue there: the owner serves its own unit, and one core of each other unit.  If no unit
 *        shares, the owner serves all cores.
 * Run    A core that misses again, without having waited for a value in between, has issued that
 *        load gap_ns after the previous load, while it still waited for it (out-of-order
 *        execution): a scan of n lines of one class takes transfer_ns + (n - 1) gap_ns.  If the
 *        machine has scan_gap_ns, it replaces gap_ns where the line comes from another core than
 *        the previous line.
 * Store  A core has at most store_entries stores in flight: a further store waits until the first
 *        of these has settled (hud_lines_entry_ns).  Then the core continues after post_ns.  Copies
 *        elsewhere must be revoked first: the store settles when the farthest holder has been
 *        reached, cross after it began.  No load of the new value ends before that, nor before its
 *        own cross.  A polling reader fetches the line as soon as it has lost it, so these two
 *        times overlap, except for revoke_ns of the farthest holder: a ping-pong of two flags
 *        takes revoke_ns + transfer_ns per hop.  A core without a copy must fetch the line first;
 *        then no core loads it before the store has settled.  Stores of a core settle in order,
 *        each miss at least gap_ns after the previous miss (a store buffer prefetches the lines of
 *        several stores).  If the machine has store_gap_ns, it replaces gap_ns here.  A store to
 *        the line of the previous store settles with it.  Each holder after the first adds
 *        revoke_each_ns, and makes the gap longer (writes.h).
 * Add    The core waits for the line to be free, for its own stores, for the line to come and the
 *        copies to be revoked, then add_ns.  Additions to one line queue.  If the machine has
 *        fetch_add_ns, it replaces transfer_ns and add_ns for a line owned by a core of its class.
 * Claim  (prefetch for ownership) is like a store for which no rank waits, and which has no value:
 *        the line comes to the core, and the copies are revoked.  A core without a copy must fetch
 *        it before it, or another core, loads it.
 *
 * Home   A fetch of a line from another unit (lines.share), and a store, addition or claim where
 *        cores of other units have the line, asks the line's home (sim_fetch.agent).  links.h
 *        computes how long it waits there.
 *
 * Late   A use may begin in the future, and things that it depends on may come later than known at
 *        its call, since a line in flight may have to wait at links (links.h): the line at its
 *        holder, the copy in its unit's shared cache, the core's own earlier stores.  When its
 *        time has come, hud_lines_begin computes the time again.  Only earlier uses can delay a
 *        use (delays.h).  If its own line is then delayed, hud_lines_delay records the delay, and
 *        every use that depends on it becomes later in turn.
 *
 * Calls must come in the order of their times.  Nothing here waits: the caller waits until
 * begin_ns, and then until end_ns.
 */
#ifndef HUD_SIM_LINES_H
#define HUD_SIM_LINES_H

#include "lab/sim/delays.h"
#include "lab/sim/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* A unit other than the owner's that has a copy for its cores. */
struct line_share {
    int unit, core; /* the core of the unit that has fetched the line */
    double free_ns; /* time at which it can serve the next core */
    double late_ns; /* difference to free_ns as known at first */
};

struct sim_line {
    int owner, home; /* the core that wrote it last; its NUMA node */
    /* Agent of its home, which orders requests for it (links.h); -1 if requests do not wait. */
    int agent;
    int copies; /* number of cores that have it */
    /* A bit for each core that has it, including the owner.  NULL until it first has a second
     * copy. */
    uint64_t *held;
    double visible_ns; /* earliest begin of a load of its value */
    double settled_ns; /* earliest end of such a load */
    double free_ns;    /* time at which the owner can serve the next core */
    /* The owner claimed it, and can load it itself only when it has settled. */
    bool claimed;
    /* Delays of the times above, numbered by the successive sole owners. */
    struct sim_delays delays;
    struct line_share *share;
    int shares, room;
};

/* A time on which a use depends, and the delay that this time already included. */
struct sim_need {
    double ns, late_ns;
};

enum sim_use { LINES_LOAD, LINES_STORE, LINES_ADD, LINES_CLAIM };

/* A core's use of a line. */
struct sim_fetch {
    enum sim_use use;
    double begin_ns, end_ns; /* time for which the line is on its way, unless from is -1 */
    int from;                /* the core that the line comes from; -1 if none */
    int agent;               /* agent of the line's home that it asks; -1 if none */
    bool shared;             /* whether it comes from the copy of this core's unit */
    unsigned takers;         /* number of cores that had taken the line by then */
    int entry;               /* a store's entry in the store buffer */
    unsigned number;         /* the number of a store or addition in the core */
    struct sim_need line, stores;
};

struct sim_lines; /* cores, and the uses in progress of each core */

struct sim_lines *hud_lines_create(const struct sim_machine *machine);
/* Frees the cores, but no lines, which are the caller's.  `all` may be NULL. */
void hud_lines_free(struct sim_lines *all);

/* Returns a line that `core` wrote long ago and still has.  The owner of an arena sets its lines to
 * 0 before others can use them (core/arena/arena.c). */
struct sim_line hud_line_first(int core, int home);
/* Frees the memory of a line. */
void hud_line_clear(struct sim_line *line);

/* Returns when the core has a free entry for its next store, which must not begin before. */
double hud_lines_entry_ns(const struct sim_lines *all, int core);
struct sim_fetch hud_lines_load(struct sim_lines *all, struct sim_line *line, int core,
                                double now_ns);
/* Begins a store.  It settles at end_ns, and the core itself continues post_ns after now_ns. */
struct sim_fetch hud_lines_store(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns);
struct sim_fetch hud_lines_add(struct sim_lines *all, struct sim_line *line, int core,
                               double now_ns);
/* Begins a prefetch for ownership.  At end_ns the core alone has the line. */
struct sim_fetch hud_lines_claim(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns);
/* Returns the time at which a use begins, as known now, at its begin_ns.  If the result is later,
 * the caller must ask again at that time. */
double hud_lines_begin(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f);
/* Delays the end of a use by delay_ns >= 0, the time for which its line waits on its way. */
void hud_lines_delay(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f,
                     double delay_ns);
/* Closes a use after its line has crossed.  Must be called once for each use, since its delays are
 * kept until then (delays.h). */
void hud_lines_close(struct sim_lines *all, struct sim_line *line, int core,
                     const struct sim_fetch *f);
/* Makes the core's next miss overlap with no earlier miss. */
void hud_lines_pause(struct sim_lines *all, int core);

#endif
