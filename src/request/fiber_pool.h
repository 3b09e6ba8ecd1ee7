/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber_pool.h - a pool of fibers.
 *
 * A fiber is reserved for each queue that may have calls before it has any, so that starting a call
 * cannot run out of memory.  No fiber is freed before the end.
 */
#ifndef HUD_FIBER_POOL_H
#define HUD_FIBER_POOL_H

#include "request/fiber_task.h"

#include <pthread.h>

struct fiber_pool {
    pthread_mutex_t lock; /* guards the rest, and the owner's data of the same kind */
    bool threads;         /* several threads may call at once */
    struct fiber_task *idle;
    int made, reserved;
};

void hud_fiber_pool_init(struct fiber_pool *pool, bool threads);
/* Frees the idle fibers. */
void hud_fiber_pool_destroy(struct fiber_pool *pool);

/* Locks the pool.  No other lock may be taken under this lock. */
static inline void fiber_pool_lock(struct fiber_pool *pool)
{
    if (pool->threads)
        pthread_mutex_lock(&pool->lock);
}

static inline void fiber_pool_unlock(struct fiber_pool *pool)
{
    if (pool->threads)
        pthread_mutex_unlock(&pool->lock);
}

/* Reserves or releases a fiber; called under the lock.  Returns false if out of memory. */
bool hud_fiber_pool_reserve(struct fiber_pool *pool);
void hud_fiber_pool_release(struct fiber_pool *pool);

/* Records that a taken fiber will not be given back.  Takes the lock. */
void hud_fiber_pool_forget(struct fiber_pool *pool);

/* Takes a reserved fiber out of the pool.  Takes the lock. */
static inline struct fiber_task *fiber_pool_take(struct fiber_pool *pool)
{
    fiber_pool_lock(pool);
    struct fiber_task *s = pool->idle;
    pool->idle = s->next;
    fiber_pool_unlock(pool);
    return s;
}

/* Gives a fiber back.  Takes the lock. */
static inline void fiber_pool_give_back(struct fiber_pool *pool, struct fiber_task *s)
{
    fiber_pool_lock(pool);
    s->next = pool->idle;
    pool->idle = s;
    fiber_pool_unlock(pool);
}

#endif
