/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cost.c - compares the time models with numbers printed in their papers, and with cases
 * solved by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "coll/coll.h"
#include "cost/network.h"
#include "lab/cost/hockney.h"
#include "lab/cost/limits.h"
#include "lab/cost/queue.h"

#include <math.h>

enum { KB = 1024, MB = 1 << 20, PAGE = 4096 };

/* cmocka compares floats only. */
#define assert_near(is, wanted, within) near_at(is, wanted, within, __LINE__)

static void near_at(double is, double wanted, double within, int line)
{
    if (!(fabs(is - wanted) <= within))
        fail_msg("line %d: %.10g is not within %g of %.10g", line, is, within, wanted);
}

/* ---- paper 01 ---- */

static const struct cost_queue plots = {
    .byte_ns = 1, .notify_ns = 50, .enter_ns = 100, .leave_ns = 10
}; /* the parameters of the paper's figures */

static double queue_ms(double f, double s, int sets, double m)
{
    return hud_cost_queue_ns(&plots, &(struct cost_queue_form){ f, s, sets }, m) / 1e6;
}

/* Compares with the printed times, rounded to 0.1 ms. */
static void queue_times_match_figure_6(void **state)
{
    static const struct {
        double s, ms, mib_ms;
    } printed[] = { { 1, 32.3, 33.9 },
                    { 2, 24.2, 25.4 },
                    { 8, 18.1, 19.0 },
                    { 32, 16.6, 17.4 },
                    { 256, 16.2, 16.9 } };

    (void)state;
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        assert_near(queue_ms(8192, printed[i].s, 1, 16e6), printed[i].ms, 0.05);
        assert_near(queue_ms(8192, printed[i].s, 1, 16 * MB), printed[i].mib_ms, 0.05);
    }
}

static void queue_times_match_the_three_regimes(void **state)
{
    (void)state;
    assert_near(queue_ms(8192, 8, 1, 4096), (160 + 2 * 4096) / 1e6, 1e-9); /* one fragment */
    assert_near(queue_ms(8192, 8, 1, 65536), (110 + 8192 + 8 * 50 + 65536) / 1e6,
                1e-9); /* one pass */
    assert_near(queue_ms(8192, 8, 1, 65537), (2 * (110 + 8192) + 9 * 50 + 65537) / 1e6,
                1e-9); /* one byte more: two passes */
    assert_near(queue_ms(8192, 8, 2, 65537), (2 * 110 + 8192 + 9 * 50 + 65537) / 1e6,
                1e-9); /* two sets hide the fill */
    assert_near(queue_ms(8192, 1, 1, 16384), (2 * 160 + 2 * 16384) / 1e6, 1e-9); /* no pipeline */
    assert_near(queue_ms(8192, 1, 1, 10000), (2 * 160 + 2 * 10000) / 1e6,
                1e-9); /* half a fragment at the end causes no second wait */
}

static void best_queue_fragment_matches_the_paper(void **state)
{
    double f = hud_cost_queue_fragment(&plots, 4 * MB);

    (void)state;
    assert_near(f, 14482, 0.5);
    assert_near(hud_cost_queue_pages(f, PAGE), 16384, 0);
    assert_near(hud_cost_queue_bytes(&plots, f), 4 * MB, 1);
    for (double other = f / 4; other <= 4 * f;
         other *= 1.1) /* the minimum of the formula without ceilings */
        assert_true(16 * MB / (4. * MB) * other + 16 * MB / other * 50 >=
                    16 * MB / (4. * MB) * f + 16 * MB / f * 50 - 1e-6);
}

/* Compares b in MB for s = f t / t_w, t_w / t = 2, 4, ... 512. */
static void queue_sizes_match_table_1(void **state)
{
    (void)state;
    for (double f = 4096, first = 8; f <= 65536; f *= 2, first *= 4)
        for (double ratio = 2, b = first; ratio <= 512; ratio *= 2, b /= 2) {
            const struct cost_queue c = { .byte_ns = 0.5, .notify_ns = 0.5 * ratio };
            assert_near(hud_cost_queue_bytes(&c, f) / MB, b, 1e-9);
        }
}

static void expect_form(struct cost_queue_wish wish, double f, double s)
{
    struct cost_queue_form form = hud_cost_queue_choose(&plots, &wish);

    assert_near(form.fragment_bytes, f, 0);
    assert_near(form.buffers, s, 0);
}

static void fragment_and_buffers_follow_the_rules(void **state)
{
    (void)state;
    expect_form((struct cost_queue_wish){ .message_bytes = 4 * MB, .page_bytes = PAGE }, 16384,
                256); /* rule (1) */
    expect_form((struct cost_queue_wish){ .message_bytes = 1e6, .fragment_bytes = 8192 }, 8192,
                123); /* rule (2) */
    expect_form(
        (struct cost_queue_wish){ .message_bytes = 4 * MB, .buffers = 64, .page_bytes = PAGE },
        65536, 64); /* rule (3) */
    expect_form((struct cost_queue_wish){ .queue_bytes = 4 * MB, .page_bytes = PAGE }, 16384,
                256); /* f*, s* */
    expect_form((struct cost_queue_wish){ .message_bytes = 64 * MB,
                                          .queue_bytes = 4 * MB,
                                          .page_bytes = PAGE },
                16384, 256);
    expect_form((struct cost_queue_wish){ .queue_bytes = 100000, .page_bytes = PAGE }, 4096,
                24); /* the queue holds no more */
    expect_form((struct cost_queue_wish){ .message_bytes = 100, .page_bytes = PAGE }, 4096, 1);
}

/* ---- paper 04 ---- */

static const struct cost_hockney ethernet = { .alpha_ns = 5e4, .beta_ns = 47 };

static double broadcast_ms(enum cost_tree tree, int ranks, int degree, double m, double s)
{
    return hud_cost_broadcast_ns(&ethernet, &(struct cost_broadcast){ tree, ranks, degree, m, s }) /
           1e6;
}

/* Computes with alpha + m beta, which is 49.333 ms for 1 MB and 0.097 ms for a segment of 1000
 * bytes. */
static void tree_times_match_the_formulas(void **state)
{
    double message = 0.05 + MB * 47e-6, segment = 0.097;

    (void)state;
    assert_near(broadcast_ms(COST_LINEAR, 128, 0, MB, 0), 127 * message, 1e-9);
    assert_near(broadcast_ms(COST_KARY, 128, 2, MB, 0), 14 * message, 1e-9);
    assert_near(broadcast_ms(COST_KARY, 128, 3, MB, 0), 15 * message, 1e-9);
    assert_near(broadcast_ms(COST_KNOMIAL, 128, 2, MB, 0), 7 * message, 1e-9);
    assert_near(broadcast_ms(COST_KNOMIAL, 128, 4, MB, 0), 12 * message, 1e-9);
    assert_near(broadcast_ms(COST_CHAIN, 128, 0, 100500, 1000), (126 + 101) * segment, 1e-9);
    assert_near(broadcast_ms(COST_BINARY_PIPELINED, 128, 0, 100000, 1000),
                2 * (7 + 100 - 1) * segment, 1e-9);
    assert_near(broadcast_ms(COST_BINOMIAL_PRINTED, 128, 0, 100000, 1000), (7 + 100 - 1) * segment,
                1e-9);
    assert_near(broadcast_ms(COST_BINOMIAL_PIPELINED, 128, 0, 100000, 1000), 7 * 100 * segment,
                1e-9);
    assert_near(broadcast_ms(COST_CHAIN, 1, 0, MB, 1000), 0, 0);
}

static void best_degrees_are_found(void **state)
{
    (void)state;
    assert_int_equal(hud_cost_broadcast_degree(COST_KARY, 16), 3);
    assert_int_equal(hud_cost_broadcast_degree(COST_KNOMIAL, 16), 2);
    assert_int_equal(hud_cost_broadcast_degree(COST_CHAIN, 16), 0);
}

static void best_segments_are_found(void **state)
{
    (void)state;
    assert_near(hud_cost_broadcast_segment(&ethernet, COST_CHAIN, 128, MB), 2975, 0.5);
    assert_near(hud_cost_broadcast_segment(&ethernet, COST_BINARY_PIPELINED, 128, MB), 13632,
                4); /* its own formula gives 13635 */
    assert_near(hud_cost_broadcast_segment(&ethernet, COST_CHAIN, 2, MB), MB, 0);
    assert_near(hud_cost_broadcast_segment(&ethernet, COST_LINEAR, 128, MB), 0, 0);
    double best = broadcast_ms(COST_CHAIN, 128, 0, MB, 2976);
    assert_true(best < broadcast_ms(COST_CHAIN, 128, 0, MB, 1536) &&
                best < broadcast_ms(COST_CHAIN, 128, 0, MB, 8192));
}

/* Compares trees small enough to draw: the paper's figures 4 and 7, and a tree with an incomplete
 * last level. */
static void tree_steps_are_counted(void **state)
{
    (void)state;
    assert_int_equal(hud_cost_broadcast_steps(COST_LINEAR, 128, 0), 127);
    assert_int_equal(hud_cost_broadcast_steps(COST_KARY, 7, 2), 4);
    assert_int_equal(hud_cost_broadcast_steps(COST_KARY, 13, 3), 6);
    assert_int_equal(hud_cost_broadcast_steps(COST_KARY, 8, 2), 4);
    assert_int_equal(hud_cost_broadcast_steps(COST_KNOMIAL, 13, 2), 4);
    assert_int_equal(hud_cost_broadcast_steps(COST_KNOMIAL, 128, 2), 7);
    assert_int_equal(hud_cost_broadcast_steps(COST_KNOMIAL, 9, 3), 4);
    assert_int_equal(hud_cost_broadcast_steps(COST_CHAIN, 9, 3), 0);
    for (int p = 2; p < 300; p++)
        for (int k = 2; k < 9; k++) {
            const struct cost_broadcast bound = { COST_KNOMIAL, p, k, 0, 0 };
            assert_true(hud_cost_broadcast_steps(COST_KNOMIAL, p, k) * ethernet.alpha_ns <=
                        hud_cost_broadcast_ns(&ethernet, &bound));
        }
}

static void no_tree_is_faster_than_the_lower_bound(void **state)
{
    (void)state;
    assert_near(hud_cost_broadcast_min_ns(&ethernet, 128, 8), 7 * 5e4, 1e-9);
    assert_near(hud_cost_broadcast_min_ns(&ethernet, 128, MB), MB * 47., 1e-6);
    for (int tree = 0; tree < COST_TREES; tree++)
        for (double m = 1; m < 1e8; m *= 10)
            for (double s = 64; s < 1e6; s *= 10)
                assert_true(hud_cost_broadcast_min_ns(&ethernet, 100, m) <=
                            1e6 * broadcast_ms((enum cost_tree)tree, 100, 2, m, s));
}

/* Computes the model of broadcasts between nodes, with the same number for latency and overhead, as
 * in the paper's experiment. */
static double spread_ns(enum cost_spread_kind kind, int degree, int nodes, double bytes,
                        double segment)
{
    const struct cost_network c = { ethernet.alpha_ns, ethernet.beta_ns, ethernet.alpha_ns,
                                    ethernet.alpha_ns };

    return hud_cost_spread_ns(&c, nodes, bytes, &(struct cost_spread){ kind, degree, segment });
}

static double paper_ns(enum cost_tree tree, int degree, int nodes, double bytes, double segment)
{
    return hud_cost_broadcast_ns(&ethernet, &(struct cost_broadcast){ .tree = tree,
                                                                      .ranks = nodes,
                                                                      .degree = degree,
                                                                      .message_bytes = bytes,
                                                                      .segment_bytes = segment });
}

/* Compares with the paper's formulas, without the copies into and out of buffers. */
static void formulas_match_the_paper(void **state)
{
    (void)state;
    for (double s = 512; s <= 64 * KB; s *= 2) {
        double copies = s * ethernet.beta_ns;
        assert_near(spread_ns(COST_SPREAD_KARY, 1, 128, MB, s) - copies,
                    paper_ns(COST_CHAIN, 0, 128, MB, s), 1e-3);
        assert_near(spread_ns(COST_SPREAD_KARY, 2, 8, MB, s) - copies,
                    paper_ns(COST_BINARY_PIPELINED, 0, 8, MB, s), 1e-3);
        assert_near(spread_ns(COST_SPREAD_KNOMIAL, 2, 64, MB, s) - copies,
                    paper_ns(COST_BINOMIAL_PIPELINED, 0, 64, MB, s), 1e-3);
    }
    for (int k = 2; k <= 4; k++)
        assert_near(spread_ns(COST_SPREAD_KNOMIAL, k, 64, 1000, 1000) - 1000 * 47,
                    paper_ns(COST_KNOMIAL, k, 64, 1000, 0), 1e-3);
    assert_near(spread_ns(COST_SPREAD_KNOMIAL, 16, 16, 1000, 1000) - 1000 * 47,
                paper_ns(COST_LINEAR, 0, 16, 1000, 0), 1e-3);
}

/* ---- limits ---- */

/* Two sockets of two NUMA nodes of 32 cores. */
static const struct cost_node node = { .ranks = 128,
                                       .sockets = 2,
                                       .levels = 3,
                                       .level = { { 32, 40, 5 }, { 2, 80, 10 }, { 2, 200, 20 } },
                                       .core_gbps = 10,
                                       .memory_gbps = 100,
                                       .link_gbps = 50,
                                       .cache_bytes = 0 };

static void node_limits_match_computation(void **state)
{
    struct cost_limit limit;

    (void)state;
    hud_cost_limit(&node, COLL_BARRIER, 0, &limit);
    assert_near(limit.latency_ns, 200, 0);
    assert_near(hud_cost_limit_ns(&limit), 200, 0);
    hud_cost_limit(&node, COLL_BCAST, 1e6, &limit);
    assert_near(limit.cores_ns, 1e5, 1e-6);
    assert_near(limit.memory_ns, 128e6 / 100, 1e-6);
    assert_near(limit.links_ns, 1e6 / 50, 1e-6);
    assert_near(hud_cost_limit_ns(&limit), 1.28e6, 1e-6);
    hud_cost_limit(&node, COLL_REDUCE, 1e6, &limit);
    assert_near(limit.memory_ns, 1.29e6, 1e-6);
    assert_near(limit.cores_ns, 127 / 128. * 1e6 / 10, 1e-6);
    hud_cost_limit(&node, COLL_ALLREDUCE, 1e6, &limit);
    assert_near(limit.memory_ns, 2.56e6, 1e-6);
    hud_cost_limit(&node, COLL_REDUCE_SCATTER, 1e6, &limit);
    assert_near(limit.links_ns, 0.5e6 / 50, 1e-6);
    assert_near(limit.cores_ns, 127 / 128. * 1e6 / 10, 1e-6);
    hud_cost_limit(&node, COLL_ALLTOALL, 1e3, &limit);
    assert_near(limit.memory_ns, 2 * 128 * 128 * 1e3 / 100, 1e-6);
    assert_near(limit.links_ns, 64 * 64 * 1e3 / 50, 1e-6);
    assert_near(limit.cores_ns, 127e3 / 10, 1e-6);
}

/* Limits reductions by the core's own cache, if adding there is faster than copying. Other
 * collectives are not affected. */
static void adding_may_be_faster_than_copying(void **state)
{
    struct cost_node adding = node;
    struct cost_limit limit;

    (void)state;
    adding.reduce_gbps = 40;
    hud_cost_limit(&adding, COLL_ALLREDUCE, 1e6, &limit);
    assert_near(limit.cores_ns, 1e6 / 40, 1e-6);
    hud_cost_limit(&adding, COLL_BCAST, 1e6, &limit);
    assert_near(limit.cores_ns, 1e6 / 10, 1e-6);
    adding.reduce_gbps = 5;
    hud_cost_limit(&adding, COLL_ALLREDUCE, 1e6, &limit);
    assert_near(limit.cores_ns, 1e6 / 10, 1e-6);
}

static void cached_bytes_need_no_memory_bandwidth(void **state)
{
    struct cost_node cached = node, one = node;
    struct cost_limit limit;

    (void)state;
    cached.cache_bytes = 1e9;
    hud_cost_limit(&cached, COLL_BCAST, 1e6, &limit);
    assert_near(limit.memory_ns, 0, 0);
    one.sockets = 1;
    hud_cost_limit(&one, COLL_ALLREDUCE, 1e6, &limit);
    assert_near(limit.links_ns, 0, 0);
    one.ranks = 1;
    hud_cost_limit(&one, COLL_ALLREDUCE, 1e6, &limit);
    assert_near(hud_cost_limit_ns(&limit), 0, 0);
}

static void scheme_times_match_computation(void **state)
{
    (void)state;
    assert_near(hud_cost_gather_ns(&node), 40 + 30 * 5 + 80 + 200, 0);
    assert_near(hud_cost_release_ns(&node), 320, 0);
    assert_near(hud_cost_doubling_ns(&node), 5 * 40 + 80 + 200, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_times_match_figure_6),
        cmocka_unit_test(queue_times_match_the_three_regimes),
        cmocka_unit_test(best_queue_fragment_matches_the_paper),
        cmocka_unit_test(queue_sizes_match_table_1),
        cmocka_unit_test(fragment_and_buffers_follow_the_rules),
        cmocka_unit_test(tree_times_match_the_formulas),
        cmocka_unit_test(best_degrees_are_found),
        cmocka_unit_test(best_segments_are_found),
        cmocka_unit_test(tree_steps_are_counted),
        cmocka_unit_test(no_tree_is_faster_than_the_lower_bound),
        cmocka_unit_test(formulas_match_the_paper),
        cmocka_unit_test(adding_may_be_faster_than_copying),
        cmocka_unit_test(node_limits_match_computation),
        cmocka_unit_test(cached_bytes_need_no_memory_bandwidth),
        cmocka_unit_test(scheme_times_match_computation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
