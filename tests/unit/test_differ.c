/* SPDX-License-Identifier: BSD-3-Clause */
/* test_differ.c - two members' counts, stopped at every step: who makes the same calls is never
 * said to make others, and who makes others is found once both have counted them. */
#include "core/check/differ.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SLOT = 3, CALLS = 9 };

static struct member_state mine, theirs;

/* The two writes of a call, as team/call.c makes them; the second only where it is asked for. */
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

    return hud_differ_in_calls(&mine, &theirs) ||
           hud_differ_in_shape(&mine, &theirs, SLOT, true, &shape);
}

/* Sizes 1, 2, 3...: no two calls have the same. */
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

static void another_size_is_seen_during_the_next_call(void **state)
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

static void another_slot_is_seen(void **state)
{
    (void)state;
    start();
    begin(&mine, SLOT, 8, true);
    begin(&theirs, SLOT + 1, 8, false);
    assert_false(differ());
    begin(&theirs, SLOT + 1, 8, true);
    assert_true(differ());
}

/* The other call is told exactly, or not at all once others may lie in its place. */
static void the_other_call_is_known_for_a_while(void **state)
{
    uint64_t shape;

    (void)state;
    start();
    begin(&mine, SLOT, 8, true);
    assert_int_equal(hud_differ_call(&mine, &theirs, 0, &shape), -1);
    for (uint64_t c = 0; c < CALLS; c++) {
        begin(&theirs, SLOT + 1, 40 + c, true);
        bool kept = c < MEMBER_SHAPES - 1;
        assert_int_equal(hud_differ_call(&mine, &theirs, 0, &shape), kept ? SLOT + 1 : -1);
        if (kept)
            assert_int_equal(shape, 40);
        begin(&theirs, SLOT + 1, 99, false); /* written, and not counted yet */
        assert_int_equal(hud_differ_call(&mine, &theirs, 0, &shape), kept ? SLOT + 1 : -1);
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
    assert_int_equal(hud_differ_call(&mine, &theirs, 2, &shape), SLOT + 2);
    assert_int_equal(shape, member_shape(2, -1, 80));
    assert_int_equal(hud_differ_call(&mine, &theirs, 3, &shape), SLOT + 1);
    assert_int_equal(shape, member_shape(5, -1, 24));
}

static void another_root_is_seen_where_sizes_do_not_count(void **state)
{
    uint64_t shape;

    (void)state;
    start();
    begin(&mine, SLOT, member_shape(2, 0, 8), true);
    begin(&theirs, SLOT, member_shape(2, 0, 80), true);
    assert_true(hud_differ_in_shape(&mine, &theirs, SLOT, true, &shape));
    assert_false(hud_differ_in_shape(&mine, &theirs, SLOT, false, &shape));
    start();
    begin(&mine, SLOT, member_shape(2, 0, 8), true);
    begin(&theirs, SLOT, member_shape(2, 1, 8), true);
    assert_true(hud_differ_in_shape(&mine, &theirs, SLOT, false, &shape));
    assert_int_equal(member_shape_root(shape), 1);
}

static void a_shape_has_collective_root_and_size(void **state)
{
    uint64_t shape = member_shape(14, 32766, (uint64_t)1 << 39);

    (void)state;
    assert_int_equal(member_shape_kind(shape), 14);
    assert_int_equal(member_shape_root(shape), 32766);
    assert_int_equal(member_shape_size(shape), (uint64_t)1 << 39);
    assert_int_equal(member_shape_kind(member_shape(3, -1, UINT64_MAX)), 3);
    assert_int_equal(member_shape_root(member_shape(3, -1, UINT64_MAX)), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_do_not_differ),
        cmocka_unit_test(another_size_is_seen_during_the_next_call),
        cmocka_unit_test(another_slot_is_seen),
        cmocka_unit_test(the_other_call_is_known_for_a_while),
        cmocka_unit_test(the_same_collective_is_preferred),
        cmocka_unit_test(another_root_is_seen_where_sizes_do_not_count),
        cmocka_unit_test(a_shape_has_collective_root_and_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
