/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lines.c - what a rank learns about its lines (src/mem/lines.c), with made-up costs.
 *
 * Two ranks in one process: rank 0 copies into its ring, rank 1 copies out.  The clock is made up
 * (hud_lines_ticks): a copy takes what a table says of its place, of the stores, of how the line
 * was left by its reader, and of how it was written.  So the best way is known, and so is what each
 * trial loses.
 */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COPY = LINES_MIN, MOST_RING = 300, DATA = 4096, SLICE = DATA + MOST_RING * COPY };

/* ---- a made-up machine ---- */

/* Of a line, in 1/100 ns: in, by the stores and by how its reader left it; out, by how it was
 * written and by whether it is given back.  Both are indexed by bits of LINES_PAST and
 * LINES_BACK. */
struct place {
    const char *name;
    uint32_t in[LINES_WAYS], out[LINES_WAYS];
};

/* Measured on an AMD EPYC (Zen 4): cores that share a cache, cores that do not, and threads of one
 * core. */
static const struct place places[] = {
    { "near", { 700, 240, 100, 400 }, { 100, 400, 160, 500 } },
    { "far", { 2700, 250, 280, 260 }, { 280, 450, 340, 440 } },
    { "one core", { 130, 460, 130, 470 }, { 130, 400, 165, 500 } },
};
enum { NEAR, FAR, ONE_CORE, PLACES };

static uint64_t now, step; /* ticks; each reading of the clock is that much later */

uint64_t __wrap_hud_lines_ticks(void);
uint64_t __wrap_hud_lines_ticks(void)
{
    return now += step;
}

struct rank {
    _Alignas(HUD_LINE) char slice[SLICE];
    struct lines_cell cell[LINES_CELLS];
    struct mem_policy policy;
    struct mem_team team;
    struct mem m;
};

static struct rank rank[2];
static char *slices[2] = { rank[0].slice, rank[1].slice };

/* An algorithm: copies of one cell, and what came of them. */
static struct run {
    const struct place *place;
    int ring, lag; /* fragments; copies that the reader is behind */
    size_t slot;   /* of the algorithm, by which its cell is found */
    unsigned cell;
    unsigned noise, seldom, often; /* percent; 1 ms more in `seldom` of `often` copies */
    bool silent;                   /* readers follow, but publish no times */
    bool far_turn;                 /* no copy goes where the first of a way went */
    uint64_t random, copies;
    unsigned char written[MOST_RING], left[MOST_RING]; /* bits of each fragment */
    uint64_t all, wanted;        /* ticks of all copies, and as if the best way had no trials */
    uint64_t in_way[LINES_WAYS]; /* copies */
    uint64_t last_other;         /* the last copy after which the cheapest way was not in use */
} runs[2], *run = runs;

static unsigned draw(unsigned below)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(run->random >> 33) % below;
}

static uint32_t cost_of(unsigned way)
{
    return run->place->in[way] + (run->silent ? 0 : run->place->out[way]);
}

static unsigned cheapest(void)
{
    unsigned best = LINES_WAYS, ways = rank[0].policy.ways;

    for (unsigned way = 0; way < LINES_WAYS; way++)
        if (ways >> way & 1 && (best == LINES_WAYS || cost_of(way) < cost_of(best)))
            best = way;
    return best;
}

/* The way in use but for trials. */
static unsigned in_use(void)
{
    return rank[0].cell[run->cell].best;
}

/* Of a copy: 64 lines, at 3 ticks a ns. */
static uint64_t ticks_of(uint32_t cost)
{
    return (uint64_t)cost * 64 * 3 / 100;
}

static uint64_t disturbed(uint64_t ticks)
{
    if (run->noise != 0)
        ticks = ticks * (100 - run->noise + draw(2 * run->noise + 1)) / 100;
    if (run->often != 0 && run->copies % run->often < run->seldom)
        ticks += 3000000;
    return ticks;
}

/* Both ranks begin, as a team with these ways. */
static void begin(unsigned ways)
{
    for (int r = 0; r < 2; r++) {
        memset(&rank[r], 0, sizeof rank[r]);
        rank[r].policy = (struct mem_policy){ .ways = ways, .learns = (ways & (ways - 1)) != 0 };
        rank[r].team = (struct mem_team){ .cell = rank[r].cell, .slice_bytes = SLICE };
        rank[r].m = (struct mem){
            .rank = r, .size = 2, .slices = slices, .policy = &rank[r].policy, .team = &rank[r].team
        };
    }
    for (int r = 0; r < 2; r++)
        hud_lines_start(&rank[r].m);
}

/* One of them calls an algorithm from now on. */
static void use(struct run *one, size_t slot, int place, int ring)
{
    run = one;
    *run = (struct run){ .place = &places[place], .ring = ring, .slot = slot, .random = 1 };
    rank[0].m.slot_offset = slot;
    run->cell = hud_lines_begin_read(&rank[0].m, slices[0], true).cell;
}

static void begin_one(unsigned ways, int place, int ring)
{
    begin(ways);
    use(&runs[0], 0, place, ring);
}

static char *fragment(uint64_t n, int *f)
{
    *f = (int)(n % (uint64_t)run->ring);
    return slices[0] + DATA + *f * COPY;
}

static unsigned published(void)
{
    const struct lines_member *mine = (const struct lines_member *)(const void *)slices[0];

    return atomic_load(&mine->way[run->cell]) % LINES_WAYS;
}

static void copy_in(uint64_t n)
{
    static char from[COPY];
    int f;
    char *to = fragment(n, &f);
    unsigned way = published();

    step = disturbed(ticks_of(run->place->in[(way & LINES_PAST) | run->left[f]]));
    hud_mem_in_long(&rank[0].m, to, from, COPY);
    run->written[f] = way & LINES_PAST;
    run->all += step;
    run->in_way[way]++;
}

/* By rank 1, which gives the lines back if rank 0 asks for that. */
static void copy_out(uint64_t n)
{
    int f;
    const char *from = fragment(n, &f);
    struct lines_use read = { .way = published() };

    if (!run->silent)
        read = hud_lines_begin_read(&rank[1].m, from, true);
    run->left[f] = (unsigned char)(read.way & LINES_BACK);
    step = disturbed(ticks_of(run->place->out[run->written[f] | run->left[f]]));
    hud_lines_end_read(&rank[1].m, &read, COPY);
    run->all += run->silent ? 0 : step;
}

static void copies(uint64_t count)
{
    rank[0].m.slot_offset = rank[1].m.slot_offset = run->slot;
    for (uint64_t i = 0; i < count; i++) {
        if (run->far_turn && fragment(run->copies, &(int){ 0 }) == rank[0].cell[run->cell].first)
            run->copies++;
        copy_in(run->copies);
        if (run->copies >= (uint64_t)run->lag)
            copy_out(run->copies - (uint64_t)run->lag);
        run->copies++;
        run->wanted += ticks_of(cost_of(in_use()));
        if (in_use() != cheapest())
            run->last_other = run->copies;
    }
}

/* Copies that went another way than the cheapest, in percent. */
static double others(void)
{
    uint64_t sum = 0;

    for (unsigned way = 0; way < LINES_WAYS; way++)
        sum += run->in_way[way];
    return 100 * (double)(sum - run->in_way[cheapest()]) / (double)sum;
}

static void report(const char *what)
{
    print_message("%-9s ring %3d, %3d behind, noise %2u %%: %s: %llu copies until the cheapest, "
                  "%.1f %% another way, trials %.1f %%\n",
                  run->place->name, run->ring, run->lag, run->noise, what,
                  (unsigned long long)run->last_other, others(),
                  100 * ((double)run->all / (double)run->wanted - 1));
}

static void expect(bool good, const char *what)
{
    if (!good)
        report(what);
    assert_true(good);
}

/* ---- what must come of it ---- */

enum { ALL_WAYS = (1 << LINES_WAYS) - 1, LONG = 150000 };

static const int rings[] = { 1, 2, 4, 16, 64, MOST_RING };
enum { RINGS = sizeof rings / sizeof *rings };

/* Copies after which the cheapest way must be in use for good, by the ring.  Where the first way is
 * only a tenth dearer, as for threads of one core, it takes longer. */
static uint64_t soon(int place, int ring)
{
    return (place == ONE_CORE ? 6000 : 1000) + (uint64_t)ring * (place == ONE_CORE ? 300 : 50);
}

static void the_cheapest_way_is_found(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (int r = 0; r < RINGS; r++)
            for (int behind = 0; behind < 2 && behind < rings[r]; behind++) {
                begin_one(ALL_WAYS, place, rings[r]);
                run->lag = behind ? rings[r] - 1 : 0;
                copies(LONG);
                expect(in_use() == cheapest(), "not the cheapest way");
                expect(run->last_other <= soon(place, rings[r]), "late");
            }
}

/* Every copy takes up to a fifth more or less: ways that are less than a sixth dearer may be
 * taken. */
static void noise_is_borne(void **state)
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
            expect(100 * good >= 97 * (uint64_t)LONG, "a dear way");
        }
}

/*
 * A 32nd of the time of all copies, and one trial that has not been paid off.  What a trial loses
 * is counted while it runs; a ring that is read at once loses more when the next way takes over its
 * lines, so long ones get a 16th.
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

/* An interruption of 1 ms in one or two of 8 copies.  Three in a look go into its mean: they may
 * lead astray, but not for long. */
static void interruptions_change_little(void **state)
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
                    expect(seldom > 2 || in_use() == cheapest(), "interrupted, and another way");
                    expect(others() < (seldom > 2 ? 12 : 6), "interrupted, and astray");
                }
}

/* Back at the cheapest: at once between near and far, which have the same; where the way in use has
 * become dearer, after its next look; where another has become cheaper, once that is tried. */
static void a_move_is_followed(void **state)
{
    static const struct {
        int from, to;
        uint64_t copies;
    } moves[] = { { NEAR, FAR, 0 },       { FAR, NEAR, 0 },          { ONE_CORE, NEAR, 300 },
                  { ONE_CORE, FAR, 300 }, { NEAR, ONE_CORE, 12000 }, { FAR, ONE_CORE, 30000 } };

    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (int r = 0; r < 4; r++) {
            begin_one(ALL_WAYS, moves[i].from, rings[r]);
            for (int turn = 0; turn < 5; turn++) {
                copies(40000);
                run->place = &places[turn % 2 ? moves[i].from : moves[i].to];
                run->last_other = run->copies;
                uint64_t then = run->copies;
                copies(40000);
                expect(turn % 2 || run->last_other - then <= moves[i].copies, "follows late");
                expect(in_use() == cheapest(), "does not follow");
            }
        }
}

/* ---- ways that are not allowed ---- */

static void a_forced_way_stays(void **state)
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

/* As with HUDDLE_STREAM=0. */
static void other_ways_are_never_tried(void **state)
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

/* ---- who has nothing to learn from ---- */

/* Bursts of copies of two algorithms, one of which is called by ranks of one core. */
static void two_cells_do_not_disturb_each_other(void **state)
{
    (void)state;
    begin(ALL_WAYS);
    use(&runs[0], 0, NEAR, 4);
    use(&runs[1], 3 * HUD_LINE, ONE_CORE, 16);
    assert_int_not_equal(runs[0].cell, runs[1].cell);
    for (int burst = 0; burst < LONG / 10; burst++)
        for (int one = 0; one < 2; one++) {
            run = &runs[one];
            copies(1 + (uint64_t)(burst * 7 % 20));
        }
    for (int one = 0; one < 2; one++) {
        run = &runs[one];
        expect(in_use() == cheapest(), "disturbed");
        expect(run->last_other <= soon(one ? ONE_CORE : NEAR, run->ring), "disturbed, and late");
    }
}

static void a_rank_that_never_writes_tries_nothing(void **state)
{
    const struct lines_member *other = (const struct lines_member *)(const void *)slices[1];

    (void)state;
    begin_one(ALL_WAYS, FAR, 4);
    unsigned first = in_use();
    copies(LONG);
    for (int cell = 0; cell < LINES_CELLS; cell++) {
        assert_int_equal(rank[1].cell[cell].ins, 0);
        assert_int_equal(rank[1].cell[cell].best, first);
        assert_int_equal(atomic_load(&other->way[cell]), first);
    }
}

/* The writer goes by its own copies. */
static void readers_may_be_silent(void **state)
{
    (void)state;
    for (int place = 0; place < ONE_CORE; place++) {
        begin_one(ALL_WAYS, place, 4);
        run->silent = true;
        copies(LONG);
        expect(in_use() == cheapest(), "without readers' times");
    }
}

static void a_ring_need_not_come_round(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        begin_one(ALL_WAYS, place, 16);
        run->far_turn = true;
        copies(LONG);
        expect(in_use() == cheapest(), "never round");
        expect(run->all < run->wanted + run->wanted / 16, "never round, and trials lose much");
    }
}

/* Where there is no clock, all take the same time. */
static void without_a_clock_the_first_way_stays(void **state)
{
    static const struct place none = { .name = "no clock" };

    (void)state;
    begin_one(ALL_WAYS, NEAR, 4);
    run->place = &none;
    unsigned first = in_use();
    for (int i = 0; i < 100; i++) {
        copies(1000);
        assert_int_equal(in_use(), first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_way_is_found),
        cmocka_unit_test(noise_is_borne),
        cmocka_unit_test(trials_lose_little),
        cmocka_unit_test(interruptions_change_little),
        cmocka_unit_test(a_move_is_followed),
        cmocka_unit_test(a_forced_way_stays),
        cmocka_unit_test(other_ways_are_never_tried),
        cmocka_unit_test(two_cells_do_not_disturb_each_other),
        cmocka_unit_test(a_rank_that_never_writes_tries_nothing),
        cmocka_unit_test(readers_may_be_silent),
        cmocka_unit_test(a_ring_need_not_come_round),
        cmocka_unit_test(without_a_clock_the_first_way_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
