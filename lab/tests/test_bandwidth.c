/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bandwidth.c - rates and ends of flows, computed by hand where possible. With many flows,
 * conservation of bytes and fairness are checked. */
#include "lab/sim/bandwidth.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct flow_path path(double max, int uses, const int *resources)
{
    struct flow_path p = { .max_gbps = max };

    for (int i = 0; i < uses; i++)
        hud_flow_use(&p, resources[i], 1);
    return p;
}

/* Expects the next flow to end, and when. */
static void expect(struct sim_bandwidth *f, double at, int who)
{
    assert_near(hud_bandwidth_next(f), at);
    assert_int_equal(hud_bandwidth_end(f), who);
}

/*
 * Uses links of 10, 4 and 12 GB/s. Three flows use the first and second, the second and third, and
 * the third. The second link is full at 2 and 2, and the third flow gets 10. The first flow has
 * moved 200 bytes at 100 ns. Then the second has moved 200 of 600 and continues at 4, and the third
 * has moved 1000 of 1800 and continues at 8. Both end at 200 ns.
 */
static void flows_share_links_as_computed(void **state)
{
    const double links[] = { 10, 4, 12 };
    struct sim_bandwidth *f = hud_bandwidth_create(links, 3);
    struct flow_path first = path(INFINITY, 2, (int[]){ 0, 1 }),
                     second = path(INFINITY, 2, (int[]){ 1, 2 }),
                     third = path(INFINITY, 1, (int[]){ 2 });

    (void)state;
    hud_bandwidth_begin(f, &first, 200, 0, 1);
    hud_bandwidth_begin(f, &second, 600, 0, 2);
    assert_near(hud_bandwidth_rate(f, &first), 2);
    assert_near(hud_bandwidth_rate(f, &second), 2);
    hud_bandwidth_begin(f, &third, 1800, 0, 3);
    assert_near(hud_bandwidth_rate(f, &third), 10);
    expect(f, 100, 1);
    assert_near(hud_bandwidth_rate(f, &first), 0);
    assert_near(hud_bandwidth_rate(f, &second), 4);
    assert_near(hud_bandwidth_rate(f, &third), 8);
    expect(f, 200, 2);
    expect(f, 200, 3);
    assert_near(hud_bandwidth_next(f), INFINITY);
    assert_near(hud_bandwidth_carried(f, 0), 200);
    assert_near(hud_bandwidth_carried(f, 1), 800);
    assert_near(hud_bandwidth_carried(f, 2), 2400);
    hud_flow_free(&first);
    hud_flow_free(&second);
    hud_flow_free(&third);
    hud_bandwidth_free(f);
}

/* Limits a flow to 1 GB/s, which leaves 9 of 10 to the other. Alone, the other is limited by the
 * link. */
static void flow_keeps_its_own_limit(void **state)
{
    const double link = 10;
    struct sim_bandwidth *f = hud_bandwidth_create(&link, 1);
    struct flow_path slow = path(1, 1, (int[]){ 0 }), fast = path(INFINITY, 1, (int[]){ 0 }),
                     nowhere = { .max_gbps = 5 };

    (void)state;
    hud_bandwidth_begin(f, &slow, 100, 0, 1);
    hud_bandwidth_begin(f, &fast, 1000, 0, 2);
    hud_bandwidth_begin(f, &nowhere, 600, 0, 3);
    assert_near(hud_bandwidth_rate(f, &slow), 1);
    assert_near(hud_bandwidth_rate(f, &fast), 9);
    assert_near(hud_bandwidth_rate(f, &nowhere), 5);
    expect(f, 100, 1);
    expect(f, 110, 2); /* 900 of its bytes, then 100 at 10 */
    expect(f, 120, 3);
    hud_flow_free(&slow);
    hud_flow_free(&fast);
    hud_bandwidth_free(f);
}

/* Limits one flow to 4 of a resource of 10, and two flows to 6 together. Three or more flows get
 * all. */
static void limit_depends_on_the_number_of_flows(void **state)
{
    const double memory = 10, of_flows[] = { 0, 4, 6 };
    struct sim_bandwidth *f = hud_bandwidth_create(&memory, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 }), slow = path(1, 1, (int[]){ 0 });

    (void)state;
    hud_bandwidth_limit(f, 0, of_flows, 2);
    hud_bandwidth_begin(f, &p, 100, 0, 1);
    assert_near(hud_bandwidth_rate(f, &p), 4);
    hud_bandwidth_begin(f, &slow, 100, 0, 2);
    assert_near(hud_bandwidth_rate(f, &p), 5); /* 6, minus 1 */
    hud_bandwidth_begin(f, &p, 90, 0, 3);
    assert_near(hud_bandwidth_rate(f, &p), 4.5); /* 10, minus 1 */
    expect(f, 20, 3);
    expect(f, 22, 1); /* 10 left at 5 */
    expect(f, 100, 2);
    hud_flow_free(&p);
    hud_flow_free(&slow);
    hud_bandwidth_free(f);
}

/* Sends twice and half the bytes of a flow over a link of 10. Equal rates are 4. Alone, the flows
 * get 5 and 20. */
static void weighted_flows_use_weighted_bytes(void **state)
{
    const double link = 10;
    struct sim_bandwidth *f = hud_bandwidth_create(&link, 1);
    struct flow_path twice = { .max_gbps = INFINITY }, half = { .max_gbps = INFINITY };

    (void)state;
    hud_flow_use(&twice, 0, 1);
    hud_flow_use(&twice, 0, 0);
    hud_flow_use(&twice, 0, 1);
    hud_flow_use(&half, 0, 0.5);
    assert_int_equal(twice.uses, 1);
    hud_bandwidth_begin(f, &twice, 40, 0, 1);
    hud_bandwidth_begin(f, &half, 140, 0, 2);
    assert_near(hud_bandwidth_rate(f, &twice), 4);
    assert_near(hud_bandwidth_rate(f, &half), 4);
    expect(f, 10, 1);
    expect(f, 15, 2); /* 100 left at 20 */
    assert_near(hud_bandwidth_carried(f, 0), 150);
    hud_flow_free(&twice);
    hud_flow_free(&half);
    hud_bandwidth_free(f);
}

/* Begins a flow of 1000 at 10, and at 50 ns another of 100. Each gets 5 until 70 ns. Then 400 bytes
 * are left, which end at 110. */
static void rates_change_as_flows_begin_and_end(void **state)
{
    const double link = 10;
    struct sim_bandwidth *f = hud_bandwidth_create(&link, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 });

    (void)state;
    hud_bandwidth_begin(f, &p, 1000, 0, 1);
    assert_near(hud_bandwidth_next(f), 100);
    hud_bandwidth_begin(f, &p, 100, 50, 2);
    expect(f, 70, 2);
    hud_bandwidth_begin(f, &p, 10, 80, 3); /* the first flow has 300 left */
    expect(f, 82, 3);
    expect(f, 111, 1);
    assert_near(hud_bandwidth_carried(f, 0), 1110);
    hud_flow_free(&p);
    hud_bandwidth_free(f);
}

/* Ends equal flows together, in the order in which they began. */
static void equal_flows_end_in_order(void **state)
{
    const double link = 10;
    struct sim_bandwidth *f = hud_bandwidth_create(&link, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 });

    (void)state;
    for (int i = 0; i < 100; i++)
        hud_bandwidth_begin(f, &p, 10, 0, i);
    for (int i = 0; i < 100; i++)
        expect(f, 100, i);
    hud_flow_free(&p);
    hud_bandwidth_free(f);
}

/* Uses more resources in a path than any fixed array, as a leg that evicts bytes to all nodes of a
 * machine of 512 nodes does. The caller owns the path. */
static void path_may_use_many_resources(void **state)
{
    enum { MANY = 2000 };
    double capacity[MANY];
    struct flow_path p = { .max_gbps = INFINITY };

    (void)state;
    for (int r = 0; r < MANY; r++)
        capacity[r] = r == MANY - 1 ? 5 : 10;
    struct sim_bandwidth *f = hud_bandwidth_create(capacity, MANY);
    for (int r = 0; r < MANY; r++)
        hud_flow_use(&p, r, 1);
    hud_bandwidth_begin(f, &p, 100, 0, 1);
    p.uses = 1; /* affects the next flow */
    hud_bandwidth_begin(f, &p, 100, 0, 2);
    expect(f, 20, 1);
    expect(f, 20, 2);
    for (int r = 0; r < MANY; r++)
        assert_near(hud_bandwidth_carried(f, r), r == 0 ? 200 : 100);
    hud_flow_free(&p);
    hud_bandwidth_free(f);
}

static int draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int)(((uint64_t)*seed * below) >> 32);
}

/*
 * Checks max-min fairness: no resource exceeds its capacity, and each flow is at its own limit or
 * uses a full resource in which no flow has a greater rate.
 */
static void random_rates_are_max_min_fair(void **state)
{
    enum { RESOURCES = 6, PATHS = 12, ROUNDS = 200 };
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        double capacity[RESOURCES], used[RESOURCES] = { 0 }, top[RESOURCES] = { 0 }, rate[PATHS];
        struct flow_path p[PATHS];
        for (int r = 0; r < RESOURCES; r++)
            capacity[r] = 1 + draw(&seed, 50);
        struct sim_bandwidth *f = hud_bandwidth_create(capacity, RESOURCES);
        for (int i = 0; i < PATHS; i++) {
            p[i] =
                (struct flow_path){ .max_gbps = 1 + i * 0.5 }; /* limits differ, so that each flow
                                                                * is a class */
            for (int u = draw(&seed, 4); u >= 0; u--)
                hud_flow_use(&p[i], draw(&seed, RESOURCES), 0.25 * (1 + draw(&seed, 8)));
            for (int n = draw(&seed, 3); n >= 0; n--)
                hud_bandwidth_begin(f, &p[i], 100, 0, n == 0);
        }
        for (int i = 0; i < PATHS; i++)
            rate[i] = hud_bandwidth_rate(f, &p[i]);
        for (int i = 0; i < PATHS; i++)
            for (int u = 0; u < p[i].uses; u++)
                top[p[i].use[u].resource] = fmax(top[p[i].use[u].resource], rate[i]);
        double end = hud_bandwidth_next(f);
        hud_bandwidth_end(f);
        for (int r = 0; r < RESOURCES; r++) {
            used[r] = hud_bandwidth_carried(f, r) / end;
            assert_true(used[r] <= capacity[r] * (1 + 1e-6));
        }
        for (int i = 0; i < PATHS; i++) {
            int held = rate[i] >= p[i].max_gbps * (1 - 1e-6);
            for (int u = 0; u < p[i].uses; u++) {
                int r = p[i].use[u].resource;
                held |= used[r] >= capacity[r] * (1 - 1e-6) && rate[i] >= top[r] * (1 - 1e-6);
            }
            assert_true(held);
        }
        for (int i = 0; i < PATHS; i++)
            hud_flow_free(&p[i]);
        hud_bandwidth_free(f);
    }
}

/* Runs 10,000 flows of random lengths over 16 nodes, between random pairs, with random begins. Each
 * flow ends once, and each byte passes its resources. */
static void every_byte_is_transferred_once(void **state)
{
    enum { NODES = 16, FLOWS = 10000 };
    static unsigned char ended[FLOWS];
    double capacity[NODES], wanted[NODES] = { 0 }, now = 0;
    uint32_t seed = 7;

    (void)state;
    for (int n = 0; n < NODES; n++)
        capacity[n] = 20 + n;
    struct sim_bandwidth *f = hud_bandwidth_create(capacity, NODES);
    for (int i = 0; i < FLOWS; i++) {
        int from = draw(&seed, NODES), to = draw(&seed, NODES);
        double bytes = 1 + draw(&seed, 1 << 20);
        struct flow_path p = path(12, 2, (int[]){ from, to });
        wanted[from] += bytes;
        wanted[to] += bytes;
        for (now += draw(&seed, 4000); hud_bandwidth_next(f) <= now;)
            ended[hud_bandwidth_end(f)]++;
        hud_bandwidth_begin(f, &p, bytes, now, i);
        hud_flow_free(&p);
    }
    for (double last = now; hud_bandwidth_next(f) < INFINITY; last = now) {
        now = hud_bandwidth_next(f);
        assert_true(now >= last);
        ended[hud_bandwidth_end(f)]++;
    }
    for (int i = 0; i < FLOWS; i++)
        assert_int_equal(ended[i], 1);
    for (int n = 0; n < NODES; n++)
        assert_near(hud_bandwidth_carried(f, n), wanted[n]);
    hud_bandwidth_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_share_links_as_computed),
        cmocka_unit_test(flow_keeps_its_own_limit),
        cmocka_unit_test(limit_depends_on_the_number_of_flows),
        cmocka_unit_test(weighted_flows_use_weighted_bytes),
        cmocka_unit_test(rates_change_as_flows_begin_and_end),
        cmocka_unit_test(equal_flows_end_in_order),
        cmocka_unit_test(random_rates_are_max_min_fair),
        cmocka_unit_test(every_byte_is_transferred_once),
        cmocka_unit_test(path_may_use_many_resources),
    };

    return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}
