/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span.c - teams that span nodes, without an MPI: ranks are threads, whose contexts believe
 * that they are on different hosts, and messages go through a list (post.h).
 */
#include "core/team/span.h"
#include "post.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- runs ---- */

static const int *node_of;

static void run(const int *nodes, void (*body)(struct gang_member *m), const char *const *settings,
                const char *const *last)
{
    struct gang g = { .ranks = GANG_RANKS,
                      .teams = 2,
                      .messages = &post_messages,
                      .body = body,
                      .settings = { settings, settings, settings, last } };

    post_begin();
    node_of = nodes;
    gang_run(&g);
    post_end();
}

static const char *const on[] = { "HUDDLE_NODES=on", "HUDDLE_NODES_FRAGMENT=256", NULL },
                         *const off[] = { "HUDDLE_NODES=off", NULL },
                         *const other[] = { "HUDDLE_NODES=on", "HUDDLE_NODES_FRAGMENT=512", NULL };

static int call(struct gang_member *m, int team, const char *name, size_t bytes, int number)
{
    static const struct hud_op add = { 8, 1, crew_add, NULL, "add" };
    const struct crew_what what = { hud_collective(name), number, m->ranks, &add, bytes, false };
    struct crew_call *c = crew_begin(&what, m->rank);
    int status = hud_call(m->team[team].team, crew_args(c));

    MUST(m, status != HUD_OK || crew_check(c));
    MUST(m, crew_end(c));
    MUST(m, gang_agrees(m, 0, (uint64_t)status));
    return status;
}

static void settle(struct gang_member *m)
{
    m->context->host_id = (uint64_t)node_of[m->rank] + 1;
}

static const char *const moved[] = { "reduce",    "reduce_scatter", "alltoall", "alltoallv",
                                     "gather",    "gatherv",        "scatter",  "scatterv",
                                     "allgather", "allgatherv" };

/* Those that are handled are, with the right result; the others fall back on all ranks. */
static void mixed(struct gang_member *m)
{
    /* more fragments than have numbers: only a baseline would handle so many */
    const struct coll many = { .bytes = (size_t)NODES_FRAGMENT_MIN << 24 };

    settle(m);
    for (int i = 0; i < 30; i++) {
        MUST(m, call(m, 0, "bcast", (size_t)(i * i * 3 + 1), i) == HUD_OK);
        MUST(m, call(m, i % 2, "barrier", 0, i) == HUD_OK);
        MUST(m, call(m, 0, "allreduce", (size_t)(i + 1) * 8, i) == HUD_OK);
        MUST(m, call(m, 1, "bcast", 5000, i) == HUD_OK);
    }
    MUST(m, call(m, 0, "allreduce", 8192, 30) == HUD_OK);
    MUST(m, call(m, 0, "allreduce", 8200, 31) == HUD_OK);
    MUST(m, call(m, 0, "allreduce", 1000000, 34) == HUD_OK);
    MUST(m, call(m, 0, "reduce_scatter", 800000, 35) == HUD_OK);
    MUST(m, call(m, 1, "allgather", 100000, 36) == HUD_OK);
    MUST(m, call(m, 0, "allgather", 8, 37) == HUD_OK);
    MUST(m, call(m, 0, "allgatherv", 300000, 38) == HUD_OK);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        for (int bytes = 8; bytes < 200000; bytes *= 27)
            MUST(m, call(m, 0, moved[i], (size_t)bytes, bytes) == HUD_OK);
    MUST(m, call(m, 0, "scan", 8, 32) == HUD_PASS);
    MUST(m, call(m, 0, "bcast", 100000, 33) == HUD_OK);
    MUST(m, !hud_span_takes(m->team[0].team, COLL_BCAST, &many));
    gang_meet(m);
    MUST(m, post_office.active == 0 && post_office.open_calls == 2 * m->ranks);
}

static void any_layout(void **state)
{
    static const int layouts[][GANG_RANKS] = { { 0, 0, 1, 1 }, { 0, 1, 0, 1 }, { 0, 1, 2, 3 },
                                               { 0, 1, 1, 1 }, { 0, 1, 2, 1 }, { 1, 1, 1, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        run(layouts[i], mixed, on, on);
}

/* The team of one node takes more than these calls, and opens no way. */
static void one_node(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "alltoall", 8, 0) == HUD_OK);
    MUST(m, call(m, 0, "allreduce", 8200, 1) == HUD_OK);
    MUST(m, post_office.open_calls == 0);
}

static void one_node_is_as_without(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 0, 0 };

    (void)state;
    run(layout, one_node, on, on);
}

static void falls_back(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(m, call(m, 0, "bcast", 100, 1) == HUD_PASS);
    MUST(m, post_office.open_calls == 0);
}

static void all_fall_back_alike(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 1, 1 };

    (void)state;
    run(layout, falls_back, off, off);
    run(layout, falls_back, on, off);
    run(layout, falls_back, on, other);
}

static void note(void *arg)
{
    ++*(int *)arg;
}

/* ---- the network ---- */

static const struct cost_network *network(struct gang_member *m, int team)
{
    return &m->team[team].team->span->network;
}

/* In a third round of the first span; all ranks know the same. */
static void measuring(struct gang_member *m)
{
    uint64_t bits;

    settle(m);
    MUST(m, m->context->network.alpha_ns == 0);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    MUST(m, m->team[0].rounds == 3 && hud_cost_network_valid(network(m, 0)));
    memcpy(&bits, &network(m, 0)->alpha_ns, sizeof bits);
    MUST(m, gang_agrees(m, 1, bits));
    MUST(m, call(m, 1, "barrier", 0, 0) == HUD_OK);
    MUST(m, m->team[1].rounds == 2 && network(m, 1)->alpha_ns == m->context->network.alpha_ns);
    MUST(m, m->team[0].team->context->network.alpha_ns > 0);
}

static void the_network_is_measured_once(void **state)
{
    static const int layouts[][GANG_RANKS] = { { 0, 1, 0, 1 }, { 0, 1, 2, 2 }, { 0, 1, 2, 3 } };

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        run(layouts[i], measuring, on, on);
}

/* All ranks do without a span. */
static void measuring_in_vain(struct gang_member *m)
{
    settle(m);
    gang_meet(m);
    post_break();
    gang_meet(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(m, m->team[0].rounds == 3 && m->context->network.alpha_ns == 0);
    gang_meet(m);
    MUST(m, post_office.active == 0 && post_office.cancelled > 0);
}

static void a_network_that_fails_ends_the_span(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 1, 1 };

    (void)state;
    run(layout, measuring_in_vain, on, on);
    post_office.broken_rank = 0; /* the other head's wait has an end */
    run(layout, measuring_in_vain, on, on);
    post_office.broken_rank = -1;
}

static char tuning[64] = "HUDDLE_TUNING=/tmp/huddle-test-XXXXXX";
static const char *const automatic[] = { "HUDDLE_NODES=auto", tuning, NULL };
static const char *const ordered[] = { "HUDDLE_NODES=auto", "HUDDLE_REDUCE_ORDER=fixed", tuning,
                                       NULL };

/* With the network of a file, 5 us and 10 ns per byte: nothing is measured. */
static void apart(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(m, m->team[0].rounds == 2 && network(m, 0)->alpha_ns == 5000);
    MUST(m, call(m, 0, "allreduce", 8, 1) == HUD_PASS);
    MUST(m, call(m, 0, "bcast", 8, 2) == HUD_PASS);
    MUST(m, call(m, 0, "bcast", 1 << 20, 3) == HUD_OK);
    const struct span_route *r = &m->team[0].team->span->route;
    MUST(m, r->tree == SHAPE_CHAIN && r->fragment_bytes > 1000 && r->fragment_bytes < 30000);
    MUST(m, call(m, 0, "allreduce", 64 << 10, 4) == HUD_PASS);
    MUST(m, call(m, 0, "allreduce", 1 << 20, 5) == HUD_OK);
    MUST(m, call(m, 0, "allgather", 1 << 10, 6) == HUD_PASS);
    MUST(m, call(m, 0, "allgather", 64 << 10, 7) == HUD_OK);
    MUST(m, call(m, 0, "reduce_scatter", 256 << 10, 8) == HUD_OK);
    MUST(m, call(m, 0, "reduce", 1 << 20, 9) == HUD_PASS);
}

/* No sum may depend on the placement. */
static void apart_in_order(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(m, call(m, 0, "allreduce", 8, 1) == HUD_OK);
    MUST(m, call(m, 0, "reduce", 8, 2) == HUD_OK);
    MUST(m, call(m, 0, "bcast", 8, 3) == HUD_PASS);
}

static void together(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    MUST(m, call(m, 0, "allreduce", 8, 1) == HUD_OK);
    MUST(m, call(m, 0, "bcast", 8, 2) == HUD_OK);
}

static void what_gains_nothing_is_the_hosts(void **state)
{
    static const int alone[GANG_RANKS] = { 0, 1, 2, 3 }, in_two[GANG_RANKS] = { 0, 1, 1, 0 };
    static const char text[] = "[network]\nalpha_ns = 5000\nbeta_ps = 10000\noverhead_ns = 2000\n";
    char *path = strchr(tuning, '=') + 1;
    int fd = mkstemp(path);

    (void)state;
    assert_true(write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    run(alone, apart, automatic, automatic);
    run(alone, apart_in_order, ordered, ordered);
    run(in_two, together, automatic, automatic);
    unlink(path);
}

/* ---- requests, failures ---- */

/* Requests are the host's own, also one that sets the team up.  It does not measure the network. */
static void requests(struct gang_member *m)
{
    struct hud_args args = { .collective = hud_collective("barrier") };
    int passed = 0, done = 0, status = HUD_OK;
    hud_request *r;

    settle(m);
    MUST(m, hud_request_create(m->team[0].team, &args, &(struct hud_passed){ note, &passed }, &r) ==
                HUD_OK);
    MUST(m, hud_request_start(r) == HUD_OK);
    while (!done)
        status = hud_request_test(r, &done);
    MUST(m, status == HUD_PASS && passed == 1);
    MUST(m, network(m, 0)->alpha_ns == hud_cost_network_usual.alpha_ns);
    MUST(m, call(m, 1, "barrier", 0, 0) == HUD_OK);
    MUST(m, m->team[1].rounds == 3 && m->context->network.alpha_ns > 0);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    MUST(m, hud_request_start(r) == HUD_PASS);
    hud_request_free(r);
}

static void requests_are_the_hosts(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 1, 1, 0 };

    (void)state;
    run(layout, requests, on, on);
}

/* A message that cannot arrive ends the call on all ranks of the node, and the span. */
static void failing(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    gang_meet(m);
    post_break();
    gang_meet(m);
    MUST(m, call(m, 0, "barrier", 0, 1) == HUD_ERR_FAILED);
    MUST(m, call(m, 0, "barrier", 0, 2) == HUD_ERR_FAILED);
    MUST(m, post_office.active == 0 && post_office.cancelled > 0);
}

static void failures_end_the_span(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 1, 1 };

    (void)state;
    run(layout, failing, on, on);
}

/* One rank has no memory for a call: those of other nodes leave it, and nobody makes a later
 * one.  What no rank's huddle takes is the host's all the same. */
static void one_lacks_memory(struct gang_member *m)
{
    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    MUST(m, hud_request_fail(m->team[0].team) == HUD_PASS);
    int status = m->rank == 3 ? hud_team_fail(m->team[0].team) : hud_barrier(m->team[0].team);
    MUST(m, status == HUD_ERR_MEMORY);
    MUST(m, call(m, 0, "bcast", 100, 1) == HUD_ERR_MEMORY);
    MUST(m, call(m, 0, "scan", 8, 2) == HUD_PASS);
    MUST(m, hud_team_fail(m->team[0].team) == HUD_ERR_MEMORY);
    MUST(m, call(m, 1, "bcast", 100, 3) == HUD_OK);
}

/* One that only sends finds it out after some calls. */
static void one_only_sends(struct gang_member *m)
{
    int status = HUD_OK, calls = 0;

    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    if (m->rank == 3)
        MUST(m, hud_team_fail(m->team[0].team) == HUD_ERR_MEMORY);
    gang_meet(m);
    while (m->rank == 0 && status == HUD_OK && calls++ < 100) {
        char byte = 1;
        status = hud_bcast(m->team[0].team, &(struct hud_view){ .base = &byte, .bytes = 1 }, 0);
    }
    MUST(m, m->rank != 0 || (status == HUD_ERR_MEMORY && calls > 1));
}

/* One says that it sends more than it gets. */
static void one_differs_from_itself(struct gang_member *m)
{
    char from[4 * GANG_RANKS] = "", to[4 * GANG_RANKS] = "";
    const struct hud_view in = { .base = from, .bytes = sizeof from / (m->rank == 3 ? 2 : 1) },
                          out = { .base = to, .bytes = sizeof to };

    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    MUST(m, hud_alltoall(m->team[0].team, &in, &out) == HUD_ERR_TRUNCATE);
    MUST(m, call(m, 0, "alltoall", 8, 1) == HUD_ERR_TRUNCATE);
}

static void who_cannot_make_a_call_tells_all_nodes(void **state)
{
    static const int in_two[GANG_RANKS] = { 0, 0, 1, 1 }, alone[GANG_RANKS] = { 0, 1, 2, 3 };

    (void)state;
    run(in_two, one_lacks_memory, on, on);
    run(alone, one_lacks_memory, on, on);
    run(alone, one_only_sends, on, on);
    run(in_two, one_differs_from_itself, on, on);
}

/* A message of another length than a rank expects is of another call. */
static void lengths_differ(struct gang_member *m)
{
    bool more = m->rank == 0;
    char data[64] = "";
    const struct hud_view view = { .base = data, .bytes = more ? 64 : 32 };

    settle(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_OK);
    int status = hud_bcast(m->team[0].team, &view, 0);
    MUST(m, more || status == HUD_ERR_TRUNCATE);
    gang_meet(m);
    MUST(m, call(m, 1, "barrier", 0, 1) == HUD_OK);
}

static void a_message_that_is_too_long_is_an_error(void **state)
{
    static const int alone[GANG_RANKS] = { 0, 1, 2, 3 };

    (void)state;
    run(alone, lengths_differ, on, on);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_layout),
                                        cmocka_unit_test(one_node_is_as_without),
                                        cmocka_unit_test(all_fall_back_alike),
                                        cmocka_unit_test(the_network_is_measured_once),
                                        cmocka_unit_test(a_network_that_fails_ends_the_span),
                                        cmocka_unit_test(what_gains_nothing_is_the_hosts),
                                        cmocka_unit_test(requests_are_the_hosts),
                                        cmocka_unit_test(failures_end_the_span),
                                        cmocka_unit_test(who_cannot_make_a_call_tells_all_nodes),
                                        cmocka_unit_test(a_message_that_is_too_long_is_an_error) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
