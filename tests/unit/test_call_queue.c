/* SPDX-License-Identifier: BSD-3-Clause */
/* test_call_queue.c - a poll without progress yields if and only if ranks outnumber processors.
 * Functions of the program may take locks and wait within a call. */
#define _GNU_SOURCE
#include "ranks.h"
#include "request/call_queue.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static _Thread_local int yields;

/* Counts the yields, in place of the C library's function. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

struct asking {
    struct queued_call queued;
    bool yes;
};

static bool answer(void *arg)
{
    const struct asking *asking = arg;

    return asking->yes;
}

static void run(struct fiber_task *task, void *call)
{
    hud_fiber_task_ask(task, answer, call);
}

static void over(struct queued_call *call)
{
    (void)call;
}

static void poll_queue(unsigned polls, int expected)
{
    struct call_queues all = { .count = 0 };
    struct call_queue queue = { .polls = polls };
    struct asking asking = { .queued = { .run = run, .over = over } };

    hud_call_queues_init(&all, false);
    fiber_pool_lock(&all.pool);
    assert_true(hud_fiber_pool_reserve(&all.pool));
    fiber_pool_unlock(&all.pool);
    hud_call_queues_lock(&all);
    hud_call_queues_start(&all, &queue, &asking.queued);
    hud_call_queues_unlock(&all);

    yields = 0;
    assert_int_equal(hud_call_queues_poll(&all), 1);
    assert_int_equal(yields, expected);
    assert_int_equal(hud_call_queues_advance(&all), 1); /* a wait of huddle, which yields itself */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, 1, false);
    assert_int_equal(hud_call_queues_poll(&all), 1); /* called by such a wait */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, (uint64_t)-1, false);
    asking.yes = true;
    assert_int_equal(hud_call_queues_poll(&all), 0);
    assert_int_equal(hud_call_queues_poll(&all), 0);
    assert_int_equal(yields, expected);
    hud_call_queues_destroy(&all);
}

static void poll_yields_if_oversubscribed(void **state)
{
    (void)state;
    poll_queue(0, 1);
}

static void poll_does_not_yield_with_one_core_per_rank(void **state)
{
    (void)state;
    poll_queue(100, 0);
}

/* ---- calls of the program's functions ---- */

static struct call_queues queues;
static struct call_queue one, other;
static char done[8]; /* the names of calls, in the order in which they ended */

enum what { ONLY_ENDS, WAITS_FOR_OTHER, WAITS_FOR_ALL, POLLS_FOR_OTHER };

struct named {
    struct queued_call queued;
    char name;
    enum what does;
};

static void run_nothing(struct fiber_task *task, void *call)
{
    (void)task, (void)call;
}

static void end_named(struct queued_call *call)
{
    const struct named *named = (const struct named *)(void *)call;

    done[strlen(done)] = named->name;
    if (named->does == WAITS_FOR_OTHER || named->does == WAITS_FOR_ALL)
        hud_call_queues_wait(&queues, &other, NULL);
    if (named->does == WAITS_FOR_ALL)
        hud_call_queues_wait(&queues, &one, NULL);
    for (int i = 0; named->does == POLLS_FOR_OTHER && other.first && i < 100; i++)
        (void)hud_call_queues_poll(&queues);
}

static void begin_queues(bool threads)
{
    queues = (struct call_queues){ .count = 0 };
    one = other = (struct call_queue){ .polls = 0 };
    memset(done, 0, sizeof done);
    hud_call_queues_init(&queues, threads);
    fiber_pool_lock(&queues.pool);
    for (int i = 0; i < 2; i++)
        assert_true(hud_fiber_pool_reserve(&queues.pool));
    fiber_pool_unlock(&queues.pool);
}

static void start(struct call_queue *queue, struct queued_call *call)
{
    hud_call_queues_lock(&queues);
    hud_call_queues_start(&queues, queue, call);
    hud_call_queues_unlock(&queues);
}

static void progress(void *arg)
{
    (void)arg;
    (void)hud_call_queues_advance(&queues); /* acts as a host that huddle calls */
}

/* Waits in over() of a call for another queue, and for the calls behind it in its own queue. */
static void end_of_a_task_may_wait_for_other_tasks(void **state)
{
    (void)state;
    for (enum what does = WAITS_FOR_OTHER; does <= POLLS_FOR_OTHER; does++) {
        struct asking first = { .queued = { .run = run, .over = over } }, second = first;
        struct named a = { { .run = run_nothing, .over = end_named }, 'a', does },
                     b = { { .run = run_nothing, .over = end_named }, 'b', ONLY_ENDS },
                     c = { { .run = run_nothing, .over = end_named }, 'c', ONLY_ENDS },
                     d = { { .run = run_nothing, .over = end_named }, 'd', ONLY_ENDS };
        begin_queues(false);
        queues.progress = progress;
        start(&other, &second.queued);
        start(&other, &d.queued);
        start(&one, &first.queued); /* this queue is checked first */
        start(&one, &a.queued);
        start(&one, &b.queued);
        start(&one, &c.queued);
        first.yes = second.yes = true;
        assert_int_equal(hud_call_queues_advance(&queues), 0);
        assert_int_equal(strlen(done), 4);
        assert_int_equal(done[0], 'a');
        assert_int_equal(done[1], 'd'); /* the other queue's call */
        assert_true(strchr(done, 'b') < strchr(done, 'c'));
        assert_null(queues.first);
        hud_call_queues_destroy(&queues);
    }
}

static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
static atomic_int within;

static bool answer_with_lock(void *arg)
{
    (void)arg;
    atomic_store(&within, 1);
    pthread_mutex_lock(&mine);
    pthread_mutex_unlock(&mine);
    return true;
}

static void run_with_lock(struct fiber_task *task, void *call)
{
    hud_fiber_task_ask(task, answer_with_lock, call);
}

static void *start_and_wait(void *arg)
{
    start(&one, arg);
    hud_call_queues_wait(&queues, &one, arg);
    return NULL;
}

/* Takes the program's lock in a call. The holder of the lock starts a call in another queue and
 * must be able to continue. */
static void holder_of_a_lock_continues_while_a_task_wants_it(void **state)
{
    struct queued_call asks = { .run = run_with_lock, .over = over };
    struct named b = { { .run = run_nothing, .over = end_named }, 'b', ONLY_ENDS };
    pthread_t thread;

    (void)state;
    begin_queues(true);
    queues.progress = progress;
    atomic_store(&within, 0);
    pthread_mutex_lock(&mine);
    assert_int_equal(pthread_create(&thread, NULL, start_and_wait, &asks), 0);
    while (!atomic_load(&within))
        usleep(100);
    alarm(20); /* instead of waiting forever */
    start(&other, &b.queued);
    hud_call_queues_wait(&queues, &other, NULL);
    assert_int_equal(done[0], 'b');
    pthread_mutex_unlock(&mine);
    pthread_join(thread, NULL);
    alarm(0);
    assert_int_equal(hud_call_queues_advance(&queues), 0);
    hud_call_queues_destroy(&queues);
}

static void start_and_test(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    struct hud_args args = { .collective = hud_collective("barrier") };
    hud_request *r = NULL;
    int is_done = 0;

    MUST(me, hud_barrier(team) == HUD_OK);
    MUST(me, hud_request_create(team, &args, &(struct hud_passed){ NULL, NULL }, &r) == HUD_OK);
    for (int call = 0; call < 3; call++) {
        yields = 0;
        if (me->rank == 0) { /* the other ranks have not started yet */
            MUST(me, hud_request_start(r) == HUD_OK);
            MUST(me, hud_request_test(r, &is_done) == HUD_OK && !is_done && yields == 0);
            MUST(me, hud_request_test(r, &is_done) == HUD_OK && !is_done && yields == 1);
        }
        ranks_meet(me);
        if (me->rank != 0)
            MUST(me, hud_request_start(r) == HUD_OK);
        MUST(me, hud_request_wait(r) == HUD_OK);
        ranks_meet(me);
    }
    hud_request_free(r);
}

/* Verifies that the first test after a start does not yield. This test counts as a part of the
 * start. */
static void second_test_without_progress_yields(void **state)
{
    static const char *const settings[] = { "HUDDLE_WAIT=yield", NULL };

    (void)state;
    ranks_run(&(struct ranks){
        .ranks = 2, .multithreaded = true, .settings = settings, .body = start_and_test });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poll_yields_if_oversubscribed),
        cmocka_unit_test(poll_does_not_yield_with_one_core_per_rank),
        cmocka_unit_test(end_of_a_task_may_wait_for_other_tasks),
        cmocka_unit_test(holder_of_a_lock_continues_while_a_task_wants_it),
        cmocka_unit_test(second_test_without_progress_yields)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
