/* SPDX-License-Identifier: BSD-3-Clause */
/* test_topo_place.c - the units of processors and ranks on described machines, levels switched off,
 * and the description of a machine as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/query/answers.h"
#include "topo_machines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void processors_are_in_the_expected_units(void **state)
{
    struct topo *t = hud_topo_load_described("pack:2 numa:2 core:4 pu:1"); /* 16 processors */
    struct topo_cpus cpus;

    (void)state;
    assert_non_null(t);
    cpus = cpus_of(4, 7);
    assert_int_equal(hud_topo_unit(t, 0, &cpus), 1);
    assert_int_equal(hud_topo_unit(t, 1, &cpus), 0);
    cpus = cpus_of(2, 5); /* half of two nodes of a socket */
    assert_int_equal(hud_topo_unit(t, 0, &cpus), -1);
    assert_int_equal(hud_topo_unit(t, 1, &cpus), 0);
    cpus = cpus_of(0, 15);
    assert_int_equal(hud_topo_unit(t, 1, &cpus), -1);
    cpus = cpus_of(15, 16); /* a processor that the machine does not have */
    assert_int_equal(hud_topo_unit(t, 0, &cpus), -1);
    cpus = cpus_of(1, 0); /* no processor */
    assert_int_equal(hud_topo_unit(t, 0, &cpus), -1);
    memset(&cpus, -1, sizeof cpus);
    assert_int_equal(hud_topo_unit(t, 0, &cpus), -1);
    hud_topo_free(t);
}

/* Uses sockets that are NUMA nodes and share an L3: a level with three names, which is switched off
 * when all names are. */
static void level_is_ignored_if_all_its_names_are(void **state)
{
    struct topo *t = hud_topo_load_described("pack:2 numa:1 l3:1 core:4 pu:1");
    char names[SHAPE_LEVELS][TOPO_NAME];
    struct shape_place place;

    (void)state;
    assert_non_null(t);
    assert_int_equal(hud_topo_levels(t), 1);
    assert_int_equal(hud_topo_kept(t, "l2,l3,die,group,socket", names), 1);
    assert_string_equal(names[0], "numa");
    assert_int_equal(hud_topo_kept(t, "l2,l3,die,group,numa", names), 1);
    assert_string_equal(names[0], "socket");
    assert_int_equal(hud_topo_kept(t, "socket,numa", names), 1);
    assert_string_equal(names[0], "l3");
    assert_int_equal(hud_topo_place(t, NULL, 0, "socket,numa", &place), 0);
    assert_int_equal(place.levels, 1);
    free((void *)(uintptr_t)place.unit);
    assert_int_equal(hud_topo_kept(t, "numa,l3,socket", names), 0);
    assert_int_equal(hud_topo_place(t, NULL, 0, "numa,l3,socket", &place), 0);
    assert_int_equal(place.levels, 0);
    free((void *)(uintptr_t)place.unit);
    hud_topo_free(t);
}

static void levels_may_be_switched_off(void **state)
{
    struct topo *t = hud_topo_load_described("pack:2 numa:2 l3:2 core:2 pu:1");
    struct topo_cpus cpus[2] = { cpus_of(0, 0), cpus_of(4, 4) };
    char names[SHAPE_LEVELS][TOPO_NAME];
    struct shape_place place;

    (void)state;
    assert_non_null(t);
    assert_int_equal(hud_topo_kept(t, NULL, names), 3);
    assert_string_equal(names[0], "l3");
    assert_int_equal(hud_topo_kept(t, "", names), 3);
    assert_int_equal(hud_topo_kept(t, "l3,socket", names), 1);
    assert_string_equal(names[0], "numa");
    assert_int_equal(hud_topo_kept(t, "numa,l3,socket,die", names), 0);
    assert_int_equal(hud_topo_place(t, cpus, 2, "l3,socket", &place), 0);
    assert_int_equal(place.levels, 1);
    assert_int_equal(place.ranks, 2);
    assert_int_equal(place.unit[0], 0);
    assert_int_equal(place.unit[1], 1);
    free((void *)(uintptr_t)place.unit);
    hud_topo_free(t);

    assert_true(hud_topo_names_valid(NULL) && hud_topo_names_valid("") &&
                hud_topo_names_valid("l2,l3,die,group,numa,socket"));
    assert_false(hud_topo_names_valid("l4") || hud_topo_names_valid("numa,") ||
                 hud_topo_names_valid(",") || hud_topo_names_valid("num") ||
                 hud_topo_names_valid("numa socket"));
}

/* Groups ranks on the Kunpeng: bound to cores, to a NUMA node, to a socket, to nothing, and across
 * two NUMA nodes. */
static void ranks_with_mixed_bindings_are_grouped(void **state)
{
    struct topo *t = hud_topo_load_described(KUNPENG);
    const struct topo_cpus cpus[] = { cpus_of(0, 0),   cpus_of(1, 1),   cpus_of(0, 31),
                                      cpus_of(0, 63),  cpus_of(0, 127), cpus_of(30, 33),
                                      cpus_of(64, 64), cpus_of(96, 99), cpus_of(98, 99) };
    /* group (0,1)(7,8), numa (0,2), socket 0 (0,3,5), socket 1 (6,7); rank 4 joins at the top */
    static const int leader[][9] = { { 0, 0, 2, 3, 4, 5, 6, 7, 7 },
                                     { 0, -1, 0, 3, 4, 5, 6, 7, -1 },
                                     { 0, -1, -1, 0, 4, 0, 6, 6, -1 },
                                     { 0, -1, -1, -1, 0, -1, 0, -1, -1 } };
    struct shape_place place;
    struct shape_groups g;

    (void)state;
    assert_non_null(t);
    assert_int_equal(hud_topo_place(t, cpus, 9, "", &place), 0);
    assert_int_equal(hud_shape_groups_build(&place, &g), 0);
    assert_int_equal(g.levels, 4);
    for (int l = 0; l < g.levels; l++)
        for (int r = 0; r < 9; r++) {
            int of = g.level[l].group_of[r];
            assert_int_equal(of < 0 ? -1 : g.level[l].members[g.level[l].first[of]], leader[l][r]);
        }
    hud_shape_groups_free(&g);
    free((void *)(uintptr_t)place.unit);
    hud_topo_free(t);
}

/* Expects L3 before L2, and the cache with most ranks. Ranks not bound to a single cache are
 * spread. */
static void ranks_share_the_largest_common_cache(void **state)
{
    static const struct {
        const char *machine;
        struct {
            int first, last;
        } rank[4];
        int ranks;
        uint64_t bytes;
    } rows[] = {
        { "pack:2 l3:1(size=32MB) l2:4(size=1MB) core:1 pu:1",
          { { 0, 0 }, { 1, 1 }, { 4, 4 } },
          3,
          16000000 },
        { "pack:2 l3:1(size=32MB) l2:4(size=1MB) core:1 pu:1",
          { { 0, 0 }, { 4, 4 } },
          2,
          32000000 },
        { "pack:2 l3:1(size=32MB) l2:4(size=1MB) core:1 pu:1",
          { { 0, 7 }, { 0, 7 }, { 0, 7 }, { 0, 3 } },
          4,
          32000000 / 3 },
        { "pack:2 l2:4(size=1MB) core:2 pu:1", { { 0, 0 }, { 1, 1 } }, 2, 500000 },
        { "pack:2 core:2 pu:1", { { 0, 0 }, { 1, 1 } }, 2, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct topo *t = hud_topo_load_described(rows[i].machine);
        struct topo_cpus cpus[4];
        assert_non_null(t);
        for (int r = 0; r < rows[i].ranks; r++)
            cpus[r] = cpus_of(rows[i].rank[r].first, rows[i].rank[r].last);
        struct topo_caches caches = hud_topo_caches(t);
        int unit[4];
        hud_topo_cache_units(t, cpus, rows[i].ranks, unit);
        assert_int_equal(hud_topo_cache_share(&caches, unit, rows[i].ranks), rows[i].bytes);
        hud_topo_free(t);
    }
}

static void machine_is_described_as_json(void **state)
{
    struct topo *t = hud_topo_load_described(KUNPENG);
    char *text;
    json_t *machine;
    const char *name, *also, *unit, *near;
    int sockets, cores, node;
    json_int_t bytes;

    (void)state;
    assert_non_null(t);
    text = hud_topo_json(t);
    assert_non_null(text);
    machine = json_loads(text, 0, NULL);
    assert_non_null(machine);
    assert_int_equal(json_array_size(json_object_get(machine, "numa_nodes")), 4);
    assert_int_equal(json_array_size(json_object_get(machine, "levels")), 3);
    assert_int_equal(json_unpack(json_array_get(json_object_get(machine, "numa_nodes"), 3),
                                 "{s:i, s:I, s:s}", "node", &node, "bytes", &bytes, "processors",
                                 &near),
                     0);
    assert_int_equal(node, 3);
    assert_int_equal(bytes, 126000000000LL);
    assert_string_equal(near, "96-127");
    assert_int_equal(json_unpack(machine, "{s:i, s:i, s:[{}, {s:s, s:[s!], s:[s, s]}]}", "sockets",
                                 &sockets, "cores", &cores, "levels", "name", &name, "also", &also,
                                 "units", &unit, &near),
                     0);
    assert_int_equal(sockets, 2);
    assert_int_equal(cores, 128);
    assert_string_equal(name, "numa");
    assert_string_equal(also, "l3");
    assert_string_equal(unit, "0-31");
    assert_string_equal(near, "32-63");
    json_decref(machine);
    free(text);
    hud_topo_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_in_the_expected_units),
        cmocka_unit_test(levels_may_be_switched_off),
        cmocka_unit_test(level_is_ignored_if_all_its_names_are),
        cmocka_unit_test(ranks_with_mixed_bindings_are_grouped),
        cmocka_unit_test(machine_is_described_as_json),
        cmocka_unit_test(ranks_share_the_largest_common_cache),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
