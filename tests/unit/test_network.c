/* SPDX-License-Identifier: BSD-3-Clause */
/* test_network.c - compares the model of broadcasts between nodes with a search of all trees and
 * segments. Also tests how a network's parameters follow from times, and
 * what ranks agree on. */
#include "core/span/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

enum { KB = 1024, MB = 1 << 20 };

/* The same number for latency and overhead, as in the paper's experiment. */
static const struct cost_network paper = { 5e4, 47, 5e4, 5e4 };
/* 100 Gbit/s. */
static const struct cost_network fast = { 1500, .08, 300, 300 };

/* Gigabit Ethernet, with nodes that spend more time per message than its start. */
static const struct cost_network ethernet = { 8e4, 8, 4e4, 5e3 };

/* cmocka compares floats only. */
#define assert_near(is, wanted, part) near_at(is, wanted, part, __LINE__)

static void near_at(double is, double wanted, double part, int line)
{
    if (!(fabs(is - wanted) <= part * fabs(wanted)))
        fail_msg("line %d: %.10g is not within %g of %.10g", line, is, part, wanted);
}

static double spread_ns(const struct cost_network *c, enum cost_spread_kind kind, int degree,
                        int nodes, double bytes, double segment)
{
    return hud_cost_spread_ns(c, nodes, bytes, &(struct cost_spread){ kind, degree, segment });
}

static void best_segments_match_the_paper(void **state)
{
    const struct cost_spread chain = { COST_SPREAD_KARY, 1, 0 },
                             binary = { COST_SPREAD_KARY, 2, 0 };

    (void)state;
    assert_near(hud_cost_spread_segment(&paper, 128, MB, &chain, 1, MB), 2975, .01);
    assert_near(hud_cost_spread_segment(&paper, 128, MB, &binary, 1, MB), 13635, .05);
    assert_true(hud_cost_spread_segment(&paper, 128, MB, &chain, 4096, MB) == 4096);
    assert_true(hud_cost_spread_segment(&paper, 128, MB, &chain, 64, 1024) == 1024);
    assert_true(hud_cost_spread_segment(&paper, 128, 100, &chain, 4096, MB) == 100);
}

/* Lowers the overhead, which determines the segment: messages of a pipeline hide each other's
 * latency. */
static void less_overhead_means_shorter_segments(void **state)
{
    const struct cost_network cheap = { 5e4, 47, 5e2, 5e2 };
    const struct cost_spread chain = { COST_SPREAD_KARY, 1, 0 };

    (void)state;
    assert_near(hud_cost_spread_segment(&cheap, 128, MB, &chain, 1, MB), 297.5, .01);
}

static void logarithms_are_exact(void **state)
{
    (void)state;
    assert_int_equal(hud_cost_log(128, 2), 7);
    assert_int_equal(hud_cost_log(129, 2), 8);
    assert_int_equal(hud_cost_log(1, 2), 0);
}

/* Returns the minimum over all trees and a grid of segments. */
static double min_ns(const struct cost_network *c, int nodes, double bytes)
{
    double best = INFINITY;

    for (double s = 64; s <= 32 * KB; s *= 1.1)
        for (int k = 1; k <= nodes; k++) {
            best = fmin(best, spread_ns(c, COST_SPREAD_KARY, k, nodes, bytes, s));
            if (k > 1)
                best = fmin(best, spread_ns(c, COST_SPREAD_KNOMIAL, k, nodes, bytes, s));
        }
    return best;
}

/* Checks with a tolerance, because segments divide a message evenly and the grid may have a better
 * segment. */
static void chosen_tree_is_near_the_optimum(void **state)
{
    static const struct cost_network slow = { 5000, 42, 5000, 5000 },
                                     one_gigabit = { 35e3, 8, 7e3, 2e3 };
    const struct cost_network *networks[] = { &paper, &fast, &slow, &one_gigabit };

    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (int nodes = 2; nodes <= 64; nodes *= 2)
            for (double bytes = 8; bytes <= 4 * MB; bytes *= 8) {
                const struct cost_spread s =
                    hud_cost_spread_choose(networks[i], nodes, bytes, 64, 32 * KB);
                double ns = hud_cost_spread_ns(networks[i], nodes, bytes, &s);
                if (ns > 1.05 * min_ns(networks[i], nodes, bytes))
                    fail_msg("network %zu, %d nodes, %.0f bytes: %.0f ns, optimum %.0f", i, nodes,
                             bytes, ns, min_ns(networks[i], nodes, bytes));
            }
}

static void best_trees_are_chosen(void **state)
{
    struct cost_spread s;

    (void)state;
    s = hud_cost_spread_choose(&paper, 16, 8, 64, 32 * KB);
    assert_true(s.kind == COST_SPREAD_KNOMIAL && s.degree == 2 && s.segment_bytes == 8);
    s = hud_cost_spread_choose(&paper, 16, 4 * MB, 64, 32 * KB);
    assert_true(s.kind == COST_SPREAD_KARY && s.degree == 1);
    s = hud_cost_spread_choose(&fast, 4, 8, 64, 32 * KB); /* four latencies or one */
    assert_true(s.kind == COST_SPREAD_KNOMIAL && s.degree == 4);
    s = hud_cost_spread_choose(&ethernet, 8, 8, 64, 32 * KB); /* the next message need not wait, as
                                                               * it starts soon */
    assert_true(s.kind == COST_SPREAD_KNOMIAL && s.degree == 8);
    s = hud_cost_spread_choose(&ethernet, 64, 8, 64, 32 * KB);
    assert_true(s.kind == COST_SPREAD_KNOMIAL && s.degree == 8);
}

static void mpi_broadcast_sends_whole_messages(void **state)
{
    (void)state;
    assert_near(hud_cost_mpi_broadcast_ns(&paper, 16, 8), 4 * (5e4 + 8 * 47), 1e-9);
    assert_near(hud_cost_mpi_broadcast_ns(&paper, 16, MB), 19 * 5e4 + 2.0 * MB * 47 * 15 / 16,
                1e-9);
}

/* Expects no gain for a single segment, which is like the MPI's own broadcast, or for a small
 * improvement. */
static void only_pipelines_gain_over_the_mpi(void **state)
{
    static const struct {
        double bytes;
        int nodes;
        bool gains;
    } cases[] = { { 8, 16, false },
                  { MB, 2, false },
                  { 4 * MB, 16, true },
                  { MB, 4, true },
                  { 100, 64, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cost_spread s =
            hud_cost_spread_choose(&paper, cases[i].nodes, cases[i].bytes, 64, 32 * KB);
        if (hud_cost_spread_gains(&paper, cases[i].nodes, cases[i].bytes, &s) != cases[i].gains)
            fail_msg("wrong decision for %.0f bytes on %d nodes", cases[i].bytes, cases[i].nodes);
    }
}

/* Expects a ring to fill a slow network, but not a fast network. It does not if messages do not
 * hide each other's latency, or if there are too few messages. */
static void ring_fills_a_slow_network(void **state)
{
    static const struct {
        struct cost_network network;
        int nodes;
        double bytes;
        bool fills;
    } cases[] = { { { 5e4, 47, 5e4, 5e4 }, 16, MB, true },
                  { { 5e4, 47, 5e4, 5e4 }, 16, 128 * KB, false }, /* 6.2 ms of 6.4 ms */
                  { { 5e4, 47, 5e4, 5e4 }, 16, 140 * KB, true },
                  { { 5e4, 47, 5e4, 5e4 }, 1024, 64 * MB, false }, /* messages of 128 bytes */
                  { { 25e3, 8, 12e3, 4e3 }, 16, 64 * MB, true },   /* 1 Gbit/s */
                  { { 25e3, 8, 12e3, 4e3 }, 38, 64 * MB, true },   /* messages take 25.6 us, */
                  { { 25e3, 8, 12e3, 4e3 }, 40, 64 * MB, false },  /* 24.4 us */
                  { { 12e3, .8, 6e3, 2e3 }, 16, 64 * MB, false },  /* 10 Gbit/s */
                  { { 100, .79, 50, 50 }, 4, 64 * MB, false },
                  { { 100, .81, 50, 50 }, 4, 64 * MB, true },
                  { { 100, .81, 50, 50 }, 4, 64 * KB, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (hud_cost_ring_fills(&cases[i].network, cases[i].nodes, cases[i].bytes) !=
            cases[i].fills)
            fail_msg("wrong decision in case %zu", i);
}

static void network_parameters_follow_from_times(void **state)
{
    /* 20 us, 8 ns per byte, 15 us more per message, for 8 messages; starting a message takes 4
     * us */
    struct span_times t = { 40e3, 40e3 + 7 * 15e3, 145e3 + 9 * 1000 * 8, 4e3, 8, 1000 };
    struct cost_network c = hud_span_solve(&t);

    (void)state;
    assert_near(c.alpha_ns, 20e3, 1e-9);
    assert_near(c.overhead_ns, 15e3, 1e-9);
    assert_near(c.beta_ns, 8, 1e-9);
    assert_near(c.send_ns, 4e3, 1e-9);
    t = (struct span_times){ 40e3, 30e3, 20e3, 50e3, 8, 1000 }; /* noise */
    c = hud_span_solve(&t);
    assert_true(hud_cost_network_valid(&c) && c.beta_ns == 0 && c.overhead_ns == 10e3 &&
                c.send_ns == 10e3);
    t = (struct span_times){ 40e3, 1e6, 2e6, 4e3, 8, 1000 };
    c = hud_span_solve(&t);
    assert_true(hud_cost_network_valid(&c) && c.overhead_ns == c.alpha_ns);
}

static void ranks_use_the_mean_of_known_networks(void **state)
{
    struct reply reply[4] = { { .reason = 0 } };
    struct cost_network c = { .alpha_ns = 0 };

    (void)state;
    assert_false(hud_span_known(reply, 4, &c));
    reply[1].network = (struct cost_network){ 10, 1, 4, 1 };
    reply[3].network = (struct cost_network){ 20, 3, 8, 2 };
    reply[2].network = (struct cost_network){ NAN, 1, 1 };
    assert_true(hud_span_known(reply, 4, &c));
    assert_true(c.alpha_ns == 15 && c.beta_ns == 2 && c.overhead_ns == 6 && c.send_ns == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_segments_match_the_paper),
        cmocka_unit_test(less_overhead_means_shorter_segments),
        cmocka_unit_test(logarithms_are_exact),
        cmocka_unit_test(chosen_tree_is_near_the_optimum),
        cmocka_unit_test(best_trees_are_chosen),
        cmocka_unit_test(mpi_broadcast_sends_whole_messages),
        cmocka_unit_test(only_pipelines_gain_over_the_mpi),
        cmocka_unit_test(ring_fills_a_slow_network),
        cmocka_unit_test(network_parameters_follow_from_times),
        cmocka_unit_test(ranks_use_the_mean_of_known_networks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
