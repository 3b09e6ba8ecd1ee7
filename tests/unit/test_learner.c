/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner.c - the learner finds the fastest candidate. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- trials ---- */

static void ten_calls_try_nothing(void **state)
{
    static const uint64_t base[] = { 500 * US, 1, 2, 3, 4, 5, 6 };
    struct cell c;

    (void)state;
    cell_begin(&c, 7, 0, -1, base, NULL);
    cell_make_many(&c, LEARNER_WARM_UP);
    assert_int_equal(c.made[0], LEARNER_WARM_UP);
    assert_int_equal(c.agreements, 0);
    assert_false(hud_learner_decided(&c.l));
    cell_make(&c);
    assert_int_equal(c.agreements, 1);
    assert_int_equal(hud_learner_ns(&c.l, 0), 500 * US);
}

static void one_candidate_is_decided_at_once(void **state)
{
    static const uint64_t base[] = { 500 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 1, 0, -1, base, NULL);
    cell_make_many(&c, LEARNER_WARM_UP + 1);
    assert_true(hud_learner_decided(&c.l));
    assert_int_equal(hud_learner_ns(&c.l, 0), 500 * US);
    assert_int_equal(hud_learner_runner_up(&c.l), -1);
}

/* Doubles the warm-up until all ranks have settled how to treat their lines, or for LEARNER_SETTLED
 * calls. */
static void warm_up_waits_until_ranks_settle(void **state)
{
    static const uint64_t base[] = { 500 * US, 400 * US };
    static const struct {
        uint64_t settled, warm_up;
    } cases[] = { { 12, 12 }, { 13, 24 }, { 24, 24 }, { 40, 48 }, { 90, 96 }, { 1000, 96 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cell c;
        cell_begin(&c, 2, 0, -1, base, NULL);
        for (; !hud_learner_tries(&c.l); cell_make(&c)) {
            c.ns[LEARNER_SETTLES] = c.calls < cases[i].settled;
            assert_true(c.calls < 1000);
        }
        assert_int_equal(c.calls - 1, cases[i].warm_up);
        assert_int_equal(c.made[0] + c.made[1], c.calls);
        c.ns[LEARNER_SETTLES] = 0;
        cell_decide(&c);
        assert_int_equal(hud_learner_choice(&c.l), 1);
    }
}

/* Drops candidates after 2 sweeps, after 4, or never, and hopeless candidates after one turn. */
static void slow_candidates_are_dropped_by_halving(void **state)
{
    static const uint64_t base[] = { 1000, 1510, 1490, 1260, 1240, 1060, 17000 };
    static const int turns[] = { 7, 2, 4, 4, 7, 7, 1 };
    struct cell c;

    (void)state;
    cell_begin(&c, 7, 0, -1, base, NULL);
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 0);
    assert_int_equal(hud_learner_runner_up(&c.l), 5);
    for (int i = 0; i < 7; i++) {
        uint64_t watched = hud_learner_choice(&c.l) == i ? c.l.batch : 0;
        assert_int_equal(c.sampled[i] - watched, 2 * turns[i] + (i == 0 ? 4 : 0));
        assert_int_equal(hud_learner_ns(&c.l, i), base[i]);
    }
    assert_int_equal(c.changes, 0);
}

/* Ends a trial when all other candidates are dropped. */
static void trial_of_slow_candidates_is_short(void **state)
{
    static const uint64_t base[] = { 1000, 1600, 2000 };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, -1, base, NULL);
    assert_int_equal(cell_decide(&c), LEARNER_WARM_UP + 2 * 2 * 3 + 1);
}

/* Returns a wrong, short time at a single call. */
static uint64_t once_short(const struct cell *c, int candidate)
{
    return candidate == 1 && c->made[1] == 9 ? 100 : c->base[candidate];
}

static void single_short_sample_of_five_does_not_count(void **state)
{
    static const uint64_t base[] = { 1000, 1000 };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    c.cost = once_short;
    c.unaccounted = true;
    cell_make_many(&c, 100);
    assert_int_equal(c.sampled[1], 2 * 7);
    assert_int_equal(hud_learner_ns(&c.l, 1), 1000);
    assert_int_equal(c.changes, 0);
}

/* Makes two candidates faster than the present choice in the same sweep. */
static uint64_t both_faster(const struct cell *c, int candidate)
{
    return candidate != 0 && c->made[candidate] >= 4 ? c->base[candidate] : 1000;
}

static void fastest_of_several_faster_candidates_is_chosen(void **state)
{
    static const uint64_t base[] = { 1000, 800, 900 };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, -1, base, NULL);
    c.cost = both_faster;
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 1);
    assert_int_equal(c.changes, 1);
}

static void gain_must_be_5_percent_or_3_for_the_mpi(void **state)
{
    static const struct {
        uint64_t other;
        int mpi, choice;
    } cases[] = { { 951, -1, 0 }, { 949, -1, 1 }, { 951, 1, 1 }, { 969, 1, 1 },
                  { 971, 1, 0 },  { 951, 0, 0 },  { 949, 0, 1 }, { 1000, 1, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t base[] = { 1000 * US, cases[i].other * US };
        struct cell c;
        cell_begin(&c, 2, 0, cases[i].mpi, base, NULL);
        cell_decide(&c);
        assert_int_equal(hud_learner_choice(&c.l), cases[i].choice);
        assert_int_equal(hud_learner_runner_up(&c.l), 1 - cases[i].choice);
        assert_int_equal(c.changes, cases[i].choice);
    }
}

/* Expects turns of 2, 4 and 8 calls with samples of the last two, in an order without period. */
static void turns_grow_and_have_no_period(void **state)
{
    static const uint64_t base[] = { 1000, 1010, 1020, 1010 };
    enum { TURNS = 7 * 4 };
    int order[TURNS];
    uint64_t sampled[4] = { 4 }; /* 4 of the warm-up */
    struct cell c;

    (void)state;
    cell_begin(&c, 4, 0, -1, base, NULL);
    cell_make_many(&c, LEARNER_WARM_UP);
    for (int t = 0; t < TURNS; t++) {
        int length = (const int[]){ 2, 2, 4, 4, 8, 8, 8 }[t / 4];
        uint64_t before[4];
        for (int call = 0; call < length; call++) {
            if (call == length - 2)
                memcpy(before, c.sampled, sizeof before);
            int candidate = cell_make(&c);
            assert_true(call == 0 || candidate == order[t]);
            order[t] = candidate;
        }
        assert_int_equal(c.sampled[order[t]], before[order[t]] + 2);
        sampled[order[t]] += 2;
        assert_int_equal(c.sampled[order[t]], sampled[order[t]]);
    }
    cell_make(&c);
    assert_true(hud_learner_decided(&c.l));
    for (int period = 1; period <= TURNS / 2; period++) {
        int other = 0;
        for (int t = 4; t + period < TURNS; t++)
            other += order[t] != order[t + period];
        assert_true(other > 0);
    }
    assert_int_equal(c.agreements, 1 + 4 + 6);
}

static void likeliest_candidates_come_first(void **state)
{
    static const uint64_t base[] = { 1000, 1000, 1000, 1000, 1000 };
    static const uint16_t percent[] = { 0, 300, 40, 0, 120 };
    static const int order[] = { 2, 0, 4, 3, 1 };
    struct cell c;

    (void)state;
    cell_begin(&c, 5, 0, -1, base, percent);
    cell_make_many(&c, LEARNER_WARM_UP);
    for (int t = 0; t < 5; t++) {
        assert_int_equal(cell_make(&c), order[t]);
        assert_int_equal(cell_make(&c), order[t]);
    }
}

/* ---- noise ---- */

/* Lengthens a tenth of all calls ten times. */
static void noise_rarely_hides_the_best_candidate(void **state)
{
    struct cell c;
    uint32_t random = 3;
    int missed = 0;

    (void)state;
    for (int n = 0; n < 1000; n++) {
        uint64_t base[6];
        for (int i = 0; i < 6; i++)
            base[i] = 20 * US + 20 * US * cell_draw(&random, 300) / 100;
        cell_begin(&c, 6, 0, -1, base, NULL);
        c.noise_percent = 10;
        c.random = (uint32_t)n;
        cell_decide(&c);
        missed += base[hud_learner_choice(&c.l)] * 95 > cell_best(&c, false) * 100;
    }
    assert_true(missed <= 20);
}

static void ties_change_nothing(void **state)
{
    static const uint64_t base[] = { 10200, 10000, 10400, 10100 };
    struct cell c;

    (void)state;
    cell_begin(&c, 4, 0, 3, base, NULL);
    cell_make_many(&c, 100000);
    assert_int_equal(c.changes, 0);
    assert_true(c.made[1] + c.made[2] + c.made[3] <= 3 * 36 + 2);
    /* Noise may change the choice in a trial, and must not open a decided cell. */
    for (uint32_t seed = 1; seed <= 50; seed++) {
        cell_begin(&c, 4, 0, 3, base, NULL);
        c.random = seed;
        c.noise_percent = 10;
        cell_decide(&c);
        assert_true(c.changes <= 2);
        c.changes = 0;
        cell_make_many(&c, 100000);
        assert_int_equal(c.changes, 0);
        assert_true(hud_learner_decided(&c.l));
    }
}

/* ---- long runs ---- */

/* Bounds a long run with constant costs: 3 % more than the best candidate takes, the allowance, and
 * 200 calls of the first choice. */
static void regret_of_100000_calls_is_bounded(void **state)
{
    struct cell c;
    uint32_t random = 5;

    (void)state;
    for (int n = 0; n < 30; n++) {
        uint64_t base[LEARNER_CANDIDATES], scale = (uint64_t[]){ 5 * US, 50 * US, MS }[n % 3];
        int present = (int)cell_draw(&random, 7);
        for (int i = 0; i < 7; i++)
            base[i] = scale + scale * (unsigned)i * 6 / 100 +
                      scale * cell_draw(&random, 10) * (unsigned)i;
        cell_begin(&c, 7, present, -1, base, NULL);
        cell_make_many(&c, 100000);
        assert_int_equal(hud_learner_choice(&c.l), 0);
        assert_true(c.total_ns <= c.best_ns / 100 * 103 + ALLOWANCE + 200 * base[present]);
    }
}

/* Simulates a rank that comes late in most calls.  Candidate 1 is slow, but has done most of its
 * work when the late rank comes. */
static uint64_t mostly_late(const struct cell *c, int candidate)
{
    static const uint64_t late[] = { 38 * US, 1 * US, 70 * US };
    uint32_t random = (uint32_t)(c->calls + 1) * 2654435761U + (uint32_t)c->flip;

    return cell_draw(&random, 100) < 80 ? late[candidate] : c->base[candidate];
}

static void candidate_that_is_fast_in_most_calls_wins(void **state)
{
    static const uint64_t base[] = { 40 * US, 60 * US, 80 * US };

    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct cell c;
        cell_begin(&c, 3, 0, -1, base, NULL);
        c.cost = mostly_late;
        c.unaccounted = true;
        c.flip = seed;
        cell_decide(&c);
        assert_int_equal(hud_learner_choice(&c.l), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_calls_try_nothing),
        cmocka_unit_test(one_candidate_is_decided_at_once),
        cmocka_unit_test(warm_up_waits_until_ranks_settle),
        cmocka_unit_test(slow_candidates_are_dropped_by_halving),
        cmocka_unit_test(trial_of_slow_candidates_is_short),
        cmocka_unit_test(single_short_sample_of_five_does_not_count),
        cmocka_unit_test(fastest_of_several_faster_candidates_is_chosen),
        cmocka_unit_test(gain_must_be_5_percent_or_3_for_the_mpi),
        cmocka_unit_test(turns_grow_and_have_no_period),
        cmocka_unit_test(likeliest_candidates_come_first),
        cmocka_unit_test(noise_rarely_hides_the_best_candidate),
        cmocka_unit_test(ties_change_nothing),
        cmocka_unit_test(candidate_that_is_fast_in_most_calls_wins),
        cmocka_unit_test(regret_of_100000_calls_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
