/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner_budget.c - trials of slower candidates lose no more than their budget. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Computes the waits: a turn begins at the first call at which its expected loss fits. */
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

/* Makes calls of an open cell cost more: from a little to far more than the time of a call.  The
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

/* Makes comparisons of small messages take twice as long as the call.  The allowance is enough for
 * a whole trial, and nothing waits. */
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

/* Loses less than 1 % of a call in each call that waits. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turn_waits_until_its_expected_loss_fits),
        cmocka_unit_test(trial_waits_for_each_loss_once),
        cmocka_unit_test(budget_holds_at_every_call),
        cmocka_unit_test(trial_without_a_budget_does_not_wait),
        cmocka_unit_test(costs_of_an_open_cell_count_as_lost),
        cmocka_unit_test(small_messages_do_not_wait),
        cmocka_unit_test(cell_with_small_costs_does_not_rest),
        cmocka_unit_test(hopeless_candidate_is_tried_once),
        cmocka_unit_test(spoiled_choice_is_replaced_within_200_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
