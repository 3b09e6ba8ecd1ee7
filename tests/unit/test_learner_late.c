/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner_late.c - ranks that come late shorten samples, and make no candidate look fast. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 200 };

/* Starts a cell whose second candidate is slow, but has done most of its work when a late rank
 * comes. */
static void begin(struct cell *c, unsigned late_percent, unsigned seed)
{
    static const uint64_t base[] = { 40 * US, 60 * US, 80 * US },
                          late[] = { 38 * US, 1 * US, 70 * US };

    cell_begin(c, 3, 0, -1, base, NULL);
    c->random = seed;
    c->unaccounted = true;
    c->late_percent = late_percent;
    memcpy(c->late_ns, late, sizeof late);
}

static void rank_that_is_sometimes_late_makes_no_candidate_fast(void **state)
{
    static const unsigned percents[] = { 5, 10, 20 };

    (void)state;
    for (size_t p = 0; p < sizeof percents / sizeof *percents; p++)
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            struct cell c;
            begin(&c, percents[p], seed);
            cell_decide(&c);
            assert_int_equal(hud_learner_choice(&c.l), 0);
            assert_int_equal(hud_learner_ns(&c.l, 0), 40 * US);
            assert_true(c.late_percent < 20 || c.sampled[1] > 0);
        }
}

/* Lets a rank be late in all calls.  Nothing but late samples exists, so they decide. */
static void rank_that_is_always_late_is_measured(void **state)
{
    struct cell c;

    (void)state;
    begin(&c, 100, 1);
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), 1);
    assert_int_equal(hud_learner_ns(&c.l, 1), 1 * US);
}

/* Lets a rank be late in all calls of a decided cell. */
static void late_samples_open_no_decided_cell(void **state)
{
    struct cell c;

    (void)state;
    begin(&c, 0, 1);
    cell_decide(&c);
    for (int i = 0; i < 3; i++)
        c.late_ns[i] = 1;
    c.late_percent = 100;
    int before = hud_learner_decisions(&c.l);
    uint64_t made = c.made[0], agreements = c.agreements;
    cell_make_many(&c, 100 * LEARNER_EVERY);
    assert_true(c.agreements > agreements + 2);
    assert_int_equal(hud_learner_decisions(&c.l), before);
    assert_int_equal(hud_learner_ns(&c.l, 0), 40 * US);
    assert_int_equal(c.made[0] - made, 100 * LEARNER_EVERY);
}

/* Makes only the samples of the fastest candidate late: a rank always comes late by more than the
 * time of this candidate, and by less than the times of the others. */
static void fast_candidate_wins_although_its_samples_are_late(void **state)
{
    (void)state;
    for (int fast = 0; fast < 3; fast++) {
        struct cell c;
        begin(&c, 100, 1);
        memset(c.late_ns, 0, sizeof c.late_ns);
        c.late_ns[fast] = 10 * US;
        cell_decide(&c);
        assert_int_equal(hud_learner_choice(&c.l), fast);
        assert_int_equal(hud_learner_ns(&c.l, fast), 10 * US);
    }
}

/* Starts a cell with a known winner, in a program in which a rank is always late.  The late samples
 * are compared with the record as others are, so the verification ends. */
static void verification_ends_although_a_rank_is_late(void **state)
{
    struct cell c;

    (void)state;
    begin(&c, 100, 1);
    hud_learner_known(&c.l, 3, -1, (struct learner_winner){ 38 * US, 0 },
                      (struct learner_winner){ 0, -1 });
    assert_true(cell_decide(&c) <= LEARNER_WARM_UP + 4 + 1);
    assert_int_equal(hud_learner_choice(&c.l), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_that_is_sometimes_late_makes_no_candidate_fast),
        cmocka_unit_test(rank_that_is_always_late_is_measured),
        cmocka_unit_test(fast_candidate_wins_although_its_samples_are_late),
        cmocka_unit_test(late_samples_open_no_decided_cell),
        cmocka_unit_test(verification_ends_although_a_rank_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
