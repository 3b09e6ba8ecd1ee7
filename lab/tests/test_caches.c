/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_caches.c - where bytes are after reads and writes, computed by hand. Four cores are in two
 * units. A core has 64 KB of its own, a unit 1 MB. The memory of unit u is node u.
 */
#include "lab/sim/caches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { K = 1024, M = 1024 * K, CORES = 4, NODES = 2, RING = 16 * M, BUF = 64 * M };

static const int unit[CORES] = { 0, 0, 1, 1 };

static int distance(const void *where, int a, int b)
{
    (void)where;
    return a == b ? 0 : unit[a] == unit[b] ? 1 : 2;
}

static double home[NODES];
static struct caches_given_up given_up;

static int set_up_with(void **state, size_t nearest_bytes, bool victim, enum caches_dirty dirty)
{
    const struct caches_shape shape = { .cores = CORES,
                                        .units = 2,
                                        .unit = unit,
                                        .nearest_bytes = nearest_bytes,
                                        .private_bytes = 64 * K,
                                        .shared_bytes = 1 * M,
                                        .victim = victim,
                                        .dirty = dirty,
                                        .distance = distance };
    struct sim_caches *c = hud_caches_create(&shape);

    memset(home, 0, sizeof home);
    given_up = (struct caches_given_up){ 0, home };
    hud_caches_home(c, RING, 8 * M, 1);
    *state = c;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, 0, false, CACHES_HAND_ON);
}

static int set_up_nearest(void **state)
{
    return set_up_with(state, 4 * K, false, CACHES_HAND_ON);
}

static int set_up_victim(void **state)
{
    return set_up_with(state, 0, true, CACHES_KEEP);
}

static int set_up_keep(void **state)
{
    return set_up_with(state, 0, false, CACHES_KEEP);
}

static int set_up_write_back(void **state)
{
    return set_up_with(state, 0, false, CACHES_WRITE_BACK);
}

static int tear_down(void **state)
{
    hud_caches_free(*state);
    return 0;
}

static void reads(struct sim_caches *c, int core, uintptr_t first, size_t bytes)
{
    hud_caches_read(c, core, first, bytes, &given_up);
}

static void writes(struct sim_caches *c, int core, uintptr_t first, size_t bytes)
{
    hud_caches_write(c, core, first, bytes, &given_up);
}

/* Expects that the core finds exactly the first `bytes` of [first, first + 64 MB) at the place. */
static void expect(struct sim_caches *c, int core, uintptr_t first, size_t bytes, bool write,
                   enum caches_kind kind, int of)
{
    struct caches_place place;
    size_t found = hud_caches_find(c, core, first, 64 * M, write, &place);

    assert_int_equal(place.kind, kind);
    assert_int_equal(place.of, of);
    if (bytes != 0)
        assert_int_equal(found, bytes);
}

enum { READ = 0, WRITE = 1 };

static void unused_bytes_are_only_in_memory(void **state)
{
    struct sim_caches *c = *state;

    expect(c, 0, RING + 8 * M - 100, 100, READ, CACHES_NODE, 1);
    expect(c, 0, RING + 8 * M, 64 * M, READ, CACHES_NODE, 0);
    expect(c, 3, RING - 5, 5, WRITE, CACHES_NODE, 0);
}

/* Copies 8 KB from a buffer of core 0 to a ring. Core 1, then 2 copy the bytes out, then core 3
 * after core 2. Then core 0 reuses the ring. */
static void copies_are_found_in_the_expected_caches(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 8 * K);
    writes(c, 0, RING, 8 * K);
    expect(c, 0, BUF, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 1, BUF, 8 * K, READ, CACHES_UNIT, 0); /* it passed through the unit's cache */
    expect(c, 2, BUF, 0, READ, CACHES_NODE, 0);     /* memory has the same bytes */
    expect(c, 0, RING, 8 * K, WRITE, CACHES_OWN, 0);
    expect(c, 1, RING, 8 * K, READ, CACHES_CORE, 0);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    reads(c, 1, RING, 8 * K);
    expect(c, 0, RING, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 0, RING, 8 * K, WRITE, CACHES_CORE, 1); /* core 1 must give up its copy */
    expect(c, 2, RING, 8 * K, READ, CACHES_UNIT, 0);  /* newer than memory */
    reads(c, 2, RING, 4 * K);
    expect(c, 3, RING, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, RING, 4 * K, WRITE, CACHES_CORE, 2); /* the farthest copy */
    expect(c, 0, RING + 4 * K, 4 * K, WRITE, CACHES_CORE, 1);
    writes(c, 0, RING, 8 * K);
    expect(c, 0, RING, 8 * K, WRITE, CACHES_OWN, 0);
    expect(c, 1, RING, 8 * K, READ, CACHES_CORE, 0);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    assert_int_equal(hud_caches_private_bytes(c, 1), 0);
    assert_int_equal(hud_caches_shared_bytes(c, 1), 0);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0 && home[1] == 0);
}

/* Uses a ring of 4 x 8 KB for fragments of a long message. A buffer must still be in the cache when
 * any core reuses it. */
static void ring_stays_in_the_cache(void **state)
{
    struct sim_caches *c = *state;

    for (uintptr_t i = 0; i < 100; i++) {
        writes(c, 0, RING + i % 4 * 8 * K, 8 * K);
        expect(c, 1, RING + i % 4 * 8 * K, 0, READ, CACHES_CORE, 0);
        reads(c, 1, RING + i % 4 * 8 * K, 8 * K);
        expect(c, 0, RING + (i + 1) % 4 * 8 * K, 0, WRITE, i < 3 ? CACHES_NODE : CACHES_CORE, 1);
    }
    assert_int_equal(hud_caches_private_bytes(c, 0), 32 * K);
    assert_int_equal(hud_caches_private_bytes(c, 1), 32 * K);
    assert_true(given_up.shared_bytes == 0 && home[1] == 0);
}

/* Writes 16 MB. The core keeps 64 KB, its unit 1 MB, and the rest is written to memory, each byte
 * once. */
static void long_message_is_evicted_to_memory_once(void **state)
{
    struct sim_caches *c = *state;

    for (int i = 0; i < 16 * M / (32 * K); i++)
        writes(c, 2, BUF + (uintptr_t)i * 32 * K, 32 * K);
    expect(c, 2, BUF, 15 * M - 64 * K, READ, CACHES_NODE, 0);
    expect(c, 2, BUF + 15 * M - 64 * K, 1 * M, READ, CACHES_UNIT, 1);
    expect(c, 2, BUF + 16 * M - 64 * K, 64 * K, READ, CACHES_OWN, 2);
    expect(c, 2, BUF + 16 * M - 64 * K, 64 * K, WRITE, CACHES_OWN, 2);
    assert_true(given_up.shared_bytes == 16 * M - 64 * K && home[0] == 15 * M - 64 * K &&
                home[1] == 0);
    for (int i = 0; i < 16 * M / (32 * K); i++)
        reads(c, 2, BUF + (uintptr_t)i * 32 * K,
              32 * K); /* each byte comes from memory: the last bytes are evicted before they are
                        * reached */
    assert_true(home[0] == 16 * M);
}

/* Writes more at once than a cache holds. The end stays in the cache. */
static void only_the_end_of_a_large_write_stays(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 100 * K);
    expect(c, 0, RING, 36 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, RING + 36 * K, 64 * K, READ, CACHES_OWN, 0);
    assert_int_equal(hud_caches_private_bytes(c, 0), 64 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 36 * K);
}

/* Fills the cache with 48 KB and 16 KB and uses the first half of the 48 KB again. Another 32 KB
 * evict their other half and 8 KB of the 16 KB. */
static void least_recently_used_bytes_are_evicted(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, BUF, 48 * K);
    writes(c, 0, BUF + M, 16 * K);
    reads(c, 0, BUF, 24 * K);
    writes(c, 0, BUF + 2 * M, 32 * K);
    expect(c, 0, BUF, 24 * K, READ, CACHES_OWN, 0);
    expect(c, 0, BUF + 24 * K, 24 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, BUF + M, 8 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, BUF + M + 8 * K, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 0, BUF + 2 * M, 32 * K, READ, CACHES_OWN, 0);
    assert_true(given_up.shared_bytes == 32 * K);
}

/* Verifies that evicting clean bytes moves nothing. */
static void evicting_clean_bytes_moves_nothing(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 4 * M);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0);
    assert_int_equal(hud_caches_private_bytes(c, 0), 64 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 1 * M);
}

static void non_temporal_write_removes_copies(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, BUF, 8 * K);
    reads(c, 3, BUF, 8 * K);
    hud_caches_write_nontemporal(c, BUF + 2 * K, 4 * K);
    expect(c, 3, BUF, 2 * K, READ, CACHES_OWN, 3);
    expect(c, 3, BUF + 2 * K, 4 * K, READ, CACHES_NODE, 0);
    expect(c, 0, BUF + 6 * K, 2 * K, READ, CACHES_OWN, 0);
    assert_int_equal(hud_caches_private_bytes(c, 3), 4 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 4 * K);
}

/* Uses pieces of all sizes many times. Each cache must hold the bytes listed in the directory, and
 * no more than its size. */
static void caches_never_exceed_their_size(void **state)
{
    struct sim_caches *c = *state;
    uint32_t seed = 5;

    for (int i = 0; i < 20000; i++) {
        int core = (int)((seed = seed * 1664525u + 1013904223u) >> 30);
        uintptr_t first = RING + ((seed = seed * 1664525u + 1013904223u) >> 10) % (3 * M);
        size_t bytes = 1 + ((seed = seed * 1664525u + 1013904223u) >> 12) % (48 * K), at = 0;
        struct caches_place place;
        (seed >> 9 & 3 ? reads : writes)(c, core, first, bytes);
        size_t own = hud_caches_find(c, core, first, bytes, READ, &place);
        assert_int_equal(place.kind, CACHES_OWN);
        assert_int_equal(own, bytes);
        for (int n = 0; i % 1000 == 0 && n < CORES; n++) {
            size_t held = 0;
            for (at = 0; at < 4 * M; at += own) {
                own = hud_caches_find(c, n, RING + at, 4 * M - at, READ, &place);
                held += place.kind == CACHES_OWN ? own : 0;
            }
            assert_int_equal(held, hud_caches_private_bytes(c, n));
            assert_true(held <= 64 * K && hud_caches_shared_bytes(c, n / 2) <= 1 * M);
        }
    }
}

/* Writes 10 KB, of which the last 4 KB are in the nearest cache, for every core that reads or
 * writes them. Bytes read next evict them from this cache only. */
static void nearest_cache_holds_the_latest_bytes(void **state)
{
    struct sim_caches *c = *state;
    struct caches_place place;

    writes(c, 0, RING, 10 * K);
    assert_int_equal(hud_caches_find(c, 0, RING, M, WRITE, &place), 6 * K);
    assert_false(place.near);
    expect(c, 0, RING + 6 * K, 4 * K, WRITE, CACHES_OWN, 0);
    assert_int_equal(hud_caches_find(c, 1, RING + 6 * K, M, READ, &place), 4 * K);
    assert_true(place.near && place.kind == CACHES_CORE);
    reads(c, 1, RING + 6 * K, 3 * K);
    assert_int_equal(hud_caches_find(c, 0, RING + 6 * K, M, WRITE, &place),
                     3 * K); /* core 1 has them in its nearest cache */
    assert_true(place.near && place.kind == CACHES_CORE && place.of == 1);
    reads(c, 0, BUF, 3 * K);
    assert_int_equal(hud_caches_find(c, 0, RING, M, READ, &place), 9 * K);
    assert_true(!place.near && place.kind == CACHES_OWN);
    assert_int_equal(hud_caches_nearest_bytes(c, 0), 4 * K);
    assert_int_equal(hud_caches_nearest_bytes(c, 1), 3 * K);
    assert_int_equal(hud_caches_private_bytes(c, 0), 13 * K);
    writes(c, 1, RING, 10 * K);
    assert_int_equal(hud_caches_nearest_bytes(c, 0), 3 * K);
    assert_int_equal(hud_caches_private_bytes(c, 0), 3 * K);
}

/* Verifies that a victim cache gets the bytes of a core only on eviction, clean bytes included.
 * Reads 96 KB, which evicts the first 32 KB. */
static void victim_cache_holds_only_evicted_bytes(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 48 * K);
    expect(c, 1, BUF, 0, READ, CACHES_NODE, 0);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 0);
    reads(c, 0, BUF + 48 * K, 48 * K);
    expect(c, 1, BUF, 32 * K, READ, CACHES_UNIT, 0);
    expect(c, 2, BUF, 0, READ, CACHES_NODE, 0); /* memory has the same bytes */
    assert_int_equal(hud_caches_shared_bytes(c, 0), 32 * K);
    reads(c, 1, BUF, 8 * K); /* they also stay in the shared cache */
    assert_int_equal(hud_caches_shared_bytes(c, 0), 32 * K);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0);
    writes(c, 3, RING, 8 * K); /* dirty bytes stay with the core that wrote them */
    reads(c, 2, RING, 8 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 1), 0);
    expect(c, 0, RING, 8 * K, READ, CACHES_CORE, 3);
}

/* Writes at core 0 and reads at cores 1 and 2. Core 3 finds the bytes in the shared cache filled by
 * core 2. A core of the other unit finds 4 KB more at core 0. Evicted bytes are written to memory
 * once. */
static void owner_keeps_its_dirty_bytes(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 8 * K);
    reads(c, 1, RING, 8 * K);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    reads(c, 2, RING, 4 * K);
    expect(c, 3, RING, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_CORE, 0);
    assert_true(given_up.shared_bytes == 0 && home[1] == 0);
    writes(c, 0, BUF, 64 * K);
    expect(c, 2, RING, 4 * K, READ, CACHES_OWN, 2);
    expect(c, 2, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 0);
    assert_true(given_up.shared_bytes == 8 * K && home[1] == 0);
}

/* Writes 12 KB at core 0. The 4 KB read by core 1 go to the shared cache, the 4 KB read by core 2
 * to memory, and the rest stays. */
static void dirty_bytes_read_by_another_unit_are_written_back(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 12 * K);
    reads(c, 1, RING, 4 * K);
    reads(c, 2, RING + 4 * K, 4 * K);
    assert_true(home[1] == 4 * K && given_up.shared_bytes == 0);
    expect(c, 2, RING, 4 * K, READ, CACHES_UNIT, 0);
    expect(c, 1, RING + 4 * K, 4 * K, READ, CACHES_NODE, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 2, RING + 8 * K, 4 * K, READ, CACHES_CORE, 0);
    reads(c, 2, RING + 4 * K, 4 * K); /* written back once only */
    assert_true(home[1] == 4 * K);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Expects this many readers before core 0 writes the ring's first bytes. */
static void expect_readers(struct sim_caches *c, int readers)
{
    struct caches_place place;

    hud_caches_find(c, 0, RING, K, WRITE, &place);
    assert_int_equal(place.readers, readers);
}

/* Counts other cores with a copy, but not the writer of bytes without any reader. */
static void readers_are_cores_with_a_copy_since_the_write(void **state)
{
    struct sim_caches *c = *state;
    struct caches_place place;

    writes(c, 0, RING, K);
    expect_readers(c, 0);
    reads(c, 1, RING, K);
    reads(c, 2, RING, K / 2);
    expect_readers(c, 2);
    assert_int_equal(hud_caches_find(c, 0, RING, K, WRITE, &place), K / 2); /* then one reader */
    hud_caches_find(c, 0, RING, K, READ, &place);
    assert_int_equal(place.readers, 0); /* a read waits for none */
    writes(c, 1, RING, K);
    expect_readers(c, 0);
    reads(c, 0, RING, K);
    expect_readers(c, 1); /* core 1 has kept its copy */
    reads(c, 1, BUF, 4 * M);
    expect_readers(c, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(unused_bytes_are_only_in_memory),
        CASE(copies_are_found_in_the_expected_caches),
        CASE(ring_stays_in_the_cache),
        CASE(long_message_is_evicted_to_memory_once),
        CASE(only_the_end_of_a_large_write_stays),
        CASE(least_recently_used_bytes_are_evicted),
        CASE(evicting_clean_bytes_moves_nothing),
        CASE(non_temporal_write_removes_copies),
        CASE(caches_never_exceed_their_size),
        CASE(readers_are_cores_with_a_copy_since_the_write),
        cmocka_unit_test_setup_teardown(victim_cache_holds_only_evicted_bytes, set_up_victim,
                                        tear_down),
        cmocka_unit_test_setup_teardown(owner_keeps_its_dirty_bytes, set_up_keep, tear_down),
        cmocka_unit_test_setup_teardown(dirty_bytes_read_by_another_unit_are_written_back,
                                        set_up_write_back, tear_down),
        cmocka_unit_test_setup_teardown(nearest_cache_holds_the_latest_bytes, set_up_nearest,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("caches", tests, NULL, NULL);
}
