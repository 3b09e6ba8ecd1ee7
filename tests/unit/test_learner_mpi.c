/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learner_mpi.c - the learner measures the MPI's own collective as it measures the others. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MPI = 2 };

/* Lets the MPI set up its connections in its first two calls. */
static uint64_t cold_at_first(const struct cell *c, int candidate)
{
    return candidate == MPI && c->made[MPI] < 2 ? 100 * c->base[0] : c->base[candidate];
}

static void first_turn_is_no_sample(void **state)
{
    static const uint64_t base[] = { 20 * US, 30 * US, 10 * US };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, MPI, base, NULL);
    c.cost = cold_at_first;
    c.unaccounted = true; /* the account does not know that a time may change */
    cell_decide(&c);
    assert_int_equal(hud_learner_choice(&c.l), MPI);
    assert_int_equal(hud_learner_mpi_ns(&c.l), 10 * US);
    assert_true(c.made[MPI] >= 2 * 3);
}

/* Loses the time of the first turn, for which the later turns wait. */
static void first_turn_counts_as_lost(void **state)
{
    static const uint64_t base[] = { 50 * US, 60 * US, 50 * MS };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, MPI, base, NULL);
    cell_decide(&c);
    assert_int_equal(c.made[MPI], 4);
    assert_true(c.calls > 4 * 48 * MS / (50 * US * 3 / 100));
}

static void first_choice_is_warm(void **state)
{
    static const uint64_t base[] = { 2000, 1600, 1000 };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, MPI, MPI, base, NULL);
    assert_int_equal(cell_decide(&c), LEARNER_WARM_UP + 2 * 2 * 3 + 1);
}

/* Drops the MPI's own after one turn, at 17 times the present time, and then records no time. */
static void few_samples_are_not_recorded(void **state)
{
    static const struct {
        uint64_t mpi, recorded;
    } cases[] = { { 17000, 0 }, { 15000, 15000 }, { 1260, 1260 }, { 1000, 1000 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t base[] = { 1000, 1100, cases[i].mpi };
        struct cell c;
        cell_begin(&c, 3, 0, MPI, base, NULL);
        cell_decide(&c);
        assert_int_equal(hud_learner_mpi_ns(&c.l), cases[i].recorded);
    }
}

static void without_a_budget_the_mpi_gets_as_many_samples_as_the_winner(void **state)
{
    static const uint64_t base[] = { 1000, 1600, 1000 * 1000 };
    struct cell c;

    (void)state;
    cell_begin(&c, 3, 0, MPI, base, NULL);
    c.l.unlimited = true;
    c.unaccounted = true;
    cell_decide(&c);
    assert_int_equal(c.made[1], 2 * 2);
    assert_int_equal(c.made[MPI], 2 + 36);
    assert_int_equal(hud_learner_mpi_ns(&c.l), 1000 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_turn_is_no_sample),
        cmocka_unit_test(first_turn_counts_as_lost),
        cmocka_unit_test(first_choice_is_warm),
        cmocka_unit_test(few_samples_are_not_recorded),
        cmocka_unit_test(without_a_budget_the_mpi_gets_as_many_samples_as_the_winner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
