/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy_ways.c - how a rank learns the best way to copy to its lines (src/mem/lines.c), with
 * simulated costs. */
#include "lines_machine.h"

/* ---- expectations ---- */

static const int rings[] = { 1, 2, 4, 16, 64, MAX_RING };
enum { RINGS = sizeof rings / sizeof *rings };

/* Returns the number of copies after which the cheapest way must be in use for good, by the ring.
 * This takes longer for threads of one core, because the first way costs only a tenth more. */
static uint64_t soon(int place, int ring)
{
    if (place == FAR_NONTEMPORAL)
        return 200 + (uint64_t)ring * 10;
    return (place == ONE_CORE ? 6000 : 1000) + (uint64_t)ring * (place == ONE_CORE ? 300 : 50);
}

static void cheapest_way_is_found(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < RINGS; r++)
            for (int behind = 0; behind < 2 && behind < rings[r]; behind++) {
                begin_one(ALL_WAYS, place, rings[r]);
                run->lag = behind ? rings[r] - 1 : 0;
                copies(LONG);
                expect(in_use() == cheapest(), "not the cheapest way");
                expect(run->last_other <= soon(place, rings[r]), "the cheapest way is found late");
            }
}

/* Tries each way soon after the first copy, since algorithms can be compared only then. */
static void ways_settle_soon(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < RINGS; r++) {
            begin_one(ALL_WAYS, place, rings[r]);
            expect(hud_lines_settled(&rank[0].m, 0), "a rank that has written nothing is settled");
            copies(1);
            while (!hud_lines_settled(&rank[0].m, 0) && run->copies < LONG)
                copies(1);
            expect(run->copies <= 80 + 6 * (uint64_t)rings[r], "ways settle late");
            expect(in_use() == cheapest(), "not the cheapest way");
        }
}

/* Tries no way while algorithms are compared. */
static void ways_stay_while_algorithms_are_compared(void **state)
{
    (void)state;
    for (int settled = 0; settled < 2; settled++) {
        begin_one(ALL_WAYS, FAR, 8);
        copies(settled ? 4000 : 1);
        unsigned way = published();
        uint64_t in_way = run->in_way[way];
        rank[0].team.keeps_ways = true;
        copies(LONG);
        expect(run->in_way[way] == in_way + LONG, "another way is tried");
        expect(hud_lines_settled(&rank[0].m, 0) == settled, "settled without trials");
        rank[0].team.keeps_ways = false;
        copies(4000);
        expect(run->in_way[way] < in_way + LONG + 4000, "no way is tried later");
    }
}

/* Varies the time of every copy by up to a fifth. Ways that cost less than a sixth more may be
 * used. */
static void noise_does_not_prevent_learning(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < RINGS; r++) {
            uint64_t good = 0;
            begin_one(ALL_WAYS, place, rings[r]);
            run->noise = 20;
            copies(LONG);
            for (unsigned way = 0; way < LINES_WAYS; way++)
                good += cost_of(way) * 6 < cost_of(cheapest()) * 7 ? run->in_way[way] : 0;
            expect(100 * good >= 97 * (uint64_t)LONG, "expensive ways are used");
        }
}

/*
 * Limits the loss by trials to a 32nd of the time of all copies, and a single trial not yet
 * compensated. The loss is counted during a trial. A ring that is read at once loses more when the
 * next way takes over its lines, so long rings may lose a 16th.
 */
static void trials_lose_little(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < RINGS; r++)
            for (int behind = 0; behind < 2 && behind < rings[r]; behind++) {
                begin_one(ALL_WAYS, place, rings[r]);
                run->lag = behind ? rings[r] - 1 : 0;
                copies(LONG);
                uint64_t part = run->wanted / (rings[r] > 64 ? 16 : 32),
                         trial = 2 * ticks_of(cost_of(0) + cost_of(3)) * (uint64_t)(rings[r] + 10);
                expect(run->all < run->wanted + part + trial, "trials lose much");
            }
}

/* Interrupts one or two of 8 copies for 1 ms. Three interruptions in a look affect its mean, and
 * may mislead for a short time. */
static void interruptions_have_little_effect(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < 4; r++)
            for (unsigned often = 8; often <= 4096; often *= 8)
                for (unsigned seldom = 1; seldom <= (often < 4096 ? 2 : 3); seldom++) {
                    begin_one(ALL_WAYS, place, rings[r]);
                    run->seldom = seldom;
                    run->often = often;
                    copies(LONG);
                    expect(seldom > 2 || in_use() == cheapest(),
                           "not the cheapest way after interruptions");
                    expect(others() < (seldom > 2 ? 12 : 6),
                           "too many other ways after interruptions");
                }
}

/* Moves the ranks back and forth.  A place that they have been in before needs no search. */
static void expect_to_follow(const int places_of[2], int ring)
{
    enum { KNOWN_SOON = 400 };

    begin_one(ALL_WAYS, places_of[0], ring);
    for (int turn = 0; turn < 6; turn++) {
        copies(40000);
        int to = places_of[turn % 2 == 0];
        run->place = &places[to];
        run->last_other = run->copies;
        uint64_t then = run->copies;
        copies(40000);
        expect(run->last_other - then <= (turn == 0 ? soon(to, ring) : KNOWN_SOON),
               "cheapest way is found late after a move");
        expect(in_use() == cheapest(), "not the cheapest way after a move");
    }
}

static void cheapest_way_is_found_after_a_move(void **state)
{
    static const int moves[][2] = {
        { NEAR, FAR },      { FAR, NEAR },     { ONE_CORE, NEAR },        { ONE_CORE, FAR },
        { NEAR, ONE_CORE }, { FAR, ONE_CORE }, { NEAR, FAR_NONTEMPORAL }, { FAR_NONTEMPORAL, NEAR }
    };

    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (int r = 0; r < 4; r++)
            expect_to_follow(moves[i], rings[r]);
}

/* Has a clock of 25 MHz, as some ARM processors have. */
static void slow_clock_shows_a_move(void **state)
{
    static const int moves[][2] = {
        { NEAR, FAR_NONTEMPORAL }, { FAR_NONTEMPORAL, NEAR }, { ONE_CORE, FAR }, { FAR, ONE_CORE }
    };

    (void)state;
    tick = 3 * 40;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (int r = 0; r < 4; r++) {
            begin_one(ALL_WAYS, moves[i][0], rings[r]);
            now += 17; /* another phase of the clock */
            copies(40000);
            const struct lines_places *p = &rank[0].cell[0].places;
            unsigned char before = p->now;
            run->place = &places[moves[i][1]];
            copies(400);
            expect(p->now != before, "move is noticed late");
        }
    tick = 1;
}

/* Has readers at several distances, so that hops take several times. */
static void readers_at_several_distances_do_not_prevent_learning(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < 4; r++) {
            begin_one(ALL_WAYS, place, rings[r]);
            run->mixed = true;
            copies(LONG);
            expect(in_use() == cheapest(), "not the cheapest way with several distances");
            expect(others() < 15, "too many other ways with several distances");
        }
}

/* ---- ways that are not allowed ---- */

static void forced_way_is_kept(void **state)
{
    (void)state;
    for (unsigned way = 0; way < LINES_WAYS; way++)
        for (int place = 0; place < PLACES; place++) {
            begin_one(1u << way, place, 4);
            now = 0;
            copies(5000);
            assert_int_equal(run->in_way[way], 5000);
            assert_int_equal(now, 0); /* no clock is read */
        }
}

/* Allows a subset of the ways, as HUDDLE_STREAM=0 does. */
static void disabled_ways_are_never_tried(void **state)
{
    (void)state;
    for (unsigned ways = 1; ways <= ALL_WAYS; ways++)
        for (int place = 0; place < PLACES; place++) {
            begin_one(ways, place, 4);
            copies(LONG / 4);
            for (unsigned way = 0; way < LINES_WAYS; way++)
                assert_true((ways >> way & 1) || run->in_way[way] == 0);
            expect(in_use() == cheapest(), "not the cheapest of those allowed");
        }
}

/* ---- ranks that cannot learn ---- */

/* Makes bursts of copies of two algorithms, the second between ranks of a single core. */
static void cells_learn_independently(void **state)
{
    (void)state;
    begin(ALL_WAYS);
    use(&runs[0], 0, NEAR, 4);
    use(&runs[1], LINES_CELLS - 1, ONE_CORE, 16);
    assert_int_not_equal(runs[0].cell, runs[1].cell);
    for (int burst = 0; burst < LONG / 10; burst++)
        for (int one = 0; one < 2; one++) {
            run = &runs[one];
            copies(1 + (uint64_t)(burst * 7 % 20));
        }
    for (int one = 0; one < 2; one++) {
        run = &runs[one];
        expect(in_use() == cheapest(), "disturbed by the other cell");
        expect(run->last_other <= soon(one ? ONE_CORE : NEAR, run->ring),
               "disturbed by the other cell, and late");
    }
}

/* Begins a second team after one has found the best way. */
static void team_begins_with_the_best_way_of_an_earlier_one(void **state)
{
    _Atomic unsigned char usual = 0;

    (void)state;
    for (int place = 0; place < PLACES; place++) {
        usual_way = &usual;
        begin_one(ALL_WAYS, place, 4);
        copies(10000);
        begin_one(ALL_WAYS, place, 4);
        expect(in_use() == cheapest() && published() == cheapest(), "begins with another way");
        begin_one(1 << LINES_NONTEMPORAL, place, 4);
        expect(in_use() == LINES_NONTEMPORAL, "begins with a disabled way");
        usual_way = NULL;
    }
}

static void rank_that_never_writes_tries_no_way(void **state)
{
    const struct lines_member *other = (const struct lines_member *)(const void *)slices[1];

    (void)state;
    begin_one(ALL_WAYS, FAR, 4);
    unsigned first = in_use();
    copies(LONG);
    for (int cell = 0; cell < LINES_CELLS; cell++) {
        assert_int_equal(atomic_load(&other->way[cell]), first);
    }
}

/* Copies only packed views, in and out. */
static void packed_copies_learn(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        begin_one(ALL_WAYS, place, 16);
        run->packed = true;
        copies(LONG);
        expect(in_use() == cheapest(), "not the cheapest way with packed views");
    }
}

/* Compares the times of both sides, for copies of every kind, also with noise. */
static void lines_are_returned_only_if_both_sides_gain(void **state)
{
    (void)state;
    for (int place = EXPENSIVE_RETURN; place <= CHEAP_RETURN; place++)
        for (int kind = 0; kind < 3; kind++)
            for (unsigned noise = 0; noise <= (place == SLIGHTLY_EXPENSIVE_RETURN ? 0 : 20);
                 noise += 20) {
                begin_one(ALL_WAYS, place, 4);
                run->packed = kind == 1;
                run->streamed = kind == 2;
                run->noise = noise;
                copies(LONG);
                assert_int_equal(cheapest(), place == CHEAP_RETURN ? LINES_RETURNED : 0);
                expect(in_use() == cheapest(), "not the way that costs both sides least");
                expect(others() < 10, "another way for long");
            }
}

/* Makes readers publish no times, so that the writer learns from its own copies, and has no lines
 * given back. */
static void writer_learns_without_times_of_readers(void **state)
{
    (void)state;
    for (int place = 0; place < ONE_CORE; place++) {
        begin_one(ALL_WAYS, place, 4);
        run->silent = true;
        copies(LONG);
        expect(in_use() == cheapest(), "not the cheapest way without readers' times");
    }
}

static void writer_learns_without_reusing_the_first_line(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        begin_one(ALL_WAYS, place, 16);
        run->far_turn = true;
        copies(LONG);
        expect(in_use() == cheapest(), "not the cheapest way without reuse of the first line");
        expect(run->all < run->wanted + run->wanted / 16,
               "trials lose much without reuse of the first line");
    }
}

/* Allows all ways, but measures no times, as without a clock. */
static void lines_are_kept_without_a_clock(void **state)
{
    (void)state;
    begin_team(ALL_WAYS, false);
    use(&runs[0], 0, NEAR, 4);
    now = 0;
    copies(5000);
    assert_int_equal(run->in_way[0], 5000);
    assert_int_equal(now, 0); /* no clock is read */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheapest_way_is_found),
        cmocka_unit_test(ways_settle_soon),
        cmocka_unit_test(ways_stay_while_algorithms_are_compared),
        cmocka_unit_test(noise_does_not_prevent_learning),
        cmocka_unit_test(trials_lose_little),
        cmocka_unit_test(interruptions_have_little_effect),
        cmocka_unit_test(cheapest_way_is_found_after_a_move),
        cmocka_unit_test(slow_clock_shows_a_move),
        cmocka_unit_test(readers_at_several_distances_do_not_prevent_learning),
        cmocka_unit_test(forced_way_is_kept),
        cmocka_unit_test(disabled_ways_are_never_tried),
        cmocka_unit_test(cells_learn_independently),
        cmocka_unit_test(team_begins_with_the_best_way_of_an_earlier_one),
        cmocka_unit_test(rank_that_never_writes_tries_no_way),
        cmocka_unit_test(packed_copies_learn),
        cmocka_unit_test(lines_are_returned_only_if_both_sides_gain),
        cmocka_unit_test(writer_learns_without_times_of_readers),
        cmocka_unit_test(writer_learns_without_reusing_the_first_line),
        cmocka_unit_test(lines_are_kept_without_a_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
