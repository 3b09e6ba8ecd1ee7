/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_writes.c - the time of copies into lines, by what other cores have done to the lines since
 * the core wrote them (writes.h), on the made-up machine (made_up.h). A comment at each figure has
 * its computation by hand.
 */
#include "lab/sim/copies.h"
#include "lab/sim/lines.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { K = 1024, DIE = 3, OTHER = 2 * DIE /* a core of the other socket */, BYTES = 4 * K };
enum { AT = 1 << 20 }; /* address, in node 0 */

static struct sim_machine *machine;
static struct sim_links *links;
static struct sim_copies *copies;
static double now_ns;

/* Makes core 0 the owner of the bytes. Its own cache takes .025 per byte for either end of a
 * copy. A line from a core of the die costs .1 - .025 at its end. A line with a reader there
 * takes 12.8, which is .2 per byte. A line with a reader in the other socket takes 25.6, which
 * is .4. */
static int set_up(void **state)
{
    (void)state;
    machine = made_up_machine(2, DIE);
    machine->lines.store_gap_ns[MADE_UP_NUMA] = 12.8;
    machine->lines.store_gap_ns[MADE_UP_SOCKET] = 12.8;
    machine->lines.store_gap_ns[MADE_UP_MACHINE] = 25.6;
    links = hud_links_create(machine);
    copies = hud_copies_create(machine, links);
    now_ns = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hud_copies_free(copies);
    hud_links_free(links);
    made_up_free(machine);
    return 0;
}

static double takes_ns(int core, enum copies_kind kind, uintptr_t from, uintptr_t to)
{
    const struct copies_call call = { .kind = kind,
                                      .from = { from },
                                      .froms = kind == COPIES_COPY,
                                      .to = { to },
                                      .tos = 1,
                                      .bytes = BYTES };
    double begin_ns = now_ns;

    hud_copies_begin(copies, core, &call, now_ns);
    while (hud_copies_next(copies) < INFINITY) {
        now_ns = hud_copies_next(copies);
        hud_copies_step(copies);
    }
    return now_ns - begin_ns;
}

static void reads(int core)
{
    takes_ns(core, COPIES_COPY, AT, 0);
}

/* Returns the time of a copy from the core's own cache. */
static double writes_ns(int core)
{
    return takes_ns(core, COPIES_COPY, 0, AT);
}

static void time_depends_on_the_lines_history(void **state)
{
    (void)state;
    hud_copies_touch(copies, 0, AT, BYTES);
    assert_near(writes_ns(0), .5 + .05 * BYTES); /* nothing */
    hud_copies_touch(copies, 1, AT, BYTES);
    assert_near(writes_ns(0), 10 + .1 * BYTES); /* written by core 1: like a read */
    reads(1);
    assert_near(writes_ns(0), 10 + (.025 + .2) * BYTES);
    reads(OTHER);
    assert_near(writes_ns(0), 40 + (.025 + .4) * BYTES);
    assert_near(writes_ns(0), .5 + .05 * BYTES); /* nothing again */
    reads(1);
    assert_near(writes_ns(2), 10 + (.025 + .2) * BYTES); /* core 2 revokes both copies */
}

/* Expects rows of stores to grow like a single store, which takes 10, and 5 more for each
 * further reader: 15/10 or 20/10 of the time for a single reader. To the other socket the ratio
 * is 45/40. */
static void further_readers_make_a_row_of_writes_slower(void **state)
{
    (void)state;
    machine->lines.revoke_each_ns = 5;
    hud_copies_touch(copies, 0, AT, BYTES);
    reads(1);
    reads(2);
    assert_near(writes_ns(0), 10 + (.025 + .2 * 1.5) * BYTES);
    reads(1);
    reads(OTHER);
    assert_near(writes_ns(0), 40 + (.025 + .4 * 1.125) * BYTES);
    reads(1);
    reads(2);
    assert_near(writes_ns(DIE), 20 + (.025 + .2 * 1.5) * BYTES); /* a store there takes 20, so
                                                                  * cores 0, 1 and 2 make it 30 */
}

/* Expects rows of flags to become slower, too: lines of two readers settle 4 * 1.5 apart, lines
 * of a single reader 4. */
static void further_readers_make_a_row_of_flags_slower(void **state)
{
    struct sim_lines *lines = hud_lines_create(machine);
    struct sim_line line[3];
    double settled[3];

    (void)state;
    machine->lines.store_gap_ns[MADE_UP_NUMA] = 4;
    machine->lines.revoke_each_ns = 5;
    for (int readers = 1; readers <= 2; readers++) {
        for (int i = 0; i < 3; i++) {
            line[i] = hud_line_first(0, 0);
            for (int core = 1; core <= readers; core++)
                hud_lines_load(lines, &line[i], core, 0);
        }
        for (int i = 0; i < 3; i++)
            settled[i] = hud_lines_store(lines, &line[i], 0, 1000 * readers).end_ns;
        assert_near(settled[2] - settled[0], 2 * 4 * (readers == 1 ? 1 : 1.5));
        for (int i = 0; i < 3; i++)
            hud_line_clear(&line[i]);
    }
    hud_lines_free(lines);
}

static void measured_copies_take_precedence(void **state)
{
    (void)state;
    machine->copy.retake_gbps[MADE_UP_NUMA] = 4;
    hud_copies_touch(copies, 0, AT, BYTES);
    reads(1);
    assert_near(writes_ns(0), 10 + BYTES / 4.);
    machine->copy.retake_gbps[MADE_UP_NUMA] = 100; /* the lines are fetched nevertheless */
    reads(1);
    assert_near(writes_ns(0), 10 + .1 * BYTES);
}

/* Expects the time of lines that the other core has written if the machine has neither key. */
static void without_keys_a_read_line_costs_as_much_as_a_written_one(void **state)
{
    (void)state;
    machine->lines.store_gap_ns[MADE_UP_NUMA] = 0;
    hud_copies_touch(copies, 0, AT, BYTES);
    reads(1);
    reads(2);
    assert_near(writes_ns(0), 10 + .1 * BYTES);
}

/* Returns lines if core 1 loses 1 / 8 - .1 per byte. The owner then writes lines that core 1 has
 * written, and gains .2 - .075. */
static void last_reader_returns_lines_if_that_pays(void **state)
{
    (void)state;
    hud_copies_touch(copies, 0, AT, BYTES);
    reads(1);
    assert_false(hud_copies_returns(copies, 1, 0, AT, BYTES)); /* the machine has no such figure */
    machine->copy.return_gbps[MADE_UP_NUMA] = 8;
    assert_true(hud_copies_returns(copies, 1, 0, AT, BYTES));
    assert_near(takes_ns(1, COPIES_RETURN, 0, AT), .025 * BYTES);
    assert_near(writes_ns(0), 10 + .1 * BYTES);
    machine->copy.return_gbps[MADE_UP_NUMA] = 4; /* .15 is more than .125 */
    reads(1);
    assert_false(hud_copies_returns(copies, 1, 0, AT, BYTES));
    machine->copy.return_gbps[MADE_UP_NUMA] = 12; /* no time lost */
    assert_true(hud_copies_returns(copies, 1, 0, AT, BYTES));
    assert_true(takes_ns(1, COPIES_RETURN, 0, AT) < 1e-3);
}

/* Returns lines from core 2, the last of two readers, while cores 0 and 1 have them. A single
 * store takes 15 instead of 10. */
static void last_of_several_readers_revokes_their_copies(void **state)
{
    (void)state;
    machine->lines.revoke_each_ns = 5;
    machine->copy.return_gbps[MADE_UP_NUMA] = 8;
    hud_copies_touch(copies, 0, AT, BYTES);
    reads(1);
    reads(2);
    assert_true(hud_copies_returns(copies, 2, 0, AT, BYTES));
    assert_near(takes_ns(2, COPIES_RETURN, 0, AT), .025 * 1.5 * BYTES);
    assert_near(writes_ns(0), 10 + .1 * BYTES);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(time_depends_on_the_lines_history),
        CASE(further_readers_make_a_row_of_writes_slower),
        CASE(further_readers_make_a_row_of_flags_slower),
        CASE(measured_copies_take_precedence),
        CASE(without_keys_a_read_line_costs_as_much_as_a_written_one),
        CASE(last_reader_returns_lines_if_that_pays),
        CASE(last_of_several_readers_revokes_their_copies),
    };

    return cmocka_run_group_tests_name("writes", tests, NULL, NULL);
}
