/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - the internals of a simulation, for the files of src/sim. */
#ifndef HUD_WORLD_H
#define HUD_WORLD_H

#include "fiber/fiber.h"
#include "sim/bytes.h"
#include "sim/flag.h"
#include "sim/sim.h"
#include "sim/trace.h"

#include <setjmp.h>

enum {
    SIM_PATIENCE = 8
}; /* peeks without a post anywhere before a polling rank goes behind the others, and sees the
      newest value */

enum sim_state { SIM_READY, SIM_BLOCKED, SIM_DONE };

/* One rank of the job, or a lane of one. */
struct sim_rank {
    struct sim *s;
    int number;
    struct sim_rank *home; /* whose arena it uses: itself, or its first lane */
    struct fiber *fiber;
    sigjmp_buf bottom; /* of its stack: where a faulting rank ends */
    enum sim_state state;
    struct sim_order *clock;
    struct sim_flag *
        *arena;             /* [arena_bytes / HUD_LINE] flags by their line, NULL: not a flag yet */
    struct sim_bytes bytes; /* of its arena */
    struct sim_bytes user;  /* of its user's memory, by address */
    struct hud_view *views; /* of its latest call */
    int views_count, views_room;
    struct mem *in;        /* whose call it is in, for reports */
    struct sim_event now;  /* its latest call */
    struct sim_flag *wait; /* BLOCKED: what for; NULL: for others of its team, to meet them */
    int wait_arena;        /* where that flag lies */
    size_t wait_offset_bytes;
    uint64_t wait_min;
    struct sim_rank *next_waiting; /* for the same flag */
    unsigned polls;                /* peeks since anything was posted, */
    unsigned quiet;                /* calls since then: */
    unsigned long moves;           /* as counted then */
    unsigned hops;       /* the longest chain of posts, each seen by another rank, that led here */
    uint64_t importance; /* SIM_PRIORITY */
    size_t moved_bytes;
    int node;             /* where there is a clock: on which node it is, */
    int core;             /* to which of its cores it is bound, */
    double now_ns;        /* its time, */
    struct sim_step step; /* what it does now */
    int process;          /* of a copy by the kernel: the core of the other rank */
};

struct sim {
    struct sim_options options;
    struct sim_rank *ranks;
    struct sim_team *teams;
    struct sim_span *spans;
    struct sim_end *ends; /* of messages, messages.c */
    char *shown;          /* arenas as algorithms see their addresses: inaccessible */
    char *twin;           /* the same, accessible */
    void (*body)(struct sim *s, int rank, void *arg);
    void *arg;
    struct sim_rank *current;
    uint64_t random;
    int starved;             /* SIM_STARVE */
    unsigned long events;    /* calls of mem.h */
    unsigned long moves;     /* posts, and whatever else may end a wait */
    int done;                /* ranks that have ended */
    struct sim_clock *clock; /* NULL: no time */
    unsigned long mutated;
    unsigned long posts; /* posts and additions */
    bool failed;
    char report[2048];
};

struct mem {
    struct sim *s;
    struct sim_team *team;
    struct sim_rank *self;
    int rank;               /* in the team */
    struct alg_place place; /* of what runs */
    const struct alg *alg;  /* running, or NULL */
    unsigned long calls;    /* collectives entered */
    bool truncated;
};

/* Bytes of an arena. */
struct sim_spot {
    struct sim_rank *owner;
    size_t at; /* in its arena */
    char *twin;
    bool window; /* in the running algorithm's window */
};

struct sim_team {
    struct sim *s;
    struct sim_team *next;
    int size;
    struct mem *mem; /* [size] */
    size_t offset_bytes, bytes;
    struct sim_team *whole; /* of a node: all ranks of its span; NULL: no span */
    uint32_t
        *entry; /* [calls][size] when each member entered each call, on its own clock; 0: not yet */
    int entries, entries_room;
    struct sim_order *joined,
        *gathered; /* vector clocks: of the gather under way, of the last one */
    int arrived;
    unsigned long meetings;
};

/* ---- sched.c ---- */

/* A call begins: it becomes the rank's `now`, and others may run first. */
void hud_sched_event(struct mem *m, const char *what, const char *file, int line);
/* The current rank waits until somebody makes it ready. */
void hud_sched_block(struct sim_rank *r);
/* The current rank waits for a flag to have this value, or more. */
void hud_sched_wait(struct sim_rank *r, struct sim_flag *flag, const struct sim_spot *spot,
                    uint64_t min);
/* Those who wait for no more than this go on, and are no longer among those who wait. */
void hud_sched_wake(struct sim_flag *flag, uint64_t value);
/* Something was posted. */
void hud_sched_moved(struct sim *s);
/* The current rank has peeked so often since, that it can leave it to others to go on. */
bool hud_sched_polls(struct sim_rank *r);
/* Runs all ranks to their end, or to the first report. */
void hud_sched_run(struct sim *s);
/* Ends the current rank's part in a failed run.  Does not return; not declared so: the address
 * sanitizer would clean up a stack left by a jump. */
void hud_sched_abandon(struct sim_rank *r);

/* ---- sim.c ---- */

/* Reports unless `other` is NULL: `by` uses what `other` used, with no order; `what` of the rank
 * `owner`, at this byte. */
void hud_sim_race(struct sim *s, const struct sim_event *by, const struct sim_event *other,
                  const char *what, int owner, size_t at);

/* ---- memory.c ---- */

/* The end of a path, of so many bytes; all of a shorter one. */
const char *hud_sim_file_end(const char *path, size_t bytes);

/* hud_sched_event of a call of mem.h, at the place that hud_sim_at has recorded. */
void hud_sim_event(struct mem *m, const char *what);

/* hud_bytes_read or hud_bytes_write */
typedef const struct sim_event *sim_access(struct sim_bytes *b, size_t first, size_t end,
                                           const struct sim_event *by,
                                           const struct sim_order *clock, size_t *at);

/* Where these bytes are, which must be within the running algorithm's regions; and an access to
 * them, be they a flag's or not. */
struct sim_spot hud_sim_spot(struct mem *m, const void *shared, size_t bytes);
void hud_sim_access(struct mem *m, const struct sim_spot *spot, size_t bytes, sim_access *access);

/* Bytes of the running algorithm's regions, at least one, that are no flag's, are read or written.
 * Returns where they are. */
void *hud_sim_touch(struct mem *m, const void *shared, size_t bytes, sim_access *access);
/* The current call has read these bytes of shared memory.  What a last reader may write counts as
 * written. */
void hud_sim_end_read(struct mem *m, const void *at, size_t bytes, bool last);

/* ---- posts.c ---- */

/* What the mutation changes of the current call. */
int hud_sim_mutates(struct mem *m);

/* ---- user.c ---- */

/* The rank's next call has these views. */
void hud_sim_views(struct mem *m, const struct coll *c);

/* Bytes of a view of the rank's own call are read or written. */
void hud_sim_use(struct mem *m, const struct hud_view *view, size_t offset_bytes, size_t bytes,
                 sim_access *access);

/* The caller, who owns its buffer, uses all of it; `what` says when. */
void hud_sim_own(struct mem *m, const char *what);

/* With their lanes. */
static inline int sim_ranks(const struct sim *s)
{
    return s->options.ranks * (s->options.lanes > 1 ? s->options.lanes : 1);
}

/* A rank's releases are what its clock counts. */
static inline void sim_tick(struct sim_rank *r)
{
    hud_order_set(r->clock, r->number, order_time(r->clock, r->number) + 1);
}

static inline struct sim_event sim_event_of(const struct sim_rank *r, const char *what,
                                            const char *file, int line)
{
    return (struct sim_event){ .rank = r->number,
                               .time = order_time(r->clock, r->number),
                               .what = what,
                               .file = file,
                               .line = line };
}

#endif
