/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_learn.c - a team measures the candidates of its plan, and keeps the fastest (HUDDLE_WISDOM).
 *
 * The clock is simulated: the test determines the time of a call from its algorithm. So the tests
 * know which algorithms must not be kept.
 */
#include "calls.h"
#include "core/call/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, LARGE = 20000, LARGER = 70000, CALLS = 400 };

static _Thread_local struct rank *me;
static _Thread_local uint64_t now_ns;
static struct {
    const char *slow[2]; /* the slow algorithm for rank 1, and for the other ranks */
    uint64_t far_ns;     /* offset of rank 1's clock */
} made_up;

static const char *used(const struct rank *r)
{
    return hud_shm_algs[r->team->plan.entry->row]->name;
}

/* Returns the simulated time. Called at the begin and at the end of a call, when the team's entry
 * is the call's. */
static uint64_t made_up_ns(void)
{
    bool slow = strcmp(used(me), made_up.slow[me->rank != 1]) == 0;

    now_ns += slow ? 30000 : 10000;
    return now_ns + (me->rank == 1 ? made_up.far_ns : 0);
}

static struct hud_op sum = {
    .element_bytes = 4, .commutative = 1, .exact = 1, .combine = add_words
};

/* Makes calls of a size, and checks that the last ones use no slow algorithm. */
static void calls_of(struct rank *r, size_t bytes)
{
    for (int n = 0; n < CALLS; n++) {
        call_make(r, COLL_ALLREDUCE, &sum, bytes, false);
        if (n >= CALLS / 2)
            rank_check(r, strcmp(used(r), made_up.slow[0]) != 0 || made_up.far_ns != 0,
                       "choice of a fast algorithm", bytes);
    }
    const struct plan_entry *choice = r->team->plan.choice[plan_at(COLL_ALLREDUCE, bytes)];
    rank_check(r, choice->slot >= 0, "decision", bytes);
    rank_check(r, strcmp(hud_shm_algs[choice->row]->name, made_up.slow[0]) != 0,
               "choice of a fast algorithm", bytes);
}

static void two_sizes(struct rank *r)
{
    rank_handled(r, hud_barrier(r->team));
    rank_check(r, r->team->hooks.learn != NULL, "state", 0);
    if (!r->team->hooks.learn)
        return;
    me = r;
    now_ns = 1000;
    call_make(r, COLL_ALLREDUCE, &sum, LARGE, false); /* gives the clock an entry to find */
    r->team->hooks.learn->clock_ns = made_up_ns;
    calls_of(r, LARGE);
    calls_of(r, LARGER);
    me = NULL;
}

static void faster_algorithm_is_kept(void **state)
{
    static const char *const slow[] = { "tree", "slices", "whole", "exchange", "neither" };
    const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        made_up.slow[0] = made_up.slow[1] = slow[i];
        made_up.far_ns = 0;
        ranks_run_threads(RANKS, settings, two_sizes);
    }
}

/* Lets rank 1 find another algorithm slow than the others, with a clock that is ahead. The choice
 * is compared in call_make, where ranks with different algorithms would wait for ever. */
static void all_ranks_keep_the_same_algorithm(void **state)
{
    const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    made_up.slow[0] = "tree";
    made_up.slow[1] = "whole";
    made_up.far_ns = 1000000000;
    ranks_run_threads(RANKS, settings, two_sizes);
}

/* Decides two cells, and opens the cell between them. */
static void neighbours(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, 2 * LARGE), far = plan_at(COLL_ALLREDUCE, 64 * LARGE);
    uint64_t all = 0;

    two_sizes(r);
    me = r;
    call_make(r, COLL_ALLREDUCE, &sum, 2 * LARGE, false);
    call_make(r, COLL_ALLREDUCE, &sum, 64 * LARGE, false);
    me = NULL;
    const struct learn *l = r->team->hooks.learn;
    const struct learner *between = &l->cell[l->cell_of[at] - 1].learner,
                         *beyond = &l->cell[l->cell_of[far] - 1].learner;
    const char *first = hud_shm_algs[learn_candidate(r->team, at, 0)->row]->name;
    for (int i = 0; i < between->candidates; i++) {
        int row = learn_candidate(r->team, at, i)->row, percent = between->predicted_percent[i];
        bool is_slow = row >= 0 && strcmp(hud_shm_algs[row]->name, made_up.slow[0]) == 0;
        int want = strcmp(first, made_up.slow[0]) == 0 ? is_slow ? 100 : 33 : is_slow ? 300 : 100;
        rank_check(r, percent == 0 || percent == want, "predicted percent", (size_t)percent);
        rank_check(r, beyond->predicted_percent[i] == 0, "no neighbour", (size_t)i);
        all = all * 1000 + (uint64_t)percent;
    }
    rank_check(r, all != 0, "predictions", 0);
    rank_check(r, ranks_agree(r, 0, all), "same predictions on all ranks", 0);
}

static void trial_is_predicted_from_neighbouring_sizes(void **state)
{
    static const char *const slow[] = { "tree", "slices", "whole" };
    const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    made_up.far_ns = 0;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        made_up.slow[0] = made_up.slow[1] = slow[i];
        ranks_run_threads(RANKS, settings, neighbours);
    }
}

/* Makes a nonblocking call, and returns the entry of the call. */
static const struct plan_entry *make_nonblocking(struct rank *r, size_t bytes)
{
    struct call *c = call_begin(
        &(struct call_what){ COLL_ALLREDUCE, r->calls, r->ranks, &sum, bytes, false }, r->rank);
    hud_request *request = NULL;

    MUST(r, hud_request_create(r->team, call_args(c), NULL, &request) == HUD_OK);
    MUST(r, hud_request_start(request) == HUD_OK);
    MUST(r, hud_request_wait(request) == HUD_OK);
    hud_request_free(request);
    bool right = call_check(c);
    rank_check(r, call_end(c) && right, "nonblocking call", bytes);
    return r->team->plan.entry;
}

/* Makes nonblocking calls before and after the blocking ones of their cell have found a choice. */
static void requests(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, LARGE);

    rank_handled(r, hud_barrier(r->team));
    const struct plan_entry *first = plan_find(r->team->plan.shared, COLL_ALLREDUCE, LARGE);
    rank_check(r, make_nonblocking(r, LARGE) == first, "first choice", LARGE);
    if (r->rank == 0)
        made_up.slow[0] = made_up.slow[1] = hud_shm_algs[first->row]->name;
    ranks_meet(r);
    me = r;
    now_ns = 1000;
    call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    r->team->hooks.learn->clock_ns = made_up_ns;
    for (int n = 0; n < CALLS; n++) {
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
        const struct plan_entry *present = hud_learn_present(r->team, at);
        if (n % 10 == 0)
            rank_check(r, make_nonblocking(r, LARGE) == (present->slot >= 0 ? present : first),
                       "choice of the blocking calls", LARGE);
    }
    rank_check(r, r->team->plan.choice[at] != first, "another choice", LARGE);
    r->team->hooks.learn->choice[at] = &r->team->plan.shared->entry[PLAN_MPI];
    r->team->hooks.learn->cell_of[at] = LEARN_FIXED;
    rank_check(r, make_nonblocking(r, LARGE) == first, "first choice", LARGE);
    me = NULL;
}

static void requests_use_the_choices_of_blocking_calls(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off",
                                            "HUDDLE_NONBLOCKING=on", NULL };

    (void)state;
    made_up.far_ns = 0;
    ranks_run(&(struct ranks){
        .ranks = RANKS, .blocking = true, .settings = settings, .body = requests });
}

static const struct hud_op inexact = { .element_bytes = 4, .commutative = 1, .combine = add_words };
static const struct hud_op *native; /* the operation whose known choice is the MPI's own */

/* Begins with two known choices.  The MPI's own may change bits, and the other one does not. */
static void known_orders(struct rank *r)
{
    int other = plan_at(plan_axis(COLL_ALLREDUCE, native), LARGE),
        same = plan_at(COLL_ALLREDUCE + PLAN_INEXACT, LARGER);
    struct wisdom_table known = { 0 };

    rank_handled(r, hud_barrier(r->team));
    for (int n = 0; n < CALLS; n++) /* unknown: the first choice's bits stay */
        rank_check(r, call_make(r, COLL_ALLREDUCE, native, LARGE, false), "handled", LARGE);
    const struct plan_cell *cell = plan_cell_at(r->team->plan.shared, other);
    rank_check(r, cell->tried < cell->count, "other orders", LARGE);
    const struct plan_entry *e = learn_candidate(r->team, same, 1);
    known.known[other].name = hud_wisdom_name(-1, NULL);
    known.known[same].name = hud_wisdom_name(e->row, e->param);
    known.known[other].ns = known.known[same].ns = 1;
    struct wisdom_start *start = r->team->hooks.learn->start;
    start->table = known;
    hud_learn_fill(r->team, start);
    hud_learn_start(r->team);
    for (int n = 0; n < CALLS; n++) {
        rank_check(r, !call_make(r, COLL_ALLREDUCE, native, LARGE, false), "the MPI's own", LARGE);
        hud_team_exit(r->team);
        rank_check(r, call_make(r, COLL_ALLREDUCE, &inexact, LARGER, false), "handled", LARGER);
        rank_check(r, n > 0 || r->team->plan.entry == e, "known choice", LARGER);
    }
    rank_check(r, r->team->hooks.learn->cell_of[other] == LEARN_FIXED, "no trial", LARGE);
    rank_check(r, r->team->hooks.learn->cell_of[same] != LEARN_FIXED, "trials", LARGER);
}

static void known_choice_of_another_order_serves_all_calls(void **state)
{
    const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        native = exact ? &sum : &inexact;
        ranks_run(&(struct ranks){ .ranks = RANKS,
                                   .blocking = true,
                                   .ends_own_calls = true,
                                   .settings = settings,
                                   .body = known_orders });
    }
}

static void nothing_to_learn(struct rank *r)
{
    rank_handled(r, hud_barrier(r->team));
    rank_check(r, !r->team->hooks.learn, "no state", 0);
}

static void only_open_choices_are_measured(void **state)
{
    const char *const off[] = { "HUDDLE_WISDOM=off", NULL }, *const little[] = {
        "HUDDLE_ALLREDUCE=mpi", NULL
    };

    (void)state;
    ranks_run_threads(RANKS, off, nothing_to_learn);
    ranks_run_threads(RANKS, little, nothing_to_learn); /* nothing serves the agreements */
}

/* Makes few calls, which must all use the first choices. */
static void few_calls(struct rank *r)
{
    for (int n = 0; n < 10; n++) {
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
        rank_check(r, r->team->plan.entry == plan_find(r->team->plan.shared, COLL_ALLREDUCE, LARGE),
                   "first choice", (size_t)n);
    }
}

static void program_with_few_calls_tries_nothing(void **state)
{
    const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    ranks_run_threads(RANKS, settings, few_calls);
}

static int count_decided(const struct rank *r)
{
    int decided = 0;

    for (int i = 0; r->team->hooks.learn && i < r->team->hooks.learn->cells; i++)
        decided += hud_learner_decided(&r->team->hooks.learn->cell[i].learner);
    return decided;
}

/* Makes all collectives in turn, with the real clock.  On a busy machine trials wait longer. */
static void all_collectives(struct rank *r)
{
    for (int n = 0; n < CALLS || (n < 20 * CALLS && count_decided(r) < 6); n++)
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            call_make(r, kind, &sum, 8, n % 3 == 0);
            call_make(r, kind, &sum, LARGE, n % 3 == 1);
        }
    rank_check(r, count_decided(r) >= 6, "number of decided cells", (size_t)count_decided(r));
}

static void results_are_right_during_trials(void **state)
{
    const char *const plain[] = { "HUDDLE_WISDOM=on", NULL },
                      *const fixed[] = { "HUDDLE_WISDOM=on", "HUDDLE_REDUCE_ORDER=fixed", NULL },
                      *const without[] = { "HUDDLE_WISDOM=on", "HUDDLE_CMA=off", NULL },
                      *const checked[] = { "HUDDLE_WISDOM=on", "HUDDLE_CHECK=on", NULL };

    (void)state;
    ranks_run_threads(2, plain, all_collectives);
    ranks_run_threads(RANKS, plain, all_collectives);
    ranks_run_threads(RANKS, fixed, all_collectives);
    ranks_run_threads(RANKS_MAX, without, all_collectives);
    ranks_run_threads(2, checked, all_collectives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_with_few_calls_tries_nothing),
        cmocka_unit_test(faster_algorithm_is_kept),
        cmocka_unit_test(all_ranks_keep_the_same_algorithm),
        cmocka_unit_test(trial_is_predicted_from_neighbouring_sizes),
        cmocka_unit_test(requests_use_the_choices_of_blocking_calls),
        cmocka_unit_test(known_choice_of_another_order_serves_all_calls),
        cmocka_unit_test(only_open_choices_are_measured),
        cmocka_unit_test(results_are_right_during_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
