/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - a poll that finds nothing yields where ranks outnumber processors, and only there.
 * What a task calls out may take locks and wait. */
#define _GNU_SOURCE
#include "gang.h"
#include "request/lanes.h"

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

/* In place of the C library's. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

struct asking {
    struct lane_task task;
    bool yes;
};

static bool answer(void *arg)
{
    const struct asking *asking = arg;

    return asking->yes;
}

static void run(struct lane_task *task, struct strand *strand)
{
    hud_strand_ask(strand, answer, task);
}

static void over(struct lane_task *task)
{
    (void)task;
}

static void poll_lanes(unsigned polls, int expected)
{
    struct lanes all = { .count = 0 };
    struct lane lane = { .polls = polls };
    struct asking asking = { .task = { .run = run, .over = over } };

    hud_lanes_init(&all, false);
    hud_strands_lock(&all.pool);
    assert_true(hud_strands_reserve(&all.pool));
    hud_strands_unlock(&all.pool);
    hud_lanes_lock(&all);
    hud_lanes_start(&all, &lane, &asking.task);
    hud_lanes_unlock(&all);

    yields = 0;
    assert_int_equal(hud_lanes_poll(&all), 1);
    assert_int_equal(yields, expected);
    assert_int_equal(hud_lanes_advance(&all), 1); /* a wait of huddle's, which yields itself */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, 1, false);
    assert_int_equal(hud_lanes_poll(&all), 1); /* called by such a wait */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, (uint64_t)-1, false);
    asking.yes = true;
    assert_int_equal(hud_lanes_poll(&all), 0);
    assert_int_equal(hud_lanes_poll(&all), 0);
    assert_int_equal(yields, expected);
    hud_lanes_destroy(&all);
}

static void oversubscribed(void **state)
{
    (void)state;
    poll_lanes(0, 1);
}

static void one_core_per_rank(void **state)
{
    (void)state;
    poll_lanes(100, 0);
}

/* ---- what is called out ---- */

static struct lanes lanes;
static struct lane one, other;
static char done[8]; /* the names of tasks, in the order of their ends */

enum what { ONLY_ENDS, WAITS_FOR_OTHER, WAITS_FOR_ALL, POLLS_FOR_OTHER };

struct named {
    struct lane_task task;
    char name;
    enum what does;
};

static void run_nothing(struct lane_task *task, struct strand *strand)
{
    (void)task, (void)strand;
}

static void end_named(struct lane_task *task)
{
    const struct named *named = (const struct named *)(void *)task;

    done[strlen(done)] = named->name;
    if (named->does == WAITS_FOR_OTHER || named->does == WAITS_FOR_ALL)
        hud_lanes_wait(&lanes, &other, NULL);
    if (named->does == WAITS_FOR_ALL)
        hud_lanes_wait(&lanes, &one, NULL);
    for (int i = 0; named->does == POLLS_FOR_OTHER && other.first && i < 100; i++)
        (void)hud_lanes_poll(&lanes);
}

static void begin_lanes(bool threads)
{
    lanes = (struct lanes){ .count = 0 };
    one = other = (struct lane){ .polls = 0 };
    memset(done, 0, sizeof done);
    hud_lanes_init(&lanes, threads);
    hud_strands_lock(&lanes.pool);
    for (int i = 0; i < 2; i++)
        assert_true(hud_strands_reserve(&lanes.pool));
    hud_strands_unlock(&lanes.pool);
}

static void start(struct lane *lane, struct lane_task *task)
{
    hud_lanes_lock(&lanes);
    hud_lanes_start(&lanes, lane, task);
    hud_lanes_unlock(&lanes);
}

static void progress(void *arg)
{
    (void)arg;
    (void)hud_lanes_advance(&lanes); /* as a host does that huddle calls */
}

/* The end of a task may wait for another lane, and for what is behind it in its own. */
static void the_end_of_a_task_waits(void **state)
{
    (void)state;
    for (enum what does = WAITS_FOR_OTHER; does <= POLLS_FOR_OTHER; does++) {
        struct asking first = { .task = { .run = run, .over = over } }, second = first;
        struct named a = { { .run = run_nothing, .over = end_named }, 'a', does },
                     b = { { .run = run_nothing, .over = end_named }, 'b', ONLY_ENDS },
                     c = { { .run = run_nothing, .over = end_named }, 'c', ONLY_ENDS },
                     d = { { .run = run_nothing, .over = end_named }, 'd', ONLY_ENDS };
        begin_lanes(false);
        lanes.progress = progress;
        start(&other, &second.task);
        start(&other, &d.task);
        start(&one, &first.task); /* which is looked at first */
        start(&one, &a.task);
        start(&one, &b.task);
        start(&one, &c.task);
        first.yes = second.yes = true;
        assert_int_equal(hud_lanes_advance(&lanes), 0);
        assert_int_equal(strlen(done), 4);
        assert_int_equal(done[0], 'a');
        assert_int_equal(done[1], 'd'); /* which is of the other lane */
        assert_true(strchr(done, 'b') < strchr(done, 'c'));
        assert_null(lanes.first);
        hud_lanes_destroy(&lanes);
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

static void run_with_lock(struct lane_task *task, struct strand *strand)
{
    hud_strand_ask(strand, answer_with_lock, task);
}

static void *start_and_wait(void *arg)
{
    start(&one, arg);
    hud_lanes_wait(&lanes, &one, arg);
    return NULL;
}

/* What is asked for takes the program's lock, whose holder starts a task in another lane. */
static void the_holder_of_a_lock_goes_on(void **state)
{
    struct lane_task asks = { .run = run_with_lock, .over = over };
    struct named b = { { .run = run_nothing, .over = end_named }, 'b', ONLY_ENDS };
    pthread_t thread;

    (void)state;
    begin_lanes(true);
    lanes.progress = progress;
    atomic_store(&within, 0);
    pthread_mutex_lock(&mine);
    assert_int_equal(pthread_create(&thread, NULL, start_and_wait, &asks), 0);
    while (!atomic_load(&within))
        usleep(100);
    alarm(20); /* in place of waiting for ever */
    start(&other, &b.task);
    hud_lanes_wait(&lanes, &other, NULL);
    assert_int_equal(done[0], 'b');
    pthread_mutex_unlock(&mine);
    pthread_join(thread, NULL);
    alarm(0);
    assert_int_equal(hud_lanes_advance(&lanes), 0);
    hud_lanes_destroy(&lanes);
}

static void start_and_test(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    struct hud_args args = { .collective = hud_collective("barrier") };
    hud_request *r = NULL;
    int is_done = 0;

    MUST(m, hud_barrier(team) == HUD_OK);
    MUST(m, hud_request_create(team, &args, &(struct hud_passed){ NULL, NULL }, &r) == HUD_OK);
    for (int call = 0; call < 3; call++) {
        yields = 0;
        if (m->rank == 0) { /* the others have not come */
            MUST(m, hud_request_start(r) == HUD_OK);
            MUST(m, hud_request_test(r, &is_done) == HUD_OK && !is_done && yields == 0);
            MUST(m, hud_request_test(r, &is_done) == HUD_OK && !is_done && yields == 1);
        }
        gang_meet(m);
        if (m->rank != 0)
            MUST(m, hud_request_start(r) == HUD_OK);
        MUST(m, hud_request_wait(r) == HUD_OK);
        gang_meet(m);
    }
    hud_request_free(r);
}

/* The first test after a start belongs to the start, which does not yield. */
static void the_second_test(void **state)
{
    static const char *const settings[] = { "HUDDLE_WAIT=yield", NULL };

    (void)state;
    gang_run(&(struct gang){ .ranks = 2,
                             .teams = 1,
                             .threads = true,
                             .settings = { settings, settings },
                             .body = start_and_test });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(oversubscribed),
                                        cmocka_unit_test(one_core_per_rank),
                                        cmocka_unit_test(the_end_of_a_task_waits),
                                        cmocka_unit_test(the_holder_of_a_lock_goes_on),
                                        cmocka_unit_test(the_second_test) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
