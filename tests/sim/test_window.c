/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_window.c - what the team's window costs (alg/window.c): an algorithm that follows itself
 * pays for its own line only, one that follows another for a line of each other rank.
 *
 * Two made-up algorithms write to the same bytes with no order of their own: one to the rank's own
 * window, one to its neighbour's.  Only the handover keeps them apart.
 */
#include "alg/alg.h"
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Events of a call: its entry and its write; and those of its turn, without a change. */
enum { RANKS = 5, ARENA = 4096, SEEDS = 30, OWN_EVENTS = 2, TURN_EVENTS = 4 };

static void write_own(struct mem *m, const struct coll *c)
{
    mem_put(m, mem_window(m, mem_rank(m)), c->op);
}

static void write_next(struct mem *m, const struct coll *c)
{
    mem_put(m, mem_window(m, (mem_rank(m) + 1) % mem_size(m)), c->op);
}

struct job {
    const char *calls; /* of the one algorithm, "a", and the other, "b" */
    bool shared;
    struct sim_team *team;
};

static void body(struct sim *s, int rank, void *arg)
{
    static const size_t no_blocks[RANKS]; /* a reduce_scatter that promises nothing */
    static const struct alg a = { .coll = "reduce_scatter", .name = "own", .run = write_own },
                            b = { .coll = "reduce_scatter", .name = "next", .run = write_next };
    const struct job *job = arg;
    struct alg_place place = { .slot_bytes = HUD_LINE,
                               .window_offset = (size_t)2 * HUD_LINE,
                               .window_bytes = HUD_LINE };

    (void)s;
    for (int i = 0; job->calls[i]; i++) {
        const struct alg *alg = job->calls[i] == 'a' ? &a : &b;
        place.user = !job->shared ? 0 : alg == &a ? 1 : 2;
        const struct coll c = { .op = (uint64_t)i + 1, .place = &place, .block_bytes = no_blocks };
        hud_sim_call(hud_sim_team_mem(job->team, rank), alg, &c);
    }
}

/* Calls of mem.h; 0: the checker has found a race. */
static unsigned long events(const char *calls, bool shared, uint64_t seed)
{
    static const int members[RANKS] = { 0, 1, 2, 3, 4 };
    const struct sim_options options = { .ranks = RANKS,
                                         .arena_bytes = ARENA,
                                         .seed = seed,
                                         .strategy = (enum sim_strategy)(seed % SIM_STRATEGIES) };
    struct sim *s = hud_sim_create(&options);
    struct job job = { calls, shared, hud_sim_team_create(s, RANKS, members, 0, ARENA) };
    bool clean = hud_sim_run(s, body, &job);
    unsigned long count = hud_sim_events(s);

    hud_sim_free(s);
    return clean ? count : 0;
}

static void a_handover_costs_a_line_of_each_rank(void **state)
{
    static const struct {
        const char *calls;
        unsigned long changes; /* the first call is one */
    } cases[] = { { "aaaaaa", 1 }, { "bbbb", 1 }, { "aabba", 3 }, { "ababab", 6 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            assert_int_equal(events(cases[i].calls, true, seed),
                             RANKS * (strlen(cases[i].calls) * (OWN_EVENTS + TURN_EVENTS) +
                                      cases[i].changes * (RANKS - 1 + 1)));
}

static void without_it_they_race(void **state)
{
    (void)state;
    assert_int_equal(events("aaaa", false, 1), RANKS * 4 * OWN_EVENTS);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        assert_int_equal(events("ab", false, seed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_handover_costs_a_line_of_each_rank),
                                        cmocka_unit_test(without_it_they_race) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
