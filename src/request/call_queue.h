/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_queue.h - queues of calls that are carried out a bit at a time, whenever a thread of the
 * process calls.
 *
 * The calls of a queue are carried out one after the other, in the order in which they were
 * started; different queues advance independently.  The call at the head of a queue has a
 * fiber; the others wait without a fiber.
 *
 * Lock      One lock for all queues.  A thread that only wants to advance them gives up if the lock
 *           is held, because the holder advances them.  Without threads the lock is only a mark.
 * Calls out The function that a fiber asks for, and over() of a call, are called on the stack of
 *           the thread that advances the queue, without the lock: they may be functions of the
 *           program, which take its own locks, or wait for other queues.  The queue stays in the
 *           list meanwhile.  Within a function that a fiber asks for, which may be the host's
 *           progress, queues are advanced only to wait for them.
 * Memory    A fiber for each queue that has calls, started or not yet started: the owner of the
 *           queue reserves the fiber (fiber_pool.h).
 */
#ifndef HUD_CALL_QUEUE_H
#define HUD_CALL_QUEUE_H

#include "mem/counter.h"
#include "request/fiber_pool.h"

/* The calls out that a thread is within. */
struct calls_out {
    int asks, ends; /* functions that fibers ask for; over() of calls */
};

struct queued_call {
    struct queued_call *next;
    mem_counter in_flight; /* 1 from the start until the end */
    fiber_job *run;        /* called on a fiber; `arg` is the call */
    /* Ends the call after run, on the stack of the caller of a function below, before others see
     * that the call is over. */
    void (*over)(struct queued_call *call);
};

struct call_queue {
    struct queued_call *first, *last;
    struct fiber_task *task;        /* task of the first call; NULL: it has not begun */
    bool asks;                      /* the function that its fiber asks for is being called */
    const struct calls_out *ender;  /* the thread that is calling over() of a call, or NULL */
    uint64_t pass;                  /* number of the last pass over all queues that advanced this
                                      queue */
    struct call_queue *prev, *next; /* neighbours in the list of queues with calls */
    struct mem_policy *policy;      /* policy of the waits of its calls, or NULL */
    unsigned polls; /* polls of the policy, if a thread may block in a wait of a call */
    /* Returns the call before a call that ends now, without its turn and without running, or
     * NULL. */
    struct queued_call *(*early)(struct call_queue *queue);
    /* Handles the end of the last call.  May free the queue. */
    void (*emptied)(struct call_queue *queue);
};

struct call_queues {
    pthread_mutex_t lock;
    bool threads;
    int busy;             /* calls of hud_call_queues_lock that have not ended */
    struct calls_out out; /* used without threads */
    struct call_queue *first;
    int count;                /* number of queues with calls */
    uint64_t passes, removed; /* passes over all queues; removals of queues from the list */
    mem_counter in_flight;    /* number of calls in flight */
    mem_counter waits;        /* blocking waits that are calling the host's progress now: they yield
                                 themselves */
    struct fiber_pool pool;
    int (*observe)(struct mem_wait *wait, bool over); /* called in a long wait; returns 0, or the
                                                      status with which the call must end */
    void (*progress)(void *arg); /* called while a thread waits and there is no flag to wait for */
    void *arg;
};

void hud_call_queues_init(struct call_queues *queues, bool threads);
/* Frees the fibers.  Calls that are in flight are dropped. */
void hud_call_queues_destroy(struct call_queues *queues);

void hud_call_queues_lock(struct call_queues *queues);
bool hud_call_queues_try(struct call_queues *queues);
void hud_call_queues_unlock(struct call_queues *queues);
/* Starts a call and advances it as far as possible.  Called under the lock. */
void hud_call_queues_start(struct call_queues *queues, struct call_queue *queue,
                           struct queued_call *call);
/* Drops the calls of a queue; called under the lock.  Ends a call at once if the call waits for a
 * flag.  Abandons a call that asks, with its fiber, because the host may still write the
 * answer. */
void hud_call_queues_drop(struct call_queues *queues, struct call_queue *queue);

/* Advances all calls as far as possible.  Returns how many are in flight. */
int hud_call_queues_advance(struct call_queues *queues);
/* Advances all calls for a host that polls in a loop.  Yields the processor if no call advanced and
 * ranks outnumber processors, unless the host was called from a blocking wait of huddle.  Returns
 * how many calls are in flight. */
int hud_call_queues_poll(struct call_queues *queues);
/* Waits until a call in the queue is over, or, if `call` is NULL, until all started calls of the
 * queue are over. */
void hud_call_queues_wait(struct call_queues *queues, struct call_queue *queue,
                          const struct queued_call *call);

/* Returns whether all calls of the queue are over for this thread; called under the lock.  While
 * another thread calls over() of the last call, the queue is not empty. */
bool hud_call_queue_is_empty(struct call_queues *queues, const struct call_queue *queue);

static inline bool queued_call_is_over(const struct queued_call *call)
{
    return mem_count_observe(&call->in_flight) == 0;
}

#endif
