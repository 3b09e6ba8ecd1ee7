/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lines.c - times of lines of a made-up machine (made_up.h).  A comment at each
 * figure has its computation by hand. */
#include "made_up.h"
#include "sim/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* after the above */
#include <cmocka.h>

enum {
    DIE = 32,
    CORES = 4 * DIE
}; /* cores of a die: 0, 32 the other die, 64 and 96 the other socket */

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

/* Line of a flag that `writer` wrote long ago; homed on its node. */
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

/* Each posts and polls the other's flag: a hop is a transfer, whichever way. */
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

static void test_ping_pong(void **state)
{
    machine->lines.revoke_ns[MADE_UP_SOCKET] = 7;
    ping_pong(0, 32, 500,
              20 + 7); /* a machine on which a copy must be gone before the store can be seen */
    machine->lines.revoke_ns[MADE_UP_SOCKET] = 0;
    (void)state;
    ping_pong(0, 1, 1000, 10);
    ping_pong(0, 32, 2000, 20); /* a line's home is its writer's, no farther than that */
    ping_pong(0, 64, 3000, 40);
}

/* The home counts where it is farther than the holder, unless the reader shares lines with that. */
static void test_home(void **state)
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

/* 31 of its die, each served serve_ns after the one before; then one of each other die, from whom
 * the others of that die have it. */
static void test_many_readers(void **state)
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
    /* The next store must reach the farthest of them first; a near reader sees it no earlier. */
    assert_true(store(&line, 0, 1000) == 1040);
    assert_true(load(&line, 1, 1000) == 1040);
    assert_true(load(&line, 64, 1000) == 1003 + 40);
    hud_line_clear(&line);
}

/* ---- many lines, one reader or writer ---- */

static void test_scan(void **state)
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
         i++) /* issued 2 after the last of them, at 30, while that was under way */
        now = load(&line[i], 0, now);
    assert_true(now == 30 + 2 + 20 + 31 * 2);
    hud_lines_pause(lines, 0);
    struct sim_line near = line_of(1), late = line_of(2);
    assert_true(load(&near, 0, now) == now + 10);
    store(&late, 2, now + 9); /* what was not there when the load was issued */
    assert_true(load(&late, 0, now + 10) == now + 9 + 10);
    for (int i = 0; i < 64; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&near);
    hud_line_clear(&late);
}

/* Stores to lines that others poll settle in order, a gap each after the first. */
static void test_release(void **state)
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
    assert_true(store(&own, 0, now) == settled); /* nobody has it, but it comes after the others */
    assert_true(load(&own, 64, now) == settled + 40);
    for (int i = 1; i < 16; i++)
        hud_line_clear(&line[i]);
    hud_line_clear(&own);
}

/* Stores to lines that others have read may come slower than reads: 3 after each other, of a gap
 * of 1. */
static void test_store_gap(void **state)
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

/* Each reader after the first takes a store 2 more, be the writer one of them or not. */
static void test_many_have_copies(void **state)
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
    assert_true(store(&line, 3, 500) == 500 + 10 + 2 * 2); /* three have it: 0, 1 and 2 */
    hud_line_clear(&line);
}

/* Two entries: a third store waits for the first to settle, and leaves after it; one that links
 * delay keeps its entry as much longer. */
static void test_store_buffer(void **state)
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
 * A claim that links delay by 30, known when it crosses: so late is the store behind it, on its way
 * by then, and the store behind that; not one that waits for another line longer than that, and
 * what comes after it.
 */
static void test_late_stores(void **state)
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
    hud_lines_delay(lines, &near, 0, &second, 2); /* and this one's own links */
    assert_true(second.end_ns == 99 && load(&near, 2, 90) == 99 + 10);
    assert_true(hud_lines_begin(lines, &busy, 0, &third) == 200 && third.end_ns == 226 &&
                busy.visible_ns == 226);
    assert_true(store(&next, 0, 201) == 227);
    hud_line_clear(&far);
    hud_line_clear(&near);
    hud_line_clear(&busy);
    hud_line_clear(&next);
}

/* Two cores store to each other's line, each behind its own, and then so often to a third: what
 * delays a store delays none before it.  Else each would wait for the other, later and later. */
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
    hud_lines_delay(lines, &x, 0, &a[0], 7); /* those behind it are later */
    assert_true(hud_lines_begin(lines, &x, 32, &b[1]) == begin_ns[3] + 7);
    assert_true(hud_lines_begin(lines, &y, 32, &b[0]) == begin_ns[1]);
    hud_line_clear(&x);
    hud_line_clear(&y);
    hud_line_clear(&other);
}

static void test_late_in_turn(void **state)
{
    (void)state;
    late_in_turn(0);
    late_in_turn(100);
}

/* ---- additions, claims ---- */

static void test_additions(void **state)
{
    struct sim_line count = line_of(0);
    double now = 0;

    (void)state;
    now = hud_lines_add(lines, &count, 0, 0).end_ns;
    assert_true(now == 2);
    for (int core = 1; core < 32; core++) /* they come at once and queue */
        now = hud_lines_add(lines, &count, core, 0).end_ns;
    assert_true(now == 2 + 31 * (10 + 2));
    assert_true(hud_lines_add(lines, &count, 64, 1000).end_ns == 1000 + 40 + 2);
    assert_true(load(&count, 0, 1000) == 1042 + 40 + 0);
    hud_line_clear(&count);
}

/* A line that is claimed in time is stored to at once; one that is claimed too late has the rest to
 * wait; a reader sees to it that it was in vain. */
static void test_claim(void **state)
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
        5; /* what goes before a reader can send for it goes on meanwhile, too */
    hud_lines_claim(lines, &line, 0, 1000);
    store(&line, 0, 1002);
    assert_true(line.visible_ns == 1005 && load(&line, 64, 1002) == 1005 + 40);
    hud_line_clear(&line);
}

/* A claim brings the line from another socket: who then stores there, or only loads, has it no
 * sooner than it comes; nor has a third. */
static void test_claim_elsewhere(void **state)
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
    hud_lines_claim(lines, &read, 66, 1); /* again, on its way */
    assert_true(load(&read, 66, 1) == 40 && load(&read, 66, 50) == 50.5);
    struct sim_fetch claim = hud_lines_claim(lines, &read, 67, 100);
    hud_lines_delay(lines, &read, 67, &claim, 5); /* the core's own stores wait for no claim */
    assert_true(load(&read, 67, 100) == 100 + 10 + 16 + 5 &&
                store(&stored, 67, 100) == 100 + 10 + 16);
    hud_line_clear(&stored);
    hud_line_clear(&claimed);
    hud_line_clear(&read);
}

/* A line whose writer has no copy comes to it first, and then to the reader. */
static void test_handed_over(void **state)
{
    struct sim_line line = line_of(0);

    (void)state;
    assert_true(store(&line, 1, 100) == 110);
    assert_true(load(&line, 2, 100) == 120);
    hud_line_clear(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ping_pong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_readers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_release, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_have_copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_additions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_stores, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_in_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_claim, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_claim_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_handed_over, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
