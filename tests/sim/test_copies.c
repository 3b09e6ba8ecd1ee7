/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_copies.c - times of copies and reductions on the made-up machine (made_up.h), by hand: two
 * sockets of two dies of three cores.
 */
#include "made_up.h"
#include "sim/copies.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    K = 1024,
    M = 1024 * K,
    DIE = 3,
    CORES = 4 * DIE,
    OTHER = 2 * DIE /* a core of the other socket */
};
enum { A = 16 * M, B = 64 * M, C = 128 * M }; /* addresses; all in node 0 */

struct world {
    struct sim_machine *machine;
    struct sim_links *links;
    struct sim_copies *copies;
    double ended[CORES];
};

static int set_up_with(void **state, size_t nearest_bytes)
{
    struct world *w = calloc(1, sizeof *w);
    struct sim_machine *m = made_up_machine(2, DIE);

    m->caches.nearest_bytes = (double)nearest_bytes;
    m->copy.nearest_gbps[MACHINE_OWN] = nearest_bytes ? 100 : 0;
    m->copy.nearest_gbps[MADE_UP_NUMA] = nearest_bytes ? 4 : 0;
    m->links.socket_gbps = 6;
    w->machine = m;
    w->links = hud_links_create(m);
    w->copies = hud_copies_create(m, w->links);
    *state = w;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, 0);
}

static int set_up_nearest(void **state)
{
    return set_up_with(state, 4 * K);
}

/* At most 4 GB/s from or to one process. */
static int set_up_process(void **state)
{
    set_up(state);
    struct world *w = *state;

    hud_copies_free(w->copies);
    w->machine->copy.kernel_process_gbps = 4;
    w->copies = hud_copies_create(w->machine, w->links);
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    hud_copies_free(w->copies);
    hud_links_free(w->links);
    made_up_free(w->machine);
    free(w);
    return 0;
}

static void assert_near(double is, double wanted)
{
    if (fabs(is - wanted) > 1e-6 * (1 + fabs(wanted)))
        fail_msg("%.9g, not %.9g", is, wanted);
}

static void begins(struct world *w, int core, enum copies_kind kind, uintptr_t from, uintptr_t to,
                   size_t bytes, double now_ns)
{
    const struct copies_call call = {
        .kind = kind, .from = { from }, .froms = 1, .to = { to }, .tos = 1, .bytes = bytes
    };

    hud_copies_begin(w->copies, core, &call, now_ns);
}

static void until_all_have_ended(struct world *w)
{
    while (hud_copies_next(w->copies) < INFINITY) {
        double now = hud_copies_next(w->copies);
        int core = hud_copies_step(w->copies);
        if (core >= 0)
            w->ended[core] = now;
    }
}

/* One core alone. */
static void expect(struct world *w, int core, enum copies_kind kind, uintptr_t from, uintptr_t to,
                   size_t bytes, double takes)
{
    double now = 1e6;

    for (int i = 0; i < CORES; i++)
        now = fmax(now, w->ended[i]);
    begins(w, core, kind, from, to, bytes, now);
    until_all_have_ended(w);
    assert_near(w->ended[core] - now, takes);
}

static double carried(const struct world *w, int resource)
{
    return hud_copies_carried(w->copies, resource);
}

static int memory(struct world *w, int node)
{
    return hud_copies_ways(w->copies)->node_at + node;
}

static void by_where_they_lie(void **state)
{
    struct world *w = *state;

    expect(w, 0, COPIES_COPY, A, B, 1000, 10 + 450); /* both from memory */
    expect(w, 0, COPIES_COPY, A, B, 1000, .5 + 50);
    expect(w, 1, COPIES_COPY, B, A + M, 1000,
           10 + 300); /* from core 0, to lines that are still in memory: .05 + .05 + .2 */
    expect(w, 2, COPIES_COPY, B, A + M, 1000,
           10 + 130); /* from the shared cache, and core 1 must give up what it has */
    expect(w, DIE, COPIES_COPY, B, 0, 1000, 20 + 200);
    expect(w, OTHER, COPIES_COPY, A + M, 0, 1000, 40 + 400);
    expect(w, OTHER + 1, COPIES_COPY, A + M, 0, 1000, 10 + 80); /* its die has them now */
    expect(w, 0, COPIES_COPY, 0, B, 1000,
           20 + 50 + 150); /* core DIE has them, core OTHER never had */
}

/* The first line of what lies in no cache takes as long as the memory does that it lies in; what
 * lies in a cache does not. */
static void the_first_line_of_memory(void **state)
{
    struct world *w = *state;

    w->machine->memory.latency_ns[MACHINE_OWN] = 90;
    w->machine->memory.latency_ns[MADE_UP_MACHINE] = 200;
    expect(w, 0, COPIES_COPY, A, 0, 1000, 90 + 250);
    expect(w, 0, COPIES_COPY, A, 0, 1000, .5 + 50);
    expect(w, 1, COPIES_COPY, A, 0, 1000, 10 + 80);
    expect(w, OTHER, COPIES_COPY, B, 0, 1000, 200 + 1000);
}

/* Nearest caches: .01 per byte within one, .25 from another core's.  An end in the core's own
 * private cache takes .025, in another core's .075, as without nearest caches. */
static void nearest_caches(void **state)
{
    struct world *w = *state;

    hud_copies_touch(w->copies, 0, A, 1000);
    hud_copies_touch(w->copies, 0, B, 1000);
    expect(w, 0, COPIES_COPY, A, B, 1000, .5 + 10);
    expect(w, 1, COPIES_COPY, A, 0, 1000, 10 + 250);
    hud_copies_touch(w->copies, 0, C, 4 * K); /* B leaves the nearest cache */
    expect(w, 1, COPIES_COPY, B, 0, 1000, 10 + 75 + 5);
    expect(w, 0, COPIES_COPY, A, C, 1000,
           .5 + 25 + 5); /* what it has read since is in its private cache only */
}

static void past_the_caches_and_through_the_kernel(void **state)
{
    struct world *w = *state;

    expect(w, 0, COPIES_PAST, 0, B, 1000, .5 + 250);
    assert_near(carried(w, memory(w, 0)), 1000); /* written, not fetched before */
    w->machine->copy.past_gbps = 8;
    expect(w, 0, COPIES_PAST, 0, B, 1000, .5 + 125);
    expect(w, 0, COPIES_PAST, C, B, 1000, 10 + 225 + 100);    /* its source is fetched */
    expect(w, 0, COPIES_KERNEL, 0, A, 1000, 110 + 125 + 200); /* as a copy there takes, less its
                                                                 half in the core's own cache */
    expect(w, 0, COPIES_KERNEL, 0, A, 1000, 100.5 + 125);     /* not at 20 */
}

/* A core writes 1000 bytes, which lie in its own cache, into a process. */
static void call_by_kernel(struct world *w, int core, int process)
{
    const struct copies_call call = { .kind = COPIES_KERNEL,
                                      .froms = 1,
                                      .to = { A + (uintptr_t)core * M },
                                      .tos = 1,
                                      .bytes = 1000,
                                      .process = process };

    hud_copies_touch(w->copies, core, call.to[0], call.bytes);
    hud_copies_begin(w->copies, core, &call, 0);
}

static void write_by_kernel(struct world *w, int process_of_0, int process_of_1, double takes)
{
    call_by_kernel(w, 0, process_of_0);
    call_by_kernel(w, 1, process_of_1);
    until_all_have_ended(w);
    assert_near(w->ended[0], takes);
    assert_near(w->ended[1], takes);
}

static void one_process_is_shared(void **state)
{
    write_by_kernel(*state, 5, 5, 100.5 + 500);
}

/* Who is alone with a process is not limited by what several get together. */
static void each_process_has_its_own_limit(void **state)
{
    write_by_kernel(*state, 5, 6, 100.5 + 125);
}

/* The second call finds the first under way, which takes 30 more from it; one of other processes
 * takes nothing. */
static void calls_of_one_process_cost_each_other(void **state)
{
    struct world *w = *state;

    w->machine->copy.kernel_other_ns = 30;
    w->machine->copy.kernel_process_gbps = 0;
    call_by_kernel(w, 0, 5);
    call_by_kernel(w, 1, 5);
    call_by_kernel(w, 2, 6);
    until_all_have_ended(w);
    assert_near(w->ended[0], 100.5 + 125);
    assert_near(w->ended[1], 100.5 + 30 + 125);
    assert_near(w->ended[2], 100.5 + 125);
}

static void reductions(void **state)
{
    struct world *w = *state;
    const struct copies_call four = { COPIES_REDUCE, { A, B, C, A }, { B, C + M }, 4, 2, 1000 };

    hud_copies_touch(w->copies, 0, A, 1000);
    hud_copies_touch(w->copies, 0, B, 1000);
    hud_copies_touch(w->copies, OTHER, C, 1000);
    hud_copies_begin(w->copies, 0, &four, 0);
    until_all_have_ended(w);
    assert_near(
        w->ended[0],
        40 + 160 + 50 + 350 +
            200); /* four sources, the second result, one from the other socket, one to memory */
    expect(w, 0, COPIES_REDUCE, A, B, 1000, .5 + 50); /* of one source it is a copy */
}

/* A result in the place of a source, which lies in another core's cache: that is fetched once. */
static void in_place(void **state)
{
    struct world *w = *state;
    const struct copies_call sum = { COPIES_REDUCE, { A, B }, { A }, 2, 1, 1000 };

    hud_copies_touch(w->copies, 1, A, 1000);
    hud_copies_touch(w->copies, 0, B, 1000);
    hud_copies_begin(w->copies, 0, &sum, 0);
    until_all_have_ended(w);
    assert_near(w->ended[0], 10 + 80 + 50);
}

static double carried_from(struct world *w, int socket)
{
    double bytes = -1;

    for (int r = 0; r < hud_links_count(w->links); r++)
        if (hud_links_get(w->links, r)->class < 0 && hud_links_get(w->links, r)->from == socket &&
            hud_links_get(w->links, r)->to != socket)
            bytes = carried(w, r);
    return bytes;
}

/* Out to the other socket's memory, and back: each link in its direction; shared caches give, and
 * are not asked to take. */
static void directions(void **state)
{
    struct world *w = *state;
    int shared = hud_copies_ways(w->copies)->unit_at;

    hud_copies_home(w->copies, C, M, 3);
    expect(w, 0, COPIES_PAST, 0, C, 1000, .5 + 1000);
    assert_near(carried_from(w, 0), 1000);
    assert_near(carried_from(w, 1), 0);
    assert_near(carried(w, memory(w, 3)), 1000);
    assert_near(carried(w, shared), 0);
    expect(w, 0, COPIES_COPY, C, 0, 500, 40 + 500);
    assert_near(carried_from(w, 0), 1000);
    assert_near(carried_from(w, 1), 500);
    assert_near(carried(w, shared), 500);
    hud_copies_touch(w->copies, 0, A, 1000);
    expect(w, 1, COPIES_COPY, A, 0, 1000, 10 + 100);
    assert_near(carried(w, shared), 1500);
    expect(w, OTHER, COPIES_COPY, A, 0, 1000,
           40 + 400); /* from the shared cache of die 0, through its own */
    assert_near(carried(w, shared), 2500);
    assert_near(carried(w, shared + 2), 1000);
}

/* Three cores would bring 2.5 each over a link of 6, from three others; back there is another
 * link. */
static void they_share_the_link_between_sockets(void **state)
{
    struct world *w = *state;

    for (int i = 0; i < 3; i++)
        hud_copies_touch(w->copies, OTHER + i, A + (uintptr_t)i * 1000, 1000);
    hud_copies_touch(w->copies, 4, B, 1000);
    for (int i = 0; i < 3; i++)
        begins(w, i, COPIES_COPY, A + (uintptr_t)i * 1000, 0, 1000, 0);
    begins(w, OTHER + 4, COPIES_COPY, B, 0, 1000, 0);
    until_all_have_ended(w);
    for (int i = 0; i < 3; i++)
        assert_near(w->ended[i], 40 + 500);
    assert_near(w->ended[OTHER + 4], 40 + 400);
}

/* 12 GB/s of memory for three cores that copy 1 / .45 each if they could, and fetch two bytes for
 * each. */
static void they_share_the_memory(void **state)
{
    struct world *w = *state;

    for (uintptr_t i = 0; i < 3; i++)
        begins(w, (int)i, COPIES_COPY, A + i * M, B + i * M, 1000, 0);
    until_all_have_ended(w);
    for (int i = 0; i < 3; i++)
        assert_near(w->ended[i], 10 + 500);
    assert_near(carried(w, memory(w, 0)), 6000);
}

/* Both begin at once: one brings the bytes over the link, the other, at five times the speed, waits
 * for them.  Later ones find them. */
static void bytes_cross_once_for_all_of_a_die(void **state)
{
    struct world *w = *state;

    hud_copies_touch(w->copies, 0, A, 1000);
    begins(w, OTHER, COPIES_COPY, A, 0, 1000, 0);
    begins(w, OTHER + 1, COPIES_COPY, A, 0, 1000, 0);
    until_all_have_ended(w);
    assert_near(w->ended[OTHER], 440);
    assert_near(w->ended[OTHER + 1], 440);
    expect(w, OTHER + 2, COPIES_COPY, A, 0, 1000, 10 + 80);
    for (int r = 0; r < hud_copies_ways(w->copies)->node_at; r++)
        assert_near(carried(w, r),
                    hud_links_get(w->links, r)->to == 1 && hud_links_get(w->links, r)->from == 0
                        ? 1000
                        : 0);
    assert_near(carried(w, memory(w, 0)), 0);
}

/* The sum of two that others of the die still bring, one over the link by 2000, one from memory by
 * 1000: it ends with the later, whichever comes first. */
static void what_still_comes_is_waited_for(void **state)
{
    struct world *w = *state;

    for (int swapped = 0; swapped < 2; swapped++) {
        const uintptr_t far = A + (uintptr_t)swapped * M, near = B + (uintptr_t)swapped * M;
        const struct copies_call sum = {
            COPIES_REDUCE, { swapped ? near : far, swapped ? far : near }, { 0 }, 2, 1, 1000
        };
        double now = 1e6 * (swapped + 1);
        hud_copies_touch(w->copies, OTHER, far, 1000);
        begins(w, 0, COPIES_COPY, far, 0, 1000, now);
        begins(w, 1, COPIES_COPY, near, 0, 1000, now);
        while (hud_copies_next(w->copies) < now + 50)
            hud_copies_step(w->copies); /* both move */
        hud_copies_begin(w->copies, 2, &sum, now + 50);
        until_all_have_ended(w);
        assert_near(w->ended[0] - now, 40 + 400);
        assert_near(w->ended[1] - now, 10 + 250);
        assert_near(w->ended[2] - now,
                    40 + 400); /* by itself 10 + .08 + ... : it would be done before */
    }
}

/* Bytes of which others of the die still bring a part each, by 240 and by 640: who reads them all
 * ends with the later, whichever core brings it. */
static void parts_that_still_come_are_waited_for(void **state)
{
    struct world *w = *state;

    for (int swapped = 0; swapped < 2; swapped++) {
        const uintptr_t all = A + (uintptr_t)swapped * M;
        double now = 1e6 * (swapped + 1);
        hud_copies_touch(w->copies, 0, all, 2000);
        begins(w, OTHER + swapped, COPIES_COPY, all, 0, 500, now);
        begins(w, OTHER + 1 - swapped, COPIES_COPY, all + 500, 0, 1500, now);
        while (hud_copies_next(w->copies) < now + 50)
            hud_copies_step(w->copies); /* both move */
        begins(w, OTHER + 2, COPIES_COPY, all, 0, 2000, now + 50);
        until_all_have_ended(w);
        assert_near(w->ended[OTHER + swapped] - now, 40 + 200);
        assert_near(w->ended[OTHER + 1 - swapped] - now, 40 + 600);
        assert_near(w->ended[OTHER + 2] - now, 40 + 600); /* by itself 10 + 160 */
    }
}

/* 8 MB from and to memory: each is fetched, and what the caches cannot keep of the copy is written
 * back: nothing of what was only read. */
static void what_does_not_fit_goes_home(void **state)
{
    struct world *w = *state;
    double moved;

    hud_copies_home(w->copies, C, 8 * M, 3);
    begins(w, 0, COPIES_COPY, A, C, 8 * M, 0);
    until_all_have_ended(w);
    assert_near(carried(w, memory(w, 0)), 8 * M);
    moved = carried(w, memory(w, 3));
    assert_true(moved <= 16 * M && moved >= 15 * M - 64 * K);
    assert_true(w->ended[0] >
                8 * M * (.25 + .95)); /* 1 of the other socket's memory, .05 of its own cache */
}

/* A ring of four pieces between two cores of a die: after the first round nothing comes from memory
 * any more. */
static void a_ring_stays_in_the_caches(void **state)
{
    struct world *w = *state;

    for (uintptr_t i = 0; i < 100; i++) {
        uintptr_t piece = B + i % 4 * 8 * K;
        double begin = 1e6 * (double)(i + 1);
        begins(w, 0, COPIES_COPY, 0, piece, 8 * K, begin);
        until_all_have_ended(w);
        assert_near(w->ended[0] - begin, 10 + 8192 * (i < 4 ? .25 : .1));
        begins(w, 1, COPIES_COPY, piece, 0, 8 * K, w->ended[0]);
        until_all_have_ended(w);
        assert_near(w->ended[1] - w->ended[0], 10 + 8192 * .1);
    }
    assert_near(carried(w, memory(w, 0)), 32 * K);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(by_where_they_lie),
        CASE(the_first_line_of_memory),
        cmocka_unit_test_setup_teardown(nearest_caches, set_up_nearest, tear_down),
        CASE(past_the_caches_and_through_the_kernel),
        cmocka_unit_test_setup_teardown(one_process_is_shared, set_up_process, tear_down),
        cmocka_unit_test_setup_teardown(each_process_has_its_own_limit, set_up_process, tear_down),
        CASE(calls_of_one_process_cost_each_other),
        CASE(reductions),
        CASE(in_place),
        CASE(directions),
        CASE(they_share_the_link_between_sockets),
        CASE(they_share_the_memory),
        CASE(bytes_cross_once_for_all_of_a_die),
        CASE(what_still_comes_is_waited_for),
        CASE(parts_that_still_come_are_waited_for),
        CASE(what_does_not_fit_goes_home),
        CASE(a_ring_stays_in_the_caches),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
