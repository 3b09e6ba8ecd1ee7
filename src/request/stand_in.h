/* SPDX-License-Identifier: BSD-3-Clause */
/* stand_in.h - a thread that waits for a task waits for the flag that the task waits for. */
#ifndef HUD_STAND_IN_H
#define HUD_STAND_IN_H

#include "request/lanes.h"

#include <sched.h>

/* A wait of a task as the thread has it that waits in its place: the strand may go on meanwhile, by
 * another thread. */
struct stand_in {
    struct mem_wait wait; /* .flag NULL: there is no flag to wait for */
    struct mem m;
    struct mem_policy policy;
    struct mem_team team;
};

/* Under the lock. */
static inline void stand_in(const struct lanes *all, const struct lane *lane, struct stand_in *mine)
{
    const struct mem_wait *wait = lane->strand ? lane->strand->wait : NULL;
    bool same = wait && wait->flag == mine->wait.flag && wait->min == mine->wait.min;

    if (same)
        return;
    if (mine->wait.flag)
        hud_mem_wait_end(&mine->wait);
    mine->wait.flag = NULL;
    if (!wait)
        return;
    mine->m = *wait->m;
    mine->policy = *wait->m->policy;
    mine->policy.polls = lane->polls;
    mine->m.policy = &mine->policy;
    mine->team = *wait->m->team;
    if (all->threads)
        mine->m.team = &mine->team;
    mine->wait = (struct mem_wait){ .m = &mine->m, .flag = wait->flag, .min = wait->min };
    hud_mem_wait_begin(&mine->wait);
}

static inline void take_turn(struct lanes *all, struct stand_in *mine)
{
    if (mine->wait.flag) {
        (void)hud_mem_wait_turn(&mine->wait);
        return;
    }
    all->progress(all->arg);
    sched_yield();
}

#endif
