/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.h - tasks that are carried out a bit at a time, whenever a thread of the process calls.
 *
 * A *lane* is a queue of tasks.  They are carried out one after the other, in the order in which
 * they were started; different lanes advance independently.  The task at the head of a lane has a
 * strand, the others wait without one.
 *
 * Lock      One of all lanes.  A thread that only wants to advance them gives up if the lock is
 *           taken: its holder advances them.  Without threads it is only a mark.
 * Calls out What a strand asks for, and the end of a task, are called on the stack of the thread
 *           that advances the lane, without the lock: they may be the program's functions, which
 *           take its own locks, or wait for other lanes.  The lane stays where it is meanwhile.
 *           Within what is asked for, which may be the host's progress, lanes are only advanced to
 *           wait for them.
 * Memory    A strand for each lane that has tasks, started or not yet started: the owner reserves
 *           it (strands.h).
 */
#ifndef HUD_LANES_H
#define HUD_LANES_H

#include "mem/counter.h"
#include "request/strands.h"

/* Calls out that a thread is within. */
struct calls_out {
    int asks, ends; /* of what strands ask for, of ends of tasks */
};

struct lane_task {
    struct lane_task *next;
    mem_counter in_flight;                                      /* 1: started and not over */
    void (*run)(struct lane_task *task, struct strand *strand); /* on a strand */
    void (*over)(struct lane_task *task); /* then, on the stack of the caller of a function below,
                                             before others see that it is over */
};

struct lane {
    struct lane_task *first, *last;
    struct strand *strand;         /* of the first; NULL: it has not begun */
    bool asks;                     /* what its strand asks for is being called */
    const struct calls_out *ender; /* of the thread that calls the end of a task, or NULL */
    uint64_t pass;                 /* over the lanes, in which it was advanced last */
    struct lane *prev, *next;      /* of the lanes with tasks */
    struct mem_policy *policy;     /* of the waits of its tasks, or NULL */
    unsigned polls;                /* of it, while a thread may wait in a wait of a task */
    struct lane_task *(*early)(struct lane *lane); /* the task before one that ends now, without its
                                                      turn and without a run; or NULL */
    void (*emptied)(struct lane *lane);            /* after its last task is over; may free it */
};

struct lanes {
    pthread_mutex_t lock;
    bool threads;
    int busy;             /* calls of hud_lanes_lock that have not ended */
    struct calls_out out; /* without threads */
    struct lane *first;
    int count;                /* of lanes with tasks */
    uint64_t passes, removed; /* over the lanes; lanes from the list */
    mem_counter in_flight;    /* tasks */
    mem_counter waits; /* blocking waits that call the host's progress now: they yield themselves */
    struct strands pool;
    int (*look)(struct mem_wait *wait, bool over); /* at a long wait: 0, or the status with which
                                                      its task must end */
    void (*progress)(void *arg); /* while a thread waits and there is no flag to wait for */
    void *arg;
};

void hud_lanes_init(struct lanes *lanes, bool threads);
/* Tasks that are in flight are forgotten. */
void hud_lanes_destroy(struct lanes *lanes);

void hud_lanes_lock(struct lanes *lanes);
bool hud_lanes_try(struct lanes *lanes);
void hud_lanes_unlock(struct lanes *lanes);
/* Under the lock: starts a task, and lets it go as far as it can. */
void hud_lanes_start(struct lanes *lanes, struct lane *lane, struct lane_task *task);
/* Under the lock: the tasks of a lane will not be carried out.  One that waits ends at once.  One
 * that asks stays as it is, with its strand: the host may still write what it asked for. */
void hud_lanes_drop(struct lanes *lanes, struct lane *lane);

/* Lets all tasks go as far as they can; returns how many are in flight. */
int hud_lanes_advance(struct lanes *lanes);
/* The same for a host that polls in a loop: it yields the processor if no task went on and ranks
 * outnumber processors, unless a blocking wait of huddle's has called the host. */
int hud_lanes_poll(struct lanes *lanes);
/* Waits until the task, which is in that lane, is over; NULL: until all that have been started
 * are. */
void hud_lanes_wait(struct lanes *lanes, struct lane *lane, const struct lane_task *task);

/* Under the lock: its tasks are over, for this thread: where another one calls the end of the last
 * one, that is not over. */
bool hud_lane_is_empty(struct lanes *lanes, const struct lane *lane);

static inline bool lanes_is_over(const struct lane_task *task)
{
    return mem_count_observe(&task->in_flight) == 0;
}

#endif
