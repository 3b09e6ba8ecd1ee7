/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - cache lines in simulated time: which core holds each, when it is available, and the
 * cost of a load, a store and an addition.
 *
 * A line belongs to the core that wrote it last; others may have copies.  Times are those of
 * machine.h.  "cross" is transfer_ns by the class of the two cores, plus home_ns if the line's home
 * is farther from the reader than its holder is.
 *
 * Load   of a line that the core holds: hit_ns.  Otherwise it begins when the line is visible and
 *        free, and takes cross.  Its holder serves the next reader serve_ns later, so many readers
 *        queue.
 * Share  A core that loads a line from a core of another unit (lines.share) leaves a copy for its
 *        own.  Further cores of that unit load it there, as soon as the first has it, and queue
 *        there: the owner serves its own unit, and one core of each other unit.  If no unit shares,
 *        the owner serves all cores.
 * Run    A core that misses again, without having waited for a value in between, has issued that
 *        load gap_ns after the previous one, while it still waited for it (out-of-order
 *        execution): a scan of n lines of one class takes transfer_ns + (n - 1) gap_ns.  Where the
 *        machine has scan_gap_ns, that counts if the line comes from another core than the one
 *        before.
 * Store  A core has at most store_entries stores in flight: a further one waits until the first of
 *        these has settled (hud_lines_entry_ns).  Then the core continues after post_ns.  Copies
 *        elsewhere must be revoked first: the store settles when the farthest holder has been
 *        reached, cross after it began.  No load of the new value ends before that, nor before its
 *        own cross.  A polling reader fetches the line as soon as it has lost it, so these two
 *        times overlap, except for revoke_ns of the farthest holder: a ping-pong of two flags
 *        takes revoke_ns + transfer_ns per hop.  A core without a copy must fetch the line first;
 *        then no core loads it before the store has settled.  Stores of a core settle in order,
 *        each miss at least gap_ns after the previous one (a store buffer prefetches the lines of
 *        several stores); store_gap_ns instead, where the machine has one.  A store to the line of
 *        the previous store settles with it.  Each holder but one takes revoke_each_ns more.
 * Add    The core waits for the line to be free, for its own stores, for the line to come and the
 *        copies to be revoked, then add_ns.  Additions to one line queue.  Where the machine has
 *        fetch_add_ns, a line that the core does not own takes so long instead of transfer_ns and
 *        add_ns, from a holder of that class.
 * Claim  (prefetch for ownership) like a store for which no rank waits and that nothing follows:
 *        the line comes to the core, the copies are revoked.  A core without a copy must fetch it
 *        before it, or another core, loads it.
 *
 * Home   A fetch of a line from another unit (lines.share), and a store, addition or claim where
 *        cores of other units have the line, asks the line's home (sim_fetch.agent).  links.h says
 *        how long it waits there.
 *
 * Late   A use may begin in the future, and things that it depends on may be later than known at
 *        its call, since a line in flight may have to wait at links (links.h): the line at its
 *        holder, the copy in its unit's shared cache, the core's own earlier stores.  When its
 *        time has come it asks again (hud_lines_begin).  A use is late by those before it only
 *        (late.h).  If its own line is then delayed,
 *        hud_lines_delay tells, and all that depends on it is later in turn.
 *
 * Calls must come in the order of their times.  Nothing here waits: the caller waits until
 * begin_ns, and then until end_ns.
 */
#ifndef HUD_SIM_LINES_H
#define HUD_SIM_LINES_H

#include "sim/late.h"
#include "sim/machine.h"

#include <stdbool.h>
#include <stdint.h>

/* A unit other than the owner's that has a copy for its cores. */
struct line_share {
    int unit, core; /* which core of it has fetched the line */
    double free_ns; /* it can serve the next */
    double late_ns; /* how much later that is than was known at first */
};

struct sim_line {
    int owner, home;   /* core that wrote it last; NUMA node */
    int agent;         /* of its home, that orders requests for it (links.h); -1: none that waits */
    int copies;        /* cores that have it */
    uint64_t *held;    /* a bit for each core, the owner's, too; NULL: it never had a second copy */
    double visible_ns; /* loads of its value begin from here on */
    double settled_ns; /* and do not end before */
    double free_ns;    /* the owner can serve the next */
    bool claimed;      /* and has it itself when it has settled */
    struct sim_late late; /* these are, by cores that have had it alone, one after the other */
    struct line_share *share;
    int shares, room;
};

/* What a use counts on: that it is there by then; and how late it was already, when that was
 * known. */
struct sim_need {
    double ns, late_ns;
};

enum sim_use { LINES_LOAD, LINES_STORE, LINES_ADD, LINES_CLAIM };

/* A core's use of a line. */
struct sim_fetch {
    enum sim_use use;
    double begin_ns, end_ns; /* the line is on its way, unless from is -1 */
    int from;                /* the core that it comes from; -1: it does not */
    int agent;               /* of the line's home that it asks; -1: none */
    bool shared;             /* into the shared cache of this core's unit, and out of that */
    unsigned takers;         /* cores that have had the line alone, by then */
    int entry;               /* a store's, in the buffer */
    unsigned number;         /* the same among the core's stores and additions */
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
/* It has crossed, and will not be asked again.  To be called once for each use: what it was late by
 * is kept until then (late.h). */
void hud_lines_close(struct sim_lines *all, struct sim_line *line, int core,
                     const struct sim_fetch *f);
/* The core's next miss overlaps with none before. */
void hud_lines_pause(struct sim_lines *all, int core);

#endif
