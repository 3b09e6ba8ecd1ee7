/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lines.c - times of lines of a made-up machine (made_up.h). A comment at each figure has its
 * computation by hand. */
#include "lab/sim/lines.h"
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* needs the headers above */
#include <cmocka.h>

enum {
    DIE = 32,
    CORES = 4 * DIE
}; /* cores of a die: 0; 32 on the other die; 64 and 96 on the other socket */

static struct sim_machine *machine;
static struct sim_lines *lines;

static int set_up(void **state)
{
    (void)state;
    machine = made_up_machine(2, DIE);
    lines = hud_lines_create(machine);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hud_lines_free(lines);
    made_up_free(machine);
    return 0;
}

/* Returns the line of a flag that `writer` wrote long ago, with its home on the writer's node. */
static struct sim_line line_of(int writer)
{
    return hud_line_first(writer, machine->node[writer]);
}

static double load(struct sim_line *line, int core, double now)
{
    return hud_lines_load(lines, line, core, now).end_ns;
}

static double store(struct sim_line *line, int core, double now)
{
    return hud_lines_store(lines, line, core, now).end_ns;
}

/* ---- one writer, one reader ---- */

/* Expects a transfer per hop while two cores post and poll each other's flags. */
static void ping_pong(int a, int b, double begin, double transfer)
{
    struct sim_line of[2] = { line_of(a), line_of(b) };
    int core[2] = { a, b };
    double now = begin;

    load(&of[0], b, begin - 100); /* both have looked at the other's flag */
    load(&of[1], a, begin - 100);
    hud_lines_pause(lines, a);
    hud_lines_pause(lines, b);
    for (int hop = 0; hop < 10; hop++) {
        store(&of[hop % 2], core[hop % 2], now);
        now = load(&of[hop % 2], core[1 - hop % 2], of[hop % 2].visible_ns);
        hud_lines_pause(lines, core[1 - hop % 2]); /* it has waited */
    }
    assert_true(now == begin + 10 * transfer);
    hud_line_clear(&of[0]);
    hud_line_clear(&of[1]);
}

static void ping_pong_takes_a_transfer_per_hop(void **state)
{
    machine->lines.revoke_ns[MADE_UP_SOCKET] = 7;
    ping_pong(0, 32, 500,
              20 + 7); /* a machine on which a store is visible only after a copy is gone */
    machine->lines.revoke_ns[MADE_UP_SOCKET] = 0;
    (void)state;
    ping_pong(0, 1, 1000, 10);
    ping_pong(0, 32, 2000, 20); /* a line's home is on its writer's node, no farther than the
                                 * writer */
    ping_pong(0, 64, 3000, 40);
}

/* Verifies that the home counts if farther than the holder, unless the reader shares lines with the
 * holder. */
static void farther_home_adds_to_a_transfer(void **state)
{
    struct sim_line here = hud_line_first(0, 0), other_die = hud_line_first(0, 1),
                    other_socket = hud_line_first(0, 2), shared = hud_line_first(0, 2);

    (void)state;
    assert_true(load(&shared, 1, 0) == 10);
    assert_true(load(&shared, 32, 100) == 120 + 16);
    assert_true(store(&shared, 33, 200) == 220 + 16);
    assert_true(store(&shared, 34, 300) == 310);
    hud_lines_pause(lines, 1);
    machine->lines.share = MACHINE_UNSHARED;
    assert_true(load(&here, 1, 0) == 10);
    assert_true(load(&other_die, 2, 0) == 10 + 8);
    assert_true(load(&other_socket, 3, 0) == 10 + 16);
    assert_true(load(&other_socket, 64, 100) == 140); /* home and reader on one node */
    assert_true(load(&other_socket, 3, 200) == 200.5);
    hud_line_clear(&shared);
    hud_line_clear(&here);
    hud_line_clear(&other_die);
    hud_line_clear(&other_socket);
}

/* ---- one writer, many readers ---- */

/* Loads at 31 cores of the writer's die, each served serve_ns after the core before. Then a core of
 * each other die is served, and the others of its die get the line from this core. */
static void readers_are_served_in_turn(void **state)
{
    struct sim_line line = line_of(0);
    double last = 0;

    (void)state;
    for (int core = 1; core < CORES; core++) {
        last = load(&line, core, 0);
        if (core == 1)
            assert_true(last == 10);
        if (core == 31)
            assert_true(last == 30 * 3 + 10);
        if (core == 32)
            assert_true(last == 31 * 3 + 20);
        if (core == 63)
            assert_true(last == 31 * 3 + 20 + 30 * 3 + 10);
        if (core == 64)
            assert_true(last == 31 * 3 + 5 + 40);
    }
    assert_true(last == 31 * 3 + 5 + 7 + 40 + 30 * 3 + 10);
    /* The next store must invalidate the farthest copy first. A near reader sees the value no
     * earlier. */
    assert_true(store(&line, 0, 1000) == 1040);
    assert_true(load(&line, 1, 1000) == 1040);
    assert_true(load(&line, 64, 1000) == 1003 + 40);
    hud_line_clear(&line);
}

/* ---- many lines, one reader or writer ---- */

static void scanned_lines_follow_at_gaps(void **state)
{
    struct sim_line line[64];
    double now = 0;

    (void)state;
    for (int i = 0; i < 64; i++)
        line[i] = line_of(i);
    for (int i = 1; i < 32; i++)
        now = load(&line[i], 0, now);
    assert_true(now == 10 + 30 * 1);
    for (int i = 32; i < 64;
         i++) /* issued 2 after the last of them, at 30, while the last load was in progress */
        now = load(&line[i], 0, now);
    assert_true(now == 30 + 2 + 20 + 31 * 2);
    hud_lines_pause(lines, 0);
    struct sim_line near = line_of(1), late = line_of(2);
    assert_true(load(&near, 0, now) == now + 10);
    store(&late, 2, now + 9); /* a value stored after the load was issued */
    assert_true(load(&late, 0, now + 10) == now + 9 + 10);
    for (int i = 0; i < 64; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&near);
    hud_line_clear(&late);
}

/* Verifies that stores to polled lines settle in order, a gap apart after the first. */
static void stores_to_polled_lines_settle_in_order(void **state)
{
    struct sim_line line[16], own = line_of(0);
    double now = 0, settled = 0;

    (void)state;
    for (int i = 1; i < 16; i++) {
        line[i] = line_of(0);
        load(&line[i], i, 0);
    }
    now = 100;
    for (int i = 1; i < 16; i++, now += .25)
        settled = store(&line[i], 0, now);
    assert_true(settled == 100 + 10 + 14 * 1);
    assert_true(store(&own, 0, now) == settled); /* no other core has the line, but its store
                                                  * settles after the others */
    assert_true(load(&own, 64, now) == settled + 40);
    for (int i = 1; i < 16; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&own);
}

/* Verifies that stores to lines read by others may be farther apart than reads: 3, with a read gap
 * of 1. */
static void store_gap_may_exceed_the_read_gap(void **state)
{
    struct sim_line line[4];
    double settled = 0;

    (void)state;
    machine->lines.store_gap_ns[MADE_UP_NUMA] = 3;
    for (int i = 1; i < 4; i++) {
        line[i] = line_of(0);
        load(&line[i], i, 0);
    }
    for (int i = 1; i < 4; i++)
        settled = store(&line[i], 0, 100 + .25 * i);
    assert_true(settled == 100.25 + 10 + 2 * 3);
    for (int i = 1; i < 4; i++)
        hud_line_clear(&line[i]);
}

/* Verifies that each reader after the first delays a store by 2, whether the writer is a reader or
 * not. */
static void each_further_copy_delays_a_store(void **state)
{
    struct sim_line line = line_of(0);

    (void)state;
    machine->lines.revoke_each_ns = 2;
    for (int core = 1; core <= 5; core++)
        load(&line, core, 0);
    assert_true(store(&line, 0, 100) == 100 + 10 + 4 * 2);
    load(&line, 1, 200);
    assert_true(store(&line, 0, 300) == 300 + 10);
    load(&line, 1, 400);
    load(&line, 2, 400);
    assert_true(store(&line, 3, 500) == 500 + 10 + 2 * 2); /* three cores have it: 0, 1 and 2 */
    hud_line_clear(&line);
}

/* Uses two entries, so a third store waits for the first to settle, and leaves after it. A store
 * delayed by links occupies its entry for as much longer. */
static void full_store_buffer_delays_the_next_store(void **state)
{
    struct sim_line line[4];

    (void)state;
    hud_lines_free(lines);
    machine->lines.store_entries = 2;
    lines = hud_lines_create(machine);
    for (int i = 0; i < 4; i++) {
        line[i] = line_of(0);
        load(&line[i], i + 1, 0);
    }
    assert_true(hud_lines_entry_ns(lines, 0) <= 100 && store(&line[0], 0, 100) == 110);
    assert_true(hud_lines_entry_ns(lines, 0) <= 100 && store(&line[1], 0, 100.25) == 111);
    assert_true(hud_lines_entry_ns(lines, 0) == 110);
    struct sim_fetch third = hud_lines_store(lines, &line[2], 0, 110);
    assert_true(third.end_ns == 120);
    hud_lines_delay(lines, &line[2], 0, &third, 5);
    assert_true(hud_lines_entry_ns(lines, 0) == 111 && store(&line[3], 0, 111) == 126);
    assert_true(hud_lines_entry_ns(lines, 0) == 125 && hud_lines_entry_ns(lines, 1) <= 0);
    for (int i = 0; i < 4; i++)
        hud_line_clear(&line[i]);
}

/*
 * Delays a claim by 30, known only when the line crosses. The store behind the claim, in progress
 * by then, is as late, and so is the store behind this store. A store waiting for another line
 * longer, and later stores, are not.
 */
static void delayed_claim_delays_stores_behind_it(void **state)
{
    struct sim_line far = line_of(64), near = line_of(1), busy = line_of(64), next = line_of(1);

    (void)state;
    machine->lines.share = MACHINE_UNSHARED; /* the home is asked within a die, too */
    struct sim_fetch claim = hud_lines_claim(lines, &far, 1, 0),
                     other = hud_lines_claim(lines, &busy, 1, 0);
    hud_lines_delay(lines, &busy, 1, &other, 160);
    struct sim_fetch first = hud_lines_store(lines, &far, 0, 1),
                     second = hud_lines_store(lines, &near, 0, 1);
    struct sim_fetch third = hud_lines_store(lines, &busy, 0, 1);
    assert_true(first.begin_ns == 40 && first.end_ns == 66 && second.begin_ns == 57 &&
                second.end_ns == 67);
    assert_true(third.begin_ns == 200 && third.end_ns == 226);
    hud_lines_delay(lines, &far, 1, &claim, 30);
    assert_true(hud_lines_begin(lines, &far, 0, &first) == 70 && first.end_ns == 96 &&
                far.visible_ns == 96);
    assert_true(hud_lines_begin(lines, &far, 0, &first) == 70);
    assert_true(hud_lines_begin(lines, &near, 0, &second) == 87 && second.end_ns == 97 &&
                near.visible_ns == 97);
    hud_lines_delay(lines, &near, 0, &second, 2); /* delays its own links, too */
    assert_true(second.end_ns == 99 && load(&near, 2, 90) == 99 + 10);
    assert_true(hud_lines_begin(lines, &busy, 0, &third) == 200 && third.end_ns == 226 &&
                busy.visible_ns == 226);
    assert_true(store(&next, 0, 201) == 227);
    hud_line_clear(&far);
    hud_line_clear(&near);
    hud_line_clear(&busy);
    hud_line_clear(&next);
}

/* Stores at two cores to each other's line, each behind its own line, and then `after` times to a
 * third. A delayed store must not delay an earlier store. Otherwise each core would wait for the
 * other, later and later. */
static void late_in_turn(int after)
{
    struct sim_line x = line_of(64), y = line_of(64), other = line_of(64);

    struct sim_fetch a[2], b[2];
    a[0] = hud_lines_store(lines, &x, 0, 0);
    b[0] = hud_lines_store(lines, &y, 32, 0);
    a[1] = hud_lines_store(lines, &y, 0, 1);
    b[1] = hud_lines_store(lines, &x, 32, 1);
    for (int i = 0; i < after; i++) {
        store(&other, 0, 1);
        store(&other, 32, 1);
    }
    double begin_ns[] = { a[0].begin_ns, b[0].begin_ns, a[1].begin_ns, b[1].begin_ns };
    hud_lines_delay(lines, &y, 0, &a[1], 5);
    assert_true(hud_lines_begin(lines, &x, 0, &a[0]) == begin_ns[0]);
    assert_true(hud_lines_begin(lines, &y, 32, &b[0]) == begin_ns[1]);
    assert_true(hud_lines_begin(lines, &x, 32, &b[1]) == begin_ns[3]);
    hud_lines_delay(lines, &x, 0, &a[0], 7); /* stores behind it are later */
    assert_true(hud_lines_begin(lines, &x, 32, &b[1]) == begin_ns[3] + 7);
    assert_true(hud_lines_begin(lines, &y, 32, &b[0]) == begin_ns[1]);
    hud_line_clear(&x);
    hud_line_clear(&y);
    hud_line_clear(&other);
}

static void delayed_store_delays_no_earlier_store(void **state)
{
    (void)state;
    late_in_turn(0);
    late_in_turn(100);
}

/* ---- additions, claims ---- */

static void additions_to_a_line_queue(void **state)
{
    struct sim_line count = line_of(0);
    double now = 0;

    (void)state;
    now = hud_lines_add(lines, &count, 0, 0).end_ns;
    assert_true(now == 2);
    for (int core = 1; core < 32; core++) /* they arrive at once and queue */
        now = hud_lines_add(lines, &count, core, 0).end_ns;
    assert_true(now == 2 + 31 * (10 + 2));
    assert_true(hud_lines_add(lines, &count, 64, 1000).end_ns == 1000 + 40 + 2);
    assert_true(load(&count, 0, 1000) == 1042 + 40 + 0);
    hud_line_clear(&count);
}

/* Claims a line. If the claim is early enough, the store takes no time. If it is too late, the
 * store waits for the rest. A reader in between makes the claim useless. */
static void early_claim_makes_a_store_immediate(void **state)
{
    struct sim_line line = line_of(0);

    (void)state;
    load(&line, 64, 0);
    hud_lines_claim(lines, &line, 0, 100);
    assert_true(store(&line, 0, 200) == 200);
    load(&line, 64, 300);
    hud_lines_claim(lines, &line, 0, 400);
    assert_true(store(&line, 0, 410) == 440);
    load(&line, 64, 500);
    hud_lines_claim(lines, &line, 0, 600);
    load(&line, 64, 700);
    assert_true(store(&line, 0, 800) == 840);
    load(&line, 64, 900);
    machine->lines.revoke_ns[MADE_UP_MACHINE] =
        5; /* the part before a reader can request the line continues meanwhile, too */
    hud_lines_claim(lines, &line, 0, 1000);
    store(&line, 0, 1002);
    assert_true(line.visible_ns == 1005 && load(&line, 64, 1002) == 1005 + 40);
    hud_line_clear(&line);
}

/* Claims a line from another socket. A core that then stores to the line or only loads the line
 * waits for the claim, and so does a third core. */
static void claimed_line_arrives_before_it_is_used(void **state)
{
    struct sim_line stored = line_of(0), claimed = line_of(0), read = line_of(0);

    (void)state;
    machine->lines.share = MACHINE_UNSHARED; /* the home is asked within a die, too */
    assert_true(store(&stored, 64, 0) == 40 &&
                load(&stored, 65, 0) ==
                    40 + 10 + 16); /* farther from its home than from its owner */
    hud_lines_pause(lines, 65);
    assert_true(hud_lines_claim(lines, &claimed, 96, 0).from == 0);
    assert_true(store(&claimed, 96, 0) == 40 && load(&claimed, 97, 0) == 40 + 10 + 16);
    hud_lines_claim(lines, &read, 66, 0);
    hud_lines_claim(lines, &read, 66, 1); /* again, while in progress */
    assert_true(load(&read, 66, 1) == 40 && load(&read, 66, 50) == 50.5);
    struct sim_fetch claim = hud_lines_claim(lines, &read, 67, 100);
    hud_lines_delay(lines, &read, 67, &claim, 5); /* the core's own stores do not wait for a
                                                   * claim */
    assert_true(load(&read, 67, 100) == 100 + 10 + 16 + 5 &&
                store(&stored, 67, 100) == 100 + 10 + 16);
    hud_line_clear(&stored);
    hud_line_clear(&claimed);
    hud_line_clear(&read);
}

/* Verifies that a line stored to by a core without a copy arrives there first, and then at the
 * reader. */
static void line_goes_to_its_writer_before_the_reader(void **state)
{
    struct sim_line line = line_of(0);

    (void)state;
    assert_true(store(&line, 1, 100) == 110);
    assert_true(load(&line, 2, 100) == 120);
    hud_line_clear(&line);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(ping_pong_takes_a_transfer_per_hop),
        CASE(farther_home_adds_to_a_transfer),
        CASE(readers_are_served_in_turn),
        CASE(scanned_lines_follow_at_gaps),
        CASE(stores_to_polled_lines_settle_in_order),
        CASE(store_gap_may_exceed_the_read_gap),
        CASE(each_further_copy_delays_a_store),
        CASE(full_store_buffer_delays_the_next_store),
        CASE(additions_to_a_line_queue),
        CASE(delayed_claim_delays_stores_behind_it),
        CASE(delayed_store_delays_no_earlier_store),
        CASE(early_claim_makes_a_store_immediate),
        CASE(claimed_line_arrives_before_it_is_used),
        CASE(line_goes_to_its_writer_before_the_reader),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
