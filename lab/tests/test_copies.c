/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_copies.c - times of copies and reductions on the made-up machine (made_up.h), computed by
 * hand: two sockets of two dies of three cores.
 */
#include "lab/sim/copies.h"
#include "made_up.h"

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
enum { A = 16 * M, B = 64 * M, C = 128 * M }; /* addresses, all in node 0 */

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

/* Limits copies from or to one process to 4 GB/s. */
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

/* Expects the time of a call by a single core. */
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
    return hud_copies_rates(w->copies)->node_at + node;
}

static void copy_time_depends_on_where_the_bytes_are(void **state)
{
    struct world *w = *state;

    expect(w, 0, COPIES_COPY, A, B, 1000, 10 + 450); /* both ends in memory */
    expect(w, 0, COPIES_COPY, A, B, 1000, .5 + 50);
    expect(w, 1, COPIES_COPY, B, A + M, 1000,
           10 + 300); /* copied from core 0, to lines that are still in memory: .05 + .05 + .2 */
    expect(w, 2, COPIES_COPY, B, A + M, 1000,
           10 + 130); /* copied from the shared cache; core 1 must give up its copy */
    expect(w, DIE, COPIES_COPY, B, 0, 1000, 20 + 200);
    expect(w, OTHER, COPIES_COPY, A + M, 0, 1000, 40 + 400);
    expect(w, OTHER + 1, COPIES_COPY, A + M, 0, 1000, 10 + 80); /* its die has the bytes now */
    expect(w, 0, COPIES_COPY, 0, B, 1000,
           20 + 50 + 150); /* core DIE has the source, core OTHER never had the destination */
}

/* Expects the latency of memory for the first line of bytes in no cache, and not for bytes in a
 * cache. */
static void first_line_takes_the_latency_of_its_memory(void **state)
{
    struct world *w = *state;

    w->machine->memory.latency_ns[MACHINE_OWN] = 90;
    w->machine->memory.latency_ns[MADE_UP_MACHINE] = 200;
    expect(w, 0, COPIES_COPY, A, 0, 1000, 90 + 250);
    expect(w, 0, COPIES_COPY, A, 0, 1000, .5 + 50);
    expect(w, 1, COPIES_COPY, A, 0, 1000, 10 + 80);
    expect(w, OTHER, COPIES_COPY, B, 0, 1000, 200 + 1000);
}

/* Copies at .01 per byte within the nearest cache, and .25 from another core's. Bytes in the core's
 * own private cache take .025 at an end, in another core's .075, as without nearest caches. */
static void nearest_caches_speed_up_copies(void **state)
{
    struct world *w = *state;

    hud_copies_touch(w->copies, 0, A, 1000);
    hud_copies_touch(w->copies, 0, B, 1000);
    expect(w, 0, COPIES_COPY, A, B, 1000, .5 + 10);
    expect(w, 1, COPIES_COPY, A, 0, 1000, 10 + 250);
    hud_copies_touch(w->copies, 0, C, 4 * K); /* evicts B from the nearest cache */
    expect(w, 1, COPIES_COPY, B, 0, 1000, 10 + 75 + 5);
    expect(w, 0, COPIES_COPY, A, C, 1000,
           .5 + 25 + 5); /* bytes that it has read since are in its private cache only */
}

static void non_temporal_and_kernel_copies_take_computed_time(void **state)
{
    struct world *w = *state;

    expect(w, 0, COPIES_NONTEMPORAL, 0, B, 1000, .5 + 250);
    assert_near(carried(w, memory(w, 0)), 1000); /* written, but not fetched before */
    w->machine->copy.nontemporal_gbps = 8;
    expect(w, 0, COPIES_NONTEMPORAL, 0, B, 1000, .5 + 125);
    expect(w, 0, COPIES_NONTEMPORAL, C, B, 1000, 10 + 225 + 100); /* the source is fetched */
    expect(w, 0, COPIES_KERNEL, 0, A, 1000, 110 + 125 + 200);     /* a copy to memory, without the
                                                               * half in the core's own cache */
    expect(w, 0, COPIES_KERNEL, 0, A, 1000, 100.5 + 125); /* not at the 20 GB/s of the cache */
}

/* Writes 1000 bytes in the core's own cache to a process. */
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

static void copies_of_one_process_share_its_limit(void **state)
{
    write_by_kernel(*state, 5, 5, 100.5 + 500);
}

/* Limits copies of several processes. A single copy of a process is not limited by the bandwidth of
 * several copies together. */
static void each_process_has_its_own_limit(void **state)
{
    write_by_kernel(*state, 5, 6, 100.5 + 125);
}

/* Starts a second call of the same process, which takes 30 more because the first is under way. A
 * call of another process is not delayed. */
static void calls_of_one_process_delay_each_other(void **state)
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

static void reduction_time_adds_up_its_ends(void **state)
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
            200); /* four sources and a second result; one source is in the other socket, one result
                   * in memory */
    expect(w, 0, COPIES_REDUCE, A, B, 1000, .5 + 50); /* a copy: there is a single source */
}

/* Reduces to the place of a source in another core's cache, which is fetched only once. */
static void in_place_source_is_fetched_once(void **state)
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

/* Copies to the other socket's memory and back. Each link counts its own direction. Shared caches
 * count the bytes they provide, not the bytes they receive. */
static void each_direction_is_counted_on_its_own(void **state)
{
    struct world *w = *state;
    int shared = hud_copies_rates(w->copies)->unit_at;

    hud_copies_home(w->copies, C, M, 3);
    expect(w, 0, COPIES_NONTEMPORAL, 0, C, 1000, .5 + 1000);
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
           40 + 400); /* copied from the shared cache of die 0, through its own shared cache */
    assert_near(carried(w, shared), 2500);
    assert_near(carried(w, shared + 2), 1000);
}

/* Copies at three cores that would need 2.5 each over a link of 6, from three other cores. The
 * opposite direction is another link. */
static void copies_share_the_link_between_sockets(void **state)
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

/* Copies at three cores with 12 GB/s of memory. Each could copy 1 / .45, and fetches two bytes per
 * byte copied. */
static void copies_share_the_memory_bandwidth(void **state)
{
    struct world *w = *state;

    for (uintptr_t i = 0; i < 3; i++)
        begins(w, (int)i, COPIES_COPY, A + i * M, B + i * M, 1000, 0);
    until_all_have_ended(w);
    for (int i = 0; i < 3; i++)
        assert_near(w->ended[i], 10 + 500);
    assert_near(carried(w, memory(w, 0)), 6000);
}

/* Reads the same bytes at two cores at once. The first brings the bytes over the link, and the
 * other, at five times the speed, waits for them. Later readers find them in the die. */
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
    for (int r = 0; r < hud_copies_rates(w->copies)->node_at; r++)
        assert_near(carried(w, r),
                    hud_links_get(w->links, r)->to == 1 && hud_links_get(w->links, r)->from == 0
                        ? 1000
                        : 0);
    assert_near(carried(w, memory(w, 0)), 0);
}

/* Adds two sources still being read by other cores of the die, over the link by 2000 and from
 * memory by 1000. The sum ends with the later source, in either order. */
static void reduction_waits_for_sources_in_flight(void **state)
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
            hud_copies_step(w->copies); /* both are in progress */
        hud_copies_begin(w->copies, 2, &sum, now + 50);
        until_all_have_ended(w);
        assert_near(w->ended[0] - now, 40 + 400);
        assert_near(w->ended[1] - now, 10 + 250);
        assert_near(w->ended[2] - now,
                    40 + 400); /* alone it would take 10 + .08 + ... and end earlier */
    }
}

/* Reads bytes of which other cores of the die still read a part each, until 240 and 640. The reader
 * of all bytes ends with the later part, in either order. */
static void copy_waits_for_parts_in_flight(void **state)
{
    struct world *w = *state;

    for (int swapped = 0; swapped < 2; swapped++) {
        const uintptr_t all = A + (uintptr_t)swapped * M;
        double now = 1e6 * (swapped + 1);
        hud_copies_touch(w->copies, 0, all, 2000);
        begins(w, OTHER + swapped, COPIES_COPY, all, 0, 500, now);
        begins(w, OTHER + 1 - swapped, COPIES_COPY, all + 500, 0, 1500, now);
        while (hud_copies_next(w->copies) < now + 50)
            hud_copies_step(w->copies); /* both are in progress */
        begins(w, OTHER + 2, COPIES_COPY, all, 0, 2000, now + 50);
        until_all_have_ended(w);
        assert_near(w->ended[OTHER + swapped] - now, 40 + 200);
        assert_near(w->ended[OTHER + 1 - swapped] - now, 40 + 600);
        assert_near(w->ended[OTHER + 2] - now, 40 + 600); /* alone 10 + 160 */
    }
}

/* Copies 8 MB from memory to memory. Every byte is fetched. Bytes of the copy beyond the size of
 * the caches are written back, but clean bytes are not. */
static void dirty_bytes_beyond_the_caches_are_written_back(void **state)
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
                8 * M * (.25 + .95)); /* 1 for the other socket's memory, .05 for its own cache */
}

/* Uses a ring of four pieces between two cores of a die. After the first round nothing comes from
 * memory. */
static void ring_stays_in_the_caches(void **state)
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
        CASE(copy_time_depends_on_where_the_bytes_are),
        CASE(first_line_takes_the_latency_of_its_memory),
        cmocka_unit_test_setup_teardown(nearest_caches_speed_up_copies, set_up_nearest, tear_down),
        CASE(non_temporal_and_kernel_copies_take_computed_time),
        cmocka_unit_test_setup_teardown(copies_of_one_process_share_its_limit, set_up_process,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_process_has_its_own_limit, set_up_process, tear_down),
        CASE(calls_of_one_process_delay_each_other),
        CASE(reduction_time_adds_up_its_ends),
        CASE(in_place_source_is_fetched_once),
        CASE(each_direction_is_counted_on_its_own),
        CASE(copies_share_the_link_between_sockets),
        CASE(copies_share_the_memory_bandwidth),
        CASE(bytes_cross_once_for_all_of_a_die),
        CASE(reduction_waits_for_sources_in_flight),
        CASE(copy_waits_for_parts_in_flight),
        CASE(dirty_bytes_beyond_the_caches_are_written_back),
        CASE(ring_stays_in_the_caches),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
