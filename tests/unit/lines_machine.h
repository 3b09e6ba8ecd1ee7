/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines_machine.h - a simulated machine, for tests of how ranks treat cache lines
 * (src/mem/lines.c).
 *
 * Two ranks, or as many as MACHINE_RANKS, are in one process: rank 0 copies into its ring, and the
 * others copy out in turn, so that each fragment has a single reader. The clock is
 * simulated (hud_lines_ticks): the cost of a copy is in a table, by its place, its stores, how the
 * reader left the line, and how the line was written. So the best way and the cost of each trial
 * are known.
 */
#ifndef LINES_MACHINE_H
#define LINES_MACHINE_H

#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifndef MACHINE_RANKS
#define MACHINE_RANKS 2
#endif

enum { COPY = LINES_MIN, MAX_RING = 300, DATA = 4096, SLICE = DATA + MAX_RING * COPY };

/* ---- a simulated machine ---- */

/* Costs of a line in 1/100 ns: of the copy in, by the stores and by how the reader left the line;
 * of the copy out, by how the line was written and by whether it is returned. Both are indexed by
 * bits of LINES_NONTEMPORAL and LINES_RETURNED. */
struct place {
    const char *name;
    uint32_t in[LINES_WAYS], out[LINES_WAYS];
    uint32_t hop; /* ticks in which a rank takes back a line that the other has read */
};

/* Measured on an AMD EPYC (Zen 4): cores that share a cache, cores that do not at two times, and
 * threads of one core. */
static const struct place places[] = {
    { "near", { 700, 240, 100, 400 }, { 100, 400, 160, 500 }, 100 },
    { "far", { 2700, 250, 280, 260 }, { 280, 450, 340, 500 }, 500 },
    { "far, nontemporal", { 2800, 300, 800, 350 }, { 570, 500, 570, 550 }, 500 },
    { "one core", { 130, 460, 130, 470 }, { 130, 400, 165, 500 }, 50 },
    /* Made up.  A reader takes longer to return lines than the owner gains, by 9 % and by 3 % of
     * both their times.  In the last place the owner gains more. */
    { "expensive return", { 300, 600, 150, 600 }, { 150, 300, 340, 500 }, 100 },
    { "slightly expensive return", { 300, 600, 150, 600 }, { 150, 300, 312, 500 }, 100 },
    { "cheap return", { 300, 600, 150, 600 }, { 150, 300, 250, 500 }, 100 },
};
enum {
    NEAR,
    FAR,
    FAR_NONTEMPORAL,
    ONE_CORE,
    PLACES,
    EXPENSIVE_RETURN = PLACES,
    SLIGHTLY_EXPENSIVE_RETURN,
    CHEAP_RETURN
};

/* Times are in thirds of a nanosecond.  Each reading of the clock advances it by a step. */
static uint64_t now, step, tick = 1; /* tick: the clock's resolution */

uint64_t __wrap_hud_lines_ticks(void);
uint64_t __wrap_hud_lines_ticks(void)
{
    now += step;
    return now / tick;
}

/* Returns 3 ns and a tick. */
uint32_t __wrap_hud_lines_noise(void);
uint32_t __wrap_hud_lines_noise(void)
{
    return 1 + 9 / (uint32_t)tick;
}

struct rank {
    _Alignas(HUD_LINE) char slice[SLICE];
    struct lines_cell cell[LINES_CELLS];
    struct mem_policy policy;
    struct mem_team team;
    struct mem m;
};

static _Atomic unsigned char *usual_way; /* policy of the next teams, or NULL */
static struct rank rank[MACHINE_RANKS];
static char *slices[MACHINE_RANKS];

/* An algorithm: copies of one cell, and their statistics. */
static struct run {
    const struct place *place;
    const struct place *last_place; /* place of the last rank, if not NULL */
    int ring, lag;                 /* fragments of the ring; copies by which the reader is behind */
    unsigned cell;                 /* cell of the algorithm */
    unsigned noise, seldom, often; /* noise in percent; 1 ms more in `seldom` of `often` copies */
    bool silent;                   /* readers copy, but publish no times */
    bool packed;                   /* views are packed */
    bool streamed;                 /* readers write to their views with non-temporal stores */
    bool mixed;    /* hops take the time of another place for some 400 copies, again and again */
    bool far_turn; /* no copy goes to the line of the first copy of a way */
    uint64_t random, copies;
    unsigned char written[MAX_RING], left[MAX_RING]; /* bits of each fragment */
    const struct place *left_at[MAX_RING];           /* place of its last reader */
    uint64_t all, wanted;        /* ticks of all copies; ticks with the way in use and no trials */
    uint64_t in_way[LINES_WAYS]; /* number of copies */
    uint64_t last_other;         /* the last copy after which the cheapest way was not in use */
} runs[2], *run = runs;

uint64_t __wrap_hud_lines_hop(_Atomic uint32_t *word);
uint64_t __wrap_hud_lines_hop(_Atomic uint32_t *word)
{
    uint64_t begin = now;

    (void)word;
    now += run->mixed && run->copies / 400 % 2 ? 5 * run->place->hop : run->place->hop;
    return now / tick - begin / tick;
}

static unsigned draw(unsigned below)
{
    run->random = run->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(run->random >> 33) % below;
}

static const struct place *place_of(int reader)
{
    return reader == MACHINE_RANKS - 1 && run->last_place ? run->last_place : run->place;
}

/* Returns the mean cost of a line, over all readers. */
static uint32_t cost_of(unsigned way)
{
    uint32_t sum = 0;

    for (int r = 1; r < MACHINE_RANKS; r++)
        sum += place_of(r)->in[way] + (run->silent ? 0 : place_of(r)->out[way]);
    return sum / (MACHINE_RANKS - 1);
}

/* Returns the cheapest way.  Without readers' times, a way in which they return lines is used
 * only if all ways are such. */
static unsigned cheapest(void)
{
    unsigned best = LINES_WAYS, ways = rank[0].policy.ways, kept = 1 | 1 << LINES_NONTEMPORAL;

    if (run->silent && ways & kept)
        ways &= kept;
    for (unsigned way = 0; way < LINES_WAYS; way++)
        if (ways >> way & 1 && (best == LINES_WAYS || cost_of(way) < cost_of(best)))
            best = way;
    return best;
}

/* Returns the way in use, except for trials. */
static unsigned in_use(void)
{
    const struct lines_cell *cell = &rank[0].cell[run->cell];

    return cell->known[cell->places.now].best;
}

/* Returns the ticks of a copy of 64 lines, at 3 ticks per ns. */
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

/* Starts both ranks, as a team with these ways. */
static void begin_team(unsigned ways, bool learns)
{
    for (int r = 0; r < MACHINE_RANKS; r++) {
        memset(&rank[r], 0, sizeof rank[r]);
        slices[r] = rank[r].slice;
        rank[r].policy =
            (struct mem_policy){ .ways = ways, .learns = learns, .usual_way = usual_way };
        rank[r].team = (struct mem_team){ .cell = rank[r].cell, .slice_bytes = SLICE };
        rank[r].m = (struct mem){ .rank = r,
                                  .size = MACHINE_RANKS,
                                  .slices = slices,
                                  .policy = &rank[r].policy,
                                  .team = &rank[r].team };
    }
    for (int r = 0; r < MACHINE_RANKS; r++)
        hud_lines_start(&rank[r].m);
}

static void begin(unsigned ways)
{
    begin_team(ways, (ways & (ways - 1)) != 0);
}

/* Selects an algorithm for the following calls. */
static void use(struct run *one, unsigned cell, int place, int ring)
{
    run = one;
    *run = (struct run){ .place = &places[place], .ring = ring, .cell = cell, .random = 1 };
    rank[0].m.cell = cell;
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

static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    memcpy(dst, (const char *)view->base + offset_bytes, max_bytes);
    return max_bytes;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    memcpy((char *)view->base + offset_bytes, src, bytes);
}

static void copy_in(uint64_t n)
{
    static char bytes[COPY];
    const struct hud_view from = { .base = bytes,
                                   .bytes = COPY,
                                   .pack = run->packed ? pack : NULL };
    int f;
    char *to = fragment(n, &f);
    unsigned way = published();

    const struct place *place = run->left_at[f] ? run->left_at[f] : run->place;
    step = disturbed(ticks_of(place->in[(way & LINES_NONTEMPORAL) | run->left[f]]));
    hud_mem_in_long(&rank[0].m, to, &from, 0, COPY);
    run->written[f] = way & LINES_NONTEMPORAL;
    run->all += step;
    run->in_way[way]++;
}

/* Copies out at a reader, which returns the lines if rank 0 requests this. */
static void copy_out(uint64_t n)
{
    int reader = 1 + (int)(n % (MACHINE_RANKS - 1));
    static char bytes[COPY];
    const struct hud_view to = { .base = bytes,
                                 .bytes = COPY,
                                 .unpack = run->packed ? unpack : NULL };
    int f;
    const char *from = fragment(n, &f);

    rank[reader].policy.stream_bytes = run->streamed ? COPY : 0;
    run->left[f] = (unsigned char)(published() & LINES_RETURNED);
    run->left_at[f] = place_of(reader);
    step = disturbed(ticks_of(place_of(reader)->out[run->written[f] | run->left[f]]));
    if (!run->silent)
        hud_mem_out_long(&rank[reader].m, &to, from, 0, COPY, true);
    run->all += run->silent ? 0 : step;
}

static void copies(uint64_t count)
{
    for (int r = 0; r < MACHINE_RANKS; r++)
        rank[r].m.cell = run->cell;
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

/* Returns the percentage of copies in another way than the cheapest. */
static double others(void)
{
    uint64_t sum = 0;

    for (unsigned way = 0; way < LINES_WAYS; way++)
        sum += run->in_way[way];
    return 100 * (double)(sum - run->in_way[cheapest()]) / (double)sum;
}

static void report(const char *what)
{
    print_message("%-21s ring %3d, %3d behind, noise %2u %%: %s: %llu copies until the cheapest, "
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

enum { ALL_WAYS = (1 << LINES_WAYS) - 1, LONG = 60000 };

#endif
