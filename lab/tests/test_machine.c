/* SPDX-License-Identifier: BSD-3-Clause */
/* test_machine.c - modeled machines: the places of cores and their distances, the field of each
 * number, and every error message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/sim/machine_rules.h"

#include <stdlib.h>
#include <string.h>

/* 2 sockets of 2 dies of 2 groups of 2 cores, a smaller Kunpeng. */
static const char small[] =
    "{'name': 'small', 'source': 'made up', 'topology': 'pack:2 l3:2 "
    "[numa(memory=1GiB)] group:2 "
    "l2:2 core:1 pu:1',"
    "'lines': {'size_bytes': 64, 'hit_ns': 1, 'post_ns': 2, 'store_entries': 7, 'add_ns': 3,"
    "  'transfer_ns': {'group': 10, 'numa': 20, 'socket': 30, 'machine': 40},"
    "  'revoke_ns': {'group': 0, 'numa': 23, 'socket': 33, 'machine': 43},"
    "  'gap_ns': {'group': 11, 'numa': 21, 'socket': 31, 'machine': 41},"
    "  'serve_ns': {'group': 12, 'numa': 22, 'socket': 32, 'machine': 42},"
    "  'store_gap_ns': {'group': 14, 'numa': 24, 'socket': 34, 'machine': 44}, 'revoke_each_ns': 5,"
    "  'fetch_add_ns': {'group': 15, 'numa': 25, 'socket': 35, 'machine': 45},"
    "  'scan_gap_ns': {'group': 16, 'numa': 26, 'socket': 36, 'machine': 46},"
    "  'hop_ns': {'group': 17, 'numa': 27, 'socket': 37, 'machine': 47},"
    "  'share': 'group', 'home_agents': 2, 'home_busy_ns': 18,"
    "  'home_ns': {'socket': 0, 'machine': 43}},"
    "'links': {'mesh_gbps': {'numa': 50}, 'port_gbps': {'group': 52}, 'port_out_gbps': {'group': "
    "54}, 'socket_gbps': 51},"
    "'copy': {'cached_gbps': {'own': 60, 'group': 61, 'numa': 62, 'socket': 63, 'machine': 64.5},"
    "  'memory_gbps': {'local': 70, 'socket': 73, 'machine': 74}, 'shared_gbps': 75, "
    "'kernel_gbps': 80, 'kernel_call_ns': 81, 'kernel_process_gbps': 82, 'kernel_other_ns': 83},"
    "'memory': {'latency_ns': {'local': 91, 'socket': 92, 'machine': 93}, 'node_gbps': 90, "
    "'streams_gbps': {'2': 55, '64': 85}}, "
    "'caches': {'shared_fill': 'victim', 'dirty_share': 'memory', 'private_bytes': 8192, "
    "'shared_level': 'numa', 'shared_bytes': 16384,"
    "  'shared_gbps': 100}, 'reduce': {'core_gbps': 110}, 'call': {'enter_ns': 120, 'data_ns': "
    "121, 'reduce_ns': 0,"
    "  'host_ns': 123, 'clock_ns': 124, 'message_ns': 125}, 'network': {'latency_ns': 130, "
    "'message_ns': 131, 'gbps': 132}}";

static json_t *parse(const char *text)
{
    char *copy = strdup(text);
    json_t *json;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json = json_loads(copy, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    free(copy);
    return json;
}

static struct sim_machine *read_small(void)
{
    char error[256] = "";
    json_t *json = parse(small);
    struct sim_machine *m = hud_machine_read(json, error, sizeof error);

    assert_string_equal(error, "");
    assert_non_null(m);
    json_decref(json);
    return m;
}

static void cores_have_the_expected_places_and_classes(void **state)
{
    static const char *const names[] = { "own", "group", "numa", "socket", "machine" };
    struct sim_machine *m = read_small();

    (void)state;
    assert_string_equal(m->name, "small");
    assert_int_equal(m->cores, 16);
    assert_int_equal(m->nodes, 4);
    assert_int_equal(m->sockets, 2);
    assert_int_equal(m->classes, 5);
    for (int c = 0; c < 5; c++)
        assert_string_equal(hud_machine_class_name(m, c), names[c]);
    for (int a = 0; a < 16; a++) {
        assert_int_equal(m->cpu[a], a);
        assert_int_equal(m->node[a], a / 4);
        assert_int_equal(m->socket[a], a / 8);
        assert_int_equal(machine_unit(m, 0, a), a / 2);
        for (int b = 0; b < 16; b++)
            assert_int_equal(machine_class(m, a, b), a == b           ? 0
                                                     : a / 2 == b / 2 ? 1
                                                     : a / 4 == b / 4 ? 2
                                                     : a / 8 == b / 8 ? 3
                                                                      : 4);
        for (int node = 0; node < 4; node++)
            assert_int_equal(machine_away(m, a, node), a / 4 == node       ? 0
                                                       : a / 8 == node / 2 ? 3
                                                                           : 4);
    }
    hud_machine_free(m);
}

static void expect_numbers(const double *numbers, double a, double b, double c, double d, double e)
{
    const double wanted[] = { a, b, c, d, e };

    for (int i = 0; i < 5; i++)
        assert_true(numbers[i] == wanted[i]);
}

static void numbers_are_read_into_their_fields(void **state)
{
    struct sim_machine *m = read_small();

    (void)state;
    expect_numbers((const double[]){ m->lines.size_bytes, m->lines.hit_ns, m->lines.post_ns,
                                     m->lines.add_ns, m->links.socket_gbps },
                   64, 1, 2, 3, 51);
    assert_true(m->lines.store_entries == 7);
    assert_true(m->copy.kernel_process_gbps == 82 && m->copy.kernel_other_ns == 83);
    expect_numbers((const double[]){ m->call.enter_ns, m->call.data_ns, m->call.reduce_ns,
                                     m->call.host_ns, m->call.clock_ns },
                   120, 121, 0, 123, 124);
    assert_true(m->call.message_ns == 125);
    assert_true(m->network.latency_ns == 130 && m->network.message_ns == 131);
    assert_true(m->network.gbps == 132);
    expect_numbers(m->lines.transfer_ns, 0, 10, 20, 30, 40);
    expect_numbers(m->lines.revoke_ns, 0, 0, 23, 33, 43);
    expect_numbers(m->lines.gap_ns, 0, 11, 21, 31, 41);
    expect_numbers(m->lines.store_gap_ns, 0, 14, 24, 34, 44);
    assert_true(m->lines.revoke_each_ns == 5);
    expect_numbers(m->lines.serve_ns, 0, 12, 22, 32, 42);
    expect_numbers(m->lines.home_ns, 0, 0, 0, 0, 43);
    expect_numbers(m->links.mesh_gbps, 0, 0, 50, 0, 0);
    expect_numbers(m->links.port_gbps, 0, 52, 0, 0, 0);
    expect_numbers(m->links.port_out_gbps, 0, 54, 0, 0, 0);
    expect_numbers(m->copy.cached_gbps, 60, 61, 62, 63, 64.5);
    expect_numbers(m->copy.memory_gbps, 70, 0, 0, 73, 74);
    expect_numbers((const double[]){ m->copy.kernel_gbps, m->copy.kernel_call_ns,
                                     m->memory.node_gbps, m->caches.private_bytes,
                                     m->caches.shared_bytes },
                   80, 81, 90, 8192, 16384);
    assert_true(m->memory.latency_ns[MACHINE_OWN] == 91 && m->memory.latency_ns[3] == 92 &&
                m->memory.latency_ns[4] == 93);
    assert_int_equal(m->caches.shared_level, 1);
    assert_true(m->caches.shared_gbps == 100 && m->copy.shared_gbps == 75);
    expect_numbers(m->lines.fetch_add_ns, 0, 15, 25, 35, 45);
    expect_numbers(m->lines.hop_ns, 0, 17, 27, 37, 47);
    expect_numbers(m->lines.scan_gap_ns, 0, 16, 26, 36, 46);
    assert_int_equal(m->lines.share, 0);
    assert_true(m->lines.home_agents == 2 && m->lines.home_busy_ns == 18);
    assert_true(m->memory.streams_gbps[1] == 0 && m->memory.streams_gbps[2] == 55 &&
                m->memory.streams_gbps[64] == 85);
    assert_int_equal(m->caches.shared_fill, MACHINE_FILL_VICTIM);
    assert_int_equal(m->caches.dirty_share, MACHINE_SHARE_MEMORY);
    assert_true(m->reduce.core_gbps == 110);
    hud_machine_free(m);
}

/* Removes optional numbers. The cost of others' copies and the latency of memory default to the
 * time of a line from there. A number given as zero stays zero. */
static void missing_numbers_get_defaults(void **state)
{
    char error[256] = "";
    json_t *json = parse(small);

    (void)state;
    json_object_del(json_object_get(json, "lines"), "revoke_ns");
    json_object_del(json_object_get(json, "lines"), "share");
    json_object_del(json_object_get(json, "memory"), "latency_ns");
    struct sim_machine *m = hud_machine_read(json, error, sizeof error);
    assert_string_equal(error, "");
    expect_numbers(m->lines.revoke_ns, 0, 10, 20, 30, 40);
    assert_true(m->memory.latency_ns[MACHINE_OWN] == 20 && m->memory.latency_ns[3] == 30 &&
                m->memory.latency_ns[4] == 40);
    assert_int_equal(m->lines.share, m->caches.shared_level);
    hud_machine_free(m);
    json_decref(json);
}

/* The text that replaces `old` in the small machine, and the expected error. */
static const struct {
    const char *old, *new, *error;
} cases[] = {
    { small, "[1]", "a machine is an object" },
    { "'name': 'small'", "'name': 7", "name: 7 (accepted: a text)" },
    { "'name': 'small',", "", "name: missing (accepted: a text)" },
    { "'source'", "'sauce'",
      "sauce: not known (accepted: name, source, topology, doubt, lines, links, copy, memory, "
      "caches, reduce, call, network)" },
    { "pack:2 l3:2", "rack:2",
      "topology: \"rack:2 [numa(memory=1GiB)] group:2 l2:2 core:1 pu:1\" is not understood "
      "(accepted: hwloc's \"pack:2 l3:1 "
      "core:8 pu:1\", or the path of an .xml; at most 4096 processors)" },
    { "pack:2 l3:2", "pack:1100",
      "topology: \"pack:1100 [numa(memory=1GiB)] group:2 l2:2 core:1 pu:1\" is not understood "
      "(accepted: hwloc's \"pack:2 l3:1 "
      "core:8 pu:1\", or the path of an .xml; at most 4096 processors)" },
    { "pu:1", "pu:2", "topology: 32 threads on 16 cores (accepted: one thread per core)" },
    { "'hit_ns': 1,", "", "lines.hit_ns: missing (accepted: 0.001 to 1000000000 ns)" },
    { "'hit_ns': 1,", "'hit_ns': 0,", "lines.hit_ns: 0 (accepted: 0.001 to 1000000000 ns)" },
    { "'hit_ns': 1,", "'hit_ns': 'fast',",
      "lines.hit_ns: \"fast\" (accepted: 0.001 to 1000000000 ns)" },
    { "'hit_ns': 1,", "'hit_ns': 1, 'miss_ns': 1,",
      "lines.miss_ns: not known (accepted: size_bytes, hit_ns, post_ns, store_entries, add_ns, "
      "fetch_add_ns, transfer_ns, hop_ns, revoke_ns, gap_ns, scan_gap_ns, store_gap_ns, "
      "revoke_each_ns, "
      "serve_ns, home_ns, share, home_agents, home_busy_ns)" },
    { "'store_entries': 7", "'store_entries': 1.5",
      "lines.store_entries: 1.5 (accepted: a whole number, 1 to 4096 entries)" },
    { "'store_entries': 7", "'store_entries': 0",
      "lines.store_entries: 0 (accepted: a whole number, 1 to 4096 entries)" },
    { "{'group': 10,", "{", "lines.transfer_ns.group: missing (accepted: 0.001 to 1000000000 ns)" },
    { "'numa': 20", "'numa': -1", "lines.transfer_ns.numa: -1 (accepted: 0.001 to 1000000000 ns)" },
    { "{'group': 10,", "{'group': 10, 'own': 1,",
      "lines.transfer_ns.own: not known of this machine (accepted: group, numa, socket, machine)" },
    { "{'socket': 0, 'machine': 43}", "5",
      "lines.home_ns: 5 (accepted: a table of socket, machine)" },
    { "'socket': 0,", "'socket': -1,", "lines.home_ns.socket: -1 (accepted: 0 to 1000000000 ns)" },
    { "'socket': 0,", "'numa': 1,",
      "lines.home_ns.numa: not known of this machine (accepted: socket, machine)" },
    { "{'numa': 50}", "{'l3': 50}",
      "links.mesh_gbps.l3: not known of this machine (accepted: group, numa, socket, machine)" },
    { ", 'socket_gbps': 51", "", "links.socket_gbps: missing (accepted: 0.001 to 1000000 GB/s)" },
    { "{'own': 60,", "{", "copy.cached_gbps.own: missing (accepted: 0.001 to 1000000 GB/s)" },
    { "'local': 70", "'numa': 70",
      "copy.memory_gbps.numa: not known of this machine (accepted: local, socket, machine)" },
    { "'private_bytes': 8192", "'nearest_bytes': 8193, 'private_bytes': 8192",
      "caches.nearest_bytes: 8193 (accepted: a number up to private_bytes, 8192)" },
    { "'size_bytes': 64", "'size_bytes': 96",
      "lines.size_bytes: 96 (accepted: a power of two, 32 to 256 bytes)" },
    { "'private_bytes': 8192", "'private_bytes': 1",
      "caches.private_bytes: 1 (accepted: a whole number, 4096 to 1099511627776 bytes)" },
    { "'shared_level': 'numa'", "'shared_level': 'l9'",
      "caches.shared_level: \"l9\" (accepted: group, numa, socket, machine)" },
    { "'shared_level': 'numa',", "",
      "caches.shared_level: missing (accepted: group, numa, socket, machine)" },
    { "'share': 'group'", "'share': 'l9'",
      "lines.share: \"l9\" (accepted: none, group, numa, socket, machine)" },
    { "'victim'", "'reads'", "caches.shared_fill: \"reads\" (accepted: read, victim)" },
    { "'dirty_share': 'memory'", "'dirty_share': 1",
      "caches.dirty_share: 1 (accepted: cache, owner, memory)" },
    { "'64': 85", "'65': 85", "memory.streams_gbps.65: not a number of cores (accepted: 1 to 64)" },
    { "'64': 85", "'02': 85", "memory.streams_gbps.02: not a number of cores (accepted: 1 to 64)" },
    { "'64': 85", "'64': 0", "memory.streams_gbps.64: 0 (accepted: 0.001 to 1000000 GB/s)" },
    { "{'2': 55, '64': 85}", "5",
      "memory.streams_gbps: 5 (accepted: a table of numbers of cores)" },
    { ", 'reduce': {'core_gbps': 110}", "", "reduce: missing (accepted: a table, [reduce])" },
};

static void invalid_descriptions_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048], error[256] = "";
        const char *at = strstr(small, cases[i].old);

        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - small), small, cases[i].new,
                 at + strlen(cases[i].old));
        json_t *json = parse(text);
        assert_null(hud_machine_read(json, error, sizeof error));
        assert_string_equal(error, cases[i].error);
        json_decref(json);
    }
}

/* Reads a machine of a single socket and node. Nothing is remote, so remote numbers are an
 * error. */
static void single_socket_has_no_remote_numbers(void **state)
{
    static const char alone[] =
        "{'name': 'alone', 'source': '', 'topology': 'pack:1 [numa] l3:2 core:2 pu:1',"
        "'lines': {'size_bytes': 64, 'hit_ns': 1, 'post_ns': 2, 'add_ns': 3, 'transfer_ns': {'l3': "
        "10, 'machine': 40},"
        "  'revoke_ns': {'l3': 0, 'machine': 0},"
        "  'gap_ns': {'l3': 11, 'machine': 41}, 'serve_ns': {'l3': 12, 'machine': 42}},"
        "'links': {%s}, 'copy': {'cached_gbps': {'own': 60, 'l3': 61, 'machine': 64},"
        "  'memory_gbps': {'local': 70}, 'shared_gbps': 75, 'kernel_gbps': 80, 'kernel_call_ns': "
        "81}, 'memory': {'node_gbps': 90},"
        "'caches': {'private_bytes': 4096, 'shared_level': 'machine', 'shared_bytes': 8192, "
        "'shared_gbps': 3},"
        "'reduce': {'core_gbps': 110}}";
    char text[2048], error[256] = "";

    (void)state;
    snprintf(text, sizeof text, alone, "");
    json_t *json = parse(text);
    struct sim_machine *m = hud_machine_read(json, error, sizeof error);
    assert_string_equal(error, "");
    assert_int_equal(m->nodes, 1);
    assert_int_equal(m->sockets, 1);
    assert_int_equal(m->caches.shared_level, -1);
    assert_int_equal(machine_away(m, 3, 0), MACHINE_OWN);
    hud_machine_free(m);
    json_decref(json);
    snprintf(text, sizeof text, alone, "'socket_gbps': 5");
    json = parse(text);
    assert_null(hud_machine_read(json, error, sizeof error));
    assert_string_equal(error, "links.socket_gbps: 5 (accepted: nothing, there is one socket)");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_have_the_expected_places_and_classes),
        cmocka_unit_test(numbers_are_read_into_their_fields),
        cmocka_unit_test(missing_numbers_get_defaults),
        cmocka_unit_test(invalid_descriptions_are_rejected),
        cmocka_unit_test(single_socket_has_no_remote_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
