/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner.c - the learner finds the fastest candidate within its budget. */
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

/* A rank tries how to treat its lines: the warm-up doubles until the rank has settled, or for
 * LEARNER_SETTLED calls. */
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

/* ---- the budget ---- */

/* Waits are computed: a turn begins at the very call from which its expected loss fits. */
static void turn_waits_until_its_expected_loss_fits(void **state)
{
    static const struct {
        uint64_t ns;
        uint16_t percent;
        uint64_t calls; /* calls before the first turn of the other candidate */
    } cases[] = {
        { 500 * US, 0, 14 },    /* 2 * 250 us fit, so only the present choice's turn comes first */
        { 10 * MS, 0, 29 },     /* (2 * 5 ms - 1 ms) / (3 % of 10 ms) = 30 */
        { 10 * MS, 50, 12 },    /* loses nothing */
        { 10 * MS, 1000, 596 }, /* (2 * 90 ms - 1 ms) / (3 % of 10 ms) = 596.7 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t base[] = { cases[i].ns, cases[i].ns };
        const uint16_t percent[] = { 0, cases[i].percent };
        struct cell c;
        cell_begin(&c, 2, 0, -1, base, percent);
        for (; c.made[1] == 0; cell_make(&c))
            assert_true(c.calls < 10000);
        assert_int_equal(c.calls - 1, cases[i].calls);
    }
}

/* Counts the loss of an earlier turn once: 7 turns of 36 calls lose 72 ms.  The last turn begins at
 * the call with which (72 ms - 1 ms) / (3 % of 10 ms) = 237 calls have been made. */
static void trial_waits_for_each_loss_once(void **state)
{
    static const uint64_t base[] = { 10 * MS, 12 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    for (; c.made[1] < 29; cell_make(&c))
        assert_true(c.calls < 10000);
    assert_int_equal(c.calls, 237);
    assert_in_range(cell_decide(&c), 8, 16);
}

static void budget_holds_at_every_call(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct cell c;
        uint32_t random = seed;
        uint64_t base[LEARNER_CANDIDATES], scale = (uint64_t[]){ 5 * US, 50 * US, MS }[seed % 3];
        uint16_t percent[LEARNER_CANDIDATES];
        int candidates = 2 + (int)cell_draw(&random, LEARNER_CANDIDATES - 1);
        for (int i = 0; i < candidates; i++) {
            base[i] = scale +
                      scale * cell_draw(&random, 1000) / (cell_draw(&random, 2) != 0 ? 100 : 1000);
            percent[i] = (uint16_t)(cell_draw(&random, 2) != 0 ? cell_draw(&random, 2000) : 0);
        }
        if (seed % 4 == 0)
            base[candidates - 1] = 1000 * scale;
        cell_begin(&c, candidates, (int)cell_draw(&random, (unsigned)candidates), -1, base,
                   percent);
        cell_make_many(&c, 3000);
        cell_decide(&c);
        assert_true(base[hud_learner_choice(&c.l)] * 95 <= cell_best(&c, false) * 100);
    }
}

/* Decides after 7 turns of each candidate, right after the warm-up, if there is no budget.  One
 * more call asks. */
static void trial_without_a_budget_does_not_wait(void **state)
{
    static const uint64_t base[] = { 10 * MS, 12 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    c.l.unlimited = true;
    c.unaccounted = true;
    assert_int_equal(cell_decide(&c), LEARNER_WARM_UP + 2 * 36 + 1);
    assert_int_equal(hud_learner_choice(&c.l), 0);
}

/* Calls cost more as long as their cell is open, down to and far above the time of a call.  The
 * account checks the budget at each call, and every trial ends. */
static void costs_of_an_open_cell_count_as_lost(void **state)
{
    static const uint64_t open[] = { 10, 100, 3 * US, 50 * US };
    uint64_t rested = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct cell c;
        uint32_t random = seed;
        uint64_t base[LEARNER_CANDIDATES], scale = (uint64_t[]){ 300, 5 * US, MS }[seed % 3];
        int candidates = 2 + (int)cell_draw(&random, LEARNER_CANDIDATES - 1);
        for (int i = 0; i < candidates; i++)
            base[i] = scale + scale * cell_draw(&random, 1000) / 200;
        if (seed % 4 == 0)
            base[candidates - 1] = 1000 * scale;
        cell_begin(&c, candidates, (int)cell_draw(&random, (unsigned)candidates), -1, base, NULL);
        c.open_ns = open[seed % 4];
        cell_decide_within(&c, 10000000);
        assert_true(base[hud_learner_choice(&c.l)] * 95 <= cell_best(&c, false) * 100);
        rested += c.rested;
    }
    assert_true(rested > 100000);
}

/* Comparisons of small messages that take twice as long as the call: the allowance serves a whole
 * trial, and nothing waits. */
static void small_messages_do_not_wait(void **state)
{
    static const uint64_t base[] = { 400, 500, 600, 700, 800, 900, 1000 };
    struct cell c;

    (void)state;
    cell_begin(&c, 7, 6, -1, base, NULL);
    c.open_ns = 800;
    assert_true(cell_decide(&c) <= LEARNER_WARM_UP + 7 * 36 + 1);
    assert_int_equal(c.rested, 0);
    assert_int_equal(hud_learner_choice(&c.l), 0);
}

/* Costs of less than 1 % of a call are lost in each call that waits. */
static void cell_with_small_costs_does_not_rest(void **state)
{
    static const uint64_t base[] = { 10 * MS, 12 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    c.open_ns = 90 * US;
    cell_decide(&c);
    assert_int_equal(c.rested, 0);
    cell_begin(&c, 2, 0, -1, base, NULL);
    c.open_ns = 110 * US;
    cell_decide(&c);
    assert_true(c.rested > LEARNER_EVERY);
}

static void hopeless_candidate_is_tried_once(void **state)
{
    static const uint64_t base[] = { 50 * US, 50 * MS, 45 * US, 60 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 4, 0, -1, base, NULL);
    cell_decide(&c);
    assert_int_equal(c.made[1], 2);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    assert_true(c.calls > 2 * 48 * MS / (50 * US * 3 / 100)); /* the others wait for that loss */
}

/* Begins with the slowest of 6 candidates.  It is replaced within 200 calls. */
static void spoiled_choice_is_replaced_within_200_calls(void **state)
{
    static const uint64_t scales[] = { 5 * US, 20 * US, 100 * US, MS };
    struct cell c;
    uint32_t random = 7;

    (void)state;
    for (int n = 0; n < 2000; n++) {
        uint64_t scale = scales[n % 4], base[6];
        unsigned slowest = 300 + 1700 * (n % 3 != 0 ? cell_draw(&random, 101) : 100) / 100;
        for (int i = 1; i < 6; i++)
            base[i] =
                scale * (n % 5 == 0 ? slowest : 100 + cell_draw(&random, slowest - 100)) / 100;
        base[0] = scale * slowest / 100;
        base[1 + cell_draw(&random, 5)] = scale;
        cell_begin(&c, 6, 0, -1, base, NULL);
        cell_make_many(&c, 200);
        assert_true(base[hud_learner_choice(&c.l)] * 95 <= scale * 100);
    }
}

/* ---- noise ---- */

/* Spikes lengthen a tenth of all calls ten times. */
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
        cmocka_unit_test(turn_waits_until_its_expected_loss_fits),
        cmocka_unit_test(trial_waits_for_each_loss_once),
        cmocka_unit_test(budget_holds_at_every_call),
        cmocka_unit_test(trial_without_a_budget_does_not_wait),
        cmocka_unit_test(costs_of_an_open_cell_count_as_lost),
        cmocka_unit_test(small_messages_do_not_wait),
        cmocka_unit_test(cell_with_small_costs_does_not_rest),
        cmocka_unit_test(hopeless_candidate_is_tried_once),
        cmocka_unit_test(spoiled_choice_is_replaced_within_200_calls),
        cmocka_unit_test(noise_rarely_hides_the_best_candidate),
        cmocka_unit_test(ties_change_nothing),
        cmocka_unit_test(candidate_that_is_fast_in_most_calls_wins),
        cmocka_unit_test(regret_of_100000_calls_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
