/* SPDX-License-Identifier: BSD-3-Clause */
/* test_keys.c - the effect of optional keys on the times of a made-up machine (made_up.h):
 * additions by distance, scans over lines of several owners, agents of a home, cores that share
 * lines, streams of a memory. A comment at each figure has its computation by hand. */
#include "lab/sim/copies.h"
#include "lab/sim/lines.h"
#include "lab/sim/links.h"
#include "lab/sim/rates.h"
#include "lab/sim/timing.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* needs the headers above */
#include <cmocka.h>

enum {
    DIE = 4,
    RANKS = 8,
    ARENA = 1 << 16
}; /* cores of a die: 4 is on the other die, 8 on the
                                               * other socket */

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

/* Adds from a core of the die in 30 instead of 10 + 2, and from the other die in 50 instead of 20 +
 * 2. Beyond that no key is given, so an addition takes 40 + 2. */
static void addition_time_depends_on_the_distance(void **state)
{
    struct sim_line count = hud_line_first(0, 0);

    (void)state;
    machine->lines.fetch_add_ns[MADE_UP_NUMA] = 30;
    machine->lines.fetch_add_ns[MADE_UP_SOCKET] = 50;
    struct sim_lines *lines = hud_lines_create(machine);
    assert_true(hud_lines_add(lines, &count, 0, 0).end_ns == 2); /* its own line */
    assert_true(hud_lines_add(lines, &count, 1, 100).end_ns == 130);
    assert_true(hud_lines_add(lines, &count, 2, 100).end_ns == 160); /* queued behind the addition
                                                                      * before */
    assert_true(hud_lines_add(lines, &count, 4, 200).end_ns == 250); /* its home is no farther */
    assert_true(hud_lines_add(lines, &count, 8, 300).end_ns == 342);
    hud_line_clear(&count);
    hud_lines_free(lines);
}

/* Verifies that adding to a line without copies takes the measured time. With a copy, the store
 * waits until the copy is gone. */
static void addition_waits_until_copies_are_gone(void **state)
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

/* Scans two lines of core 1, two of core 2 and one of core 1. The second and fourth follow after 1,
 * the third and fifth after 6. */
static void scan_takes_longer_between_owners(void **state)
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
    assert_true(hud_lines_load(lines, &next, 0, 200).end_ns == 210); /* it follows no other line */
    for (int i = 0; i < 5; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&next);
    hud_lines_free(lines);
}

/* ---- agents of a home ---- */

static void requests_queue_at_the_agents_of_a_home(void **state)
{
    (void)state;
    struct sim_links *links = hud_links_create(machine);
    /* Without the key, a request takes no time there. */
    assert_int_equal(hud_links_agent(links, 1, 5), -1);
    hud_links_free(links);
    machine->lines.home_busy_ns = 18;
    links = hud_links_create(machine);
    assert_int_equal(hud_links_agent(links, 1, 5), 1); /* one agent per node */
    hud_links_free(links);
    machine->lines.home_agents = 2;
    links = hud_links_create(machine);
    assert_int_equal(hud_links_agent(links, 1, 4), 2);
    assert_int_equal(hud_links_agent(links, 1, 5), 3);
    assert_true(hud_links_ask(links, 2, 0) == 0);
    assert_true(hud_links_ask(links, 2, 5) == 13);
    assert_true(hud_links_ask(links, 3, 5) == 0);   /* the other agent of the node */
    assert_true(hud_links_ask(links, 2, 10) == 26); /* waits behind two requests, until 36 */
    assert_true(hud_links_ask(links, 2, 54) == 0);
    assert_true(hud_links_ask(links, 2, 53) < 0); /* too late: a later request has been served
                                                   * already */
    hud_links_free(links);
}

/* Verifies which accesses ask the home: none by the owner, and none by a core that finds the line
 * within its die. */
static void only_fetches_from_outside_ask_the_home(void **state)
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
    struct sim_fetch store = hud_lines_store(lines, &line, 0, 200); /* other cores have copies */
    assert_true(store.agent == 7 && store.from == -1);
    assert_int_equal(hud_lines_add(lines, &line, 1, 300).agent, -1);
    assert_int_equal(hud_lines_claim(lines, &line, 4, 400).agent, 7);
    hud_line_clear(&line);
    hud_lines_free(lines);
}

/* ---- cores that share fetched lines ---- */

/* Loads core 0's line to the other die in 20. The next reader would get it 5 later, but cores of
 * the die share lines: 5 and 6 get the line from 4, 10 after its arrival and 3 apart. */
static void sharing_readers_fetch_from_the_first_reader(void **state)
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

/* Disables sharing. Each core fetches the line from core 0 through the home, which all of them ask,
 * and so does a core of the owner's die in its turn. */
static void readers_without_sharing_fetch_from_the_owner(void **state)
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
    assert_int_equal(hud_lines_load(lines, &line, 5, 50).agent, -1); /* has the line */
    hud_line_clear(&line);
    hud_lines_free(lines);
}

/* Shares lines within sockets. A core of the owner's other die asks no home. Neither does a core of
 * the other socket when a core there has the line, on its other die, 20 away. */
static void readers_in_a_sharing_socket_ask_no_home(void **state)
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

/* Reads the flags of ranks 0 to 3 at ranks 4 to 7, one each, at the same time. */
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

/* Returns how many of ranks 4 to 7 leave after exactly `ns`. */
static int left_after(double ns)
{
    struct job job = { .alg = { .coll = "reduce_scatter", .name = "four", .run = read_four } };
    struct sim *s = made_up_sim(machine, RANKS, ARENA, 0, &job.team);
    int count = 0;

    if (!hud_sim_run(s, body, &job))
        fail_msg("%s", hud_sim_report(s));
    for (int r = 4; r < RANKS; r++)
        count += job.leave_ns[r] == ns;
    hud_sim_free(s);
    return count;
}

/* Reads lines of four ranks of one die, whose node is their home, at the other die: 20 each. With a
 * single agent each request waits for the requests before. */
static void requests_to_a_home_wait_for_each_other(void **state)
{
    (void)state;
    assert_int_equal(left_after(20), 4);
    machine->lines.home_busy_ns = 100;
    for (int i = 0; i < 4; i++)
        assert_int_equal(left_after(20 + 100 * i), 1);
    machine->lines.home_agents = 2; /* two of the four ask each agent */
    assert_int_equal(left_after(20), 2);
    assert_int_equal(left_after(120), 2);
}

/* ---- streams of a memory ---- */

/* Interpolates between the given 2 and 4 streams linearly. Beyond the last key, the bandwidth of
 * the node applies. */
static void streams_are_interpolated(void **state)
{
    (void)state;
    machine->memory.streams_gbps[2] = 8;
    machine->memory.streams_gbps[4] = 10;
    struct sim_links *links = hud_links_create(machine);
    struct sim_rates *ways = hud_rates_create(machine, links);
    assert_int_equal(ways->streams, 4);
    assert_true(ways->streams_gbps[1] == INFINITY && ways->streams_gbps[2] == 8 &&
                ways->streams_gbps[3] == 9 && ways->streams_gbps[4] == 10);
    hud_rates_free(ways);
    hud_links_free(links);
}

/* Returns the time at which `cores` cores of a die have copied 4000 bytes each from their node's
 * memory to their own caches. */
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

/* Copies with 10 for the first line. A core gets 4 GB/s, and three get the 12 of the node, or 6 if
 * three streams are given so. */
static void streams_limit_the_bandwidth_of_a_node(void **state)
{
    (void)state;
    assert_true(fabs(copied_ns(1) - (10 + 1000)) < 1e-6);
    assert_true(fabs(copied_ns(3) - (10 + 1000)) < 1e-6);
    machine->memory.streams_gbps[3] = 6;
    assert_true(fabs(copied_ns(1) - (10 + 1000)) < 1e-6);
    assert_true(fabs(copied_ns(3) - (10 + 2000)) < 1e-6);
    assert_true(fabs(copied_ns(4) - (10 + 4000 / 3.)) < 1e-6); /* the 12 of the node again */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(addition_time_depends_on_the_distance),
        CASE(addition_waits_until_copies_are_gone),
        CASE(scan_takes_longer_between_owners),
        CASE(requests_queue_at_the_agents_of_a_home),
        CASE(only_fetches_from_outside_ask_the_home),
        CASE(sharing_readers_fetch_from_the_first_reader),
        CASE(readers_without_sharing_fetch_from_the_owner),
        CASE(readers_in_a_sharing_socket_ask_no_home),
        CASE(requests_to_a_home_wait_for_each_other),
        CASE(streams_are_interpolated),
        CASE(streams_limit_the_bandwidth_of_a_node),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
