/* SPDX-License-Identifier: BSD-3-Clause */
/* test_device.c - device memory: when buffers are queried, the runs of an element, and copies of
 * any part of a buffer with a stand-in for CUDA (tests/mpi/stand_in). */
#include "host/device/device.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void *(*allocate)(size_t bytes, int managed, void **alias);

static void load(void)
{
    void *library = dlopen(HUD_STAND_IN, RTLD_NOW);
    void *found = library ? dlsym(library, "stand_in_allocate") : NULL;

    assert_non_null(found);
    memcpy(&allocate, &found, sizeof found);
}

/* ---- when buffers are queried
 * ------------------------------------------------------------------ */

static void no_buffer_is_queried_without_a_runtime(void **state)
{
    struct hud_device_place place;
    char byte;

    (void)state;
    assert_false(hud_device_is_plain(&byte)); /* the first buffer makes huddle look for a runtime */
    assert_false(hud_device_ask(&byte, &place));
    assert_true(hud_device_is_plain(&byte));
    assert_true(hud_device_is_plain((void *)1));
    assert_false(hud_device_is_plain(NULL));
    assert_false(hud_device_is_plain((void *)-1));
    huddle_look_again();
    assert_false(hud_device_is_plain(&byte));
    assert_false(hud_device_present());
    assert_true(hud_device_is_plain(&byte));
}

static void runtime_is_found_when_looked_for_again(void **state)
{
    struct hud_device_place place;
    void *alias;
    char byte;

    (void)state;
    load();
    assert_true(hud_device_is_plain(&byte));
    huddle_look_again();
    assert_true(hud_device_present());
    assert_false(hud_device_is_plain(&byte));
    assert_false(hud_device_ask(&byte, &place));
    assert_null(place.runtime);
    char *device = allocate(100, 0, &alias);
    assert_true(hud_device_ask(device + 99, &place));
    assert_ptr_equal(place.runtime, &hud_device_cuda);
    assert_false(place.managed);
    assert_true(hud_device_ask(allocate(100, 1, &alias), &place));
    assert_true(place.managed);
}

static void kinds_of_memory_may_exclude_devices(void **state)
{
    (void)state;
    assert_true(hud_device_is_excluded("system,mpi"));
    assert_false(hud_device_is_excluded("system,cuda:device"));
    assert_false(hud_device_is_excluded("rocm"));
    assert_false(hud_device_is_excluded(""));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void adjacent_runs_are_joined(void **state)
{
    struct hud_runs *runs = hud_runs_create();

    (void)state;
    assert_true(hud_runs_add(runs, 8, 4));
    assert_true(hud_runs_add(runs, 12, 4));
    assert_true(hud_runs_add(runs, 0, 2));
    assert_true(hud_runs_add(runs, 50, 0));
    assert_true(
        hud_runs_add(runs, 4, 4)); /* begins before an earlier run, so the two are not joined */
    assert_int_equal(runs->count, 3);
    assert_int_equal(runs->bytes, 14);
    assert_int_equal(hud_runs_find(runs, 7)->at, 8);
    assert_int_equal(hud_runs_find(runs, 8)->at, 0);
    assert_int_equal(hud_runs_find(runs, 10)->from, 10);
    assert_int_equal(hud_runs_find(runs, 13)->at, 4);
    hud_runs_share(runs);
    hud_runs_drop(runs);
    assert_int_equal(runs->count, 3);
    hud_runs_drop(runs);
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { ELEMENTS = 40, EXTENT = 100, ROWS = 12, PACKED = 3 * ROWS + 8 };

/* Makes rows of 3 bytes at a stride of 5, in reverse order, and 8 contiguous bytes. */
static struct hud_runs *make_runs(void)
{
    struct hud_runs *runs = hud_runs_create();

    for (int i = 0; i < ROWS; i++)
        assert_true(hud_runs_add(runs, i < ROWS / 2 ? 5 * i : 5 * (3 * ROWS / 2 - 1 - i), 3));
    assert_true(hud_runs_add(runs, 70, 8));
    return runs;
}

/* Packs a view by a loop over its runs. */
static void pack_slowly(const struct hud_device_view *v, const unsigned char *memory,
                        unsigned char *packed)
{
    for (size_t element = 0; element < ELEMENTS; element++)
        for (size_t r = 0; r < v->runs->count; r++) {
            memcpy(packed, memory + element * EXTENT + v->runs->run[r].at, v->runs->run[r].bytes);
            packed += v->runs->run[r].bytes;
        }
}

static void any_part_of_a_view_is_packed_and_unpacked(void **state)
{
    static unsigned char want[ELEMENTS * PACKED], got[sizeof want], before[ELEMENTS * EXTENT];
    void *alias;
    struct hud_device_view v = { .first = allocate(sizeof before, 0, &alias), .extent = EXTENT };
    const struct hud_device_span span = { v.first, v.first + sizeof before - 1, false };
    unsigned char *memory = alias;

    (void)state;
    assert_true(hud_device_view_ask(&v, &span));
    assert_false(v.mixed);
    v.runs = make_runs();
    for (size_t i = 0; i < sizeof before; i++)
        memory[i] = before[i] = (unsigned char)(i * 37 + i / 256 + 1);
    pack_slowly(&v, memory, want);
    for (size_t at = 0; at < sizeof want; at += 7)
        for (size_t bytes = 1; bytes <= sizeof want - at; bytes = 2 * bytes + 5) {
            assert_int_equal(hud_device_pack(&v, got, at, bytes), bytes);
            assert_memory_equal(got, want + at, bytes);
        }
    for (size_t i = 0; i < sizeof got; i++)
        got[i] = (unsigned char)~want[i];
    for (size_t at = 0, bytes = 1; at < sizeof want; at += bytes, bytes = bytes * 2 % 301 + 1)
        hud_device_unpack(&v, got + at, at, bytes < sizeof want - at ? bytes : sizeof want - at);
    pack_slowly(&v, memory, want);
    assert_memory_equal(got, want, sizeof want);
    hud_device_unpack(&v, got, 0, 0);
    for (size_t i = 0, same = 0; i < sizeof before; i++) { /* exactly the expected bytes are
                                                            * written */
        same += memory[i] == before[i];
        if (i == sizeof before - 1)
            assert_int_equal(same, sizeof before - sizeof want);
    }
    assert_false(v.failed);
    hud_runs_drop(v.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_buffer_is_queried_without_a_runtime),
        cmocka_unit_test(runtime_is_found_when_looked_for_again),
        cmocka_unit_test(kinds_of_memory_may_exclude_devices),
        cmocka_unit_test(adjacent_runs_are_joined),
        cmocka_unit_test(any_part_of_a_view_is_packed_and_unpacked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
