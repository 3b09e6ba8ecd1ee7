/* SPDX-License-Identifier: BSD-3-Clause */
/* test_keys.c - what optional keys add to the times of a made-up machine (made_up.h): additions by
 * distance, scans over lines of several owners, agents of a home, who shares a line, streams of a
 * memory.  A comment at each figure has its computation by hand. */
#include "made_up.h"
#include "sim/copies.h"
#include "sim/lines.h"
#include "sim/links.h"
#include "sim/sim.h"
#include "sim/ways.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* after the above */
#include <cmocka.h>

enum { DIE = 4, RANKS = 8, ARENA = 1 << 16 }; /* cores of a die: 4 is on the other one, 8 far */

static struct sim_machine *machine;

static int set_up(void **state)
{
    (void)state;
    machine = made_up_machine(2, DIE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    made_up_free(machine);
    return 0;
}

/* ---- additions ---- */

/* 30 from a core of the die instead of 10 + 2, and 50 from the other die instead of 20 + 2; beyond,
 * where nothing is said, 40 + 2. */
static void test_additions_by_distance(void **state)
{
    struct sim_line count = hud_line_first(0, 0);

    (void)state;
    machine->lines.fetch_add_ns[MADE_UP_NUMA] = 30;
    machine->lines.fetch_add_ns[MADE_UP_SOCKET] = 50;
    struct sim_lines *lines = hud_lines_create(machine);
    assert_true(hud_lines_add(lines, &count, 0, 0).end_ns == 2); /* its own */
    assert_true(hud_lines_add(lines, &count, 1, 100).end_ns == 130);
    assert_true(hud_lines_add(lines, &count, 2, 100).end_ns == 160); /* behind the one before */
    assert_true(hud_lines_add(lines, &count, 4, 200).end_ns == 250); /* its home is no farther */
    assert_true(hud_lines_add(lines, &count, 8, 300).end_ns == 342);
    hud_line_clear(&count);
    hud_lines_free(lines);
}

/* A line that only its owner has takes as long as measured; if there is a copy, too, the store
 * waits until that has gone. */
static void test_additions_and_copies(void **state)
{
    struct sim_line alone = hud_line_first(0, 0), read = hud_line_first(0, 0);

    (void)state;
    machine->lines.fetch_add_ns[MADE_UP_NUMA] = 30;
    machine->lines.revoke_ns[MADE_UP_NUMA] = 60;
    struct sim_lines *lines = hud_lines_create(machine);
    assert_true(hud_lines_add(lines, &alone, 1, 100).end_ns == 130);
    hud_lines_load(lines, &read, 2, 0);
    assert_true(hud_lines_add(lines, &read, 1, 200).end_ns == 200 + 60 + 2);
    hud_line_clear(&alone);
    hud_line_clear(&read);
    hud_lines_free(lines);
}

/* ---- scans ---- */

/* Two lines of core 1, two of core 2, and one of core 1: the second and the fourth follow 1 later,
 * the third and the fifth 6. */
static void test_scan_of_several_owners(void **state)
{
    static const int owner[] = { 1, 1, 2, 2, 1 };
    static const double end_ns[] = { 110, 111, 117, 118, 124 };
    struct sim_line line[5];
    double now = 100;

    (void)state;
    machine->lines.scan_gap_ns[MADE_UP_NUMA] = 6;
    struct sim_lines *lines = hud_lines_create(machine);
    for (int i = 0; i < 5; i++) {
        line[i] = hud_line_first(owner[i], 0);
        now = hud_lines_load(lines, &line[i], 0, now).end_ns;
        assert_true(now == end_ns[i]);
    }
    hud_lines_pause(lines, 0);
    struct sim_line next = hud_line_first(2, 0);
    assert_true(hud_lines_load(lines, &next, 0, 200).end_ns == 210); /* it follows none */
    for (int i = 0; i < 5; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&next);
    hud_lines_free(lines);
}

/* ---- agents of a home ---- */

static void test_agents(void **state)
{
    (void)state;
    struct sim_links *links = hud_links_create(machine);
    assert_int_equal(hud_links_agent(links, 1, 5), -1); /* a request takes no time there */
    hud_links_free(links);
    machine->lines.home_busy_ns = 18;
    links = hud_links_create(machine);
    assert_int_equal(hud_links_agent(links, 1, 5), 1); /* one of each node */
    hud_links_free(links);
    machine->lines.home_agents = 2;
    links = hud_links_create(machine);
    assert_int_equal(hud_links_agent(links, 1, 4), 2);
    assert_int_equal(hud_links_agent(links, 1, 5), 3);
    assert_true(hud_links_ask(links, 2, 0) == 0);
    assert_true(hud_links_ask(links, 2, 5) == 13);
    assert_true(hud_links_ask(links, 3, 5) == 0);   /* the node's other one */
    assert_true(hud_links_ask(links, 2, 10) == 26); /* behind two: until 36 */
    assert_true(hud_links_ask(links, 2, 54) == 0);
    assert_true(hud_links_ask(links, 2, 53) < 0); /* before one that has come already */
    hud_links_free(links);
}

/* Who asks the home: not who has the line, nor who finds it within its die. */
static void test_who_asks_the_home(void **state)
{
    struct sim_line line = hud_line_first(0, 0);

    (void)state;
    line.agent = 7;
    struct sim_lines *lines = hud_lines_create(machine);
    assert_int_equal(hud_lines_store(lines, &line, 0, 0).agent, -1);
    assert_int_equal(hud_lines_load(lines, &line, 1, 10).agent, -1);
    assert_int_equal(hud_lines_store(lines, &line, 0, 20).agent, -1);
    assert_int_equal(hud_lines_load(lines, &line, 4, 50).agent, 7);
    assert_int_equal(hud_lines_load(lines, &line, 4, 80).agent, -1);
    assert_int_equal(hud_lines_load(lines, &line, 5, 90).agent, -1);
    struct sim_fetch store = hud_lines_store(lines, &line, 0, 200); /* others have copies */
    assert_true(store.agent == 7 && store.from == -1);
    assert_int_equal(hud_lines_add(lines, &line, 1, 300).agent, -1);
    assert_int_equal(hud_lines_claim(lines, &line, 4, 400).agent, 7);
    hud_line_clear(&line);
    hud_lines_free(lines);
}

/* ---- who fetches a line for whom ---- */

/* Core 0's line to the other die, 20, to the next reader 5 later: as its cores share lines, 5 and 6
 * have it from 4, 10 after that one has, the second 3 later. */
static void test_readers_that_share(void **state)
{
    static const double end_ns[] = { 20, 20 + 10, 20 + 3 + 10 };
    struct sim_line line = hud_line_first(0, 0);

    (void)state;
    struct sim_lines *lines = hud_lines_create(machine);
    for (int i = 0; i < 3; i++)
        assert_true(hud_lines_load(lines, &line, 4 + i, 0).end_ns == end_ns[i]);
    hud_line_clear(&line);
    hud_lines_free(lines);
}

/* Nobody shares: each has it from core 0, by way of the home, which all of them ask.  So does a
 * core of his own die, at its turn. */
static void test_readers_that_do_not_share(void **state)
{
    struct sim_line line = hud_line_first(0, 0);

    (void)state;
    line.agent = 7;
    machine->lines.share = MACHINE_UNSHARED;
    struct sim_lines *lines = hud_lines_create(machine);
    for (int i = 0; i < 3; i++) {
        struct sim_fetch f = hud_lines_load(lines, &line, 4 + i, 0);
        assert_true(f.from == 0 && f.agent == 7 && f.end_ns == 20 + 5 * i);
    }
    struct sim_fetch near = hud_lines_load(lines, &line, 1, 0);
    assert_true(near.from == 0 && near.agent == 7 && near.end_ns == 3 * 5 + 10);
    assert_int_equal(hud_lines_load(lines, &line, 5, 50).agent, -1); /* has it */
    hud_line_clear(&line);
    hud_lines_free(lines);
}

/* Sockets share: a core of the owner's other die asks no home, nor does one of the other socket
 * whose neighbour's neighbour has it; that is on its other die, 20 away. */
static void test_sockets_that_share(void **state)
{
    struct sim_line line = hud_line_first(0, 3);

    (void)state;
    line.agent = 7;
    machine->lines.share = 1;
    struct sim_lines *lines = hud_lines_create(machine);
    struct sim_fetch f = hud_lines_load(lines, &line, 4, 0);
    assert_true(f.agent == -1 && f.end_ns == 20); /* the home's 16 are not added */
    f = hud_lines_load(lines, &line, 8, 100);
    assert_true(f.agent == 7 && f.from == 0 && f.end_ns == 140);
    f = hud_lines_load(lines, &line, 12, 200);
    assert_true(f.agent == -1 && f.from == 8 && f.end_ns == 220);
    hud_line_clear(&line);
    hud_lines_free(lines);
}

struct job {
    struct alg alg;
    double leave_ns[RANKS];
    struct sim_team *team;
};

/* Ranks 4 to 7 read, at the same time, the flags of ranks 0 to 3, one each. */
static void read_four(struct mem *m, const struct coll *c)
{
    (void)c;
    if (mem_rank(m) >= 4)
        mem_peek(m, mem_slot(m, mem_rank(m) - 4));
}

static void body(struct sim *s, int rank, void *arg)
{
    static const size_t no_blocks[RANKS];
    static const struct alg_place all = { .slot_bytes = ARENA };
    const struct coll c = { .op = 1, .place = &all, .block_bytes = no_blocks };
    struct job *job = arg;
    struct mem *m = hud_sim_team_mem(job->team, rank);

    (void)s;
    hud_sim_meet(m);
    double begin_ns = hud_sim_now(m);
    hud_sim_call(m, &job->alg, &c);
    job->leave_ns[rank] = hud_sim_now(m) - begin_ns;
}

/* How many of ranks 4 to 7 have left after so long. */
static int left_after(double ns)
{
    int members[RANKS], count = 0;
    struct job job = { .alg = { .coll = "reduce_scatter", .name = "four", .run = read_four } };
    const struct sim_options options = {
        .ranks = RANKS, .arena_bytes = ARENA, .machine = machine, .core = members
    };

    for (int r = 0; r < RANKS; r++)
        members[r] = r;
    struct sim *s = hud_sim_create(&options);
    job.team = hud_sim_team_create(s, RANKS, members, 0, ARENA);
    if (!hud_sim_run(s, body, &job))
        fail_msg("%s", hud_sim_report(s));
    for (int r = 4; r < RANKS; r++)
        count += job.leave_ns[r] == ns;
    hud_sim_free(s);
    return count;
}

/* Lines of four ranks of one die, whose node is their home, to the other die: 20 each.  One agent
 * has them all, so each waits for those before it. */
static void test_requests_queue_at_a_home(void **state)
{
    (void)state;
    assert_int_equal(left_after(20), 4);
    machine->lines.home_busy_ns = 100;
    for (int i = 0; i < 4; i++)
        assert_int_equal(left_after(20 + 100 * i), 1);
    machine->lines.home_agents = 2; /* two of the four ask each */
    assert_int_equal(left_after(20), 2);
    assert_int_equal(left_after(120), 2);
}

/* ---- streams of a memory ---- */

/* Given are 2 and 4; between them a straight line, and beyond all that the node has. */
static void test_streams_between(void **state)
{
    (void)state;
    machine->memory.streams_gbps[2] = 8;
    machine->memory.streams_gbps[4] = 10;
    struct sim_links *links = hud_links_create(machine);
    struct sim_ways *ways = hud_ways_create(machine, links);
    assert_int_equal(ways->streams, 4);
    assert_true(ways->streams_gbps[1] == INFINITY && ways->streams_gbps[2] == 8 &&
                ways->streams_gbps[3] == 9 && ways->streams_gbps[4] == 10);
    hud_ways_free(ways);
    hud_links_free(links);
}

/* When so many cores of a die copy 4000 bytes each, of their node's memory, to their own caches. */
static double copied_ns(int cores)
{
    struct sim_links *links = hud_links_create(machine);
    struct sim_copies *copies = hud_copies_create(machine, links);
    double end_ns = 0;

    for (int core = 0; core < cores; core++) {
        const struct copies_call call = { .kind = COPIES_COPY,
                                          .from = { (uintptr_t)(core + 1) << 20 },
                                          .froms = 1,
                                          .to = { 0 },
                                          .tos = 1,
                                          .bytes = 4000 };
        hud_copies_begin(copies, core, &call, 0);
    }
    for (; hud_copies_next(copies) < INFINITY; hud_copies_step(copies))
        end_ns = hud_copies_next(copies);
    hud_copies_free(copies);
    hud_links_free(links);
    return end_ns;
}

/* 10 for the first line; a core gets 4 GB/s, and three get 12 of the node, or 6 where that is what
 * three get. */
static void test_streams_of_a_node(void **state)
{
    (void)state;
    assert_true(fabs(copied_ns(1) - (10 + 1000)) < 1e-6);
    assert_true(fabs(copied_ns(3) - (10 + 1000)) < 1e-6);
    machine->memory.streams_gbps[3] = 6;
    assert_true(fabs(copied_ns(1) - (10 + 1000)) < 1e-6);
    assert_true(fabs(copied_ns(3) - (10 + 2000)) < 1e-6);
    assert_true(fabs(copied_ns(4) - (10 + 4000 / 3.)) < 1e-6); /* 12 of the node, again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_additions_by_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_additions_and_copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan_of_several_owners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_agents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_asks_the_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_readers_that_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_readers_that_do_not_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sockets_that_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests_queue_at_a_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_streams_between, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_streams_of_a_node, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
