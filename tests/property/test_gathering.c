/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gathering.c - on random groups, each member except the leader is awaited by exactly one
 * other member, and reaches the leader in at most two steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/gathering.h"
#include "shape_checks.h"

#include <stdlib.h>

/* Returns the number of steps from a member to the leader. waited[i] is the member that waits for
 * member i. */
static int steps_to(const int *waited, int at)
{
    int steps = 0;

    while (at != 0) {
        at = waited[at];
        assert_in_range(++steps, 1, 2);
    }
    return steps;
}

static void check_group(const struct shape_groups *g, int level, int leader, int flat)
{
    int count, waited[64], max = 0, deepest = 0;
    const int *members = shape_members(g, level, leader, &count);

    for (int i = 0; i < count; i++)
        waited[i] = -1;
    for (int i = 0; i < count; i++) {
        struct gathering o = gathering_of(g, level, members[i], flat);
        assert_ptr_equal(o.members, members);
        assert_int_equal(o.leads, i == 0);
        max = o.end - o.first > max ? o.end - o.first : max;
        for (int child = o.first; child < o.end; child++) {
            assert_in_range(child, 1, count - 1);
            assert_int_equal(waited[child], -1);
            waited[child] = i;
        }
    }
    for (int i = 1; i < count; i++) {
        int steps = waited[i] < 0 ? 0 : steps_to(waited, i);
        assert_true(steps > 0);
        deepest = steps > deepest ? steps : deepest;
    }
    assert_int_equal(deepest, count == 1 ? 0 : count <= flat || count <= 2 ? 1 : 2);
    if (count > flat && count > 2) /* no smaller degree would allow two steps */
        assert_true(1 + (max - 1) + (max - 1) * (max - 1) < count);
}

static void members_reach_the_leader_within_two_steps(void **state)
{
    int wide = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct shape_place place;
        struct shape_groups g;
        int flat = random_between(1, 40);

        random_place(random_between(1, 60), SHAPE_LEVELS - 1, i % 4, &place);
        assert_int_equal(hud_shape_groups_build(&place, &g), 0);
        for (int level = 0; level < g.levels; level++)
            for (int group = 0; group < g.level[level].groups; group++) {
                const struct shape_level *l = &g.level[level];
                check_group(&g, level, l->members[l->first[group]], flat);
                wide += l->first[group + 1] - l->first[group] > flat;
            }
        hud_shape_groups_free(&g);
        free((void *)(uintptr_t)place.unit);
    }
    assert_true(wide > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_reach_the_leader_within_two_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
