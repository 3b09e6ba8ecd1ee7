/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy.c - the copy that goes past the caches: every length and place around its blocks, and nothing beside it. */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, PLACES = 65, BYTES = MOST + 2 * PLACES };

static void every_length_and_place(void **state)
{
    static unsigned char from[BYTES], to[BYTES], want[BYTES];

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 37 + 1);
    for (size_t bytes = 0; bytes <= MOST; bytes += bytes < 140 ? 1 : 13)
        for (size_t a = 0; a < PLACES; a += 3)
            for (size_t b = 0; b < PLACES; b++) {
                memset(to, 0, sizeof to);
                memset(want, 0, sizeof want);
                memcpy(want + b, from + a, bytes);
                hud_mem_stream(to + b, from + a, bytes);
                assert_memory_equal(to, want, sizeof to);
            }
}

/* Where a policy asks for it a view is filled by that copy, and cut at its end as by any other. */
static void a_view_is_filled_by_it(void **state)
{
    static unsigned char from[4096], to[4096];
    const struct mem_policy policy = { .stream_bytes = 1000 };
    struct mem m = { .policy = &policy };
    struct hud_view view = { .base = to, .bytes = 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i + 1);
    mem_out(&m, &view, from, 0, 300);
    mem_out(&m, &view, from + 300, 300, 800);
    assert_memory_equal(to, from, 1000);
    assert_int_equal(to[1000], 0);
    assert_true(m.truncated);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_length_and_place), cmocka_unit_test(a_view_is_filled_by_it) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
