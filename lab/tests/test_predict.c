/* SPDX-License-Identifier: BSD-3-Clause */
/* test_predict.c - the numbers of a machine that the time models get, computed by hand for two
 * sockets of four cores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/sim/predict.h"

#include <math.h>
#include <stdlib.h>

#define assert_near(is, wanted) near_at(is, wanted, __LINE__)

static void near_at(double is, double wanted, int line)
{
    if (!(fabs(is - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("line %d: got %.12g, expected %.12g", line, is, wanted);
}

/* Makes a machine. Lines take 10 ns within a socket, gap 2, serve 1; to the other socket 100,
 * 30, 20. Copies get 20 GB/s in the core's own cache, 10 within a socket, and 4 from the other
 * socket. */
static struct sim_machine *machine(void)
{
    struct sim_machine *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->topo = hud_topo_load_described("pack:2 [numa(memory=1GiB)] l3:1(size=1MiB) core:4 pu:1");
    assert_non_null(m->topo);
    m->cores = 8;
    m->levels = hud_topo_levels(m->topo);
    assert_int_equal(m->levels, 1);
    m->classes = 3;
    m->nodes = m->sockets = 2;
    m->unit = calloc(8, sizeof *m->unit);
    for (int c = 0; c < 8; c++)
        m->unit[c] = c / 4;
    m->lines = (struct machine_lines){ .post_ns = 3,
                                       .transfer_ns = { 0, 10, 100 },
                                       .gap_ns = { 0, 2, 30 },
                                       .serve_ns = { 0, 1, 20 } };
    m->links.socket_gbps = 50;
    m->copy = (struct machine_copy){ .cached_gbps = { 20, 10, 4 } };
    m->memory.node_gbps = 30;
    m->reduce.core_gbps = 16;
    m->caches = (struct machine_caches){
        .private_bytes = 1000, .shared_level = 0, .shared_bytes = 10000, .shared_gbps = 100
    };
    return m;
}

/* `ranks` ranks on consecutive cores, grouped by sockets. */
struct team {
    struct predict_ranks of;
    struct sim_machine *machine;
    struct shape_groups groups;
    int core[8];
};

static void make(struct team *t, int ranks)
{
    int unit[8];

    t->machine = machine();
    for (int r = 0; r < ranks; r++) {
        t->core[r] = r;
        unit[r] = r / 4;
    }
    assert_int_equal(hud_shape_groups_build(&(struct shape_place){ ranks, 1, unit }, &t->groups),
                     0);
    t->of = (struct predict_ranks){ t->machine, ranks, t->core, &t->groups };
}

static void unmake(struct team *t)
{
    hud_shape_groups_free(&t->groups);
    hud_machine_free(t->machine);
}

static void queue_within_a_socket_has_computed_costs(void **state)
{
    struct team t;
    struct cost_queue c;

    (void)state;
    make(&t, 4);
    hud_predict_queue(&t.of, SHAPE_FLAT, 2, &c);
    assert_near(c.byte_ns, 0.1);
    assert_near(c.notify_ns, 3 + 10 + 2 * 1); /* the last of three is served after two */
    assert_near(c.enter_ns, 10 + 2 * 2);
    assert_near(c.leave_ns, 3);
    hud_predict_queue(&t.of, SHAPE_CHAIN, 2, &c);
    assert_near(c.notify_ns, 3 * (3 + 10));
    t.machine->lines.revoke_ns[1] = 50; /* the reader's copy is invalidated before each post */
    hud_predict_queue(&t.of, SHAPE_CHAIN, 2, &c);
    assert_near(c.notify_ns, 3 * (3 + 50 + 10));
    t.machine->caches.shared_gbps = 15; /* bandwidth that three readers share */
    hud_predict_queue(&t.of, SHAPE_FLAT, 2, &c);
    assert_near(c.byte_ns, 1 / 5.);
    unmake(&t);
}

static void queue_over_two_sockets_has_computed_costs(void **state)
{
    struct team t;
    struct cost_queue c;

    (void)state;
    make(&t, 8);
    hud_predict_queue(&t.of, SHAPE_FLAT, 2, &c);
    assert_near(c.byte_ns, 1 / 4.);
    assert_near(
        c.notify_ns,
        3 + 3 * 1 + 100 + 10 +
            2 * 1); /* rank 4 after the root's three readers, and the rest from the shared cache of
                     * rank 4 */
    assert_near(c.enter_ns, 100 + 3 * 2 + 3 * 30);
    hud_predict_queue(
        &t.of, SHAPE_KARY, 2,
        &c); /* path 0, 1, 3, 7: rank 3 sees the post only after rank 4's copy of the line is
              * gone */
    assert_near(c.notify_ns, (3 + 10) + (3 + 100) + (3 + 100));
    hud_predict_queue(&t.of, SHAPE_GROUPED, 2, &c); /* rank 4 first, which then serves three more */
    assert_near(c.notify_ns, 3 + 100 + 3 + 10 + 2 * 1);
    t.machine->links.socket_gbps = 2;
    hud_predict_queue(&t.of, SHAPE_GROUPED, 2, &c);
    assert_near(c.byte_ns, 1 / 2.);
    hud_predict_queue(&t.of, SHAPE_LEADERS, 2, &c); /* ranks 4, 5, 6 */
    assert_near(c.notify_ns, (3 + 100) + (3 + 10) + (3 + 10));
    t.machine->lines.share = MACHINE_UNSHARED; /* the root serves all, near ranks first */
    hud_predict_queue(&t.of, SHAPE_FLAT, 2, &c);
    assert_near(c.notify_ns, 3 + 3 * 1 + 3 * 20 + 100);
    t.machine->lines.share = t.machine->caches.shared_level =
        -1; /* a single cache: half of it is in each socket, so a link carries half a stream */
    t.machine->links.socket_gbps = 1;
    hud_predict_queue(&t.of, SHAPE_FLAT, 2, &c);
    assert_near(c.notify_ns, 3 + 3 * 1 + 3 * 20 + 100); /* the root serves all ranks alone */
    hud_predict_queue(&t.of, SHAPE_GROUPED, 2, &c);
    assert_near(c.byte_ns, 1 / 2.);
    unmake(&t);
}

static void messages_have_computed_costs(void **state)
{
    struct team t;
    struct cost_hockney c;

    (void)state;
    make(&t, 8);
    hud_predict_messages(&t.of, &c);
    assert_near(c.alpha_ns, 200);
    assert_near(c.beta_ns, 1 / 20. + 1 / 4.);
    unmake(&t);
}

static void node_has_computed_limits(void **state)
{
    struct team t;
    struct cost_node node;

    (void)state;
    make(&t, 8);
    hud_predict_node(&t.of, &node);
    assert_int_equal(node.ranks, 8);
    assert_int_equal(node.sockets, 2);
    assert_int_equal(node.levels, 2);
    assert_int_equal(node.level[0].members, 4);
    assert_int_equal(node.level[1].members, 2);
    assert_near(node.level[0].line_ns, 10);
    assert_near(node.level[1].line_ns, 100);
    assert_near(node.level[1].gap_ns, 30);
    assert_near(node.core_gbps, 10); /* a core's own cache limits no other core */
    assert_near(node.reduce_gbps,
                1 / (1 / 10. - 1 / 20. + 1 / 40.)); /* the time of a copy without the part of the
                                                     * other end */
    assert_near(node.memory_gbps, 60);
    assert_near(node.link_gbps, 50);
    assert_near(node.cache_bytes, 8 * 1000 + 2 * 10000);
    t.machine->reduce.core_gbps = 12; /* the addition itself takes longer */
    hud_predict_node(&t.of, &node);
    assert_near(node.reduce_gbps, 12);
    t.machine->reduce.core_gbps = 100;
    hud_predict_node(&t.of, &node);
    assert_near(node.reduce_gbps, 1 / (1 / 10. - 1 / 20. + 2 / 100.));
    t.machine->copy.nearest_gbps[1] = 12; /* the fastest number counts */
    hud_predict_node(&t.of, &node);
    assert_near(node.core_gbps, 12);
    t.machine->copy.shared_gbps = 14;
    hud_predict_node(&t.of, &node);
    assert_near(node.core_gbps, 14);
    unmake(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_within_a_socket_has_computed_costs),
        cmocka_unit_test(queue_over_two_sockets_has_computed_costs),
        cmocka_unit_test(messages_have_computed_costs),
        cmocka_unit_test(node_has_computed_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
