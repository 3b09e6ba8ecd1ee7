/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ports.c - messages between nodes in simulated time: the ports alone, and algorithms of spans
 * in which little except messages takes time. All times can be computed by hand.
 *
 * A message takes 1000 ns and 1 ns per byte. A port is busy for 400 ns and 1 ns per byte.
 */
#include "alg/nodes/nodes.h"
#include "alg/rings/rings.h"
#include "lab/sim/clock.h"
#include "lab/sim/ports.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct machine_network network = { .latency_ns = 1000, .message_ns = 400, .gbps = 1 };

static void send(struct sim_ports *p, int from, int to, size_t bytes, double at, double left,
                 double arrives)
{
    struct ports_message m = hud_ports_send(p, from, to, bytes, at);

    assert_near(m.left_ns, left);
    assert_near(m.arrives_ns, arrives);
}

static void single_message_takes_computed_time(void **state)
{
    struct sim_ports *p = hud_ports_create(2, &network);

    (void)state;
    send(p, 0, 1, 0, 0, 400, 1000);
    send(p, 0, 1, 600, 5000, 6000, 6600);
    send(p, 1, 0, 600, 5000, 6000, 6600); /* the opposite direction at the same time */
    hud_ports_free(p);
}

static void messages_wait_for_busy_ports(void **state)
{
    struct sim_ports *p = hud_ports_create(3, &network);

    (void)state;
    send(p, 0, 1, 100, 0, 500, 1100); /* the second message waits for the port out of node 0 */
    send(p, 0, 2, 100, 0, 1000, 1600);
    send(p, 0, 1, 100, 2000, 2500, 3100);
    send(p, 2, 1, 100, 2000, 2500, 3600); /* waits for the port into node 1 */
    hud_ports_free(p);
}

/* Sends node 0's second message before node 2's message, which arrives first. */
static void later_message_uses_an_idle_gap(void **state)
{
    struct sim_ports *p = hud_ports_create(4, &network);

    (void)state;
    send(p, 0, 3, 2600, 0, 3000, 3600);   /* enters node 3 until 3600 */
    send(p, 0, 1, 0, 0, 3400, 4000);      /* enters node 1 from 3600 on */
    send(p, 2, 1, 100, 10, 510, 1110);    /* enters before the message of node 0 */
    send(p, 2, 1, 2700, 510, 3610, 7100); /* too long for the time left before it */
    hud_ports_free(p);
}

/* ---- algorithms ---- */

enum { MAX_RANKS = 16, LEASE_BYTES = 1 << 16, BUFFER = 1024, SET = 8 << 10 };

static const double FAST = 1e6;  /* GB/s */
static const double CLOSE = .02; /* tolerance for reading words and for the copies */

struct trial {
    struct sim_span *span;
    const struct alg *alg;
    size_t bytes;
    long param[ALG_PARAMS];
    double left_ns[MAX_RANKS];
    char data[MAX_RANKS][LEASE_BYTES / 4];
};

static void take_first(const struct hud_op *op, void *to, const void *const *from, int sources,
                       size_t elements)
{
    (void)op;
    (void)sources;
    memmove(to, from[0], elements);
}

static void body(struct sim *s, int rank, void *arg)
{
    struct trial *t = arg;
    bool rings = t->alg->family == &hud_sim_rings_family;
    size_t lines = mem_lines(rings ? sizeof(struct rings_lines) : sizeof(struct nodes_lines));
    const struct alg_place place = { .slot_bytes = lines,
                                     .window_offset = lines,
                                     .window_bytes =
                                         rings ? RINGS_SETS * SET : nodes_window_bytes(BUFFER) };
    const struct hud_view view = { .base = t->data[rank], .bytes = t->bytes };
    const struct hud_op op = { .element_bytes = 1, .commutative = 1, .combine = take_first };
    struct coll c = { .in = &view,
                      .out = &view,
                      .bytes = t->bytes,
                      .op = 1,
                      .reduction = &op,
                      .param = t->param,
                      .place = &place,
                      .net = hud_sim_span_net(t->span, rank) };

    (void)s;
    hud_sim_call(hud_sim_span_mem(t->span, rank), t->alg, &c);
    t->left_ns[rank] = hud_sim_now(hud_sim_span_mem(t->span, rank));
}

/* Returns the time at which the last rank leaves, with one rank per node. */
static double last_ns(struct trial *t, int nodes)
{
    struct sim_machine *machine = made_up_machine(1, 1);
    int core[MAX_RANKS] = { 0 }, node_of[MAX_RANKS];
    double last = 0;

    machine->network = network;
    machine->copy = (struct machine_copy){ .cached_gbps = { FAST, FAST, FAST, FAST },
                                           .memory_gbps = { FAST, FAST, FAST, FAST },
                                           .shared_gbps = FAST };
    machine->memory.node_gbps = machine->caches.shared_gbps = machine->reduce.core_gbps = FAST;
    for (int r = 0; r < nodes; r++)
        node_of[r] = r;
    const struct sim_timing timing = {
        .machine = machine, .core = core, .nodes = nodes, .node_of = node_of
    };
    const struct sim_options options = { .ranks = nodes,
                                         .arena_bytes = LEASE_BYTES,
                                         .seed = 1,
                                         .time = &hud_timing,
                                         .timing = &timing };
    struct sim *s = hud_sim_create(&options);
    t->span = hud_sim_span_create(s, nodes, node_of, LEASE_BYTES, nodes_messages(nodes));
    if (!hud_sim_run(s, body, t))
        fail_msg("%s", hud_sim_report(s));
    for (int r = 0; r < nodes; r++)
        last = t->left_ns[r] > last ? t->left_ns[r] : last;
    hud_sim_free(s);
    made_up_free(machine);
    return last;
}

static void takes(struct trial *t, int nodes, double wanted)
{
    double is = last_ns(t, nodes);

    if (fabs(is - wanted) > CLOSE * wanted)
        fail_msg("%s/%s, %d nodes, %zu bytes: took %.9g ns, expected %.9g", t->alg->coll,
                 t->alg->name, nodes, t->bytes, is, wanted);
}

/* Expects a message in each direction per round. */
static void barrier_takes_computed_time(void **state)
{
    struct trial t = { .alg = hud_sim_nodes_algs[NET_BARRIER] };

    (void)state;
    takes(&t, 2, 1000);
    takes(&t, 3, 2000);
    takes(&t, 4, 2000);
    takes(&t, 5, 3000);
    takes(&t, 16, 4000);
}

/* Adds 8 bytes to the first fragment. */
static void broadcast_takes_computed_time(void **state)
{
    struct trial t = { .alg = hud_sim_nodes_algs[NET_BCAST], .bytes = 4000 };

    (void)state;
    t.param[NODES_BUFFER] = BUFFER;
    t.param[NODES_FRAGMENT] = 1000;
    t.param[NODES_TREE] = SHAPE_CHAIN;
    takes(&t, 4, 3 * 2008 + 3 * 1400); /* down the chain, then the other fragments one after the
                                        * other */
    takes(&t, 9, 8 * 2008 + 3 * 1400);
    t.param[NODES_TREE] = SHAPE_FLAT;
    t.bytes = 100;
    t.param[NODES_FRAGMENT] = 100;
    takes(&t, 5, 3 * 508 + 1108); /* the fourth message leaves after three */
    t.param[NODES_TREE] = SHAPE_KNOMIAL;
    t.param[NODES_DEGREE] = 2;
    takes(&t, 8, 3 * 1108);
}

static void allreduce_takes_computed_time(void **state)
{
    struct trial t = { .alg = hud_sim_nodes_algs[NET_ALLREDUCE], .bytes = 8 };

    (void)state;
    t.param[NODES_BUFFER] = BUFFER;
    takes(&t, 4, 2 * 1008);
    takes(&t, 16, 4 * 1008);
    t.alg = hud_sim_nodes_algs[NET_ALLREDUCE_RINGS];
    t.bytes = 4096;
    t.param[RINGS_SET] = SET;
    t.param[RINGS_COUNT] = 1;
    takes(&t, 4, 6 * (1000 + 1024)); /* around the ring twice, except for one step on each way */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(single_message_takes_computed_time),
                                        cmocka_unit_test(messages_wait_for_busy_ports),
                                        cmocka_unit_test(later_message_uses_an_idle_gap),
                                        cmocka_unit_test(barrier_takes_computed_time),
                                        cmocka_unit_test(broadcast_takes_computed_time),
                                        cmocka_unit_test(allreduce_takes_computed_time) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
