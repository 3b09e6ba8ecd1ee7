/* SPDX-License-Identifier: BSD-3-Clause */
/* call_queue.c - see call_queue.h. */
#include "request/call_queue.h"
#include "mem/kept_errno.h"
#include "request/wait_proxy.h"

#include <sched.h>

enum { ENDS_WITHIN_ENDS = 4 }; /* limits the depth of the stack */
enum { PASSES_PER_TIME = 16 }; /* polls of a flag between two readings of the clock */

static __thread struct calls_out own;

void hud_call_queues_init(struct call_queues *all, bool threads)
{
    all->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    all->threads = threads;
    hud_fiber_pool_init(&all->pool, threads);
}

void hud_call_queues_destroy(struct call_queues *all)
{
    hud_fiber_pool_destroy(&all->pool);
    pthread_mutex_destroy(&all->lock);
}

/* ---- locks ---- */

/* Returns the calls out that this thread is within.  The address identifies the thread. */
static struct calls_out *calls_out(struct call_queues *all)
{
    return all->threads ? &own : &all->out;
}

void hud_call_queues_lock(struct call_queues *all)
{
    if (all->threads)
        pthread_mutex_lock(&all->lock);
    all->busy++;
}

bool hud_call_queues_try(struct call_queues *all)
{
    const struct calls_out *out = calls_out(all);

    if (out->asks != 0 || out->ends == ENDS_WITHIN_ENDS)
        return false;
    if (all->threads ? pthread_mutex_trylock(&all->lock) != 0 : all->busy != 0)
        return false;
    all->busy++;
    return true;
}

void hud_call_queues_unlock(struct call_queues *all)
{
    all->busy--;
    if (all->threads)
        pthread_mutex_unlock(&all->lock);
}

/* Returns whether another thread is calling over() for the queue's last call. */
static bool is_others(struct call_queues *all, const struct call_queue *queue)
{
    return queue->ender && queue->ender != calls_out(all);
}

bool hud_call_queue_is_empty(struct call_queues *all, const struct call_queue *queue)
{
    return !queue->first && !is_others(all, queue);
}

/* ---- a queue, under the lock ---- */

static struct fiber_task *begin_first(struct call_queues *all, struct call_queue *queue)
{
    struct fiber_task *s = fiber_pool_take(&all->pool);

    s->job = queue->first->run;
    s->arg = queue->first;
    return s;
}

static void link_queue(struct call_queues *all, struct call_queue *queue)
{
    queue->prev = NULL;
    queue->next = all->first;
    if (queue->next)
        queue->next->prev = queue;
    all->first = queue;
    all->count++;
}

static void unlink_queue(struct call_queues *all, struct call_queue *queue)
{
    *(queue->prev ? &queue->prev->next : &all->first) = queue->next;
    if (queue->next)
        queue->next->prev = queue->prev;
    all->count--;
    all->removed++;
}

/* Checks from time to time whether a wait has lasted long.  Returns true if the call must end. */
static bool must_end(struct call_queues *all, struct fiber_task *s)
{
    struct mem_wait *wait = s->wait;

    if (++s->passes % PASSES_PER_TIME != 0)
        return false;
    if (wait->due_ns == 0) {
        hud_mem_wait_begin(wait);
        return false;
    }
    wait->now_ns = hud_mem_now_ns();
    if (wait->now_ns >= wait->due_ns)
        s->leave = all->observe(wait, false);
    return s->leave != 0;
}

static bool ask(struct call_queues *all, struct call_queue *queue)
{
    struct fiber_task *s = queue->task;
    struct calls_out *out = calls_out(all);

    KEEP_ERRNO();
    queue->asks = true;
    out->asks++;
    hud_call_queues_unlock(all);
    bool there = s->ask(s->ask_arg);
    hud_call_queues_lock(all);
    out->asks--;
    queue->asks = false;
    return there;
}

/* Returns whether the fiber can continue: its flag or answer is there, or its call must end. */
static bool may_go_on(struct call_queues *all, struct call_queue *queue, unsigned polls)
{
    struct fiber_task *s = queue->task;
    bool there = false;

    if (s->ask)
        return ask(all, queue);
    if (!s->wait)
        return true;
    for (; !there && polls != 0; polls--) {
        there = mem_wait_is_over(s->wait);
        if (!there && polls > 1)
            mem_pause();
    }
    if (there && __builtin_expect(s->wait->observed != 0, 0))
        all->observe(s->wait, true);
    return there || must_end(all, s);
}

/* Calls over() for a call that has been removed from its queue.  The queue stays in the list
 * meanwhile.  Returns false if the queue is empty and may have been freed. */
static bool end(struct call_queues *all, struct call_queue *queue, struct queued_call *call)
{
    struct calls_out *out = calls_out(all);
    const struct calls_out *outer = queue->ender; /* set if this thread is waiting within such a
                                                    call */

    queue->ender = out;
    out->ends++;
    hud_call_queues_unlock(all);
    call->over(call);
    hud_call_queues_lock(all);
    out->ends--;
    queue->ender = outer;
    mem_count(&all->in_flight, (uint64_t)-1, all->threads);
    mem_count_put(&call->in_flight, 0);
    if (queue->first)
        return true;
    if (!outer) {
        unlink_queue(all, queue);
        if (queue->emptied)
            queue->emptied(queue);
    }
    return false;
}

/* Ends the first call of the queue.  Returns true if another call follows. */
static bool end_first(struct call_queues *all, struct call_queue *queue)
{
    struct queued_call *call = queue->first;

    fiber_pool_give_back(&all->pool, queue->task);
    queue->task = NULL;
    queue->first = call->next;
    return end(all, queue, call);
}

/* Ends calls before their turn while the first call of the queue waits. */
static bool end_before_turn(struct call_queues *all, struct call_queue *queue)
{
    struct queued_call *before, *call;
    bool moved = false;

    while (queue->early && !queue->ender && (before = queue->early(queue)) != NULL) {
        call = before->next;
        before->next = call->next;
        if (queue->last == call)
            queue->last = before;
        moved = true;
        if (!end(all, queue, call))
            break;
    }
    return moved;
}

/* Resumes a call whose team is not set up yet.  The set-up opens files and maps memory. */
static void resume_early(const struct call_queue *queue)
{
    KEEP_ERRNO();
    fiber_task_resume(queue->task);
}

/* How advance_queue() advances a queue as far as possible; it returns whether anything advanced.  A
 * caller that has nothing to do but wait for the queue lets the waits of its call poll, as a
 * blocking call does (POLL_INSIDE).  With POLL, the caller also polls in place of the first wait,
 * because nobody has polled yet. */
enum wants { GO_ON, POLL_INSIDE, POLL };

static bool advance_queue(struct call_queues *all, struct call_queue *queue, enum wants wants)
{
    unsigned polls = wants != GO_ON ? queue->polls : 0;
    bool moved = false;

    for (bool more = true; more;) {
        if (!queue->task)
            queue->task = begin_first(all, queue);
        if (!may_go_on(all, queue, wants == POLL ? polls + 1 : 1))
            return end_before_turn(all, queue) || moved;
        moved = true;
        if (wants == POLL)
            wants = POLL_INSIDE;
        if (queue->policy) {
            queue->policy->polls = polls;
            fiber_task_resume(queue->task);
        } else {
            resume_early(queue);
        }
        if (!queue->task->job)
            more = end_first(all, queue);
    }
    return moved;
}

/*
 * Returns whether the queue can be advanced now.  While over() of a call runs, the following calls
 * do not run, except for a thread that waits for this queue within over() and would otherwise wait
 * for ever.
 */
static bool may_advance(struct call_queues *all, const struct call_queue *queue,
                        const struct call_queue *awaited)
{
    return queue->first && !queue->asks && !is_others(all, queue) &&
           (!queue->ender || queue == awaited);
}

/* Advances all queues.  `awaited` is the queue that the caller waits for, or NULL. */
static bool advance_all(struct call_queues *all, enum wants wants, const struct call_queue *awaited)
{
    bool alone = all->count == 1, moved = false;
    uint64_t pass = ++all->passes;

    for (struct call_queue *queue = all->first, *next; queue; queue = next) {
        uint64_t removed = all->removed;
        next = queue->next;
        if (queue->pass >= pass || !may_advance(all, queue, awaited))
            continue;
        queue->pass = pass;
        if (advance_queue(all, queue, alone ? wants : GO_ON))
            moved = true;
        if (all->removed != removed) /* removed during a call out; perhaps `next` was removed */
            next = all->first;
    }
    return moved;
}

/* Returns whether the waits of some queue do not poll: oversubscribed, HUDDLE_WAIT, or not set up
 * yet. */
static bool wants_yield(const struct call_queues *all)
{
    const struct call_queue *queue = all->first;

    while (queue && queue->polls != 0)
        queue = queue->next;
    return queue != NULL;
}

/* ---- calls ---- */

void hud_call_queues_start(struct call_queues *all, struct call_queue *queue,
                           struct queued_call *call)
{
    call->next = NULL;
    mem_count_put(&call->in_flight, 1);
    mem_count(&all->in_flight, 1, all->threads);
    if (queue->first) {
        queue->last->next = call;
        queue->last = call;
        return;
    }
    queue->first = queue->last = call;
    if (queue->ender) /* the queue is in the list, and continues after that call */
        return;
    link_queue(all, queue);
    advance_queue(all, queue, GO_ON);
}

void hud_call_queues_drop(struct call_queues *all, struct call_queue *queue)
{
    struct fiber_task *s = queue->task;

    if (!queue->first)
        return;
    unlink_queue(all, queue);
    while (s && s->job && s->wait) {
        s->leave = HUD_ERR_FAILED;
        fiber_task_resume(s);
    }
    queue->task = NULL;
    if (s) /* a fiber that asks stays with the host */
        hud_fiber_pool_forget(&all->pool);
    if (s && !s->job)
        hud_fiber_task_free(s);
    for (; queue->first; queue->first = queue->first->next) {
        mem_count(&all->in_flight, (uint64_t)-1, all->threads);
        mem_count_put(&queue->first->in_flight, 0);
    }
}

static int advance(struct call_queues *all, bool yields)
{
    if (mem_count_read(&all->in_flight) == 0)
        return 0;
    if (hud_call_queues_try(all)) {
        bool moved = advance_all(all, GO_ON, NULL);
        yields = yields && !moved && mem_count_read(&all->waits) == 0 && wants_yield(all);
        hud_call_queues_unlock(all);
        if (yields)
            sched_yield();
    }
    return (int)mem_count_read(&all->in_flight);
}

int hud_call_queues_advance(struct call_queues *all)
{
    return advance(all, false);
}

int hud_call_queues_poll(struct call_queues *all)
{
    return advance(all, true);
}

/* ---- waiting ---- */

void hud_call_queues_wait(struct call_queues *all, struct call_queue *queue,
                          const struct queued_call *call)
{
    struct wait_proxy proxy;
    enum wants wants = POLL;
    bool over = false;

    KEEP_ERRNO();
    proxy.wait.flag = NULL;
    while (!over) {
        hud_call_queues_lock(all);
        advance_all(all, wants, queue);
        wants = POLL_INSIDE;
        over = call ? queued_call_is_over(call) : hud_call_queue_is_empty(all, queue);
        if (!over)
            wait_proxy_update(all, queue, &proxy);
        hud_call_queues_unlock(all);
        if (!over)
            wait_proxy_poll(all, &proxy);
    }
    if (proxy.wait.flag && !all->threads)
        hud_mem_wait_end(&proxy.wait);
}
