/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy_ways_ranks.c - how a rank of four learns the best way to copy to its lines
 * (src/mem/lines.c), with simulated costs. Each of the others reads lines of its own. */
#define MACHINE_RANKS 4
#include "lines_machine.h"

enum { OWNER, LAST = MACHINE_RANKS - 1 };

static const int rings[] = { 3, 4, 16, 64 };
enum { RINGS = sizeof rings / sizeof *rings };

static struct lines_member *member(int r)
{
    return (struct lines_member *)(void *)slices[r];
}

static void cheapest_way_for_several_readers_is_found(void **state)
{
    (void)state;
    for (int place = 0; place <= CHEAP_RETURN; place++)
        for (int r = 0; r < RINGS; r++) {
            begin_one(ALL_WAYS, place, rings[r]);
            copies(LONG);
            expect(in_use() == cheapest(), "not the cheapest way");
        }
}

/* Has two readers in a place and the third in another one. */
static void readers_in_two_places_decide_together(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int last = 0; last < PLACES; last++) {
            begin_one(ALL_WAYS, place, 4);
            run->last_place = &places[last];
            copies(LONG);
            expect(20 * cost_of(in_use()) <= 21 * cost_of(cheapest()), "an expensive way");
        }
}

/* Makes the last rank know only the time of LINES_RETURNED, as if the rank had read only while this
 * way was in use, and slowly. The ways are compared by the times of the other readers. */
static void only_readers_of_both_ways_are_compared(void **state)
{
    enum { SLOW = 10000 * LINES_PARTS }; /* ticks per KB */

    (void)state;
    begin_one(ALL_WAYS, CHEAP_RETURN, 3);
    for (int n = 0; n < LONG; n++) {
        copies(1);
        for (unsigned way = 0; way < LINES_WAYS; way++)
            atomic_store(&member(LAST)->out[run->cell][way], way == LINES_RETURNED ? SLOW : 0);
    }
    expect(in_use() == LINES_RETURNED, "not the cheapest way of those who read");
}

static void take_last(const struct hud_op *op, void *dst, const void *const *src, int sources,
                      size_t elements)
{
    memcpy(dst, src[sources - 1], elements * op->element_bytes);
}

/* Returns the time that the owner of all sources publishes for a reduction of its own buffer and
 * lines of `sources` other ranks, in ticks per KB. All reductions take the same time. */
static uint32_t time_of_reduction(int sources)
{
    static const struct hud_op op = { .element_bytes = 1, .combine = take_last };
    static char bytes[COPY];
    const struct hud_view view = { .base = bytes, .bytes = COPY };
    const struct mem_span to = { .view = &view };
    struct mem_span from[MACHINE_RANKS] = { to };

    begin(ALL_WAYS);
    use(&runs[0], 0, NEAR, 4);
    step = 12000;
    for (int r = 1; r <= sources; r++) {
        from[r] = (struct mem_span){ .shared = slices[r] + DATA };
        atomic_store(&member(r)->way[0], LINES_RETURNED | LINES_ROUND);
    }
    for (int n = 0; n < 100; n++)
        mem_reduce_last(&rank[OWNER].m, &op, &to, NULL, from, 1 + sources, COPY);
    return atomic_load(&member(OWNER)->out[0][LINES_RETURNED]) / LINES_PARTS;
}

/* Reduces from lines of several owners.  Each owner counts its own part of the time. */
static void time_of_a_reduction_is_divided_among_owners(void **state)
{
    (void)state;
    for (int sources = 1; sources < MACHINE_RANKS; sources++)
        assert_int_equal(time_of_reduction(sources), 12000 / 4 / sources);
}

/* Counts the time of a reduction only if the lines of all owners have been written in their way. */
static void reduction_waits_for_all_owners(void **state)
{
    static const struct hud_op op = { .element_bytes = 1, .combine = take_last };
    static char bytes[COPY];
    const struct hud_view view = { .base = bytes, .bytes = COPY };
    const struct mem_span to = { .view = &view };
    struct mem_span from[] = { { .shared = NULL }, { .shared = NULL } };

    (void)state;
    begin(ALL_WAYS);
    use(&runs[0], 0, NEAR, 4);
    step = 12000;
    for (int r = 1; r <= 2; r++)
        from[r - 1] = (struct mem_span){ .shared = slices[r] + DATA };
    atomic_store(&member(1)->way[0], LINES_RETURNED);
    atomic_store(&member(2)->way[0], LINES_RETURNED | LINES_ROUND);
    for (int n = 0; n < 100; n++)
        mem_reduce_last(&rank[OWNER].m, &op, &to, NULL, from, 2, COPY);
    assert_int_equal(atomic_load(&member(OWNER)->out[0][LINES_RETURNED]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheapest_way_for_several_readers_is_found),
        cmocka_unit_test(readers_in_two_places_decide_together),
        cmocka_unit_test(only_readers_of_both_ways_are_compared),
        cmocka_unit_test(time_of_a_reduction_is_divided_among_owners),
        cmocka_unit_test(reduction_waits_for_all_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
