/* SPDX-License-Identifier: BSD-3-Clause */
/* fiber_pool.c - see fiber_pool.h. */
#include "request/fiber_pool.h"

void hud_fiber_pool_init(struct fiber_pool *pool, bool threads)
{
    pool->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool->threads = threads;
}

void hud_fiber_pool_destroy(struct fiber_pool *pool)
{
    while (pool->idle) {
        struct fiber_task *s = pool->idle;
        pool->idle = s->next;
        hud_fiber_task_free(s);
    }
    pthread_mutex_destroy(&pool->lock);
}

bool hud_fiber_pool_reserve(struct fiber_pool *pool)
{
    if (pool->reserved == pool->made) {
        struct fiber_task *s = hud_fiber_task_create();
        if (!s)
            return false;
        s->next = pool->idle;
        pool->idle = s;
        pool->made++;
    }
    pool->reserved++;
    return true;
}

void hud_fiber_pool_release(struct fiber_pool *pool)
{
    pool->reserved--;
}

void hud_fiber_pool_forget(struct fiber_pool *pool)
{
    fiber_pool_lock(pool);
    pool->made--;
    fiber_pool_unlock(pool);
}
