/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_proxy.h - lets a thread that waits for a call wait directly for the call's flag. */
#ifndef HUD_WAIT_PROXY_H
#define HUD_WAIT_PROXY_H

#include "request/call_queue.h"

#include <sched.h>

/* A copy of a call's wait for the thread that waits in its place, because another thread may resume
 * the fiber meanwhile. */
struct wait_proxy {
    struct mem_wait wait; /* .flag is NULL if there is no flag to wait for */
    struct mem m;
    struct mem_policy policy;
    struct mem_team team;
};

/* Copies the current wait of the queue's first call; called under the lock. */
static inline void wait_proxy_update(const struct call_queues *all, const struct call_queue *queue,
                                     struct wait_proxy *proxy)
{
    const struct mem_wait *wait = queue->task ? queue->task->wait : NULL;
    bool same = wait && wait->flag == proxy->wait.flag && wait->min == proxy->wait.min;

    if (same)
        return;
    if (proxy->wait.flag)
        hud_mem_wait_end(&proxy->wait);
    proxy->wait.flag = NULL;
    if (!wait)
        return;
    proxy->m = *wait->m;
    proxy->policy = *wait->m->policy;
    proxy->policy.polls = queue->polls;
    proxy->m.policy = &proxy->policy;
    proxy->team = *wait->m->team;
    if (all->threads)
        proxy->m.team = &proxy->team;
    proxy->wait = (struct mem_wait){ .m = &proxy->m, .flag = wait->flag, .min = wait->min };
    hud_mem_wait_begin(&proxy->wait);
}

static inline void wait_proxy_poll(struct call_queues *all, struct wait_proxy *proxy)
{
    if (proxy->wait.flag) {
        (void)hud_mem_wait_turn(&proxy->wait);
        return;
    }
    all->progress(all->arg);
    sched_yield();
}

#endif
