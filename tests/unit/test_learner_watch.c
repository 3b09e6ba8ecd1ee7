/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner_watch.c - the learner notices that the machine has changed, and remembers winners.
 * All ranks choose alike. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 8 };

/* ---- machines that change ---- */

/* Makes another of two candidates the best in each state. */
static uint64_t two_states(const struct cell *c, int candidate)
{
    unsigned state = c->calls / c->flip % 2;

    return candidate < 2 ? c->base[(unsigned)candidate ^ state] : c->base[candidate];
}

static void known_state_needs_no_new_trial(void **state)
{
    static const uint64_t base[] = { 10 * US, 40 * US, 25 * US, 30 * US };
    uint64_t made[2] = { 0 };
    struct cell c;

    (void)state;
    cell_begin(&c, 4, 0, -1, base, NULL);
    c.cost = two_states;
    c.flip = 20000;
    for (int flip = 0; flip < 10; flip++) {
        cell_make_many(&c, 6000);
        assert_true(hud_learner_decided(&c.l));
        assert_int_equal(hud_learner_choice(&c.l), flip % 2);
        cell_make_many(&c, c.flip - 6000);
        assert_int_equal(hud_learner_choice(&c.l), flip % 2);
        for (int i = 0; i < 2 && flip == 1; i++)
            made[i] = c.made[2 + i];
    }
    assert_in_range(c.changes, 9,
                    10); /* perhaps by way of another candidate, in the second trial */
    assert_int_equal(c.made[2], made[0]);
    assert_int_equal(c.made[3], made[1]);
    assert_int_equal(hud_learner_runner_up(&c.l), 0);
}

/* Checks that a cell has the better winner soon after each flip. */
static void flip_is_followed_within_500_calls(void **state)
{
    static const struct {
        uint64_t ns;
        unsigned most;
    } cases[] = { { 20 * US, 500 }, { 100 * US, 500 }, { 2 * MS, 500 }, { 5 * US, 500 },
                  { 2 * US, 500 },  { US, 500 },       { 200, 2100 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            uint64_t ns = cases[i].ns;
            const uint64_t base[] = { ns, 4 * ns, 3 * ns, 5 * ns };
            struct cell c;
            cell_begin(&c, 4, 0, -1, base, NULL);
            c.random = seed;
            c.cost = two_states;
            c.even = true;
            c.flip = 7000 + seed * 17; /* flips come at any place of a batch */
            for (unsigned flip = 0; flip < 14; flip++) {
                while (c.calls < (uint64_t)c.flip * flip + cases[i].most)
                    cell_make(&c);
                if (flip >= 3)
                    assert_int_equal(hud_learner_choice(&c.l), flip % 2);
                cell_make_many(&c, c.flip * (flip + 1) - c.calls);
                assert_int_equal(hud_learner_choice(&c.l), flip % 2);
            }
        }
}

/* Makes all candidates take twice as long in every second state. */
static uint64_t two_speeds(const struct cell *c, int candidate)
{
    return c->base[candidate] * (1 + c->calls / c->flip % 2);
}

static void two_speeds_of_one_winner_are_remembered(void **state)
{
    static const uint64_t base[] = { 10 * US, 15 * US, 40 * US };
    uint64_t made = 0;
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 1, -1, base, NULL);
    c.cost = two_speeds;
    c.flip = 20000;
    for (int flip = 0; flip < 10; flip++) {
        cell_make_many(&c, c.flip);
        assert_true(hud_learner_decided(&c.l));
        assert_int_equal(hud_learner_choice(&c.l), 0);
        assert_int_equal(hud_learner_ns(&c.l, 0), (1 + flip % 2) * 10 * US);
        made = flip == 1 ? c.made[1] + c.made[2] : made;
    }
    assert_int_equal(c.made[1] + c.made[2], made);
}

/* Changes the machine's state about as fast as the watch sees, or faster.  A choice that follows a
 * little too late then loses. */
static void fast_flips_cost_little(void **state)
{
    static const uint64_t base[] = { 10 * US, 40 * US, 25 * US };
    struct cell c;

    (void)state;
    for (unsigned flip = 3; flip <= 800; flip = flip * 3 / 2 + 1) {
        cell_begin(&c, 3, 0, -1, base, NULL);
        c.cost = two_states;
        c.flip = flip;
        cell_make_many(&c, 200000);
        uint64_t unchanged = c.calls * (base[0] + base[1]) / 2;
        assert_true(c.total_ns <= unchanged * (flip <= 100 ? 101 : 130) / 100);
    }
}

/* Makes the first candidate three times as slow in the course of 100000 calls. */
static uint64_t drift(const struct cell *c, int candidate)
{
    uint64_t calls = c->calls < 100000 ? c->calls : 100000;

    return candidate == 0 ? c->base[0] + c->base[0] * 2 * calls / 100000 : c->base[candidate];
}

static void slow_drift_is_followed(void **state)
{
    static const uint64_t base[] = { 10 * US, 15 * US, 40 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 2, -1, base, NULL);
    c.cost = drift;
    c.flip = 1;
    cell_make_many(&c, 10000);
    assert_int_equal(hud_learner_choice(&c.l), 0);
    cell_make_many(&c, 140000);
    assert_int_equal(hud_learner_choice(&c.l), 1);
    assert_int_equal(c.changes, 2);
    assert_true(c.total_ns <= c.best_ns * 120 / 100);
}

/* Makes all candidates slow at first, as another job does. */
static uint64_t better(const struct cell *c, int candidate)
{
    return c->calls < c->flip ? 100 * US - (uint64_t)candidate * 10 * US : c->base[candidate];
}

static void machine_that_becomes_faster_is_noticed(void **state)
{
    static const uint64_t base[] = { 5 * US, 15 * US, 20 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, -1, base, NULL);
    c.cost = better;
    c.flip = 10000;
    cell_make_many(&c, 10000);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    cell_make_many(&c, 5000);
    assert_true(hud_learner_decided(&c.l));
    assert_int_equal(hud_learner_choice(&c.l), 0);
    assert_int_equal(hud_learner_ns(&c.l, 0), 5 * US);
}

/* ---- decided cells ---- */

/* Makes a batch of samples of a decided cell, of which the first ones take another time. */
static void watch_mixed(struct cell *c, uint64_t ns, int others, uint64_t other)
{
    int batch = hud_learner_watched(&c->l);

    while (c->l.batch < batch) {
        c->base[0] = c->l.batch < others ? other : ns;
        c->taken_ns +=
            (LEARNER_EVERY - 1) * c->base[0]; /* calls of which the caller asks nothing */
        c->until_asked = 0;
        cell_make(c);
    }
    c->base[0] = ns;
    cell_agree(c);
}

static void watch(struct cell *c, int batches, uint64_t ns)
{
    for (int i = 0; i < batches; i++)
        watch_mixed(c, ns, 0, 0);
}

/* Starts a decided cell of three candidates, without or with another winner.  before_ns: its time,
 * or 0. */
static void known(struct cell *c, int before, uint64_t before_ns, const uint64_t base[])
{
    cell_begin(c, 3, 0, -1, base, NULL);
    hud_learner_known(&c->l, 3, 2, (struct learner_winner){ base[0], 0 },
                      (struct learner_winner){ before_ns, (int8_t)before });
    assert_int_equal(cell_decide(c), LEARNER_WARM_UP + 1);
    assert_int_equal(c->made[0], LEARNER_WARM_UP + 1);
    memset(c->made, 0, sizeof c->made);
}

/* Calls of about 100 ns are too short for small batches. */

static void record_is_lowered_and_opened_after_two_batches(void **state)
{
    static const uint64_t base[] = { 100, 110, 300 };
    struct cell c;

    (void)state;
    known(&c, 1, 500, base);
    assert_int_equal(hud_learner_ns(&c.l, 0), 100);
    assert_int_equal(hud_learner_before(&c.l).candidate, 1);
    watch(&c, 1, 90);
    assert_int_equal(hud_learner_ns(&c.l, 0), 90);
    watch(&c, 2, 134);
    assert_int_equal(hud_learner_ns(&c.l, 0), 90);
    for (int i = 0; i < 3; i++) {
        watch(&c, 1, 135);
        watch(&c, 1, 134);
        watch(&c, 1, 60);
    }
    assert_true(hud_learner_decided(&c.l));
    assert_int_equal(hud_learner_ns(&c.l, 0), 90);
    assert_int_equal(hud_learner_samples(&c.l), 4 + 12 * LEARNER_BATCH);
    watch(&c, 2, 135);
    assert_false(hud_learner_decided(&c.l));
    /* neither winner takes as long as it did */
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 1);
    assert_int_equal(hud_learner_ns(&c.l, 1), 110);
    assert_int_equal(hud_learner_runner_up(&c.l), 0);
    assert_true(c.made[2] > 0);
}

static void quartile_of_a_batch_counts(void **state)
{
    static const uint64_t base[] = { 100, 110, 300 };
    struct cell c;

    (void)state;
    known(&c, 1, base[1], base);
    watch_mixed(&c, 100, 4, 95);
    assert_int_equal(hud_learner_ns(&c.l, 0), 100);
    watch_mixed(&c, 900, 5, 95);
    assert_int_equal(hud_learner_ns(&c.l, 0), 95);
}

/* Returns to a machine as before, or nearly.  Only the other winner is compared. */
static void transient_needs_only_the_other_winner(void **state)
{
    static const uint64_t base[] = { 100, 130, 300 };
    static const struct {
        uint64_t ns;
        bool near;
    } cases[] = { { 100, true }, { 124, true }, { 126, false }, { 79, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cell c;
        known(&c, 1, 500, base);
        watch(&c, 2, 200);
        assert_false(hud_learner_decided(&c.l));
        c.base[0] = cases[i].ns;
        cell_decide(&c);
        assert_int_equal(hud_learner_choice(&c.l), 0);
        assert_int_equal(hud_learner_ns(&c.l, 0), cases[i].ns);
        assert_int_equal(c.made[2] == 0, cases[i].near);
        assert_true(cases[i].near ? c.made[1] == 12 : c.made[1] > 12);
        watch(&c, 1, 2 * cases[i].ns); /* a single batch, as before the first opening */
        assert_true(hud_learner_decided(&c.l));
    }
}

/* Opens a cell again.  The trial begins with the fastest candidates of the last trial.  A hopeless
 * candidate is tried again if the cell has taken enough time. */
static void opened_cell_remembers_the_last_trial(void **state)
{
    static const uint64_t base[] = { MS, 1400 * US, 50 * MS, 1200 * US };
    static const int order[] = { 0, 3, 1, 2 };

    (void)state;
    for (int batches = 3; batches <= 11; batches += 8) {
        struct cell c;
        cell_begin(&c, 4, 0, -1, base, NULL);
        cell_decide(&c);
        watch(&c, (batches - 2) * 8, MS);
        watch(&c, 2, 2 * MS);
        assert_false(hud_learner_decided(&c.l));
        for (int t = 0; t < 3; t++)
            for (int call = 0; call < 2; call++)
                assert_int_equal(cell_make(&c), order[t]);
        assert_int_equal(cell_make(&c), batches == 11 ? 2 : 3);
    }
}

/* Opens a cell whose first trial saved seconds.  Its next trial must wait for the hopeless
 * candidates. */
static void savings_are_spent_in_their_own_trial(void **state)
{
    static const uint64_t base[] = { MS, 20 * MS, 20 * MS, 20 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 4, 1, -1, base, NULL);
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 0);
    watch(&c, 1, MS);
    watch(&c, 2, 2 * MS);
    assert_true(cell_decide(&c) > 1000);
}

static void known_without_another_winner_is_opened_for_all(void **state)
{
    static const uint64_t base[] = { 100, 110, 80 };
    struct cell c;

    (void)state;
    known(&c, -1, 0, base);
    watch(&c, 2, 150);
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    assert_true(c.made[1] > 0);
}

/* ---- all ranks ---- */

/* Gives each rank the agreed times, and other garbage where there are no samples. */
static void ranks_agree_at_every_call(void **state)
{
    static const uint64_t base[] = { 40 * US, 20 * US, 23 * US, 60 * US, MS };
    static const uint16_t percent[] = { 0, 60, 0, 90, 0 };
    struct learner l[RANKS];
    uint64_t ns[LEARNER_BATCH];
    struct cell c;
    uint32_t random = 1;

    (void)state;
    cell_begin(&c, 5, 0, 3, base, percent);
    c.cost = two_states;
    c.flip = 3000;
    for (int r = 0; r < RANKS; r++) {
        memset(&l[r], r * 17, sizeof l[r]);
        hud_learner_begin(&l[r], 5, 0, 3, percent);
    }
    for (c.calls = 0; c.calls < 20000; c.calls++) {
        struct learner_step step = hud_learner_next(&l[0]);
        for (int r = 1; r < RANKS; r++) {
            struct learner_step other = hud_learner_next(&l[r]);
            assert_int_equal(other.agree, step.agree);
            assert_int_equal(other.candidate, step.candidate);
            assert_int_equal(other.sample, step.sample);
            assert_int_equal(hud_learner_decided(&l[r]), hud_learner_decided(&l[0]));
            assert_int_equal(hud_learner_choice(&l[r]), hud_learner_choice(&l[0]));
        }
        if (step.sample >= 0)
            ns[step.sample] = 0;
        for (int r = 0; r < RANKS && step.sample >= 0; r++) {
            uint64_t mine = c.cost(&c, step.candidate) * (90 + cell_draw(&random, 20)) / 100;
            ns[step.sample] = mine > ns[step.sample] ? mine : ns[step.sample];
        }
        for (int r = 0; r < RANKS && step.agree; r++) {
            uint64_t given[LEARNER_BATCH];
            for (int i = 0; i < LEARNER_BATCH; i++)
                given[i] = i < l[r].batch ? ns[i] : cell_draw(&random, 1000);
            if (!hud_learner_decided(&l[r]))
                given[LEARNER_OPEN] = 100;
            hud_learner_agreed(&l[r], given);
        }
    }
    assert_int_equal(hud_learner_choice(&l[0]), c.calls / c.flip % 2 == 0);
}

/* Gives times that no machine has.  Candidates and samples must stay in range. */
static void impossible_times_are_harmless(void **state)
{
    static const uint16_t percent[LEARNER_CANDIDATES] = { 1, UINT16_MAX, 0, 100, 0, 7, 9999 };
    uint64_t ns[LEARNER_BATCH];
    uint32_t random = 1;

    (void)state;
    for (int candidates = 1; candidates <= LEARNER_CANDIDATES; candidates++) {
        struct learner l;
        hud_learner_begin(&l, candidates, candidates - 1, 0, percent);
        for (int n = 0; n < 100000; n++) {
            struct learner_step step = hud_learner_next(&l);
            assert_in_range(step.candidate, 0, candidates - 1);
            assert_in_range(step.sample + 1, 0, step.agree ? 0 : LEARNER_BATCH);
            for (int i = 0; i < LEARNER_BATCH; i++)
                ns[i] = cell_draw(&random, 3) == 0 ? UINT64_MAX : cell_draw(&random, 3);
            if (step.agree)
                hud_learner_agreed(&l, ns);
            assert_in_range(hud_learner_choice(&l), 0, candidates - 1);
        }
    }
}

static void times_of_zero_are_decided(void **state)
{
    static const uint64_t base[] = { 0, 0, 0 };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 1, -1, base, NULL);
    cell_decide(&c);
    cell_make_many(&c, 10000);
    assert_int_equal(c.changes, 0);
    assert_int_equal(hud_learner_ns(&c.l, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_state_needs_no_new_trial),
        cmocka_unit_test(flip_is_followed_within_500_calls),
        cmocka_unit_test(two_speeds_of_one_winner_are_remembered),
        cmocka_unit_test(fast_flips_cost_little),
        cmocka_unit_test(slow_drift_is_followed),
        cmocka_unit_test(machine_that_becomes_faster_is_noticed),
        cmocka_unit_test(record_is_lowered_and_opened_after_two_batches),
        cmocka_unit_test(quartile_of_a_batch_counts),
        cmocka_unit_test(transient_needs_only_the_other_winner),
        cmocka_unit_test(opened_cell_remembers_the_last_trial),
        cmocka_unit_test(savings_are_spent_in_their_own_trial),
        cmocka_unit_test(known_without_another_winner_is_opened_for_all),
        cmocka_unit_test(ranks_agree_at_every_call),
        cmocka_unit_test(impossible_times_are_harmless),
        cmocka_unit_test(times_of_zero_are_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
