/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - see lanes.h. */
#include "request/lanes.h"
#include "mem/kept_errno.h"
#include "request/stand_in.h"

#include <sched.h>

enum { ENDS_WITHIN_ENDS = 4 }; /* at most: a stack has an end */
enum { PASSES_PER_TIME = 16 }; /* looks at a flag from one question of the time to the next */

static __thread struct calls_out own;

void hud_lanes_init(struct lanes *all, bool threads)
{
    all->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    all->threads = threads;
    hud_strands_init(&all->pool, threads);
}

void hud_lanes_destroy(struct lanes *all)
{
    hud_strands_destroy(&all->pool);
    pthread_mutex_destroy(&all->lock);
}

/* ---- locks ---- */

/* Those that this thread is within.  The address is its own. */
static struct calls_out *calls_out(struct lanes *all)
{
    return all->threads ? &own : &all->out;
}

void hud_lanes_lock(struct lanes *all)
{
    if (all->threads)
        pthread_mutex_lock(&all->lock);
    all->busy++;
}

bool hud_lanes_try(struct lanes *all)
{
    const struct calls_out *out = calls_out(all);

    if (out->asks != 0 || out->ends == ENDS_WITHIN_ENDS)
        return false;
    if (all->threads ? pthread_mutex_trylock(&all->lock) != 0 : all->busy != 0)
        return false;
    all->busy++;
    return true;
}

void hud_lanes_unlock(struct lanes *all)
{
    all->busy--;
    if (all->threads)
        pthread_mutex_unlock(&all->lock);
}

/* Another thread is at the end of its last task. */
static bool is_others(struct lanes *all, const struct lane *lane)
{
    return lane->ender && lane->ender != calls_out(all);
}

bool hud_lane_is_empty(struct lanes *all, const struct lane *lane)
{
    return !lane->first && !is_others(all, lane);
}

/* ---- a lane, under the lock ---- */

static void run_first(struct strand *s, void *arg)
{
    struct lane_task *task = arg;

    task->run(task, s);
}

static struct strand *begin_first(struct lanes *all, struct lane *lane)
{
    struct strand *s = hud_strands_take(&all->pool);

    s->job = run_first;
    s->arg = lane->first;
    return s;
}

static void link_lane(struct lanes *all, struct lane *lane)
{
    lane->prev = NULL;
    lane->next = all->first;
    if (lane->next)
        lane->next->prev = lane;
    all->first = lane;
    all->count++;
}

static void unlink_lane(struct lanes *all, struct lane *lane)
{
    *(lane->prev ? &lane->prev->next : &all->first) = lane->next;
    if (lane->next)
        lane->next->prev = lane->prev;
    all->count--;
    all->removed++;
}

/* Now and then: has the wait lasted long?  True: its task must end. */
static bool look_at(struct lanes *all, struct strand *s)
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
        s->leave = all->look(wait, false);
    return s->leave != 0;
}

static bool ask(struct lanes *all, struct lane *lane)
{
    struct strand *s = lane->strand;
    struct calls_out *out = calls_out(all);

    KEEP_ERRNO();
    lane->asks = true;
    out->asks++;
    hud_lanes_unlock(all);
    bool there = s->ask(s->ask_arg);
    hud_lanes_lock(all);
    out->asks--;
    lane->asks = false;
    return there;
}

/* What the strand waits for is there, or its task must end. */
static bool may_go_on(struct lanes *all, struct lane *lane, unsigned looks)
{
    struct strand *s = lane->strand;
    bool there = false;

    if (s->ask)
        return ask(all, lane);
    if (!s->wait)
        return true;
    for (; !there && looks != 0; looks--) {
        there = mem_wait_is_over(s->wait);
        if (!there && looks > 1)
            mem_pause();
    }
    if (there && __builtin_expect(s->wait->looks != 0, 0))
        all->look(s->wait, true);
    return there || look_at(all, s);
}

/* It is out of its lane, which stays in the list meanwhile.  False: the lane is gone. */
static bool end(struct lanes *all, struct lane *lane, struct lane_task *task)
{
    struct calls_out *out = calls_out(all);
    const struct calls_out *outer = lane->ender; /* this thread is within such a call, and waits */

    lane->ender = out;
    out->ends++;
    hud_lanes_unlock(all);
    task->over(task);
    hud_lanes_lock(all);
    out->ends--;
    lane->ender = outer;
    mem_count(&all->in_flight, (uint64_t)-1, all->threads);
    mem_count_put(&task->in_flight, 0);
    if (lane->first)
        return true;
    if (!outer) {
        unlink_lane(all, lane);
        if (lane->emptied)
            lane->emptied(lane);
    }
    return false;
}

/* Its first task is over.  True: there is another one. */
static bool end_first(struct lanes *all, struct lane *lane)
{
    struct lane_task *task = lane->first;

    hud_strands_give_back(&all->pool, lane->strand);
    lane->strand = NULL;
    lane->first = task->next;
    return end(all, lane, task);
}

/* While its first task waits. */
static bool end_early(struct lanes *all, struct lane *lane)
{
    struct lane_task *before, *task;
    bool moved = false;

    while (lane->early && !lane->ender && (before = lane->early(lane)) != NULL) {
        task = before->next;
        before->next = task->next;
        if (lane->last == task)
            lane->last = before;
        moved = true;
        if (!end(all, lane, task))
            break;
    }
    return moved;
}

/* Resumes a task that the set-up of its team precedes, which opens files and maps memory. */
static void resume_early(const struct lane *lane)
{
    KEEP_ERRNO();
    hud_fiber_resume(lane->strand->fiber);
}

/*
 * As far as it can go.  A caller that has nothing else to do than to wait for it lets its waits
 * poll as those of a blocking call do; it polls in place of the first one where nobody has done
 * so.  True: something went on.
 */
enum wants { GO_ON, POLL_INSIDE, POLL };

static bool advance_lane(struct lanes *all, struct lane *lane, enum wants wants)
{
    unsigned polls = wants != GO_ON ? lane->polls : 0;
    bool moved = false;

    for (bool more = true; more;) {
        if (!lane->strand)
            lane->strand = begin_first(all, lane);
        if (!may_go_on(all, lane, wants == POLL ? polls + 1 : 1))
            return end_early(all, lane) || moved;
        moved = true;
        if (wants == POLL)
            wants = POLL_INSIDE;
        if (lane->policy) {
            lane->policy->polls = polls;
            hud_fiber_resume(lane->strand->fiber);
        } else {
            resume_early(lane);
        }
        if (!lane->strand->job)
            more = end_first(all, lane);
    }
    return moved;
}

/*
 * What follows a task stays behind it while its end is called.  Only a thread that waits for that
 * lane, within that call, goes on with it: it would wait for ever.
 */
static bool may_advance(struct lanes *all, const struct lane *lane, const struct lane *awaited)
{
    return lane->first && !lane->asks && !is_others(all, lane) && (!lane->ender || lane == awaited);
}

/* awaited: the lane that the caller waits for, or NULL. */
static bool advance_all(struct lanes *all, enum wants wants, const struct lane *awaited)
{
    bool alone = all->count == 1, moved = false;
    uint64_t pass = ++all->passes;

    for (struct lane *lane = all->first, *next; lane; lane = next) {
        uint64_t removed = all->removed;
        next = lane->next;
        if (lane->pass >= pass || !may_advance(all, lane, awaited))
            continue;
        lane->pass = pass;
        if (advance_lane(all, lane, alone ? wants : GO_ON))
            moved = true;
        if (all->removed != removed) /* while it called out, perhaps the next one */
            next = all->first;
    }
    return moved;
}

/* The waits of some lane do not poll: oversubscribed, HUDDLE_WAIT, or not set up yet. */
static bool wants_yield(const struct lanes *all)
{
    const struct lane *lane = all->first;

    while (lane && lane->polls != 0)
        lane = lane->next;
    return lane != NULL;
}

/* ---- tasks ---- */

void hud_lanes_start(struct lanes *all, struct lane *lane, struct lane_task *task)
{
    task->next = NULL;
    mem_count_put(&task->in_flight, 1);
    mem_count(&all->in_flight, 1, all->threads);
    if (lane->first) {
        lane->last->next = task;
        lane->last = task;
        return;
    }
    lane->first = lane->last = task;
    if (lane->ender) /* it is in the list, and goes on when the call is over */
        return;
    link_lane(all, lane);
    advance_lane(all, lane, GO_ON);
}

void hud_lanes_drop(struct lanes *all, struct lane *lane)
{
    struct strand *s = lane->strand;

    if (!lane->first)
        return;
    unlink_lane(all, lane);
    lane->strand = NULL;
    while (s && s->job && s->wait) {
        s->leave = HUD_ERR_FAILED;
        hud_fiber_resume(s->fiber);
    }
    if (s) /* one that asks is left to the host */
        hud_strands_forget(&all->pool);
    if (s && !s->job)
        hud_strand_free(s);
    for (; lane->first; lane->first = lane->first->next) {
        mem_count(&all->in_flight, (uint64_t)-1, all->threads);
        mem_count_put(&lane->first->in_flight, 0);
    }
}

static int advance(struct lanes *all, bool yields)
{
    if (mem_count_read(&all->in_flight) == 0)
        return 0;
    if (hud_lanes_try(all)) {
        bool moved = advance_all(all, GO_ON, NULL);
        yields = yields && !moved && mem_count_read(&all->waits) == 0 && wants_yield(all);
        hud_lanes_unlock(all);
        if (yields)
            sched_yield();
    }
    return (int)mem_count_read(&all->in_flight);
}

int hud_lanes_advance(struct lanes *all)
{
    return advance(all, false);
}

int hud_lanes_poll(struct lanes *all)
{
    return advance(all, true);
}

/* ---- waiting ---- */

void hud_lanes_wait(struct lanes *all, struct lane *lane, const struct lane_task *task)
{
    struct stand_in mine;
    enum wants wants = POLL;
    bool over = false;

    KEEP_ERRNO();
    mine.wait.flag = NULL;
    while (!over) {
        hud_lanes_lock(all);
        advance_all(all, wants, lane);
        wants = POLL_INSIDE;
        over = task ? lanes_is_over(task) : hud_lane_is_empty(all, lane);
        if (!over)
            stand_in(all, lane, &mine);
        hud_lanes_unlock(all);
        if (!over)
            take_turn(all, &mine);
    }
    if (mine.wait.flag && !all->threads)
        hud_mem_wait_end(&mine.wait);
}
