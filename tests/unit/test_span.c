/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span.c - teams that span nodes, without an MPI. Ranks are threads, whose contexts have
 * different hosts, and messages go through a list (post.h).
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "calls.h"
#include "core/span/span.h"
#include "one_processor.h"
#include "post.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 4 };

/* ---- runs ---- */

/* The node of each rank. */
#define NODES(...) ((const int[RANKS]){ __VA_ARGS__ })

static const int *node_of;

static void run(const int *nodes, void (*body)(struct rank *me), const char *const *settings,
                const char *const *last)
{
    post_begin();
    node_of = nodes;
    ranks_run(&(struct ranks){ .ranks = RANKS,
                               .teams = 2,
                               .messages = &post_messages,
                               .settings = settings,
                               .of_rank = { [RANKS - 1] = last },
                               .body = body });
    post_end();
}

static const char *const on[] = { "HUDDLE_NODES=on", "HUDDLE_LAB_NODES_FRAGMENT=256", NULL },
                         *const off[] = { "HUDDLE_NODES=off", NULL },
                         *const other[] = { "HUDDLE_NODES=on", "HUDDLE_LAB_NODES_FRAGMENT=512",
                                            NULL };

static int call(struct rank *me, int team, const char *name, size_t bytes, int number)
{
    static const struct hud_op add = {
        .element_bytes = 8, .commutative = 1, .combine = add_words, .name = "add"
    };
    const struct call_what what = { hud_collective(name), number, me->ranks, &add, bytes, false };
    struct call *c = call_begin(&what, me->rank);
    int status = hud_call(me->teams[team].team, call_args(c));

    MUST(me, status != HUD_OK || call_check(c));
    MUST(me, call_end(c));
    MUST(me, ranks_agree(me, 0, (uint64_t)status));
    return status;
}

static void settle(struct rank *me)
{
    me->context->id.host_id = me->context->id.boot_id = (uint64_t)node_of[me->rank] + 1;
    me->context->host.local_ranks = 0; /* unknown, as the ranks are on other nodes now */
}

static const char *const moved[] = { "reduce",    "reduce_scatter", "alltoall", "alltoallv",
                                     "gather",    "gatherv",        "scatter",  "scatterv",
                                     "allgather", "allgatherv" };

/* Makes calls of many kinds. Handled calls must give the right result, and other calls must fall
 * back on all ranks. */
static void make_mixed_calls(struct rank *me)
{
    /* more fragments than numbers: only a baseline would handle as many */
    const struct coll many = { .bytes = (size_t)NODES_FRAGMENT_MIN << 24 };

    settle(me);
    for (int i = 0; i < 30; i++) {
        MUST(me, call(me, 0, "bcast", (size_t)(i * i * 3 + 1), i) == HUD_OK);
        MUST(me, call(me, i % 2, "barrier", 0, i) == HUD_OK);
        MUST(me, call(me, 0, "allreduce", (size_t)(i + 1) * 8, i) == HUD_OK);
        MUST(me, call(me, 1, "bcast", 5000, i) == HUD_OK);
    }
    MUST(me, call(me, 0, "allreduce", 8192, 30) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 8200, 31) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 1000000, 34) == HUD_OK);
    MUST(me, call(me, 0, "reduce_scatter", 800000, 35) == HUD_OK);
    MUST(me, call(me, 1, "allgather", 100000, 36) == HUD_OK);
    MUST(me, call(me, 0, "allgather", 8, 37) == HUD_OK);
    MUST(me, call(me, 0, "allgatherv", 300000, 38) == HUD_OK);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        for (int bytes = 8; bytes < 200000; bytes *= 27)
            MUST(me, call(me, 0, moved[i], (size_t)bytes, bytes) == HUD_OK);
    MUST(me, call(me, 0, "scan", 8, 32) == HUD_PASS);
    MUST(me, call(me, 0, "bcast", 100000, 33) == HUD_OK);
    struct span_run run;
    MUST(me, !hud_span_find(me->teams[0].team->hooks.span, COLL_BCAST, &many, &hud_span_by_model,
                            &run));
    ranks_meet(me);
    MUST(me, post_office.active == 0 && post_office.open_calls == 2 * me->ranks);
}

static void calls_are_right_for_any_placement_on_nodes(void **state)
{
    static const int layouts[][RANKS] = { { 0, 0, 1, 1 }, { 0, 1, 0, 1 }, { 0, 1, 2, 3 },
                                          { 0, 1, 1, 1 }, { 0, 1, 2, 1 }, { 1, 1, 1, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        run(layouts[i], make_mixed_calls, on, on);
}

/* Makes calls on a single node, whose team handles more calls and opens no connection. */
static void call_on_one_node(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "alltoall", 8, 0) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 8200, 1) == HUD_OK);
    MUST(me, post_office.open_calls == 0);
}

static void single_node_needs_no_span(void **state)
{
    (void)state;
    run(NODES(0, 0, 0, 0), call_on_one_node, on, on);
}

static void expect_a_fallback(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(me, call(me, 0, "bcast", 100, 1) == HUD_PASS);
    MUST(me, post_office.open_calls == 0);
}

static void all_ranks_fall_back_alike(void **state)
{
    (void)state;
    run(NODES(0, 0, 1, 1), expect_a_fallback, off, off);
    run(NODES(0, 0, 1, 1), expect_a_fallback, on, off);
    run(NODES(0, 0, 1, 1), expect_a_fallback, on, other);
}

static void note(void *arg)
{
    ++*(int *)arg;
}

/* ---- the network ---- */

static const struct cost_network *network(struct rank *me, int team)
{
    return &me->teams[team].team->hooks.span->network;
}

/* Measures the network in a third round of the first span. All ranks must get the same numbers. */
static void measure_the_network(struct rank *me)
{
    uint64_t bits;

    settle(me);
    MUST(me, me->context->plan.network.alpha_ns == 0);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, me->teams[0].rounds == 3 && hud_cost_network_valid(network(me, 0)));
    memcpy(&bits, &network(me, 0)->alpha_ns, sizeof bits);
    MUST(me, ranks_agree(me, 1, bits));
    MUST(me, call(me, 1, "barrier", 0, 0) == HUD_OK);
    MUST(me, me->teams[1].rounds == 2 &&
                 network(me, 1)->alpha_ns == me->context->plan.network.alpha_ns);
    MUST(me, me->teams[0].team->context->plan.network.alpha_ns > 0);
}

static void network_is_measured_once(void **state)
{
    static const int layouts[][RANKS] = { { 0, 1, 0, 1 }, { 0, 1, 2, 2 }, { 0, 1, 2, 3 } };

    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        run(layouts[i], measure_the_network, on, on);
}

/* Breaks messages before the measurement. All ranks must continue without a span. */
static void measure_a_broken_network(struct rank *me)
{
    settle(me);
    ranks_meet(me);
    post_break();
    ranks_meet(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(me, me->teams[0].rounds == 3 && me->context->plan.network.alpha_ns == 0);
    ranks_meet(me);
    MUST(me, post_office.active == 0 && post_office.cancelled > 0);
}

static void failing_network_prevents_the_span(void **state)
{
    (void)state;
    run(NODES(0, 0, 1, 1), measure_a_broken_network, on, on);
    post_office.broken_rank = 0; /* the wait of the other node's leader must end */
    run(NODES(0, 0, 1, 1), measure_a_broken_network, on, on);
    post_office.broken_rank = -1;
}

static char tuning[64] = "HUDDLE_TUNING=/tmp/huddle-test-XXXXXX";
static const char *const automatic[] = { "HUDDLE_NODES=auto", tuning, NULL };
static const char *const ordered[] = { "HUDDLE_NODES=auto", "HUDDLE_REDUCE_ORDER=fixed", tuning,
                                       NULL };

/* Uses the network in a file, 5 us and 10 ns per byte, which is not measured. */
static void call_over_a_slow_network(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(me, me->teams[0].rounds == 2 && network(me, 0)->alpha_ns == 5000);
    MUST(me, call(me, 0, "allreduce", 8, 1) == HUD_PASS);
    MUST(me, call(me, 0, "bcast", 8, 2) == HUD_PASS);
    MUST(me, call(me, 0, "bcast", 1 << 20, 3) == HUD_OK);
    const struct span_route *r = &me->teams[0].team->hooks.span->route;
    MUST(me, r->tree == SHAPE_CHAIN && r->fragment_bytes > 1000 && r->fragment_bytes < 30000);
    MUST(me, call(me, 0, "allreduce", 64 << 10, 4) == HUD_PASS);
    MUST(me, call(me, 0, "allreduce", 1 << 20, 5) == HUD_OK);
    MUST(me, call(me, 0, "allgather", 1 << 10, 6) == HUD_PASS);
    MUST(me, call(me, 0, "allgather", 64 << 10, 7) == HUD_OK);
    MUST(me, call(me, 0, "reduce_scatter", 256 << 10, 8) == HUD_OK);
    MUST(me, call(me, 0, "reduce", 1 << 20, 9) == HUD_PASS);
}

/* Verifies that sums do not depend on the placement. */
static void sum_in_order(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(me, call(me, 0, "allreduce", 8, 1) == HUD_OK);
    MUST(me, call(me, 0, "reduce", 8, 2) == HUD_OK);
    MUST(me, call(me, 0, "bcast", 8, 3) == HUD_PASS);
}

static void call_on_two_nodes(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 8, 1) == HUD_OK);
    MUST(me, call(me, 0, "bcast", 8, 2) == HUD_OK);
}

/* Makes calls on nodes that share a kernel, and its only processor. */
static void call_on_one_processor(struct rank *me)
{
    settle(me);
    me->context->id.boot_id = 1;
    use_first_processor();
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 8, 1) == HUD_OK);
    MUST(me, call(me, 0, "bcast", 8, 2) == HUD_OK);
    MUST(me, call(me, 0, "allreduce", 64 << 10, 3) == HUD_OK);
    MUST(me, call(me, 0, "reduce", 1 << 20, 4) == HUD_OK);
}

static void calls_without_gain_fall_back(void **state)
{
    static const int alone[RANKS] = { 0, 1, 2, 3 }, in_two[RANKS] = { 0, 1, 1, 0 };
    static const char text[] = "network alpha_ns=5000 beta_ps=10000 overhead_ns=2000\n";
    char *path = strchr(tuning, '=') + 1;
    int fd = mkstemp(path);

    (void)state;
    assert_true(write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    run(alone, call_over_a_slow_network, automatic, automatic);
    run(alone, sum_in_order, ordered, ordered);
    run(in_two, call_on_two_nodes, automatic, automatic);
    run(alone, call_on_one_processor, automatic, automatic);
    unlink(path);
}

/* ---- requests, failures ---- */

/* Makes requests, which fall back to the host, including a request that sets up the team. This
 * set-up does not measure the network. */
static void start_requests(struct rank *me)
{
    struct hud_args args = { .collective = hud_collective("barrier") };
    int passed = 0, done = 0, status = HUD_OK;
    hud_request *r;

    settle(me);
    MUST(me, hud_request_create(me->teams[0].team, &args, &(struct hud_passed){ note, &passed },
                                &r) == HUD_OK);
    MUST(me, hud_request_start(r) == HUD_OK);
    while (!done)
        status = hud_request_test(r, &done);
    MUST(me, status == HUD_PASS && passed == 1);
    MUST(me, network(me, 0)->alpha_ns == hud_cost_network_usual.alpha_ns);
    MUST(me, call(me, 1, "barrier", 0, 0) == HUD_OK);
    MUST(me, me->teams[1].rounds == 3 && me->context->plan.network.alpha_ns > 0);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, hud_request_start(r) == HUD_PASS);
    hud_request_free(r);
}

static void requests_fall_back(void **state)
{
    (void)state;
    run(NODES(0, 1, 1, 0), start_requests, on, on);
}

/* Breaks messages in a call. The call must fail on all ranks of the node, and the span ends. */
static void break_messages(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    ranks_meet(me);
    post_break();
    ranks_meet(me);
    MUST(me, call(me, 0, "barrier", 0, 1) == HUD_ERR_FAILED);
    MUST(me, call(me, 0, "barrier", 0, 2) == HUD_ERR_FAILED);
    MUST(me, post_office.active == 0 && post_office.cancelled > 0);
}

static void failures_end_the_span(void **state)
{
    (void)state;
    run(NODES(0, 0, 1, 1), break_messages, on, on);
}

/* Fails a call at rank 3 for lack of memory. Ranks on other nodes must leave the call, and all
 * later calls fail. Calls not handled by huddle still fall back to the host. */
static void lack_memory_on_one_rank(struct rank *me)
{
    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, hud_request_fail(me->teams[0].team) == HUD_PASS);
    int status = me->rank == 3 ? hud_team_fail(me->teams[0].team) : hud_barrier(me->teams[0].team);
    MUST(me, status == HUD_ERR_MEMORY);
    MUST(me, call(me, 0, "bcast", 100, 1) == HUD_ERR_MEMORY);
    MUST(me, call(me, 0, "scan", 8, 2) == HUD_PASS);
    MUST(me, hud_team_fail(me->teams[0].team) == HUD_ERR_MEMORY);
    MUST(me, call(me, 1, "bcast", 100, 3) == HUD_OK);
}

/* Makes a rank only send, which detects the failure after some calls. */
static void only_send_on_one_rank(struct rank *me)
{
    int status = HUD_OK, calls = 0;

    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    if (me->rank == 3)
        MUST(me, hud_team_fail(me->teams[0].team) == HUD_ERR_MEMORY);
    ranks_meet(me);
    while (me->rank == 0 && status == HUD_OK && calls++ < 100) {
        char byte = 1;
        status = hud_bcast(me->teams[0].team, &(struct hud_view){ .base = &byte, .bytes = 1 }, 0);
    }
    MUST(me, me->rank != 0 || (status == HUD_ERR_MEMORY && calls > 1));
}

/* Passes different sizes for sending and receiving at rank 3. */
static void pass_different_sizes_on_one_rank(struct rank *me)
{
    char from[4 * RANKS] = "", to[4 * RANKS] = "";
    const struct hud_view in = { .base = from, .bytes = sizeof from / (me->rank == 3 ? 2 : 1) },
                          out = { .base = to, .bytes = sizeof to };

    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    MUST(me, hud_alltoall(me->teams[0].team, &in, &out) == HUD_ERR_TRUNCATE);
    MUST(me, call(me, 0, "alltoall", 8, 1) == HUD_ERR_TRUNCATE);
}

static void failing_rank_fails_the_call_on_all_nodes(void **state)
{
    static const int in_two[RANKS] = { 0, 0, 1, 1 }, alone[RANKS] = { 0, 1, 2, 3 };

    (void)state;
    run(in_two, lack_memory_on_one_rank, on, on);
    run(alone, lack_memory_on_one_rank, on, on);
    run(alone, only_send_on_one_rank, on, on);
    run(in_two, pass_different_sizes_on_one_rank, on, on);
}

/* Sends a message of another length than the other ranks expect. */
static void send_a_longer_message(struct rank *me)
{
    bool more = me->rank == 0;
    char data[64] = "";
    const struct hud_view view = { .base = data, .bytes = more ? 64 : 32 };

    settle(me);
    MUST(me, call(me, 0, "barrier", 0, 0) == HUD_OK);
    int status = hud_bcast(me->teams[0].team, &view, 0);
    MUST(me, more || status == HUD_ERR_TRUNCATE);
    ranks_meet(me);
    MUST(me, call(me, 1, "barrier", 0, 1) == HUD_OK);
}

static void too_long_message_is_an_error(void **state)
{
    (void)state;
    run(NODES(0, 1, 2, 3), send_a_longer_message, on, on);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
                                            calls_are_right_for_any_placement_on_nodes),
                                        cmocka_unit_test(single_node_needs_no_span),
                                        cmocka_unit_test(all_ranks_fall_back_alike),
                                        cmocka_unit_test(network_is_measured_once),
                                        cmocka_unit_test(failing_network_prevents_the_span),
                                        cmocka_unit_test(calls_without_gain_fall_back),
                                        cmocka_unit_test(requests_fall_back),
                                        cmocka_unit_test(failures_end_the_span),
                                        cmocka_unit_test(failing_rank_fails_the_call_on_all_nodes),
                                        cmocka_unit_test(too_long_message_is_an_error) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
