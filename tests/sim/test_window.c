/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_window.c - the cost of the team's window (alg/window.c), and the checker's rules for
 * algorithms with a window. An algorithm that follows itself accesses its own line only. An
 * algorithm that follows another reads a line of each other rank.
 *
 * Two made-up algorithms write to the same bytes without any ordering of their own: one to the
 * rank's own window, one to its neighbor's. Only the handover orders them. Other algorithms read
 * bytes that they have not written, or use the line of the handover.
 */
#include "alg/alg.h"
#include "check/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Events of a call: its entry and its write. Events of a turn of the window without a change of
 * algorithm. */
enum { RANKS = 5, ARENA = 4096, SEEDS = 30, OWN_EVENTS = 2, TURN_EVENTS = 4, REPORT = 512 };

static void write_own(struct mem *m, const struct coll *c)
{
    mem_put(m, mem_window(m, mem_rank(m)), c->op);
}

static void write_next(struct mem *m, const struct coll *c)
{
    mem_put(m, mem_window(m, (mem_rank(m) + 1) % mem_size(m)), c->op);
}

static void read_own(struct mem *m, const struct coll *c)
{
    (void)c;
    mem_get(m, mem_window(m, mem_rank(m)));
}

static void write_and_read_own(struct mem *m, const struct coll *c)
{
    write_own(m, c);
    read_own(m, c);
}

static void copy_more_than_written(struct mem *m, const struct coll *c)
{
    char *window = mem_window(m, mem_rank(m));

    write_own(m, c);
    mem_copy(m, window + HUD_LINE / 2, window, 2 * sizeof c->op);
}

static mem_flag *handover_line(struct mem *m, int rank)
{
    return (mem_flag *)mem_window(m, rank) - 1;
}

static void peek_handover(struct mem *m, const struct coll *c)
{
    (void)c;
    mem_peek(m, handover_line(m, (mem_rank(m) + 1) % mem_size(m)));
}

static void write_handover(struct mem *m, const struct coll *c)
{
    mem_put(m, &handover_line(m, mem_rank(m))->payload[0], c->op);
}

/* Indexed by the letter of a call. Each is a reduce_scatter that promises nothing. */
static const struct alg algs[] = {
    ['a'] = { .coll = "reduce_scatter", .name = "own", .run = write_own },
    ['b'] = { .coll = "reduce_scatter", .name = "next", .run = write_next },
    ['c'] = { .coll = "reduce_scatter", .name = "read", .run = read_own },
    ['d'] = { .coll = "reduce_scatter", .name = "both", .run = write_and_read_own },
    ['e'] = { .coll = "reduce_scatter", .name = "more", .run = copy_more_than_written },
    ['f'] = { .coll = "reduce_scatter", .name = "peek", .run = peek_handover },
    ['g'] = { .coll = "reduce_scatter", .name = "line", .run = write_handover },
};

struct job {
    const char *calls; /* a letter per call */
    bool shared;
    struct sim_team *team;
};

static void body(struct sim *s, int rank, void *arg)
{
    static const size_t no_blocks[RANKS];
    const struct job *job = arg;
    struct alg_place place = { .slot_bytes = HUD_LINE,
                               .window_offset = (size_t)2 * HUD_LINE,
                               .window_bytes = HUD_LINE };

    (void)s;
    for (int i = 0; job->calls[i]; i++) {
        const struct alg *alg = &algs[(unsigned char)job->calls[i]];
        place.user = !job->shared ? 0 : 1 + job->calls[i] - 'a';
        const struct coll c = { .op = (uint64_t)i + 1, .place = &place, .block_bytes = no_blocks };
        hud_sim_call(hud_sim_team_mem(job->team, rank), alg, &c);
    }
}

/* Returns the number of events, or 0 if the checker reported an error. `report` gets the beginning
 * of the report. */
static unsigned long run(const char *calls, bool shared, uint64_t seed, char report[REPORT])
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

    snprintf(report, REPORT, "%s", hud_sim_report(s));
    hud_sim_free(s);
    return clean ? count : 0;
}

static unsigned long events(const char *calls, bool shared, uint64_t seed)
{
    char report[REPORT];

    return run(calls, shared, seed, report);
}

static void handover_reads_a_line_of_each_rank(void **state)
{
    static const struct {
        const char *calls;
        unsigned long changes; /* the first call counts as a change */
    } cases[] = { { "aaaaaa", 1 }, { "bbbb", 1 }, { "aabba", 3 }, { "ababab", 6 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            assert_int_equal(events(cases[i].calls, true, seed),
                             RANKS * (strlen(cases[i].calls) * (OWN_EVENTS + TURN_EVENTS) +
                                      cases[i].changes * (RANKS - 1 + 1)));
}

static void algorithms_race_without_a_handover(void **state)
{
    (void)state;
    assert_int_equal(events("aaaa", false, 1), RANKS * 4 * OWN_EVENTS);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        assert_int_equal(events("ab", false, seed), 0);
}

static void access_to_the_handover_line_is_reported(void **state)
{
    static const char *const calls[] = { "f", "g", "aaf", "bag" };
    char report[REPORT];

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            assert_int_equal(run(calls[i], true, seed, report), 0);
            assert_memory_equal(report, "the line of the window's handover: ", 35);
            assert_non_null(strstr(report, "test_window.c"));
        }
}

/* Reads bytes left by another algorithm, by an earlier call, or by no call, in the team's window or
 * in a window of a single algorithm. */
static void reading_unwritten_bytes_is_reported(void **state)
{
    static const struct {
        const char *calls, *report;
    } cases[] = { { "ac", "left by an earlier call: " }, { "dddbc", "left by an earlier call: " },
                  { "dc", "left by an earlier call: " }, { "c", "nobody has written it: " },
                  { "e", "nobody has written it: " },    { "dddd", "" } };
    char report[REPORT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (int shared = strchr(cases[i].calls, 'b') != NULL; shared < 2; shared++) {
                bool clean = run(cases[i].calls, shared, seed, report) != 0;
                assert_int_equal(clean, cases[i].report[0] == '\0');
                assert_memory_equal(report, cases[i].report, strlen(cases[i].report));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(handover_reads_a_line_of_each_rank),
                                        cmocka_unit_test(algorithms_race_without_a_handover),
                                        cmocka_unit_test(access_to_the_handover_line_is_reported),
                                        cmocka_unit_test(reading_unwritten_bytes_is_reported) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
