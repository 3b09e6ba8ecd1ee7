/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_adapt.c - a team tries two algorithms, and keeps the faster one (HUDDLE_ADAPT).
 *
 * The clock is made up: a call takes as long as the test says of its algorithm.  So is what is
 * fast: the tests say which algorithm has to be kept, and which must not be.
 */
#include "calls.h"
#include "core/team/adapt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, SMALLER = 9000, LARGE = 20000, LARGER = 70000 };

/* ---- the decision ---- */

static struct trial_times times;

/* Samples of a candidate take `ns`, but for some that take `other`. */
static void samples(int candidate, uint64_t ns, int others, uint64_t other)
{
    for (int s = 0; s < TRIAL_SAMPLES; s++)
        if (hud_trial_candidate(2 * s) == candidate) {
            times.begin_ns[s] = 1000000 + (uint64_t)s;
            times.end_ns[s] = times.begin_ns[s] + (others-- > 0 ? other : ns);
        }
}

static void calls_of_a_trial(void **state)
{
    int calls[2] = { 0 }, measured[2] = { 0 }, next = 0;
    bool again = true;

    (void)state;
    for (int n = 0; n < TRIAL_CALLS; n++) {
        int candidate = hud_trial_candidate(n), sample = hud_trial_sample(n);
        calls[candidate]++;
        measured[candidate] += sample >= 0;
        if (sample >= 0) /* follows a call of the same */
            assert_int_equal(hud_trial_candidate(n - 1), candidate);
        if (sample >= 0)
            assert_int_equal(sample, next++);
    }
    assert_int_equal(calls[0], calls[1]);
    assert_int_equal(measured[0], TRIAL_OF_EACH);
    assert_int_equal(measured[1], TRIAL_OF_EACH);
    for (int period = 1; period <= TRIAL_SAMPLES / 2; period++, again = true) {
        for (int s = 0; s + period < TRIAL_SAMPLES; s++)
            again = again && hud_trial_candidate(2 * s) == hud_trial_candidate(2 * (s + period));
        assert_false(again);
    }
}

static void quartiles_decide(void **state)
{
    static const struct {
        uint64_t first, second;
        bool keeps_second;
    } cases[] = { { 1000, 2000, false }, { 2000, 1000, true }, { 1000, 1000, false },
                  { 1000, 949, true },   { 1000, 951, false }, { 0, 0, false },
                  { 1, 0, true } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int others = 0; others <= 5; others++) {
            samples(0, cases[i].first, others != 0, 0);
            samples(1, cases[i].second, others, 1000000);
            struct trial_verdict v = hud_trial_decide(&times);
            assert_int_equal(v.second, cases[i].keeps_second);
            assert_int_equal(v.first_ns, cases[i].first);
            assert_int_equal(v.second_ns, cases[i].second);
        }
    samples(0, 1000, 2, 1);
    samples(1, 900, 0, 0);
    assert_false(hud_trial_decide(&times).second);
    samples(0, 1000, 0, 0);
    samples(1, 900, 6, 2000);
    assert_false(hud_trial_decide(&times).second);
}

static void sizes_decide_nothing_if_mixed(void **state)
{
    static const struct {
        uint64_t least, most;
        bool mixed;
    } cases[] = { { 0, 0, false },       { 8, 8, false },
                  { 8, 16, false },      { 8, 18, true },
                  { 1, 1000, true },     { 0, 2, true },
                  { 1000, 1999, false }, { UINT64_MAX, UINT64_MAX, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        times.max_bytes = cases[i].most;
        times.inverse_min_bytes = UINT64_MAX - cases[i].least;
        assert_int_equal(hud_trial_decide(&times).mixed, cases[i].mixed);
    }
    times.max_bytes = times.inverse_min_bytes = 0;
}

static void a_clock_that_runs_back(void **state)
{
    (void)state;
    samples(0, 1000, 0, 0);
    samples(1, 0, 0, 0);
    for (int s = 0; s < TRIAL_SAMPLES; s++)
        if (hud_trial_candidate(2 * s) == 1)
            times.end_ns[s] = times.begin_ns[s] - 50;
    assert_int_equal(hud_trial_decide(&times).second_ns, 0);
}

static void classes(void **state)
{
    static unsigned char seen[TRIALS];

    (void)state;
    assert_int_equal(trial_class(0), 0);
    assert_int_equal(trial_class(1), 1);
    assert_int_equal(trial_class(65535), 16);
    assert_int_equal(trial_class(65536), 17);
    assert_int_equal(trial_class(SIZE_MAX), TRIAL_CLASSES - 1);
    /* two axes; entries that end within a class, and ones that span several */
    for (int axis = 0, entry = 0; axis < 2; axis++)
        for (int class = 0; class < TRIAL_CLASSES; class ++) {
            entry += class == 0 ? axis : class % 3 == 0;
            assert_int_equal(seen[trial_index(axis, entry, class)]++, 0);
            entry += class % 7 == 0;
            if (class % 7 == 0)
                assert_int_equal(seen[trial_index(axis, entry, class)]++, 0);
        }
}

/* ---- teams ---- */

static char tuning[64];
static _Thread_local struct rank *me;
static _Thread_local uint64_t now_ns;
static struct {
    const char *slow[2]; /* the algorithm that takes long for rank 1, and for the others */
    uint64_t far_ns;     /* rank 1's clock is ahead by that */
} made_up;

static const char *used(const struct rank *r)
{
    return hud_shm_algs[r->team->entry->row]->name;
}

/* Read as a call begins and as it ends; only then the team's entry is that call's. */
static uint64_t made_up_ns(void)
{
    bool slow = strcmp(used(me), made_up.slow[me->number != 1]) == 0;

    now_ns += slow ? 3000 : 1000;
    return now_ns + (me->number == 1 ? made_up.far_ns : 0);
}

static struct hud_op sum = { .element_bytes = 4, .commutative = 1, .combine = crew_add };

/* Candidates take turns; then all calls are those of the one that is kept. */
static void calls_of(struct rank *r, size_t bytes, const char *first, const char *second)
{
    const char *kept = strcmp(made_up.slow[0], first) == 0 ? second : first;

    for (int n = 0; n < TRIAL_CALLS + 5; n++) {
        crew_make(r, COLL_ALLREDUCE, &sum, bytes, false);
        const char *due = n >= TRIAL_CALLS ? kept : hud_trial_candidate(n) != 0 ? second : first;
        crew_must(r, strcmp(used(r), due) == 0, due, bytes);
    }
}

/* Of two sizes of one piece each has its trial; the third is of another piece. */
static void three_sizes(struct rank *r)
{
    crew_took(r, hud_barrier(r->team));
    crew_must(r, r->team->adapt != NULL, "a team tries", 0);
    if (!r->team->adapt)
        return;
    me = r;
    now_ns = 1000;
    r->team->adapt->clock_ns = made_up_ns;
    calls_of(r, LARGE, "tree", "slices");
    calls_of(r, LARGER, "tree", "slices");
    calls_of(r, SMALLER, "slices", "exchange");
    me = NULL;
}

static int spoil(void **state)
{
    static const char text[] =
        "[[allreduce]]\nbytes = \"10000-\"\nalgorithm = \"tree\"\n"
        "[[allreduce]]\nbytes = \"5000-\"\nalgorithm = \"slices\"\n"
        "[[allreduce]]\nsecond = true\nbytes = \"5000-\"\nalgorithm = \"exchange\"\n";
    FILE *file = NULL;

    (void)state;
    snprintf(tuning, sizeof tuning, "HUDDLE_TUNING=/tmp/hud_adapt_XXXXXX");
    int fd = mkstemp(strchr(tuning, '/'));
    if (fd >= 0)
        file = fdopen(fd, "w");
    return !file || fputs(text, file) < 0 || fclose(file) != 0;
}

static int unspoil(void **state)
{
    (void)state;
    return remove(strchr(tuning, '/'));
}

static void the_faster_one_is_kept(void **state)
{
    static const char *const slow[] = { "tree", "slices", "exchange", "neither" };
    const char *const settings[] = { "HUDDLE_ADAPT=on", tuning, NULL };

    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        made_up.slow[0] = made_up.slow[1] = slow[i];
        made_up.far_ns = 0;
        crew_run(RANKS, settings, three_sizes);
    }
}

/* What the others would decide alone is the opposite. */
static void all_ranks_decide_alike(void **state)
{
    const char *const settings[] = { "HUDDLE_ADAPT=on", tuning, NULL };

    (void)state;
    made_up.slow[0] = "tree";
    made_up.slow[1] = "slices";
    made_up.far_ns = 1000000000;
    crew_run(RANKS, settings, three_sizes);
}

static void not_asked(struct rank *r)
{
    crew_took(r, hud_barrier(r->team));
    crew_must(r, !r->team->adapt && !r->team->apart, "a team tries nothing", 0);
}

static void only_where_it_is_asked_for(void **state)
{
    const char *const off[] = { tuning, NULL },
                      *const none[] = { "HUDDLE_ADAPT=on", "HUDDLE_ALLREDUCE=mpi", NULL },
                      *const little[] = { "HUDDLE_ADAPT=on", "HUDDLE_LEASE=8K", NULL };

    (void)state;
    crew_run(RANKS, off, not_asked);
    crew_run(RANKS, none, not_asked);
    crew_run(RANKS, little, not_asked);
}

static void broadcast(struct rank *r, size_t bytes, int calls)
{
    for (int n = 0; n < calls; n++)
        crew_make(r, COLL_BCAST, &sum, bytes, false);
}

static const struct trial *trial_of(const struct rank *r, const char *coll)
{
    const struct trial *found = NULL;
    int count = 0;

    for (int i = 0; i < TRIALS; i++) {
        const struct trial *t = &r->team->adapt->trial[i];
        bool is = t->first && strcmp(hud_shm_algs[t->first->row]->coll, coll) == 0;
        found = is ? t : found;
        count += is;
    }
    crew_must(r, count == 1, "one trial", (size_t)count);
    return found;
}

/* Mixed sizes delay the decision, and at last prevent it. */
static void broadcasts(struct rank *r)
{
    crew_took(r, hud_barrier(r->team));
    broadcast(r, 8, TRIAL_CALLS - 2);
    broadcast(r, 96, 2);
    broadcast(r, 96, 1);
    const struct trial *t = trial_of(r, "bcast");
    crew_must(r, !t->kept && t->held == 1 && t->calls == 1, "the trial begins anew", 96);
    broadcast(r, 96, TRIAL_CALLS - 1);
    crew_must(r, !t->kept, "not decided yet", 96);
    broadcast(r, 8, 1);
    crew_must(r, t->kept && t == trial_of(r, "bcast"), "decided", 8);
    crew_must(r, t->kept == r->team->entry, "what is kept serves", 8);
}

static void mixed_broadcasts(struct rank *r)
{
    crew_took(r, hud_barrier(r->team));
    for (int n = 0; n < TRIAL_HELD * TRIAL_CALLS; n++)
        broadcast(r, n % 3 == 0 ? 8 : 96, 1);
    crew_must(r, !trial_of(r, "bcast")->kept, "not decided yet", 8);
    broadcast(r, 8, 1);
    crew_must(r, trial_of(r, "bcast")->kept == trial_of(r, "bcast")->first, "decided", 8);
}

static void broadcasts_have_one_trial_for_a_piece(void **state)
{
    const char *const settings[] = { "HUDDLE_ADAPT=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    crew_run(RANKS, settings, broadcasts);
    crew_run(RANKS, settings, mixed_broadcasts);
}

/* All collectives in turn, each often enough for a decision, by the true clock. */
static void all_collectives(struct rank *r)
{
    for (int n = 0; n < TRIAL_CALLS + 4; n++)
        for (int kind = 0; kind < COLL_KINDS; kind++) {
            crew_make(r, kind, &sum, 8, n % 3 == 0);
            crew_make(r, kind, &sum, LARGE, n % 3 == 1);
        }
    crew_must(r, r->team->adapt != NULL, "a team tries", 0);
    int decided = 0;
    for (int i = 0; r->team->adapt && i < TRIALS; i++)
        decided += r->team->adapt->trial[i].kept != NULL;
    crew_must(r, decided >= 6, "decisions", (size_t)decided);
}

static void results_are_right(void **state)
{
    const char *const plain[] = { "HUDDLE_ADAPT=on", tuning, NULL },
                      *const fixed[] = { "HUDDLE_ADAPT=on", "HUDDLE_REDUCE_ORDER=fixed", NULL },
                      *const without[] = { "HUDDLE_ADAPT=on", "HUDDLE_CMA=off", NULL },
                      *const checked[] = { "HUDDLE_ADAPT=on", "HUDDLE_CHECK=1", NULL };

    (void)state;
    crew_run(2, plain, all_collectives);
    crew_run(RANKS, plain, all_collectives);
    crew_run(RANKS, fixed, all_collectives);
    crew_run(CREW_MAX, without, all_collectives);
    crew_run(2, checked, all_collectives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_trial),
        cmocka_unit_test(quartiles_decide),
        cmocka_unit_test(a_clock_that_runs_back),
        cmocka_unit_test(classes),
        cmocka_unit_test(sizes_decide_nothing_if_mixed),
        cmocka_unit_test(broadcasts_have_one_trial_for_a_piece),
        cmocka_unit_test(the_faster_one_is_kept),
        cmocka_unit_test(all_ranks_decide_alike),
        cmocka_unit_test(only_where_it_is_asked_for),
        cmocka_unit_test(results_are_right),
    };
    return cmocka_run_group_tests(tests, spoil, unspoil);
}
