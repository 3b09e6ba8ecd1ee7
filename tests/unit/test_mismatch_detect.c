/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mismatch_detect.c - two members' call counts, stopped at every step. Members with the
 * same calls are never reported as different, and members with different calls are detected
 * after both have counted them. */
#include "core/watch/mismatch_detect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SLOT = 3, CALLS = 9 };

static struct member_state mine, theirs;

/* Makes the two writes of a call, in the order of core/call/call.c.  The second write is
 * optional. */
static void begin(struct member_state *m, int slot, uint64_t bytes, bool counted)
{
    uint64_t call = mem_count_observe(&m->calls[slot]) + 1;

    mem_count_put(&m->shape[slot][call % MEMBER_SHAPES], bytes);
    if (counted)
        mem_count_put(&m->calls[slot], call);
}

static void start(void)
{
    memset(&mine, 0, sizeof mine);
    memset(&theirs, 0, sizeof theirs);
}

static bool differ(void)
{
    uint64_t shape;

    return hud_mismatch_in_calls(&mine, &theirs) ||
           hud_mismatch_in_shape(&mine, &theirs, SLOT, true, &shape);
}

/* Uses sizes 1, 2, 3, ..., so any two calls differ in size. */
static void equal_calls_do_not_differ(void **state)
{
    (void)state;
    for (int own = 1; own <= CALLS; own++)
        for (int other = 0; other <= CALLS; other++) {
            start();
            for (int c = 1; c <= own; c++)
                begin(&mine, SLOT, (uint64_t)c, true);
            for (int c = 1; c <= other; c++)
                begin(&theirs, SLOT, (uint64_t)c, true);
            assert_false(differ());
            begin(&theirs, SLOT, (uint64_t)other + 1, false);
            assert_false(differ());
        }
}

static void different_size_is_detected_once_counted(void **state)
{
    (void)state;
    for (int before = 0; before < CALLS; before++) {
        start();
        for (int c = 0; c < before; c++) {
            begin(&mine, SLOT, 8, true);
            begin(&theirs, SLOT, 8, true);
        }
        begin(&mine, SLOT, 8, true);
        begin(&theirs, SLOT, 24, false);
        assert_false(differ());
        begin(&theirs, SLOT, 24, true);
        assert_true(differ());
        begin(&theirs, SLOT, 8, true);
        assert_true(differ());
    }
}

static void different_slot_is_detected(void **state)
{
    (void)state;
    start();
    begin(&mine, SLOT, 8, true);
    begin(&theirs, SLOT + 1, 8, false);
    assert_false(differ());
    begin(&theirs, SLOT + 1, 8, true);
    assert_true(differ());
}

/* Makes the first steps of a member that leaves its slot to follow the root of a broadcast, as in
 * core/call/end_early.c.  Returns the number of steps. */
static int follow(int steps)
{
    if (steps > 0)
        mem_count_step(&theirs.follows);
    if (steps > 1)
        mem_count_put(&theirs.calls[SLOT], 0);
    if (steps > 2)
        begin(&theirs, SLOT + 1, 8, false);
    if (steps > 3)
        begin(&theirs, SLOT + 1, 8, true);
    if (steps > 4)
        mem_count_step(&theirs.follows);
    return 5;
}

/* Compares with a member that follows the root, at every two of its steps. */
static void member_that_follows_does_not_differ(void **state)
{
    (void)state;
    for (int last = 1; last <= follow(0); last++)
        for (int first = 0; first <= last; first++) {
            start();
            begin(&mine, SLOT + 1, 8, true);
            begin(&theirs, SLOT, 8, true);
            follow(first);
            uint64_t follows = mem_count_observe(&theirs.follows);
            start();
            begin(&mine, SLOT + 1, 8, true);
            begin(&theirs, SLOT, 8, true);
            follow(last);
            bool grown = hud_mismatch_only_grown(&theirs, follows);
            assert_false(grown && differ());
            assert_int_equal(grown, first == last && last == follow(0));
        }
}

/* Expects the other call exactly, or unknown after later calls may have replaced its entry. */
static void other_call_is_known_until_replaced(void **state)
{
    uint64_t shape;

    (void)state;
    start();
    begin(&mine, SLOT, 8, true);
    assert_int_equal(hud_mismatch_find_call(&mine, &theirs, 0, &shape), -1);
    for (uint64_t c = 0; c < CALLS; c++) {
        begin(&theirs, SLOT + 1, 40 + c, true);
        bool kept = c < MEMBER_SHAPES - 1;
        assert_int_equal(hud_mismatch_find_call(&mine, &theirs, 0, &shape), kept ? SLOT + 1 : -1);
        if (kept)
            assert_int_equal(shape, 40);
        begin(&theirs, SLOT + 1, 99, false); /* written, but not counted yet */
        assert_int_equal(hud_mismatch_find_call(&mine, &theirs, 0, &shape), kept ? SLOT + 1 : -1);
        if (kept)
            assert_int_equal(shape, 40);
    }
}

static void the_same_collective_is_preferred(void **state)
{
    uint64_t shape;

    (void)state;
    start();
    begin(&mine, SLOT, member_shape(2, -1, 8), true);
    begin(&theirs, SLOT + 2, member_shape(2, -1, 80), true);
    begin(&theirs, SLOT + 1, member_shape(5, -1, 24), true);
    assert_int_equal(hud_mismatch_find_call(&mine, &theirs, 2, &shape), SLOT + 2);
    assert_int_equal(shape, member_shape(2, -1, 80));
    assert_int_equal(hud_mismatch_find_call(&mine, &theirs, 3, &shape), SLOT + 1);
    assert_int_equal(shape, member_shape(5, -1, 24));
}

static void different_root_is_detected_if_sizes_are_ignored(void **state)
{
    uint64_t shape;

    (void)state;
    start();
    begin(&mine, SLOT, member_shape(2, 0, 8), true);
    begin(&theirs, SLOT, member_shape(2, 0, 80), true);
    assert_true(hud_mismatch_in_shape(&mine, &theirs, SLOT, true, &shape));
    assert_false(hud_mismatch_in_shape(&mine, &theirs, SLOT, false, &shape));
    start();
    begin(&mine, SLOT, member_shape(2, 0, 8), true);
    begin(&theirs, SLOT, member_shape(2, 1, 8), true);
    assert_true(hud_mismatch_in_shape(&mine, &theirs, SLOT, false, &shape));
    assert_int_equal(member_shape_root(shape), 1);
}

static uint64_t bcast(int root, uint64_t bytes, int number)
{
    return member_shape_of_call(member_shape(1, root, bytes), number);
}

/* Lets `mine` wait in a broadcast of a smaller size than the root's, and the root go ahead. */
static void broadcast_of_the_root_is_found(void **state)
{
    (void)state;
    start();
    for (int c = 0; c < CALLS; c++) {
        begin(&mine, SLOT, bcast(0, 8, c), true);
        begin(&theirs, SLOT, bcast(0, 8, c), true);
    }
    begin(&mine, SLOT, bcast(0, 8, 5), true);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1); /* not made yet */
    begin(&theirs, SLOT + 1, bcast(0, 80, 5), false);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1);
    begin(&theirs, SLOT + 1, bcast(0, 80, 5), true);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), SLOT + 1);
    begin(&theirs, SLOT + 2, bcast(0, 80, 6), true);
    begin(&theirs, SLOT - 1, member_shape(2, 0, 80), true);
    begin(&theirs, SLOT, bcast(1, 8, 7), true); /* another root's */
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), SLOT + 1);
    begin(&theirs, SLOT + 3, bcast(0, 80, 5), true); /* number 13 */
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1);
}

static void root_broadcasts_in_the_same_slot_or_by_the_host(void **state)
{
    (void)state;
    start();
    begin(&mine, SLOT, bcast(0, 8, 5), true);
    begin(&theirs, SLOT, bcast(0, 80, 5), true);
    begin(&theirs, SLOT + 1, bcast(0, 80, 6), true);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1);
    start();
    begin(&mine, SLOT, bcast(0, 8, 5), true);
    begin(&theirs, SLOT + 1, bcast(0, 80, 5), true);
    begin(&theirs, MEMBER_FELL_BACK, member_shape(1, -1, 80), true);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1);
    start();
    begin(&mine, SLOT, bcast(0, 8, 5), true);
    for (int c = 0; c < MEMBER_SHAPES; c++) /* the first one has been replaced */
        begin(&theirs, SLOT + 1, bcast(0, 80, 5 + 8 * c), true);
    assert_int_equal(hud_mismatch_find_broadcast(&mine, &theirs, SLOT), -1);
}

static void a_shape_has_collective_root_and_size(void **state)
{
    uint64_t shape = member_shape(14, 32766, (uint64_t)1 << 39);

    (void)state;
    assert_int_equal(member_shape_kind(shape), 14);
    assert_int_equal(member_shape_root(shape), 32766);
    assert_int_equal(member_shape_size(shape), (uint64_t)1 << 39);
    assert_int_equal(member_shape_kind(member_shape_of_call(shape, -1)), 14);
    assert_int_equal(member_shape_kind(member_shape(3, -1, UINT64_MAX)), 3);
    assert_int_equal(member_shape_root(member_shape(3, -1, UINT64_MAX)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_do_not_differ),
        cmocka_unit_test(different_size_is_detected_once_counted),
        cmocka_unit_test(different_slot_is_detected),
        cmocka_unit_test(member_that_follows_does_not_differ),
        cmocka_unit_test(other_call_is_known_until_replaced),
        cmocka_unit_test(the_same_collective_is_preferred),
        cmocka_unit_test(different_root_is_detected_if_sizes_are_ignored),
        cmocka_unit_test(broadcast_of_the_root_is_found),
        cmocka_unit_test(root_broadcasts_in_the_same_slot_or_by_the_host),
        cmocka_unit_test(a_shape_has_collective_root_and_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
