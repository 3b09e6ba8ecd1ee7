/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - internals of a simulation, shared by the files of src/check and a model of time. */
#ifndef HUD_WORLD_H
#define HUD_WORLD_H

#include "check/bytes.h"
#include "check/flag.h"
#include "check/sim.h"
#include "fiber/fiber.h"

#include <setjmp.h>

enum {
    SIM_PATIENCE = 8
}; /* A polling rank gets a lower score after this many peeks without a post, and sees the newest
      value. */

enum sim_state { SIM_READY, SIM_BLOCKED, SIM_DONE };

/* A rank of the job, or a flight of a rank. */
struct sim_rank {
    struct sim *s;
    int number;
    struct sim_rank *home; /* the rank whose arena it uses: itself, or its first flight */
    struct fiber fiber;
    sigjmp_buf bottom; /* bottom of the fiber's stack; a fault jumps there */
    enum sim_state state;
    struct sim_order *clock;
    /* [arena_bytes / HUD_LINE] flags by line; NULL where there is no flag. */
    struct sim_flag **arena;
    struct sim_bytes bytes; /* state of its arena's bytes */
    struct sim_bytes user;  /* state of its user's memory, by address */
    struct hud_view *views; /* views of its latest call */
    int views_count, views_room;
    struct mem *in;        /* handle of the latest call, for reports */
    struct sim_event now;  /* its latest call */
    struct sim_flag *wait; /* the flag that a BLOCKED rank awaits; NULL in hud_sim_meet */
    int wait_arena;        /* rank whose arena has the flag */
    size_t wait_offset_bytes;
    uint64_t wait_min;
    struct sim_rank *next_waiting; /* next rank that awaits the same flag */
    unsigned polls;                /* peeks since the last post */
    unsigned quiet;                /* calls since the last post */
    unsigned long moves;           /* value of s->moves when these were last reset */
    unsigned hops;                 /* length of the longest chain of posts that led here */
    uint64_t importance;           /* SIM_PRIORITY */
    size_t moved_bytes;
};

struct sim {
    struct sim_options options;
    struct sim_rank *ranks;
    struct sim_team *teams;
    struct sim_span *spans;
    struct sim_end *ends; /* ends of messages (messages.c) */
    char *shown;          /* arenas at the addresses that algorithms see; inaccessible */
    char *twin;           /* the same arenas, accessible */
    void (*body)(struct sim *s, int rank, void *arg);
    void *arg;
    struct sim_rank *current;
    uint64_t random;
    int starved;             /* the rank that starves (SIM_STARVE) */
    unsigned long events;    /* calls of mem.h */
    unsigned long moves;     /* posts and other events that may end a wait */
    int done;                /* ranks that have ended */
    struct sim_clock *clock; /* clock of the model of time; NULL without simulated time */
    unsigned long mutated;
    unsigned long posts; /* posts and additions */
    bool failed;
    char report[2048];
};

struct mem {
    struct sim *s;
    struct sim_team *team;
    struct sim_rank *self;
    int rank;               /* number in the team */
    struct alg_place place; /* place of the running algorithm */
    const struct alg *alg;  /* the running algorithm, or NULL */
    unsigned long calls;    /* collectives entered */
    bool truncated;
};

/* A location in an arena. */
struct sim_spot {
    struct sim_rank *owner;
    size_t at; /* offset in the arena */
    char *twin;
    bool window; /* whether it is in the running algorithm's window */
};

struct sim_team {
    struct sim *s;
    struct sim_team *next;
    int size;
    struct mem *mem; /* [size] */
    size_t offset_bytes, bytes;
    struct sim_team *whole; /* the team of all ranks of the span, for a node's team; else NULL */
    /* [calls][size] the member's time, on its own vector clock, at which it entered the call; 0
     * before. */
    uint32_t *entry;
    int entries, entries_room;
    struct sim_order *joined, *gathered; /* vector clocks of the current gather and of the last */
    int arrived;
    unsigned long meetings;
};

/* ---- sched.c ---- */

/* Begins a call, which becomes the rank's `now`.  Other ranks may run first. */
void hud_sched_event(struct mem *m, const char *what, const char *file, int line);
/* Suspends the current rank until another rank makes it ready. */
void hud_sched_block(struct sim_rank *r);
/* Suspends the current rank until a flag has this value or more. */
void hud_sched_wait(struct sim_rank *r, struct sim_flag *flag, const struct sim_spot *spot,
                    uint64_t min);
/* Makes the ranks ready that wait for at most this value, and removes them from the flag's
 * waiters. */
void hud_sched_wake(struct sim_flag *flag, uint64_t value);
/* Counts a post, or another event that may end a wait. */
void hud_sched_moved(struct sim *s);
/* Counts a peek.  Returns whether the current rank has peeked so often without a post that other
 * ranks should run first. */
bool hud_sched_polls(struct sim_rank *r);
/* Runs all ranks to their end, or to the first report. */
void hud_sched_run(struct sim *s);
/* ---- report.c ---- */

/* Records the report of the run, which continues.  Only the first report is kept. */
void hud_sim_note(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports a race of `by` with `other`, two accesses without an order, unless `other` is NULL.
 * `what` names the memory of the rank `owner`, and `at` is the offset of the byte. */
void hud_sim_race(struct sim *s, const struct sim_event *by, const struct sim_event *other,
                  const char *what, int owner, size_t at);

/* ---- access.c ---- */

/* Returns the last `bytes` bytes of a path, or the whole path if it is shorter. */
const char *hud_sim_file_end(const char *path, size_t bytes);

/* Calls hud_sched_event for a call of mem.h, at the source line recorded by hud_sim_at. */
void hud_sim_event(struct mem *m, const char *what);

/* Records an access: hud_bytes_read or hud_bytes_write. */
typedef const struct sim_event *sim_access(struct sim_bytes *b, size_t first, size_t end,
                                           const struct sim_event *by,
                                           const struct sim_order *clock, size_t *at);

/* Returns the location of these bytes, which must be within the running algorithm's regions.
 * hud_sim_access records an access to bytes of a flag or plain bytes. */
struct sim_spot hud_sim_spot(struct mem *m, const void *shared, size_t bytes);
void hud_sim_access(struct mem *m, const struct sim_spot *spot, size_t bytes, sim_access *access);

/* Records an access to bytes, none of which may belong to a flag. */
void hud_sim_touch_at(struct mem *m, const struct sim_spot *spot, size_t bytes, sim_access *access);
/* Records an access to at least one plain byte of the running algorithm's regions; none may belong
 * to a flag.  Returns the accessible address of the bytes. */
void *hud_sim_touch(struct mem *m, const void *shared, size_t bytes, sim_access *access);
/* Records that the current call has read these bytes of shared memory.  For a last reader, which
 * may overwrite them, the bytes count as written. */
void hud_sim_end_read(struct mem *m, const void *at, size_t bytes, bool last);

/* Returns the mutation of the current call, as a sum of enum sim_mutation. */
int hud_sim_mutates(struct mem *m);

/* ---- user_buffers.c ---- */

/* Sets the views of the rank's next call. */
void hud_sim_views(struct mem *m, const struct coll *c);

/* Records an access to bytes of a view of the rank's own call. */
void hud_sim_use(struct mem *m, const struct hud_view *view, size_t offset_bytes, size_t bytes,
                 sim_access *access);

/* Records a use of the whole buffer of the call by its owner, the caller.  `what` describes the
 * moment. */
void hud_sim_own(struct mem *m, const char *what);

/* Returns the number of ranks, including all flights. */
static inline int sim_ranks(const struct sim *s)
{
    return s->options.ranks * (s->options.flights > 1 ? s->options.flights : 1);
}

/* Ends the current rank's part in a failed run.  Does not return, but is not declared noreturn: the
 * address sanitizer would clean up a stack left by a jump. */
static inline void sim_abandon(struct sim_rank *r)
{
    for (;;)
        hud_fiber_suspend(&r->fiber);
}

/* Advances a rank's clock, which counts the rank's releases. */
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
