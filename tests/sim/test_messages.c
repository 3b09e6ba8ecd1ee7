/* SPDX-License-Identifier: BSD-3-Clause */
/* test_messages.c - the checker reports each fault in messages between nodes, and nothing else. */
#include "check/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 2, SEEDS = 20, BYTES = 64, LEASE_BYTES = 4096 };

static enum fault {
    NONE,
    WRITES_EARLY, /* writes bytes that it still sends */
    READS_EARLY,  /* reads bytes that have not arrived */
    DIFFERS,      /* the ends differ in length */
    NEVER_SENDS,
    TAKES_TWICE, /* uses a message number that is in use */
    FAULTS
} fault;

static void send(struct mem *m, const struct coll *c)
{
    uint64_t *own = mem_slot(m, 0);

    mem_put(m, own, 7);
    if (fault != NEVER_SENDS)
        net_send(m, c->net, 0, 1, NET_BARRIER, own, BYTES);
    if (fault == WRITES_EARLY)
        mem_put(m, own, 8);
    if (fault != NEVER_SENDS)
        net_sent(m, c->net, 0);
    mem_put(m, own, 9);
}

static void receive(struct mem *m, const struct coll *c)
{
    uint64_t *own = mem_slot(m, 0);

    net_receive(m, c->net, 0, 0, NET_BARRIER, own, fault == DIFFERS ? BYTES / 2 : BYTES);
    if (fault == TAKES_TWICE)
        net_receive(m, c->net, 0, 0, NET_BARRIER, own + BYTES / 8, BYTES);
    if (fault == READS_EARLY)
        (void)mem_get(m, own);
    net_arrived(m, c->net, 0);
    if (mem_get(m, own) != 7)
        mem_put(m, own + LEASE_BYTES / 8, 0); /* outside of the slot, which is reported */
}

static void run(struct mem *m, const struct coll *c)
{
    (net_map(c->net)->node == 0 ? send : receive)(m, c);
}

static const struct alg_family family = { .fixed_bytes = LEASE_BYTES };
/* It promises a broadcast from rank 0. */
static const struct alg alg = { .coll = "bcast", .name = "made_up", .family = &family, .run = run };

static void body(struct sim *s, int rank, void *arg)
{
    struct sim_span *span = arg;
    const struct alg_place place = { .slot_bytes = LEASE_BYTES };
    const struct hud_view nothing = { .bytes = 0 };
    const struct coll c = {
        .out = &nothing, .place = &place, .net = hud_sim_span_net(span, rank), .root = 0
    };

    (void)s;
    hud_sim_call(hud_sim_span_mem(span, rank), &alg, &c);
}

/* Returns the number of runs whose report contains the words, or of clean runs if `words` is
 * NULL. */
static int reports(enum fault made, const char *words)
{
    static const int node_of[NODES] = { 0, 1 };
    int found = 0;

    fault = made;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct sim_options options = { .ranks = NODES,
                                             .arena_bytes = LEASE_BYTES,
                                             .seed = seed,
                                             .strategy =
                                                 (enum sim_strategy)(seed % SIM_STRATEGIES) };
        struct sim *s = hud_sim_create(&options);
        struct sim_span *span = hud_sim_span_create(s, NODES, node_of, LEASE_BYTES, 1);
        bool clean = hud_sim_run(s, body, span);
        found += words ? !clean && strstr(hud_sim_report(s), words) != NULL : clean;
        if (clean == (words != NULL) || (words && !strstr(hud_sim_report(s), words)))
            print_message("fault %d, seed %d: %s\n", (int)made, (int)seed, hud_sim_report(s));
        hud_sim_free(s);
    }
    return found;
}

static void correct_exchange_is_not_reported(void **state)
{
    (void)state;
    assert_int_equal(reports(NONE, NULL), SEEDS);
}

static void each_fault_is_reported(void **state)
{
    static const char *const words[FAULTS] = { [WRITES_EARLY] = "still sends",
                                               [READS_EARLY] = "still receives",
                                               [DIFFERS] = "ends differ",
                                               [NEVER_SENDS] = "deadlock",
                                               [TAKES_TWICE] = "is not free" };

    (void)state;
    for (int f = NONE + 1; f < FAULTS; f++)
        assert_int_equal(reports((enum fault)f, words[f]), SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(correct_exchange_is_not_reported),
                                        cmocka_unit_test(each_fault_is_reported) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
