/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flows.c - rates and ends of flows, by hand where a case can be solved so; conservation and
 * fairness where there are many. */
#include "sim/flows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void assert_near(double is, double wanted)
{
    if (fabs(is - wanted) > 1e-6 * (1 + fabs(wanted)))
        fail_msg("%.9g, not %.9g", is, wanted);
}

static struct flow_path path(double max, int uses, const int *resources)
{
    struct flow_path p = { .max_gbps = max };

    for (int i = 0; i < uses; i++)
        hud_flow_use(&p, resources[i], 1);
    return p;
}

/* The next flow to end. */
static void expect(struct sim_flows *f, double at, int who)
{
    assert_near(hud_flows_next(f), at);
    assert_int_equal(hud_flows_end(f), who);
}

/*
 * Links of 10, 4 and 12 GB/s; one flow over the first and second, one over the second and third,
 * one over the third.  The second link is full at 2 and 2, the third goes on to 10.  When the first
 * has moved 200 bytes, at 100 ns, the second has 200 of its 600 and goes at 4, the third, which has
 * 1000 of 1800, at 8: both end at 200 ns.
 */
static void two_flows_over_three_links(void **state)
{
    const double links[] = { 10, 4, 12 };
    struct sim_flows *f = hud_flows_create(links, 3);
    struct flow_path first = path(INFINITY, 2, (int[]){ 0, 1 }),
                     second = path(INFINITY, 2, (int[]){ 1, 2 }),
                     third = path(INFINITY, 1, (int[]){ 2 });

    (void)state;
    hud_flows_begin(f, &first, 200, 0, 1);
    hud_flows_begin(f, &second, 600, 0, 2);
    assert_near(hud_flows_rate(f, &first), 2);
    assert_near(hud_flows_rate(f, &second), 2);
    hud_flows_begin(f, &third, 1800, 0, 3);
    assert_near(hud_flows_rate(f, &third), 10);
    expect(f, 100, 1);
    assert_near(hud_flows_rate(f, &first), 0);
    assert_near(hud_flows_rate(f, &second), 4);
    assert_near(hud_flows_rate(f, &third), 8);
    expect(f, 200, 2);
    expect(f, 200, 3);
    assert_near(hud_flows_next(f), INFINITY);
    assert_near(hud_flows_carried(f, 0), 200);
    assert_near(hud_flows_carried(f, 1), 800);
    assert_near(hud_flows_carried(f, 2), 2400);
    hud_flow_free(&first);
    hud_flow_free(&second);
    hud_flow_free(&third);
    hud_flows_free(f);
}

/* A flow of 1 GB/s at most leaves 9 of 10 to the other; alone this one is held by the link. */
static void a_flow_has_a_limit_of_its_own(void **state)
{
    const double link = 10;
    struct sim_flows *f = hud_flows_create(&link, 1);
    struct flow_path slow = path(1, 1, (int[]){ 0 }), fast = path(INFINITY, 1, (int[]){ 0 }),
                     nowhere = { .max_gbps = 5 };

    (void)state;
    hud_flows_begin(f, &slow, 100, 0, 1);
    hud_flows_begin(f, &fast, 1000, 0, 2);
    hud_flows_begin(f, &nowhere, 600, 0, 3);
    assert_near(hud_flows_rate(f, &slow), 1);
    assert_near(hud_flows_rate(f, &fast), 9);
    assert_near(hud_flows_rate(f, &nowhere), 5);
    expect(f, 100, 1);
    expect(f, 110, 2); /* 900 of its bytes, then 100 at 10 */
    expect(f, 120, 3);
    hud_flow_free(&slow);
    hud_flow_free(&fast);
    hud_flows_free(f);
}

/* One flow gets 4 of a resource of 10, two get 6 together, three and more all of it. */
static void flows_are_limited_by_their_number(void **state)
{
    const double memory = 10, of_flows[] = { 0, 4, 6 };
    struct sim_flows *f = hud_flows_create(&memory, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 }), slow = path(1, 1, (int[]){ 0 });

    (void)state;
    hud_flows_limit(f, 0, of_flows, 2);
    hud_flows_begin(f, &p, 100, 0, 1);
    assert_near(hud_flows_rate(f, &p), 4);
    hud_flows_begin(f, &slow, 100, 0, 2);
    assert_near(hud_flows_rate(f, &p), 5); /* of 6, less 1 */
    hud_flows_begin(f, &p, 90, 0, 3);
    assert_near(hud_flows_rate(f, &p), 4.5); /* of 10, less 1 */
    expect(f, 20, 3);
    expect(f, 22, 1); /* 10 left at 5 */
    expect(f, 100, 2);
    hud_flow_free(&p);
    hud_flow_free(&slow);
    hud_flows_free(f);
}

/* Twice and half the bytes of a flow pass a link of 10: equal rates are 4, and one by itself has 5
 * and 20. */
static void weights_count(void **state)
{
    const double link = 10;
    struct sim_flows *f = hud_flows_create(&link, 1);
    struct flow_path twice = { .max_gbps = INFINITY }, half = { .max_gbps = INFINITY };

    (void)state;
    hud_flow_use(&twice, 0, 1);
    hud_flow_use(&twice, 0, 0);
    hud_flow_use(&twice, 0, 1);
    hud_flow_use(&half, 0, 0.5);
    assert_int_equal(twice.uses, 1);
    hud_flows_begin(f, &twice, 40, 0, 1);
    hud_flows_begin(f, &half, 140, 0, 2);
    assert_near(hud_flows_rate(f, &twice), 4);
    assert_near(hud_flows_rate(f, &half), 4);
    expect(f, 10, 1);
    expect(f, 15, 2); /* 100 left at 20 */
    assert_near(hud_flows_carried(f, 0), 150);
    hud_flow_free(&twice);
    hud_flow_free(&half);
    hud_flows_free(f);
}

/* One flow of 1000 at 10; at 50 ns another of 100 comes: 5 each until 70 ns; 400 are left, and end
 * at 110. */
static void flows_come_and_go(void **state)
{
    const double link = 10;
    struct sim_flows *f = hud_flows_create(&link, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 });

    (void)state;
    hud_flows_begin(f, &p, 1000, 0, 1);
    assert_near(hud_flows_next(f), 100);
    hud_flows_begin(f, &p, 100, 50, 2);
    expect(f, 70, 2);
    hud_flows_begin(f, &p, 10, 80, 3); /* while the first has 300 left */
    expect(f, 82, 3);
    expect(f, 111, 1);
    assert_near(hud_flows_carried(f, 0), 1110);
    hud_flow_free(&p);
    hud_flows_free(f);
}

/* Equal ones end together, in the order in which they began. */
static void equal_flows_end_in_order(void **state)
{
    const double link = 10;
    struct sim_flows *f = hud_flows_create(&link, 1);
    struct flow_path p = path(INFINITY, 1, (int[]){ 0 });

    (void)state;
    for (int i = 0; i < 100; i++)
        hud_flows_begin(f, &p, 10, 0, i);
    for (int i = 0; i < 100; i++)
        expect(f, 100, i);
    hud_flow_free(&p);
    hud_flows_free(f);
}

/* A path may use any number of resources, as a leg does that gives bytes up to all nodes of a
 * machine of 512; and it is the caller's own. */
static void a_path_uses_many_resources(void **state)
{
    enum { MANY = 2000 };
    double capacity[MANY];
    struct flow_path p = { .max_gbps = INFINITY };

    (void)state;
    for (int r = 0; r < MANY; r++)
        capacity[r] = r == MANY - 1 ? 5 : 10;
    struct sim_flows *f = hud_flows_create(capacity, MANY);
    for (int r = 0; r < MANY; r++)
        hud_flow_use(&p, r, 1);
    hud_flows_begin(f, &p, 100, 0, 1);
    p.uses = 1; /* of the next one */
    hud_flows_begin(f, &p, 100, 0, 2);
    expect(f, 20, 1);
    expect(f, 20, 2);
    for (int r = 0; r < MANY; r++)
        assert_near(hud_flows_carried(f, r), r == 0 ? 200 : 100);
    hud_flow_free(&p);
    hud_flows_free(f);
}

static int draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int)(((uint64_t)*seed * below) >> 32);
}

/*
 * Max-min fair is: no resource beyond its capacity, and each flow is at its own limit, or uses a
 * full resource in which none has a greater rate.
 */
static void rates_are_fair(void **state)
{
    enum { RESOURCES = 6, PATHS = 12, ROUNDS = 200 };
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        double capacity[RESOURCES], used[RESOURCES] = { 0 }, top[RESOURCES] = { 0 }, rate[PATHS];
        struct flow_path p[PATHS];
        for (int r = 0; r < RESOURCES; r++)
            capacity[r] = 1 + draw(&seed, 50);
        struct sim_flows *f = hud_flows_create(capacity, RESOURCES);
        for (int i = 0; i < PATHS; i++) {
            p[i] =
                (struct flow_path){ .max_gbps = 1 + i * 0.5 }; /* differ, so that each is a class */
            for (int u = draw(&seed, 4); u >= 0; u--)
                hud_flow_use(&p[i], draw(&seed, RESOURCES), 0.25 * (1 + draw(&seed, 8)));
            for (int n = draw(&seed, 3); n >= 0; n--)
                hud_flows_begin(f, &p[i], 100, 0, n == 0);
        }
        for (int i = 0; i < PATHS; i++)
            rate[i] = hud_flows_rate(f, &p[i]);
        for (int i = 0; i < PATHS; i++)
            for (int u = 0; u < p[i].uses; u++)
                top[p[i].use[u].resource] = fmax(top[p[i].use[u].resource], rate[i]);
        double end = hud_flows_next(f);
        hud_flows_end(f);
        for (int r = 0; r < RESOURCES; r++) {
            used[r] = hud_flows_carried(f, r) / end;
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
        hud_flows_free(f);
    }
}

/* 10,000 flows of all lengths over 16 nodes, from each to each, beginning in between: each ends
 * once, and each byte has passed where it should. */
static void bytes_in_are_bytes_out(void **state)
{
    enum { NODES = 16, FLOWS = 10000 };
    static unsigned char ended[FLOWS];
    double capacity[NODES], wanted[NODES] = { 0 }, now = 0;
    uint32_t seed = 7;

    (void)state;
    for (int n = 0; n < NODES; n++)
        capacity[n] = 20 + n;
    struct sim_flows *f = hud_flows_create(capacity, NODES);
    for (int i = 0; i < FLOWS; i++) {
        int from = draw(&seed, NODES), to = draw(&seed, NODES);
        double bytes = 1 + draw(&seed, 1 << 20);
        struct flow_path p = path(12, 2, (int[]){ from, to });
        wanted[from] += bytes;
        wanted[to] += bytes;
        for (now += draw(&seed, 4000); hud_flows_next(f) <= now;)
            ended[hud_flows_end(f)]++;
        hud_flows_begin(f, &p, bytes, now, i);
        hud_flow_free(&p);
    }
    for (double last = now; hud_flows_next(f) < INFINITY; last = now) {
        now = hud_flows_next(f);
        assert_true(now >= last);
        ended[hud_flows_end(f)]++;
    }
    for (int i = 0; i < FLOWS; i++)
        assert_int_equal(ended[i], 1);
    for (int n = 0; n < NODES; n++)
        assert_near(hud_flows_carried(f, n), wanted[n]);
    hud_flows_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_flows_over_three_links),
        cmocka_unit_test(a_flow_has_a_limit_of_its_own),
        cmocka_unit_test(flows_are_limited_by_their_number),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(flows_come_and_go),
        cmocka_unit_test(equal_flows_end_in_order),
        cmocka_unit_test(rates_are_fair),
        cmocka_unit_test(bytes_in_are_bytes_out),
        cmocka_unit_test(a_path_uses_many_resources),
    };

    return cmocka_run_group_tests_name("flows", tests, NULL, NULL);
}
