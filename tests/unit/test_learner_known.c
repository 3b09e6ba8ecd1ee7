/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner_known.c - the learner verifies what an earlier run has decided. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Starts cells with two known winners on a machine in either state, or in a third one. */
static void known_choice_is_verified(void **state)
{
    static const uint64_t fast[] = { 1, 3, 5 };
    static const uint64_t times[] = { 500, 20 * US, 2 * MS };

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (unsigned now = 0; now < 2; now++) {
            uint64_t ns = times[i];
            const uint64_t base[] = { fast[now] * ns, fast[1 - now] * ns, 5 * ns };
            struct cell c;
            cell_begin(&c, 3, 0, -1, base, NULL);
            hud_learner_known(&c.l, 3, -1, (struct learner_winner){ ns, 0 },
                              (struct learner_winner){ ns, 1 });
            int before = hud_learner_decisions(&c.l);
            while (hud_learner_choice(&c.l) != (int)now)
                cell_make(&c);
            assert_true(c.calls <= LEARNER_WARM_UP + 4 + 4 + 1);
            cell_decide(&c);
            assert_true(c.calls <= LEARNER_WARM_UP + 4 + 24 + 2);
            assert_int_equal(hud_learner_choice(&c.l), now);
            assert_int_equal(hud_learner_before(&c.l).candidate, 1 - now);
            assert_int_equal(hud_learner_before(&c.l).ns, ns);
            assert_int_equal(c.made[2], 0);
            assert_int_equal(hud_learner_decisions(&c.l) - before, now);
        }
}

/* Verifies a known choice that has become slow, after ranks have tried how to treat their lines. */
static void long_warm_up_takes_no_samples_of_the_verification(void **state)
{
    static const uint64_t base[] = { 3 * MS, 2 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    hud_learner_known(&c.l, 2, -1, (struct learner_winner){ MS, 0 },
                      (struct learner_winner){ 0, -1 });
    for (; !hud_learner_tries(&c.l); cell_make(&c)) {
        c.ns[LEARNER_SETTLES] = 1;
        assert_true(c.calls <= LEARNER_SETTLED + 4);
        assert_false(hud_learner_decided(&c.l));
    }
}

static void known_choice_of_an_unknown_state_is_tried_anew(void **state)
{
    static const uint64_t base[] = { 3 * MS, 4 * MS, 2 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, -1, base, NULL);
    hud_learner_known(&c.l, 3, -1, (struct learner_winner){ MS, 0 },
                      (struct learner_winner){ MS, 1 });
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    assert_int_equal(hud_learner_before(&c.l).candidate, 0);
}

/* Lets the first batch of the verification be slow. */
static uint64_t interrupted(const struct cell *c, int candidate)
{
    return c->base[candidate] * (c->calls >= 8 && c->calls < 12 ? 10 : 1);
}

static void interrupted_verification_is_repeated(void **state)
{
    static const uint64_t base[] = { MS, 2 * MS, 2 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, -1, base, NULL);
    c.cost = interrupted;
    hud_learner_known(&c.l, 3, -1, (struct learner_winner){ MS, 0 },
                      (struct learner_winner){ 0, -1 });
    assert_int_equal(cell_decide(&c), LEARNER_WARM_UP + 4 + 1);
    assert_int_equal(c.made[1] + c.made[2], 0);
}

/* Lets the machine be slower than known in every second batch, and faster in the others. */
static uint64_t unsteady(const struct cell *c, int candidate)
{
    return c->base[candidate] * (c->calls / 4 % 2 == 0 ? 16 : 6) / 10;
}

static void verification_ends(void **state)
{
    static const uint64_t base[] = { MS, 9 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    c.cost = unsteady;
    hud_learner_known(&c.l, 2, -1, (struct learner_winner){ MS, 0 },
                      (struct learner_winner){ 0, -1 });
    assert_true(cell_decide(&c) <= 8 + 16 + 1);
}

/* Starts a cell from a line of a file that has no time. */
static void choice_without_a_time_is_decided(void **state)
{
    static const uint64_t base[] = { 40 * US, 20 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 2, 0, -1, base, NULL);
    hud_learner_known(&c.l, 2, -1, (struct learner_winner){ 0, 0 },
                      (struct learner_winner){ 0, 1 });
    assert_int_equal(cell_decide(&c), LEARNER_WARM_UP + 1);
    assert_int_equal(hud_learner_ns(&c.l, 0), base[0]);
}

/* Starts a cell with a known choice whose record is as good as its time, and makes calls. */
static void make_with_rival(struct cell *c, const uint64_t base[3], int before)
{
    cell_begin(c, 3, 2, -1, base, NULL);
    hud_learner_known(&c->l, 3, -1, (struct learner_winner){ base[2], 2 },
                      (struct learner_winner){ before >= 0 ? 2 * base[2] : 0, (int8_t)before });
    c->l.rival = 0;
    cell_make_many(c, 300);
    assert_true(hud_learner_decided(&c->l));
}

/* Lets another process have disturbed the earlier run: a slow candidate won, with a time that looks
 * good today. */
static void known_choice_is_refuted_by_a_faster_rival(void **state)
{
    static const uint64_t first[] = { US, 5 * US, 3 * US }, other[] = { 4 * US, US, 3 * US };
    struct cell c;

    (void)state;
    make_with_rival(&c, first, -1);
    assert_int_equal(hud_learner_choice(&c.l), 0);
    assert_int_equal(hud_learner_decisions(&c.l), 1);
    assert_int_equal(hud_learner_before(&c.l).candidate, 2);
    make_with_rival(&c, other, 1);
    assert_int_equal(hud_learner_choice(&c.l), 1);
}

static void right_known_choice_costs_a_turn_of_each_rival(void **state)
{
    static const uint64_t best[] = { 2 * US, 3 * US, US },
                          alike[] = { 98 * US, 400 * US, 100 * US };
    struct cell c;

    (void)state;
    make_with_rival(&c, best, -1);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    assert_int_equal(hud_learner_decisions(&c.l), 0);
    assert_int_equal(c.made[0], 2);
    assert_int_equal(c.made[1], 0);
    make_with_rival(&c, best, 1);
    assert_int_equal(c.made[1], 2);
    make_with_rival(&c, alike, -1);
    assert_int_equal(hud_learner_choice(&c.l), 2);
    assert_int_equal(hud_learner_decisions(&c.l), 0);
    assert_int_equal(c.made[0], 4);
}

/* Makes 40 calls on each of many communicators, whose first choice is the best. */
static void resumed_trials_share_a_budget(void **state)
{
    static const uint64_t base[] = { 20 * US, 40 * US, 50 * US, 90 * US, 200 * US, 35 * US };
    uint64_t total_ns = 0, best_ns = 0;
    int64_t balance_ns = 0;

    (void)state;
    for (int communicator = 0; communicator < 400; communicator++) {
        struct cell c;
        cell_begin(&c, 6, 0, -1, base, NULL);
        c.unaccounted = true;
        hud_learner_resume(&c.l, balance_ns);
        for (int call = 0; call < 40 && !hud_learner_decided(&c.l); call++)
            cell_make(&c);
        if (hud_learner_decided(&c.l))
            break;
        balance_ns = hud_learner_balance(&c.l);
        total_ns += c.total_ns;
        best_ns += c.best_ns;
    }
    assert_true(total_ns <= best_ns + best_ns * 3 / 100 + ALLOWANCE + 2 * 200 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_choice_is_verified),
        cmocka_unit_test(long_warm_up_takes_no_samples_of_the_verification),
        cmocka_unit_test(known_choice_of_an_unknown_state_is_tried_anew),
        cmocka_unit_test(interrupted_verification_is_repeated),
        cmocka_unit_test(verification_ends),
        cmocka_unit_test(choice_without_a_time_is_decided),
        cmocka_unit_test(known_choice_is_refuted_by_a_faster_rival),
        cmocka_unit_test(right_known_choice_costs_a_turn_of_each_rival),
        cmocka_unit_test(resumed_trials_share_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
