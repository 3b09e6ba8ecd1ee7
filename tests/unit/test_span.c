/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span.c - teams that span nodes, without an MPI: ranks are threads, whose contexts believe
 * that they are on different hosts, and messages go through a list of this process.
 */
#include "core/team/span.h"
#include "gang.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TAGS = NET_TAGS, EAGER_BYTES = 1000 };

/* ---- messages ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Message number n of a sender, receiver and tag goes to the receive of that number. */
struct end {
    struct end *next;
    int team, from, to, tag, number;
    bool sends, taken, told; /* of a send: the receiver has it; the sender knows */
    char *at;                /* of a send: a copy */
    size_t bytes;
};
static struct end *sent;
static int numbers[2][GANG_TEAMS][GANG_RANKS][GANG_RANKS][TAGS];
static int open_calls, cancelled, active;
static bool broken;          /* messages fail: */
static int broken_rank = -1; /* those of one rank; -1: all */

static struct end *start(void *arg, int other, int tag, const void *at, size_t bytes, bool sends)
{
    struct gang_team *t = arg;
    struct end *e = calloc(1, sizeof *e);
    int self = t->member->rank;

    if (!e || tag >= TAGS)
        abort();
    *e = (struct end){ .team = t->number,
                       .from = sends ? self : other,
                       .to = sends ? other : self,
                       .tag = tag,
                       .sends = sends,
                       .at = (char *)(uintptr_t)at,
                       .bytes = bytes };
    pthread_mutex_lock(&lock);
    e->number = numbers[sends][e->team][e->from][e->to][tag]++;
    active++;
    if (sends) {
        e->at = malloc(bytes + 1);
        if (bytes != 0)
            memcpy(e->at, at, bytes);
        e->next = sent;
        sent = e;
    }
    pthread_mutex_unlock(&lock);
    return e;
}

static int start_send(void *arg, int rank, int tag, const void *from, size_t bytes, void **pending)
{
    *pending = start(arg, rank, tag, from, bytes, true);
    return 0;
}

static int start_receive(void *arg, int rank, int tag, void *to, size_t bytes, void **pending)
{
    *pending = start(arg, rank, tag, to, bytes, false);
    return 0;
}

/* The lock is held. */
static void drop(struct end *e)
{
    struct end **at = &sent;

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    free(e->at);
    free(e);
}

/* A send stays in the list, for its receiver. */
static void forget(struct end *e)
{
    if (!e->sends)
        free(e);
}

static bool take(struct end *e)
{
    struct end *s = sent;

    while (s && (s->team != e->team || s->from != e->from || s->to != e->to || s->tag != e->tag ||
                 s->number != e->number || s->taken))
        s = s->next;
    if (!s)
        return false;
    if (s->bytes != e->bytes)
        abort();
    if (e->bytes != 0)
        memcpy(e->at, s->at, e->bytes);
    s->taken = true;
    if (s->told)
        drop(s);
    free(e);
    return true;
}

/* A long one is complete only when it has been received. */
static bool is_sent(struct end *e)
{
    bool is = e->taken || e->bytes <= EAGER_BYTES;

    e->told = is;
    if (e->taken)
        drop(e);
    return is;
}

static int test(void *arg, void **pending, int *done)
{
    struct end *e = *pending;

    const struct gang_team *t = arg;
    pthread_mutex_lock(&lock);
    int failed = broken && (broken_rank < 0 || broken_rank == t->member->rank);
    *done = 0;
    if (!failed)
        *done = e->sends ? is_sent(e) : take(e);
    else
        forget(e);
    active -= *done || failed;
    pthread_mutex_unlock(&lock);
    return failed;
}

static void cancel(void *arg, void **pending)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    forget(*pending);
    cancelled++;
    active--;
    pthread_mutex_unlock(&lock);
}

static int open_way(void *arg, void **pending)
{
    (void)arg;
    *pending = NULL;
    __atomic_fetch_add(&open_calls, 1, __ATOMIC_SEQ_CST);
    return 0;
}

static int opened(void *arg, void **pending, int *done)
{
    (void)arg, (void)pending;
    *done = 1;
    return 0;
}

static const struct hud_messages messages = { open_way,      opened, start_send,
                                              start_receive, test,   cancel };

/* ---- runs ---- */

static const int *node_of;

static void run(const int *nodes, void (*body)(struct gang_member *m), const char *const *settings,
                const char *const *last)
{
    struct gang g = { .ranks = GANG_RANKS,
                      .teams = 2,
                      .messages = &messages,
                      .body = body,
                      .settings = { settings, settings, settings, last } };

    memset(numbers, 0, sizeof numbers);
    open_calls = cancelled = active = 0;
    broken = false;
    node_of = nodes;
    gang_run(&g);
    while (sent) {
        struct end *e = sent;
        sent = e->next;
        free(e->at);
        free(e);
    }
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
    MUST(m, active == 0 && open_calls == 2 * m->ranks);
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
    MUST(m, open_calls == 0);
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
    MUST(m, open_calls == 0);
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
    pthread_mutex_lock(&lock);
    broken = true;
    pthread_mutex_unlock(&lock);
    gang_meet(m);
    MUST(m, call(m, 0, "barrier", 0, 0) == HUD_PASS);
    MUST(m, m->team[0].rounds == 3 && m->context->network.alpha_ns == 0);
    gang_meet(m);
    MUST(m, active == 0 && cancelled > 0);
}

static void a_network_that_fails_ends_the_span(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 1, 1 };

    (void)state;
    run(layout, measuring_in_vain, on, on);
    broken_rank = 0; /* the other head's wait has an end */
    run(layout, measuring_in_vain, on, on);
    broken_rank = -1;
}

static char tuning[64] = "HUDDLE_TUNING=/tmp/huddle-test-XXXXXX";
static const char *const automatic[] = { "HUDDLE_NODES=auto", tuning, NULL };

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
    pthread_mutex_lock(&lock);
    broken = true;
    pthread_mutex_unlock(&lock);
    gang_meet(m);
    MUST(m, call(m, 0, "barrier", 0, 1) == HUD_ERR_FAILED);
    MUST(m, call(m, 0, "barrier", 0, 2) == HUD_PASS);
    MUST(m, active == 0 && cancelled > 0);
}

static void failures_end_the_span(void **state)
{
    static const int layout[GANG_RANKS] = { 0, 0, 1, 1 };

    (void)state;
    run(layout, failing, on, on);
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
                                        cmocka_unit_test(failures_end_the_span) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
