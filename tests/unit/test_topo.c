/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topo.c - active levels of described machines, of saved real machines if available (in the
 * folder HUDDLE_TEST_TOPOLOGIES), and of this machine.
 */
#define _GNU_SOURCE /* setenv, sched_setaffinity */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/query/answers.h"
#include "topo/no_plugins.h"
#include "topo_machines.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int unit_of(const struct topo *t, int level, int cpu)
{
    struct topo_cpus cpus = cpus_of(cpu, cpu);

    return hud_topo_unit(t, level, &cpus);
}

/* Expects the names and numbers of units of all levels, lowest first, like "l3:16 numa:2". */
static void expect_levels(const struct topo *t, const char *wanted)
{
    char text[256] = "";

    for (int l = 0; l < hud_topo_levels(t); l++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%d", l ? " " : "",
                 hud_topo_level_name(t, l), hud_topo_level_units(t, l));
    assert_string_equal(text, wanted);
}

/* Checks that units are numbered 0, 1, ... in the order of their processors, and no higher level
 * splits a unit of a lower level. */
static void check_nesting(const struct topo *t)
{
    for (int l = 0; l < hud_topo_levels(t); l++) {
        int above[TOPO_CPUS], seen = 0;

        for (int c = 0; c < TOPO_CPUS; c++) {
            int unit = unit_of(t, l, c),
                higher = l + 1 < hud_topo_levels(t) ? unit_of(t, l + 1, c) : 0;

            assert_true(unit <= seen);
            if (unit == seen)
                above[seen++] = higher;
            assert_true(unit < 0 || above[unit] == higher);
        }
        assert_int_equal(seen, hud_topo_level_units(t, l));
    }
}

static void synthetic_machines_have_expected_levels(void **state)
{
    static const struct {
        const char *machine, *levels;
    } rows[] = {
        { "core:1 pu:1", "" },
        { "pack:1 core:1 pu:2", "" },
        { "pack:1 [numa] l3:1 core:8 pu:2", "" },  /* every level is the whole machine */
        { "pack:2 l2:4 core:1 pu:2", "socket:2" }, /* L2 is shared by threads of a core only */
        { "pack:1 l2:4 core:2 pu:1", "l2:4" },     /* clusters of two cores */
        { "pack:2 [numa] core:4 pu:2", "numa:2" }, /* a socket that is a NUMA node counts as a
                                                    * node */
        { "pack:2 numa:2 core:32 pu:1", "numa:4 socket:2" }, /* the paper's machine */
        { KUNPENG, "group:32 numa:4 socket:2" }, /* L3 = NUMA node; clusters of 4 cores below */
        { "pack:2 [numa] l3:8 core:8 pu:2", "l3:16 numa:2" }, /* EPYC, one node per socket */
        { "pack:2 group:4 [numa] l3:2 core:8 pu:2",
          "l3:16 numa:8 socket:2" },                      /* EPYC, four nodes per socket */
        { "pack:2 die:2 core:4 pu:1", "die:4 socket:2" }, /* dies without their own memory */
        { "group:2 [numa] pack:2 core:4 pu:1", "socket:4 numa:2" }, /* nodes above sockets */
        { "[numa] pack:2 [numa] core:4 pu:1", "numa:2" }, /* additional memory of the whole
                                                           * machine */
        { "pack:2 [numa][numa(memory=16GB)] l3:2 core:4 pu:1",
          "l3:4 numa:2" }, /* two kinds of memory */
        { "pack:2 [numa] group:2 [numa] core:4 pu:1",
          "numa:4 socket:2" }, /* a kind of memory per socket, and one per half */
        { "group:2 group:2 pack:2 die:2 [numa] l3:2 l2:2 core:2 pu:1",
          "l2:64 l3:32 numa:16 socket:8 group:4 group:2" },
        { "pack:2 core:1 pu:2", "" }, /* sockets of one core */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topo *t = hud_topo_load_described(rows[i].machine);

        assert_non_null(t);
        expect_levels(t, rows[i].levels);
        check_nesting(t);
        hud_topo_free(t);
    }
    assert_null(hud_topo_load_described("pack:nonsense"));
    assert_null(hud_topo_load_described("/nowhere/machine.xml"));
}

/* Rejects descriptions for which hwloc would take hours or the whole memory. Large useful machines
 * are accepted. */
static void too_large_descriptions_are_rejected(void **state)
{
    static const char *const refused[] = { "pack:100000 core:100 pu:1",
                                           "2000 2000 1",
                                           "pack:64 numa:2 l3:1 core:16 pu:3",
                                           "numa:2000 core:1 pu:1",
                                           "pack:1 core:1 pu:99999999999999999999999",
                                           "pack:200 co(e:999 pu:2",
                                           "pack:200) core:999 pu:2",
                                           "pack:2000 [numa] core:1 pu:1" };
    struct topo *t;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_null(hud_topo_load_described(refused[i]));
    t = hud_topo_load_described("pack:16 [numa(memory=99999999)] l3:16 core:16 pu:1");
    assert_non_null(t);
    hud_topo_free(t);
}

/* Verifies that neither the order of the processors nor HWLOC_* variables of the job affect a
 * description. */
static void interleaved_processors_are_placed_by_index(void **state)
{
    struct topo *t;

    (void)state;
    setenv("HWLOC_SYNTHETIC", "pack:1 core:1 pu:1", 1);
    t = hud_topo_load_described("pack:2 [numa] core:4 pu:1(indexes=1,3,5,7,0,2,4,6)");
    unsetenv("HWLOC_SYNTHETIC");
    assert_non_null(t);
    expect_levels(t, "numa:2");
    for (int c = 0; c < 8; c++)
        assert_int_equal(unit_of(t, 0, c), c % 2);
    hud_topo_free(t);
}

static bool is_mapped(const char *part)
{
    char line[PATH_MAX + 128];
    FILE *f = fopen("/proc/self/maps", "r");
    bool is = false;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        is = is || strstr(line, part);
    fclose(f);
    return is;
}

/* Expects no plugin of hwloc. Must be the first of all tests, because later tests read
 * descriptions, which load plugins. */
static void hwloc_loads_no_plugins(void **state)
{
    (void)state;
    setenv("HWLOC_PLUGINS_PATH", "/nowhere/of/the/user", 1);
    hud_topo_free(hud_topo_load());
    assert_string_equal(getenv("HWLOC_PLUGINS_PATH"), "/nowhere/of/the/user");
    unsetenv("HWLOC_PLUGINS_PATH");
    struct topo *t = hud_topo_load();
    assert_non_null(t);
    assert_false(is_mapped("/hwloc_"));
    hud_topo_free(t);
    assert_null(getenv("HWLOC_PLUGINS_PATH"));
}

static void plugins_path_changed_meanwhile_is_kept(void **state)
{
    (void)state;
    for (int had = 0; had < 2; had++) {
        unsetenv("HWLOC_PLUGINS_PATH");
        if (had)
            setenv("HWLOC_PLUGINS_PATH", "/theirs", 1);
        assert_true(hud_no_plugins_begin());
        setenv("HWLOC_PLUGINS_PATH", "/of/a/thread", 1);
        hud_no_plugins_end();
        assert_string_equal(getenv("HWLOC_PLUGINS_PATH"), "/of/a/thread");
        assert_true(hud_no_plugins_begin());
        unsetenv("HWLOC_PLUGINS_PATH");
        hud_no_plugins_end();
        assert_null(getenv("HWLOC_PLUGINS_PATH"));
    }
}

/* Clears the environment meanwhile, which must stay so at the end. */
static void environment_cleared_meanwhile_stays_cleared(void **state)
{
    char **all = environ;

    (void)state;
    assert_true(hud_no_plugins_begin());
    environ = NULL; /* clearenv() does the same */
    hud_no_plugins_end();
    assert_null(environ);
    environ = all;
}

/* Changes, adds and removes variables meanwhile, which must affect the process's environment. */
static void changes_of_the_environment_meanwhile_are_kept(void **state)
{
    (void)state;
    for (int add = 0; add < 2; add++) {
        setenv("HUD_TEST_CHANGED", "before", 1);
        setenv("HUD_TEST_REMOVED", "", 1);
        unsetenv("HUD_TEST_ADDED");
        assert_true(hud_no_plugins_begin());
        assert_non_null(getenv("HWLOC_PLUGINS_PATH"));
        assert_string_equal(getenv("HUD_TEST_CHANGED"), "before");
        setenv("HUD_TEST_CHANGED", "after", 1);
        unsetenv("HUD_TEST_REMOVED");
        if (add)
            setenv("HUD_TEST_ADDED", "", 1);
        hud_no_plugins_end();
        assert_null(getenv("HWLOC_PLUGINS_PATH"));
        assert_null(getenv("HUD_TEST_REMOVED"));
        assert_string_equal(getenv("HUD_TEST_CHANGED"), "after");
        assert_int_equal(getenv("HUD_TEST_ADDED") != NULL, add);
    }
}

/* An object of the dump below, with the objects within it. */
#define OBJECT(type, index, cpus, node, within)                                                    \
    "<object type=\"" type "\" os_index=\"" index "\" cpuset=\"" cpus "\" complete_cpuset=\"" cpus \
    "\" nodeset=\"" node "\" complete_nodeset=\"" node                                             \
    "\" allowed_cpuset=\"0x3\" allowed_nodeset=\"0x1\">\n" within "</object>\n"
#define CORE(index, cpu, node) OBJECT("Core", index, cpu, node, OBJECT("PU", index, cpu, node, ""))

/*
 * Sockets of two cores each, 0-1 2-3 4-5. The first has memory per core, and the others share a
 * node, so nodes and sockets do not nest, and the nodes take precedence. The process that saved the
 * dump was allowed processors 0 and 1 only.
 */
#define MACHINE(cpus, nodes, within)                                                               \
    "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "               \
    "version=\"2.0\">\n" OBJECT("Machine", "0", cpus, nodes, within) "</topology>"

static const char odd_nodes[] = MACHINE(
    "0x3f", "0x7",
    OBJECT("Package", "0", "0x3", "0x3",
           OBJECT("Group", "10", "0x1", "0x1",
                  OBJECT("NUMANode", "0", "0x1", "0x1", "") CORE("0", "0x1", "0x1"))
               OBJECT("Group", "11", "0x2", "0x2",
                      OBJECT("NUMANode", "1", "0x2", "0x2", "") CORE("1", "0x2", "0x2")))
        OBJECT("Group", "12", "0x3c", "0x4",
               OBJECT("NUMANode", "2", "0x3c", "0x4", "") OBJECT(
                   "Package", "1", "0xc", "0x4", CORE("2", "0x4", "0x4") CORE("3", "0x8", "0x4"))
                   OBJECT("Package", "2", "0x30", "0x4",
                          CORE("4", "0x10", "0x4") CORE("5", "0x20", "0x4"))));

/* Two sockets of two clusters, which are dies in the first socket and groups in the second, so
 * neither level is redundant. */
#define CLUSTER(cpus, c0, cpu0, c1, cpu1)                                                          \
    OBJECT("Group", c0, cpus, "0x1", CORE(c0, cpu0, "0x1") CORE(c1, cpu1, "0x1"))
static const char odd_dies[] = MACHINE(
    "0xff", "0x1",
    OBJECT("NUMANode", "0", "0xff", "0x1", "") OBJECT(
        "Package", "0", "0xf", "0x1",
        OBJECT("Die", "0", "0x3", "0x1", CORE("0", "0x1", "0x1") CORE("1", "0x2", "0x1"))
            OBJECT("Die", "1", "0xc", "0x1", CORE("2", "0x4", "0x1") CORE("3", "0x8", "0x1")))
        OBJECT("Package", "1", "0xf0", "0x1",
               CLUSTER("0x30", "4", "0x10", "5", "0x20")
                   CLUSTER("0xc0", "6", "0x40", "7", "0x80")));

static void expect_dump(const char *dump, const char *levels)
{
    char path[] = "/tmp/huddle-test-XXXXXX.xml";
    int fd = mkstemps(path, 4);
    struct topo *t;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, dump, strlen(dump)), strlen(dump));
    close(fd);
    t = hud_topo_load_described(path);
    unlink(path);
    assert_non_null(t);
    expect_levels(t, levels);
    check_nesting(t);
    hud_topo_free(t);
}

static void irregular_machines_have_expected_levels(void **state)
{
    (void)state;
    expect_dump(odd_nodes, "numa:3");
    expect_dump(odd_dies, "die:2 group:2 socket:2");
}

static void saved_machines_have_expected_levels(void **state)
{
    static const struct {
        const char *file, *levels;
    } rows[] = {
        { "16amd64-4distances.xml", "numa:8 group:2" },
        { "16em64t-4s2c2t-offlines.xml", "socket:4" },
        { "64intel64-3g2n+2n-irregulargroups+pci.xml",
          "numa:8 group:3" }, /* two nodes are in no group */
        { "kunpeng920-2s-128c.xml", "group:32 numa:4 socket:2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[PATH_MAX];
        struct topo *t;

        snprintf(path, sizeof path, "%s/%s", HUD_TOPOLOGIES, rows[i].file);
        t = hud_topo_load_described(path);
        assert_non_null(t);
        expect_levels(t, rows[i].levels);
        check_nesting(t);
        hud_topo_free(t);
    }
}

static void levels_of_this_machine_are_consistent(void **state)
{
    struct topo_cpus all, one, now;
    struct topo *t = hud_topo_load();

    (void)state;
    assert_non_null(t);
    check_nesting(t);
    hud_topo_allowed(&all);
    assert_in_range(hud_topo_cpus_count(&all), 1, TOPO_CPUS);
    for (int c = 0; c < TOPO_CPUS; c++) {
        one = cpus_of(c, c);
        if (!(all.word[c / 64] >> (c % 64) & 1) ||
            sched_setaffinity(0, sizeof one, (cpu_set_t *)&one))
            continue;
        hud_topo_allowed(&now);
        assert_memory_equal(&now, &one, sizeof one);
        assert_int_equal(hud_topo_cpus_count(&now), 1);
        for (int l = 0; l < hud_topo_levels(t); l++)
            assert_true(hud_topo_unit(t, l, &now) < hud_topo_level_units(t, l));
    }
    sched_setaffinity(0, sizeof all, (cpu_set_t *)&all);
    assert_true(hud_topo_numa_nodes() >= 1);
    assert_true(hud_topo_home_node(&all) >= 0 || hud_topo_numa_nodes() > 1);
    assert_true(hud_topo_cpu_quota() >= 1);
    hud_topo_free(t);
}

/* Binds rank 0 to a processor. The other ranks' processors must still be found. */
static void all_processors_are_found_while_bound(void **state)
{
    struct topo_cpus all, one = { { 0 } }, after;
    struct topo *whole = hud_topo_load(), *bound;
    char *a, *b;

    (void)state;
    hud_topo_allowed(&all);
    for (int c = TOPO_CPUS - 1; c >= 0; c--)
        if (all.word[c / 64] >> (c % 64) & 1)
            one = cpus_of(c, c);
    assert_int_equal(sched_setaffinity(0, sizeof one, (cpu_set_t *)&one), 0);
    bound = hud_topo_load();
    hud_topo_allowed(&after);
    sched_setaffinity(0, sizeof all, (cpu_set_t *)&all);
    assert_memory_equal(&after, &one, sizeof one);
    assert_non_null(whole);
    assert_non_null(bound);
    a = hud_topo_json(whole);
    b = hud_topo_json(bound);
    assert_string_equal(a, b);
    free(a);
    free(b);
    hud_topo_free(whole);
    hud_topo_free(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthetic_machines_have_expected_levels),
        cmocka_unit_test(too_large_descriptions_are_rejected),
        cmocka_unit_test(hwloc_loads_no_plugins),
        cmocka_unit_test(changes_of_the_environment_meanwhile_are_kept),
        cmocka_unit_test(plugins_path_changed_meanwhile_is_kept),
        cmocka_unit_test(environment_cleared_meanwhile_stays_cleared),
        cmocka_unit_test(interleaved_processors_are_placed_by_index),
        cmocka_unit_test(irregular_machines_have_expected_levels),
        cmocka_unit_test(saved_machines_have_expected_levels),
        cmocka_unit_test(levels_of_this_machine_are_consistent),
        cmocka_unit_test(all_processors_are_found_while_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
