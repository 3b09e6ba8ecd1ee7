/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - cache lines in simulated time: who holds each, when it can be had, and what a load, a
 * store, an addition of one core costs.
 *
 * A line belongs to the core that wrote it last; others may have copies.  Times are those of
 * machine.h; cross is transfer_ns by the class of the two cores, plus home_ns where the line's home
 * is farther from the reader than its holder is.
 *
 * Load   of a line the core holds: hit_ns.  Else it begins when the line is visible and free, and
 *        takes cross; its holder serves the next reader serve_ns after this one, so many readers
 *        queue up.
 * Share  A core that loads a line out of another shared cache (caches.shared_level) leaves a copy
 *        in its own.  Further cores of that unit load it there, from when the first has it, and
 *        queue there: the owner serves its own unit, and one core of each other.
 * Run    A core that misses again without having waited for a value in between has issued that load
 *        gap_ns after the one before, while it still waited for it (out-of-order execution): a scan
 *        of n lines of one class takes transfer_ns + (n - 1) gap_ns.
 * Store  A core has store_entries of them under way at most: a further one waits until the first of
 *        these has settled (hud_lines_entry_ns).  Then the core goes on after post_ns.  Copies
 *        elsewhere must go first: the store settles when the farthest holder has been told, cross
 *        after it began, and no load of the new value ends before that, nor before its own cross.
 *        A reader that polls sends for the line as soon as it has lost it, so these two times
 *        overlap, but for revoke_ns of the farthest holder: a ping-pong of two flags takes
 *        revoke_ns + transfer_ns a hop.  A core without a copy must have the line first: then
 *        nobody loads before the store has settled.  Stores of a core settle in their order, each
 *        miss gap_ns after the one before at least (a store buffer asks early for the lines of
 *        several stores); one to the line of the store before it goes with that one.
 * Add    The core waits: for the line, for its own stores, for the line to come and the copies to
 *        go, then add_ns.  Additions to one line queue up.
 * Claim  as a store that nobody waits for and that nothing follows: the line comes to the core, the
 *        copies go.  A core without a copy must have it first, before it loads it or another one
 *        does.
 *
 * Late   A use may begin in the future, and what it counts on may come later than is known at its
 *        call, since a line on its way may have to wait at links (links.h): the line at its holder,
 *        the copy of its unit's shared cache, the core's own stores before it.  When its time has
 *        come it asks again (hud_lines_begin).  If its own line then waits, that is said
 *        (hud_lines_delay), and what counts on it comes later in turn.
 *
 * Calls must come in the order of their times.  Nothing here waits: the caller does, until
 * begin_ns and then until end_ns.
 */
#ifndef HUD_SIM_LINES_H
#define HUD_SIM_LINES_H

#include "sim/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* A shared cache other than the owner's that has a copy. */
struct line_share {
    int unit, core; /* of that cache; which core of it has fetched the line */
    double free_ns; /* it can serve the next */
    double late_ns; /* how much later that is than was known at first */
};

struct sim_line {
    int owner, home;   /* core that wrote it last; NUMA node */
    int copies;        /* cores that have it */
    uint64_t *held;    /* a bit for each core, the owner's, too; NULL: it never had a second copy */
    double visible_ns; /* loads of its value begin from here on */
    double settled_ns; /* and do not end before */
    double free_ns;    /* the owner can serve the next */
    bool claimed;      /* and has it itself when it has settled */
    double late_ns;    /* how much later these are than was known at first */
    unsigned takers;   /* cores that have had it alone, one after the other */
    struct line_share *share;
    int shares, room;
};

/* What a use counts on: that it is there by then; and how late it was already, when that was known.
 * */
struct sim_need {
    double ns, late_ns;
};

enum sim_use { LINES_LOAD, LINES_STORE, LINES_ADD, LINES_CLAIM };

/* A core's use of a line. */
struct sim_fetch {
    enum sim_use use;
    double begin_ns, end_ns; /* the line is on its way, unless from is -1 */
    int from;                /* the core that it comes from; -1: it does not */
    bool shared;             /* into the shared cache of this core's unit, and out of that */
    unsigned takers;         /* of the line, by then */
    int entry;               /* a store's, in the buffer */
    struct sim_need line, stores;
};

struct sim_lines; /* cores, and what each of them has under way */

struct sim_lines *hud_lines_create(const struct sim_machine *machine);
void hud_lines_free(struct sim_lines *all); /* NULL is allowed; lines are the caller's */

/* As the core leaves it that first writes it, long ago.  It has it still: who owns an arena has set
 * its lines to 0 before others could use them (core/arena/arena.c). */
struct sim_line hud_line_first(int core, int home);
void hud_line_clear(struct sim_line *line); /* frees what it holds */

/* When the core has an entry free for its next store: no such comes before. */
double hud_lines_entry_ns(const struct sim_lines *all, int core);
struct sim_fetch hud_lines_load(struct sim_lines *all, struct sim_line *line, int core,
                                double now_ns);
/* end_ns: when the store has settled; the core itself goes on post_ns after now_ns. */
struct sim_fetch hud_lines_store(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns);
struct sim_fetch hud_lines_add(struct sim_lines *all, struct sim_line *line, int core,
                               double now_ns);
/* end_ns: when the line is the core's alone. */
struct sim_fetch hud_lines_claim(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns);
/* It is the time at which a use was to begin: returns the time at which it does, as is known now.
 * Later, and it is to be asked again then. */
double hud_lines_begin(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f);
/* The use ends so much later, >= 0, as the line has to wait on its way. */
void hud_lines_delay(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f,
                     double delay_ns);
/* The core's next miss overlaps with none before. */
void hud_lines_pause(struct sim_lines *all, int core);

#endif
