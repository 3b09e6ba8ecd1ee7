/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_meetings.c - meetings on random groups, also of unequal sizes. Each two ranks meet in one
 * step, and a rank meets at most one other rank per step. The number of ranks of a group that meet
 * ranks of other groups is bounded as promised. Within a single group, ranks r and q meet in step
 * (r + q) mod p.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/meetings.h"
#include "shape_checks.h"

#include <stdlib.h>

/* Returns the member of the top group above a rank. */
static int head_of(const struct shape_groups *g, int rank)
{
    return g->levels > 1 ? shape_leader(g, g->levels - 2, rank) : 0;
}

/* Lists all ranks. Asserts that each rank occurs once and indexes within a group are
 * consecutive. */
static struct meetings_rank *list(const struct meetings *o)
{
    int ranks = o->groups->ranks, *seen = calloc((size_t)ranks, sizeof *seen),
        *members = calloc((size_t)ranks, sizeof *members);
    struct meetings_rank *all = calloc((size_t)ranks, sizeof *all), at = meetings_none;

    assert_true(seen && members && all);
    while (meetings_next(o, &at)) {
        assert_int_equal(seen[at.rank]++, 0);
        assert_int_equal(head_of(o->groups, at.rank), o->heads[at.group]);
        assert_int_equal(at.index, members[at.group]++);
        assert_true(at.index < o->max);
        all[at.rank] = at;
    }
    for (int r = 0; r < ranks; r++)
        assert_int_equal(seen[r], 1);
    free(members);
    free(seen);
    return all;
}

/* Traffic of a group in a step: its ranks that meet ranks of other groups, in all and per group. */
struct traffic {
    int out, *to;
};

static void check_step(const struct meetings *o, const struct meetings_rank *all, long step,
                       struct traffic *traffic, int *meets)
{
    int share = o->max / o->count, rest = o->max % o->count != 0;

    for (int a = 0; a < o->count; a++) {
        traffic[a].out = 0;
        for (int b = 0; b < o->count; b++)
            traffic[a].to[b] = 0;
    }
    for (int x = 0; x < o->groups->ranks; x++) {
        int partners = 0;
        for (int y = 0; y < o->groups->ranks; y++) {
            if (meetings_step(o, &all[x], &all[y]) != step)
                continue;
            assert_int_equal(meetings_step(o, &all[y], &all[x]), step);
            partners++;
            meets[x]++;
            traffic[all[x].group].out += all[x].group != all[y].group;
            traffic[all[x].group].to[all[y].group]++;
        }
        assert_true(partners <= 1);
    }
    for (int a = 0; a < o->count; a++) {
        assert_true(traffic[a].out <= (o->count == 1 ? 0 : o->max - share + 2));
        for (int b = 0; b < o->count && o->count > 1; b++)
            assert_true(traffic[a].to[b] <= share + rest + 1);
    }
}

/* Checks that a rank's meetings, fetched at most `max` at a time, contain each other rank once, in
 * the order of steps. */
static void check_order(const struct meetings *o, const struct meetings_rank *all,
                        const struct meetings_rank *me, int max)
{
    uint64_t meeting[64], last = 0;
    long step = -1;
    int met = 0;

    for (int count; (count = meetings_after(o, me, last, max, meeting)) != 0; met += count)
        for (int i = 0; i < count; last = meeting[i++]) {
            long next = meetings_step(o, me, &all[meetings_with(meeting[i])]);
            assert_int_not_equal(meetings_with(meeting[i]), me->rank);
            assert_true(next > step && i < max);
            step = next;
        }
    assert_int_equal(met, o->groups->ranks - 1);
}

static void check(const struct shape_groups *g)
{
    const struct meetings o = meetings_of(g);
    struct meetings_rank *all = list(&o);
    struct traffic *traffic = calloc((size_t)o.count, sizeof *traffic);
    int *to = calloc((size_t)(o.count * o.count), sizeof *to),
        *meets = calloc((size_t)g->ranks, sizeof *meets);

    assert_true(traffic && to && meets);
    for (int a = 0; a < o.count; a++)
        traffic[a].to = to + a * o.count;
    for (long step = 0; step < (long)o.max * o.count; step++)
        check_step(&o, all, step, traffic, meets);
    for (int r = 0; r < g->ranks; r++) {
        assert_int_equal(meets[r], g->ranks); /* including the rank itself */
        check_order(&o, all, &all[r], random_between(1, 64));
        for (int q = 0; q < g->ranks && o.count == 1 && g->levels == 1; q++)
            assert_int_equal(meetings_step(&o, &all[r], &all[q]), (r + q) % g->ranks);
    }
    free(meets);
    free(to);
    free(traffic);
    free(all);
}

static void check_place(const struct shape_place *place)
{
    struct shape_groups g;

    assert_int_equal(hud_shape_groups_build(place, &g), 0);
    check(&g);
    hud_shape_groups_free(&g);
}

static void ranks_meet_once_in_random_groups(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct shape_place place;

        random_place(random_between(1, i % 50 ? 20 : 40), SHAPE_LEVELS - 1, i % 4, &place);
        check_place(&place);
        free((void *)(uintptr_t)place.unit);
    }
}

/* Covers groups of equal size, both of consecutive ranks and of interleaved ranks. */
static void ranks_meet_once_in_equal_groups(void **state)
{
    int unit[48];

    (void)state;
    for (int groups = 1; groups <= 8; groups++)
        for (int ranks = 1; ranks * groups <= 48; ranks++)
            for (int turns = 0; turns < 2; turns++) {
                for (int r = 0; r < ranks * groups; r++)
                    unit[r] = turns ? r % groups : r / ranks;
                check_place(
                    &(struct shape_place){ .ranks = ranks * groups, .levels = 1, .unit = unit });
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_meet_once_in_random_groups),
        cmocka_unit_test(ranks_meet_once_in_equal_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
