/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slot_bytes.c - what an algorithm says it needs: never more than it may have; asked again
 * with that much, the same, so that run(), which sees nothing else, finds the ring that was laid
 * out; more room never makes it smaller.
 */
#include "alg/alg.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LEAST = 0, PRESET = 1, MOST = 2, CORNERS = 3 };

/* The i-th combination of corners of the algorithm's parameters; false: there is none. */
static bool corners(const struct alg *a, int i, long *param)
{
    for (int p = 0; alg_param_at(a, p); p++, i /= CORNERS) {
        const struct alg_param *of = alg_param_at(a, p);
        param[p] = i % CORNERS == LEAST ? of->min : i % CORNERS == PRESET ? of->preset : of->max;
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
        assert_true(again.slot_bytes == place.slot_bytes &&
                    again.window_bytes == place.window_bytes);
        before = bytes;
    }
}

static void slots_are_what_was_asked_for(void **state)
{
    long param[ALG_PARAMS] = { 0 };
    int windows = 0;

    (void)state;
    for (int a = 0; hud_shm_algs[a]; a++) {
        for (int i = 0; corners(hud_shm_algs[a], i, param); i++)
            for (int ranks = 1; ranks <= 64; ranks *= 4)
                holds_for(hud_shm_algs[a], param, ranks);
        windows += hud_shm_algs[a]->family->window_bytes != NULL;
    }
    assert_true(windows > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(slots_are_what_was_asked_for) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
