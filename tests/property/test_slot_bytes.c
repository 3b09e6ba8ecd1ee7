/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slot_bytes.c - the slot bytes that an algorithm asks for never exceed the bytes available.
 * Asking again with exactly these bytes gives the same answer, because run() sees only them and
 * must find the same layout. More available bytes never give a smaller slot.
 */
#include "alg/alg.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A value between the minimum of a parameter in bytes and its maximum. */
enum { SOME_BYTES = 64 << 10 };

/* Sets the i-th combination of minima, presets, maxima and (for sizes) a value between them of the
 * algorithm's parameters. Returns false if there is no i-th combination. */
static bool corners(const struct alg *a, int i, long *param)
{
    for (int p = 0; alg_param_at(a, p); p++) {
        const struct alg_param *of = alg_param_at(a, p);
        bool sized = of->unit[0] == 'B' && of->min < SOME_BYTES && of->max > SOME_BYTES;
        const long value[] = { of->min, of->preset, of->max, SOME_BYTES };
        int values = sized ? 4 : 3;
        param[p] = value[i % values];
        i /= values;
    }
    return i == 0;
}

static void holds_for(const struct alg *a, const long *param, int ranks)
{
    size_t before = 0;

    for (size_t max = 0; max <= (size_t)3 << 20; max += max < 40000 ? 904 : 65432) {
        const struct alg_place place = alg_place_alone(a, param, ranks, 0, max);
        size_t bytes = alg_place_bytes(&place);
        const struct alg_place again = alg_place_alone(a, param, ranks, 0, bytes);

        assert_true(bytes <= max && bytes >= before);
        if (a->family->window_bytes)
            assert_true(a->family->window_bytes(param, ranks, max) <= max);
        assert_true(again.slot_bytes == place.slot_bytes &&
                    again.window_bytes == place.window_bytes);
        before = bytes;
    }
}

static void slot_bytes_fit_and_are_the_same_in_each_query(void **state)
{
    long param[ALG_PARAMS] = { 0 };
    int windows = 0;

    (void)state;
    for (int a = 0; hud_shm_algs[a]; a++) {
        for (int i = 0; corners(hud_shm_algs[a], i, param); i++)
            for (int ranks = 1; ranks <= 256; ranks *= 4)
                holds_for(hud_shm_algs[a], param, ranks);
        windows += hud_shm_algs[a]->family->window_bytes != NULL;
    }
    assert_true(windows > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        slot_bytes_fit_and_are_the_same_in_each_query) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
