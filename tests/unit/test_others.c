/* SPDX-License-Identifier: BSD-3-Clause */
/* test_others.c - the candidates of a plan that teams try against the first choices: they change no
 * first choice, and no bit of a result. */
#include "plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct plan before;

/* Checks that the first choice for this size is the same in both plans. */
static void same_first(const struct plan *a, const struct plan *b, int axis, size_t bytes)
{
    const struct plan_entry *x = plan_find(a, axis, bytes), *y = plan_find(b, axis, bytes);

    assert_int_equal(x->row, y->row);
    assert_ptr_equal(plan_cell(a, axis, bytes)->rule, plan_cell(b, axis, bytes)->rule);
    assert_int_equal(x->slot < 0, y->slot < 0);
    assert_memory_equal(x->param, y->param, sizeof x->param);
}

static void takes(const struct plan *p, const struct plan_entry *e, size_t bytes)
{
    struct coll call = { .bytes = bytes, .param = e->param };

    if (e->slot < 0)
        return;
    call.place = &p->slot[e->slot].place;
    assert_true(alg_accepts(hud_shm_algs[e->row], &call, p->facts.ranks));
}

/* Checks the candidates of a cell.  Returns how many others there are. */
static int check_cell(const struct plan *p, int axis, int class)
{
    bool fixed = plans.config.number[SET_REDUCE_ORDER] == ORDER_FIXED;
    const struct plan_cell *cell = &p->cell[axis][class];
    int kind = axis % COLL_KINDS;
    bool ordered = coll_has(kind, COLL_REDUCES) && (fixed || axis >= COLL_KINDS);

    for (int i = 0; i < cell->count; i++) {
        const struct plan_entry *e = &p->entry[cell->candidate[i]];
        takes(p, e, plan_class_bytes(class));
        for (int o = 0; o < i; o++)
            assert_int_not_equal(cell->candidate[i], cell->candidate[o]);
        if (ordered && (fixed ? cell->count : cell->tried) > (i == 0 ? 1 : i))
            assert_true(e->row >= 0 && hud_shm_algs[e->row]->ordered);
        if (coll_has(kind, COLL_REDUCES) && e->row < 0)
            assert_true(i == 0 ? cell->tried == 1 : !fixed && i >= cell->tried);
        assert_true(e->row < 0 || p->facts.direct || !hud_shm_algs[e->row]->family->direct);
        assert_true(e->row < 0 || i == 0 || !hud_shm_algs[e->row]->baseline);
    }
    assert_true(cell->count == 1 || !coll_has(kind, COLL_ONE_BUFFER) || p->compare != PLAN_NOTHING);
    assert_in_range(cell->tried, 1, cell->count);
    assert_true(coll_has(kind, COLL_REDUCES) || cell->tried == cell->count);
    assert_false(cell->count > 1 && coll_has(kind, COLL_UNSIZED) && coll_has(kind, COLL_VIEWS));
    return cell->count - 1;
}

static int check_others(const struct plan *p)
{
    int others = 0;

    assert_true(p->entries <= PLAN_ENTRIES && p->slots <= PLAN_SLOTS);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++)
            others += check_cell(p, axis, class);
    return others;
}

static int compare(int ranks, bool oversubscribed, size_t bytes)
{
    plans.config.number[SET_WISDOM] = WISDOM_OFF;
    plans_make(ranks, oversubscribed, "machine", bytes, true);
    assert_int_equal(check_others(&plans.plan), 0);
    before = plans.plan;
    plans.config.number[SET_WISDOM] = WISDOM_ON;
    plans_make(ranks, oversubscribed, "machine", bytes, true);
    plans_check();
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++)
            same_first(&before, &plans.plan, axis, plan_class_bytes(class));
    return check_others(&plans.plan);
}

static void first_choices_do_not_change(void **state)
{
    static const size_t leases[] = { 1 << 12, 6 << 10, 20 << 10, 50 << 10, 130 << 10, 1536 << 10 };
    static const int ranks[] = { 2, 3, 4, 8, 17, 64, 300 };
    int many = 0;

    (void)state;
    for (int order = 0; order < 2; order++)
        for (size_t l = 0; l < sizeof leases / sizeof *leases; l++)
            for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
                for (int which = 0; which < 4; which++) {
                    plans_settings(order
                                       ? (const char *const[]){ "HUDDLE_REDUCE_ORDER=fixed", NULL }
                                       : (const char *const[]){ NULL });
                    plans.direct = which / 2;
                    int others = compare(ranks[r], which % 2, leases[l]);
                    many += l == 5 && others > 100;
                }
    plans.direct = false;
    assert_true(many > 40);
}

static bool has(enum coll_kind kind, size_t bytes, const char *name)
{
    const struct plan_cell *cell = plan_cell(&plans.plan, (int)kind, bytes);
    bool found = false;

    for (int i = 1; i < cell->count; i++) {
        int row = plans.plan.entry[cell->candidate[i]].row;
        found = found || strcmp(row < 0 ? "mpi" : hud_shm_algs[row]->name, name) == 0;
    }
    return found;
}

static void algorithms_and_the_mpi_are_candidates(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_WISDOM=on");
    plans_make(4, false, "machine", 1536 * KB, true);
    plans_check();
    check_others(&plans.plan);
    assert_true(has(COLL_ALLREDUCE, 64 * KB, "tree") || has(COLL_ALLREDUCE, 64 * KB, "slices"));
    assert_true(has(COLL_ALLREDUCE, 64 * KB, "mpi"));
    assert_true(has(COLL_BARRIER, 0, "mpi"));
    assert_true(has(COLL_BCAST, 64 * KB, "mpi") && has(COLL_BCAST, 64 * KB, "queue"));
    assert_int_equal(plan_cell(&plans.plan, PLAN_INEXACT + COLL_ALLREDUCE, 64 * KB)->count > 0, 1);
}

/* Checks sums of floating-point numbers, and of integers.  Only candidates with the same bits are
 * tried. */
static void candidates_that_change_bits_are_not_tried(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        plans_settings(
            all ? (const char *const[]){ "HUDDLE_WISDOM=on", "HUDDLE_LAB_TRY_ALL=on", NULL }
                : (const char *const[]){ "HUDDLE_WISDOM=on", NULL });
        plans_make(4, false, "machine", 1536 * KB, true);
        for (size_t bytes = 8; bytes <= MB; bytes *= 2) {
            const struct plan_cell *sum =
                plan_cell(&plans.plan, PLAN_INEXACT + COLL_ALLREDUCE, bytes);
            const struct plan_cell *exact = plan_cell(&plans.plan, COLL_ALLREDUCE, bytes);
            assert_int_equal(sum->candidate[sum->count - 1], PLAN_MPI);
            assert_int_equal(exact->candidate[exact->count - 1], PLAN_MPI);
            assert_true(all ? sum->tried == sum->count : sum->tried < sum->count);
            assert_int_equal(exact->tried, exact->count - !all);
        }
        assert_int_equal(plan_cell(&plans.plan, PLAN_INEXACT + COLL_ALLREDUCE, 64 * KB)->count > 3,
                         1);
    }
    PLANS_SETTINGS("HUDDLE_WISDOM=on", "HUDDLE_REDUCE_ORDER=fixed");
    plans_make(4, false, "machine", 1536 * KB, true);
    check_others(&plans.plan);
}

/* Makes plans of teams whose first choice is the MPI's own collective. */
static void no_trials_if_the_mpis_own_reduction_is_first(void **state)
{
    char name[] = "/tmp/test_others.XXXXXX", prior[64];
    FILE *file = fdopen(mkstemp(name), "w");

    (void)state;
    assert_non_null(file);
    assert_true(fputs("allreduce -> mpi\nalltoall -> mpi\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(prior, sizeof prior, "HUDDLE_LAB_PRIOR=%s", name);
    PLANS_SETTINGS("HUDDLE_WISDOM=on", prior);
    plans_make(4, false, "machine", 1536 * KB, true);
    assert_int_equal(unlink(name), 0);
    for (int order = 0; order < 3; order++) {
        const struct plan_cell *cell =
            plan_cell(&plans.plan, COLL_ALLREDUCE + order * COLL_KINDS, 8);
        assert_int_equal(cell->candidate[0], PLAN_MPI);
        assert_int_equal(cell->tried, 1);
        assert_true(cell->count > 1);
    }
    const struct plan_cell *alltoall = plan_cell(&plans.plan, COLL_ALLTOALL, 8);
    assert_true(alltoall->tried == alltoall->count && alltoall->count > 1);
    assert_int_equal(plan_cell(&plans.plan, COLL_BCAST, 8)->count, 1); /* no slot compares sizes */
}

static int others(enum coll_kind kind, size_t bytes)
{
    return plan_cell(&plans.plan, (int)kind, bytes)->count - 1;
}

static void settings_and_tuning_files_are_final(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_WISDOM=on", "HUDDLE_ALLREDUCE=tree");
    plans_tune("reduce bytes=1M-2M -> slices\n");
    plans_make(4, false, "machine", 1536 * KB, true);
    for (size_t bytes = 1; bytes < (size_t)4 * MB; bytes *= 2)
        assert_int_equal(others(COLL_ALLREDUCE, bytes), 0);
    assert_int_equal(others(COLL_REDUCE, 2 * MB), 0);
    assert_true(others(COLL_REDUCE, 4 * MB) > 0);
    assert_true(check_others(&plans.plan) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(first_choices_do_not_change, plans_reset),
        cmocka_unit_test_setup(algorithms_and_the_mpi_are_candidates, plans_reset),
        cmocka_unit_test_setup(candidates_that_change_bits_are_not_tried, plans_reset),
        cmocka_unit_test_setup(no_trials_if_the_mpis_own_reduction_is_first, plans_reset),
        cmocka_unit_test_setup(settings_and_tuning_files_are_final, plans_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
