/* SPDX-License-Identifier: BSD-3-Clause */
/* suspend.c - see suspend.h. */
#include "core/call/suspend.h"
#include "core/watch/check.h"
#include "core/watch/guard.h"
#include "mem/kept_errno.h"

/* Suspends a fiber in its wait.  Another thread may resume the fiber. */
static void suspend(struct mem_wait *wait, void *task)
{
    int status = hud_fiber_task_wait(task, wait);

    if (status != 0)
        hud_guard_leave(status);
}

static void let_suspend(struct mem_policy *policy, struct fiber_task *task)
{
    policy->suspend = task ? suspend : NULL;
    policy->suspend_arg = task;
}

void hud_suspend_attach(struct hud_team *team, struct fiber_task *task)
{
    if (!team_counts(team))
        return;
    team->queue.calls.policy = &team->shm.policy;
    team->queue.calls.polls = team->queue.polls;
    let_suspend(&team->shm.policy, task);
    if (team->hooks.check)
        let_suspend(&team->hooks.check->policy, task);
}

void hud_suspend_detach(struct hud_team *team)
{
    if (!team->queue.calls.policy)
        return;
    team->shm.policy.polls = team->queue.polls;
    let_suspend(&team->shm.policy, NULL);
    if (team->hooks.check)
        let_suspend(&team->hooks.check->policy, NULL);
}

struct long_wait {
    struct mem_wait *wait;
    bool over;
};

static void observe(void *arg)
{
    struct long_wait *l = arg;

    KEEP_ERRNO();
    hud_mem_wait_observe(l->wait, l->over);
}

/* Observes a long wait, on the caller's stack. */
static int observe_wait(struct mem_wait *wait, bool over)
{
    return hud_guard_call(observe, &(struct long_wait){ wait, over });
}

static void progress(void *context)
{
    struct hud_context *c = context;

    hud_call_queues_advance(&c->calls.queues);
    if (!c->host.progress)
        return;
    KEEP_ERRNO();
    mem_count(&c->calls.queues.waits, 1, c->calls.queues.threads);
    c->host.progress(c->host.arg);
    mem_count(&c->calls.queues.waits, (uint64_t)-1, c->calls.queues.threads);
}

void hud_suspend_init(struct hud_context *c, bool threads)
{
    hud_call_queues_init(&c->calls.queues, threads);
    c->calls.queues.observe = observe_wait;
    c->calls.queues.progress = progress;
    c->calls.queues.arg = c;
}

void hud_team_flush(hud_team *team)
{
    KEEP_ERRNO();
    if (team && team->state.pending)
        hud_call_queues_wait(&team->context->calls.queues, &team->queue.calls, NULL);
}
