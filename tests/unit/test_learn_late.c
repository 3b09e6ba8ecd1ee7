/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_learn_late.c - a rank that comes late makes no slow algorithm look fast (HUDDLE_WISDOM).
 *
 * The clock is simulated.  In every third sample rank 1 comes late.  The slow algorithm then ends
 * sooner after rank 1's entry than the others, although its other calls take three times as long.
 */
#include "calls.h"
#include "core/call/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, LARGE = 20000, CALLS = 400, LATE_NS = 25000 };

static const char *slow;
static _Thread_local struct rank *me;
static _Thread_local uint64_t now_ns;
static _Thread_local int asked; /* times that the clock was asked */

static const char *used(const struct rank *r)
{
    return hud_shm_algs[r->team->plan.entry->row]->name;
}

/* Returns the simulated time.  Called at the begin and at the end of each sample, at the end with
 * the call's entry. */
static uint64_t made_up_ns(void)
{
    bool ends = asked % 2 != 0, late = asked++ / 2 % 3 == 0, is_slow = strcmp(used(me), slow) == 0;

    if (!ends) {
        now_ns += 1000000;
        return now_ns + (late && me->rank == 1 ? LATE_NS : 0);
    }
    uint64_t alone_ns = is_slow ? 30000 : 10000, rest_ns = is_slow ? 1000 : 9000;
    return now_ns + (late ? LATE_NS + rest_ns : alone_ns);
}

static void learn(struct rank *r)
{
    static const struct hud_op sum = {
        .element_bytes = 4, .commutative = 1, .exact = 1, .combine = add_words
    };
    int at = plan_at(COLL_ALLREDUCE, LARGE);

    me = r;
    call_make(r, COLL_ALLREDUCE, &sum, LARGE, false); /* gives the clock an entry to find */
    MUST(r, r->team->hooks.learn != NULL);
    r->team->hooks.learn->clock_ns = made_up_ns;
    for (int n = 0; n < CALLS; n++)
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    const struct plan_entry *choice = r->team->plan.choice[at];
    MUST(r, choice->slot >= 0 && strcmp(hud_shm_algs[choice->row]->name, slow) != 0);
    MUST(r, mem_count_read(&context_stats(r->context)->tried) > 0);
    me = NULL;
}

static void late_rank_makes_no_algorithm_fast(void **state)
{
    static const char *const names[] = { "tree", "slices", "whole", "exchange" };
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        slow = names[i];
        ranks_run_threads(RANKS, settings, learn);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(late_rank_makes_no_algorithm_fast) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
