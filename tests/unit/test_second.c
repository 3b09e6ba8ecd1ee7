/* SPDX-License-Identifier: BSD-3-Clause */
/* test_second.c - second candidates of a plan (HUDDLE_ADAPT): they are there where rules have them,
 * and the first candidates are what they are without them. */
#include "plans.h"

#include <string.h>

static struct plan before;

static bool on_axis(const struct plan *p, int axis, int e)
{
    return e >= p->first[axis] && e < p->first[axis + 1];
}

/* The first candidate for that size is the same in both. */
static void same_first(const struct plan *a, const struct plan *b, int axis, size_t bytes)
{
    const struct plan_entry *x = plan_find(a, axis, bytes), *y = plan_find(b, axis, bytes);

    assert_int_equal(x->row, y->row);
    assert_ptr_equal(x->rule, y->rule);
    assert_int_equal(x->slot < 0, y->slot < 0);
    assert_memory_equal(x->param, y->param, sizeof x->param);
}

static void takes(const struct plan *p, const struct plan_entry *e)
{
    const struct coll call = { .bytes = e->max_bytes,
                               .param = e->param,
                               .place = &p->slot[e->slot].place };

    assert_true(alg_accepts(hud_shm_algs[e->row], &call, p->facts.ranks));
}

/* Returns the number of second candidates. */
static int check_seconds(const struct plan *p)
{
    bool fixed = plans.config.number[SET_REDUCE_ORDER] == ORDER_FIXED;
    int seconds = 0;

    assert_true(p->entries <= PLAN_ENTRIES && p->slots <= PLAN_SLOTS);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int e = p->first[axis]; e < p->first[axis + 1]; e++) {
            const struct plan_entry *first = &p->entry[e], *second = &p->entry[first->second];
            int kind = axis % COLL_KINDS;
            if (first->second == 0)
                continue;
            seconds++;
            assert_true(first->second >= p->first[PLAN_AXES] && first->second < p->entries);
            assert_false(on_axis(p, axis, first->second));
            assert_int_equal(hud_coll_kind(hud_shm_algs[second->row]->coll), kind);
            assert_true(second->max_bytes == first->max_bytes && second->second == 0);
            assert_true(second->row != first->row ||
                        memcmp(second->param, first->param, sizeof first->param) != 0);
            assert_true(first->slot >= 0 && second->slot >= 0 && second->slot < p->slots);
            assert_false(coll_has(kind, COLL_UNSIZED) && coll_has(kind, COLL_VIEWS));
            if (coll_has(kind, COLL_REDUCES) && (fixed || axis >= COLL_KINDS))
                assert_true(hud_shm_algs[second->row]->ordered);
            assert_true(p->facts.direct || !hud_shm_algs[second->row]->family->direct);
            takes(p, first);
            takes(p, second);
        }
    return seconds;
}

/* Where a rank's size may be smaller than the root's, pieces are the same. */
static void same_pieces(const struct plan *a, const struct plan *b, int axis)
{
    int pieces = a->first[axis + 1] - a->first[axis];

    assert_int_equal(pieces, b->first[axis + 1] - b->first[axis]);
    for (int e = 0; e < pieces; e++)
        assert_int_equal(a->entry[a->first[axis] + e].max_bytes,
                         b->entry[b->first[axis] + e].max_bytes);
}

static int compare(int ranks, bool oversubscribed, size_t bytes)
{
    plans.config.number[SET_ADAPT] = SWITCH_OFF;
    plans_make(ranks, oversubscribed, "machine", bytes, true);
    assert_int_equal(check_seconds(&plans.plan), 0);
    before = plans.plan;
    plans.config.number[SET_ADAPT] = SWITCH_ON;
    plans_make(ranks, oversubscribed, "machine", bytes, true);
    plans_check();
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (size_t size = 0; size < (size_t)4 * MB; size = size * 3 / 2 + 1)
            same_first(&before, &plans.plan, axis, size);
    same_pieces(&before, &plans.plan, COLL_BCAST);
    return check_seconds(&plans.plan);
}

static void first_candidates_stay(void **state)
{
    static const size_t leases[] = { 1 << 12, 6 << 10, 20 << 10, 50 << 10, 130 << 10, 1536 << 10 };
    static const int ranks[] = { 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 300 };
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
                    int seconds = compare(ranks[r], which % 2, leases[l]);
                    many += l == 5 && seconds > 5;
                }
    plans.direct = false;
    assert_true(many > 60);
    plans_settings((const char *const[]){ NULL });
    plans_tune("[[bcast]]\nsecond = true\nbytes = \"20K-30K\"\nalgorithm = \"segments\"\n"
               "[[bcast]]\nbytes = \"5K-25K\"\nalgorithm = \"queue\"\n");
    compare(4, false, 1536 * KB);
}

static const struct plan_entry *second_of(enum coll_kind kind, size_t bytes)
{
    const struct plan *p = &plans.plan;

    return &p->entry[plan_find(p, (int)kind, bytes)->second];
}

static const char *second_name(enum coll_kind kind, size_t bytes)
{
    const struct plan_entry *e = plan_find(&plans.plan, (int)kind, bytes);

    return e->second == 0 ? "none" : hud_shm_algs[second_of(kind, bytes)->row]->name;
}

static void the_next_rule_that_matches(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_ADAPT=on");
    plans_tune("[[allreduce]]\nbytes = \"64K-1M\"\nalgorithm = \"tree\"\n"
               "[[allreduce]]\nbytes = \"64K-256K\"\nalgorithm = \"tree\"\nfragment = \"512\"\n"
               "[[allreduce]]\nsecond = true\nbytes = \"2M-4M\"\nalgorithm = \"slices\"\n"
               "[[bcast]]\nbytes = \"1M-\"\nalgorithm = \"mpi\"\n");
    plans_make(4, false, "machine", 1536 * KB, true);
    plans_check();
    check_seconds(&plans.plan);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 128 * KB), "tree");
    assert_string_equal(second_name(COLL_ALLREDUCE, 128 * KB), "tree");
    assert_int_equal(second_of(COLL_ALLREDUCE, 128 * KB)->param[0], 512);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 512 * KB), "tree");
    assert_string_not_equal(second_name(COLL_ALLREDUCE, 512 * KB), "tree");
    assert_string_not_equal(second_name(COLL_ALLREDUCE, 512 * KB), "none");
    assert_string_equal(second_name(COLL_ALLREDUCE, 3 * MB), "slices");
    assert_string_not_equal(plans_taker(COLL_ALLREDUCE, 3 * MB), "slices");
    assert_string_equal(plans_taker(COLL_BCAST, 2 * MB), "mpi");
    assert_string_equal(second_name(COLL_BCAST, 2 * MB), "none");
    assert_string_equal(second_name(COLL_ALLTOALLV, 0), "none");
}

static void none_for_what_a_setting_forces(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_ADAPT=on", "HUDDLE_ALLREDUCE=tree");
    plans_make(4, false, "machine", 1536 * KB, true);
    for (size_t bytes = 1; bytes < (size_t)4 * MB; bytes *= 2)
        assert_string_equal(second_name(COLL_ALLREDUCE, bytes), "none");
    assert_true(check_seconds(&plans.plan) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(first_candidates_stay, plans_reset),
        cmocka_unit_test_setup(the_next_rule_that_matches, plans_reset),
        cmocka_unit_test_setup(none_for_what_a_setting_forces, plans_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
