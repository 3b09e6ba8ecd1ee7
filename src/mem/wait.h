/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - waiting for a flag of real shared memory that is not posted at the first polls (wait.c).
 * Included only by mem_shm.h. */
#ifndef HUD_WAIT_H
#define HUD_WAIT_H

enum mem_way { MEM_POLL, MEM_YIELD, MEM_SLEEP, MEM_ADAPTIVE };

/* A wait, as the observer of long waits sees it.  file, line: the call in the source that waits. */
struct mem_wait {
    struct mem *m;
    _Atomic uint64_t *flag; /* NULL: the wait is for something else, such as a message (net.h) */
    uint64_t min;
    const char *file;
    int line;
    int64_t begin_ns, now_ns; /* CLOCK_MONOTONIC */
    unsigned observed;        /* calls of the observer so far, including this one */
    void *state;              /* state of the observer; NULL at first */
    int64_t due_ns;           /* time of the next call of the observer */
    unsigned turns;           /* number of turns so far */
};

/*
 * Observes a long wait: first after MEM_WATCH_NS, then at the same interval, and finally when the
 * wait has ended (`over`).  May leave the collective by a non-local exit, unless `over` is true.
 */
typedef void mem_watch(struct mem_wait *wait, bool over, void *arg);
enum { MEM_WATCH_NS = 50000000 };

/* What this rank has learned from the waits in calls of a size class (wait.c).  All fields are zero
 * at first. */
struct mem_habit {
    int64_t awake_ns;      /* how long to stay awake in a wait; 0: nothing learned yet */
    int64_t busy_until_ns; /* end of the time in which a yield would lose the processor for long */
    unsigned losses;       /* number of times in a row that the processor was lost */
    int64_t yield_ns;      /* recent mean duration of a yield */
    unsigned slept;        /* waits since the last wait that yielded, where the processor is
                              shared */
    /* whether an oversubscribed rank sleeps soon or stays awake: what is in use, what it compares
     * with, and how much it has waited (wait.c) */
    bool soon, kept;
    unsigned waits, pause;
    int64_t sum_ns, mean_ns[2];
};
enum { MEM_HABITS = 3 }; /* small, medium and large calls */

/* Yields, calls the host's progress, and sleeps until the flag is posted.  `file` and `line` are of
 * the caller, for an observer of long waits. */
void hud_mem_wait(struct mem *m, _Atomic uint64_t *f, uint64_t min, const char *file, int line);
/*
 * Waits like hud_mem_wait(), but in parts, for a thread that waits in place of a fiber.  _begin()
 * starts the wait.  _turn() carries out a turn, and returns true if the flag is posted.  _end()
 * learns from the wait.  _observe() calls the observer of long waits; at the end, `over` is true,
 * if the observer was called before.
 */
void hud_mem_wait_begin(struct mem_wait *wait);
bool hud_mem_wait_turn(struct mem_wait *wait);
void hud_mem_wait_end(struct mem_wait *wait);
void hud_mem_wait_observe(struct mem_wait *wait, bool over);
int64_t hud_mem_now_ns(void);
/* Reports whether yields have taken long of late, in a team of several nodes.  Other processes then
 * use this processor. */
bool hud_mem_cpu_is_shared(const struct mem *m);
/* Yields, learns how long the yield took since now_ns, and returns the time after the yield. */
int64_t hud_mem_yield(struct mem *m, int64_t now_ns);
void hud_mem_wake(_Atomic uint64_t *f); /* wakes the ranks that sleep on f */

#endif
