/* SPDX-License-Identifier: BSD-3-Clause */
/* test_place.c - the table that a process keeps of an earlier team. It gives the same answer for a
 * later team as the machine itself, and no answer if it does not contain all processors of the
 * team. */
#include "core/job/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "topo_machines.h"

enum { RANKS = 24, TABLE_BYTES = 2048 };

static const char *const MACHINES[] = {
    KUNPENG,
    "pack:2 l3:2(size=32MB) l2:4(size=1MB) core:1 pu:2",
    "pack:2 l2:8(size=1MB) core:1 pu:1", /* no level is that of a cache */
    "pack:1 l3:1(size=8MB) core:4 pu:1", /* no levels */
    "pack:2 core:4 pu:1",                /* no caches */
};

union hellos {
    union hello of[RANKS];
};

struct table {
    union {
        struct place_table fields;
        char bytes[TABLE_BYTES];
    };
};

static struct places places;

static int forget(void **state)
{
    (void)state;
    free(places.table);
    places = (struct places){ .ranks = 0 };
    return 0;
}

/* Returns a processor, two neighbors, or the whole machine. */
static struct topo_cpus any_cpus(const struct topo *t)
{
    int first = rand() % 16, width = rand() % 3;
    struct topo_cpus all;

    hud_topo_all(t, &all);
    return width < 2 ? cpus_of(first, first + width) : all;
}

static void see(const struct topo *t, const char *off, const union hello *hello, int ranks,
                struct place_table *table)
{
    memset(table, 0, TABLE_BYTES);
    hud_place_see(t, off, hello, ranks, table);
    assert_int_equal(table->seen, 1);
}

/* Keeps the table of a team, like a member of the team does. */
static void keep(const struct topo *t, const char *off, const union hello *hello, int ranks)
{
    struct table seen;
    struct place_table *copy = calloc(1, hud_place_kept_bytes(ranks));

    assert_non_null(copy);
    see(t, off, hello, ranks, &seen.fields);
    hud_place_read(&seen.fields, ranks, copy);
    hud_place_keep(&places, &copy, hello, ranks);
    free(copy);
}

static void table_is_recalled_for_a_part_of_the_ranks(void **state)
{
    static const char *const off[] = { "", "numa", "l3,l2", "l2,l3,die,group,numa,socket" };
    static union hellos team, part;

    srand(1);
    for (int turn = 0; turn < 400; turn++) {
        struct topo *t = hud_topo_load_described(MACHINES[turn % 5]);
        int ranks = 1 + rand() % RANKS;
        const char *without = off[rand() % 4];
        struct table seen, recalled = { .bytes = { 0 } };

        assert_non_null(t);
        for (int r = 0; r < RANKS; r++)
            team.of[r].fields.cpus = any_cpus(t);
        keep(t, without, team.of, RANKS);
        for (int r = 0; r < ranks; r++)
            part.of[r].fields.cpus = team.of[rand() % RANKS].fields.cpus;
        see(t, without, part.of, ranks, &seen.fields);
        assert_true(hud_place_recall(&places, part.of, ranks, &recalled.fields));
        assert_memory_equal(&recalled, &seen, sizeof seen);
        hud_topo_free(t);
        forget(state);
    }
}

/* Rejects unknown processors, also if their numbers differ from known processors by a multiple of a
 * word's width. */
static void table_is_not_recalled_for_unknown_processors(void **state)
{
    struct topo *t = hud_topo_load_described(KUNPENG);
    static union hellos team;
    struct table table;

    (void)state;
    assert_non_null(t);
    assert_false(hud_place_recall(&places, team.of, 1, &table.fields));
    team.of[0].fields.cpus = cpus_of(63, 63);
    team.of[1].fields.cpus = cpus_of(0, 3);
    keep(t, "", team.of, 2);
    assert_true(hud_place_recall(&places, team.of, 2, &table.fields));
    team.of[1].fields.cpus = cpus_of(127, 127);
    assert_false(hud_place_recall(&places, team.of, 2, &table.fields));
    assert_true(hud_place_recall(&places, team.of, 1, &table.fields));
    hud_topo_free(t);
}

static void table_of_the_largest_team_is_kept(void **state)
{
    struct topo *t = hud_topo_load_described(KUNPENG);
    static union hellos team, other;
    struct table table;
    struct place_table *unseen = calloc(1, hud_place_kept_bytes(RANKS));

    (void)state;
    assert_non_null(t);
    assert_non_null(unseen);
    for (int r = 0; r < 3; r++)
        team.of[r].fields.cpus = cpus_of(r, r);
    for (int r = 0; r < RANKS; r++)
        other.of[r].fields.cpus = cpus_of(32 + r, 32 + r);
    keep(t, "", team.of, 2);
    keep(t, "", other.of, 1); /* smaller */
    assert_true(hud_place_recall(&places, team.of, 2, &table.fields));
    keep(t, "", other.of, 2);
    assert_true(hud_place_recall(&places, other.of, 2, &table.fields));
    keep(t, "", team.of, 3);
    assert_true(hud_place_recall(&places, team.of, 3, &table.fields));
    hud_place_keep(&places, &unseen, other.of, RANKS); /* rank 0 has no machine */
    assert_false(hud_place_recall(&places, other.of, 1, &table.fields));
    free(unseen);
    hud_topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(table_is_recalled_for_a_part_of_the_ranks, forget),
        cmocka_unit_test_teardown(table_is_not_recalled_for_unknown_processors, forget),
        cmocka_unit_test_teardown(table_of_the_largest_team_is_kept, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
