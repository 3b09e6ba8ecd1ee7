/* SPDX-License-Identifier: BSD-3-Clause */
/* strands.c - see strands.h. */
#include "request/strands.h"

void hud_strands_init(struct strands *pool, bool threads)
{
    pool->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool->threads = threads;
}

void hud_strands_destroy(struct strands *pool)
{
    while (pool->idle) {
        struct strand *s = pool->idle;
        pool->idle = s->next;
        hud_strand_free(s);
    }
    pthread_mutex_destroy(&pool->lock);
}

void hud_strands_lock(struct strands *pool)
{
    if (pool->threads)
        pthread_mutex_lock(&pool->lock);
}

void hud_strands_unlock(struct strands *pool)
{
    if (pool->threads)
        pthread_mutex_unlock(&pool->lock);
}

bool hud_strands_reserve(struct strands *pool)
{
    if (pool->reserved == pool->made) {
        struct strand *s = hud_strand_create();
        if (!s)
            return false;
        s->next = pool->idle;
        pool->idle = s;
        pool->made++;
    }
    pool->reserved++;
    return true;
}

void hud_strands_release(struct strands *pool)
{
    pool->reserved--;
}

struct strand *hud_strands_take(struct strands *pool)
{
    hud_strands_lock(pool);
    struct strand *s = pool->idle;
    pool->idle = s->next;
    hud_strands_unlock(pool);
    return s;
}

void hud_strands_give_back(struct strands *pool, struct strand *s)
{
    hud_strands_lock(pool);
    s->next = pool->idle;
    pool->idle = s;
    hud_strands_unlock(pool);
}

void hud_strands_forget(struct strands *pool)
{
    hud_strands_lock(pool);
    pool->made--;
    hud_strands_unlock(pool);
}
