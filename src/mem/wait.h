/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - a wait for a flag of real shared memory that is not over at the first looks (wait.c).
 * Included only by mem_shm.h. */
#ifndef HUD_WAIT_H
#define HUD_WAIT_H

enum mem_way { MEM_POLL, MEM_YIELD, MEM_SLEEP, MEM_ADAPTIVE };

/* A wait that has lasted long, as hud_mem_wait tells of it.  file, line: of the call in the source
 * that waits. */
struct mem_wait {
    struct mem *m;
    _Atomic uint64_t *flag; /* NULL: for something else, such as a message (net.h) */
    uint64_t min;
    const char *file;
    int line;
    int64_t begin_ns, now_ns; /* CLOCK_MONOTONIC */
    unsigned looks;           /* so far, this one included */
    void *state;              /* the observer's, NULL at first */
    int64_t due_ns;           /* of the next look */
    unsigned turns;           /* so far */
};

/*
 * Looks at a long wait: first after MEM_WATCH_NS, then as often, at last when the wait has ended
 * (over).  May leave the collective by a non-local exit, unless it is over.
 */
typedef void mem_watch(struct mem_wait *wait, bool over, void *arg);
enum { MEM_WATCH_NS = 50000000 };

/* What this rank has learned of the waits in calls of some size (wait.c); all zero at first. */
struct mem_habit {
    int64_t awake_ns;      /* how long a wait is worth staying awake for; 0: nothing learned yet */
    int64_t busy_until_ns; /* until then a processor given away would not come back soon */
    unsigned losses;       /* of the processor, in a row */
    int64_t yield_ns;      /* what yields have taken of late */
    unsigned slept;        /* waits without a yield, for what yields have taken */
};
enum { MEM_HABITS = 3 }; /* small, medium and large calls */

/* Yields, progresses, sleeps until it is there.  file, line: of the caller, for an observer of
 * long waits. */
void hud_mem_wait(struct mem *m, _Atomic uint64_t *f, uint64_t min, const char *file, int line);
/* The same in parts, for a thread that waits in place of a fiber: begins; one turn, true when it is
 * there; learns from it.  show: lets the observer of long waits look; at last, when one is over. */
void hud_mem_wait_begin(struct mem_wait *wait);
bool hud_mem_wait_turn(struct mem_wait *wait);
void hud_mem_wait_end(struct mem_wait *wait);
void hud_mem_wait_show(struct mem_wait *wait, bool over);
int64_t hud_mem_now_ns(void);
/* Whether yields take long of late, in a team of several nodes: others use this processor. */
bool hud_mem_cpu_is_shared(const struct mem *m);
/* Yields; learns how long it took since now_ns; returns the time after it. */
int64_t hud_mem_yield(struct mem *m, int64_t now_ns);
void hud_mem_wake(_Atomic uint64_t *f); /* wakes the ranks that sleep on it */

#endif
