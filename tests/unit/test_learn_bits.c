/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_learn_bits.c - HUDDLE_WISDOM changes no bit of a floating-point sum, in any call.
 *
 *   test_learn_bits [CALLS]    default: 100000
 *
 * Makes the same random reductions with and without the setting, and compares the bits of each
 * call.  The terms differ by orders of magnitude, so another order of the ranks gives other bits.
 */
#include "calls.h"
#include "core/call/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, ELEMENTS = 40000, SPARE = 64 };

static const int kinds[] = { COLL_ALLREDUCE, COLL_REDUCE, COLL_REDUCE_SCATTER, COLL_SCAN,
                             COLL_EXSCAN };

static int calls = 100000;
static uint64_t *bits[RANKS]; /* a hash of each call's result */
static bool compares;

static uint32_t draw(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(*random >> 8) * below >> 24);
}

static void fill(float *term, int rank)
{
    uint32_t random = (uint32_t)rank + 1;

    for (int i = 0; i < ELEMENTS + SPARE; i++) {
        float digits = (float)draw(&random, 1 << 24) / (float)(1 << 24) - 0.5F;
        term[i] = digits * (float)(1 << draw(&random, 20));
    }
}

static uint64_t hash(const void *at, size_t bytes)
{
    const unsigned char *byte = at;
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ byte[i]) * UINT64_C(1099511628211);
    return h;
}

/* Draws a size.  Most calls are short, and a few sizes come again and again, so their cells
 * decide. */
static size_t draw_elements(uint32_t *random)
{
    static const uint32_t often[] = { 1, 7, 60, 500, 2000 };
    uint32_t which = draw(random, 100);

    return which < 90   ? often[draw(random, 5)]
           : which < 99 ? 1 + draw(random, 3000)
                        : 1 + draw(random, ELEMENTS);
}

static void reductions(struct rank *r)
{
    float *term = malloc((ELEMENTS + SPARE) * sizeof *term),
          *result = malloc(ELEMENTS * sizeof *result);
    uint32_t random = 1;
    struct hud_op op;

    if (!term || !result)
        abort();
    fill(term, r->rank);
    MUST(r, hud_op_find(HUD_SUM, HUD_FLOAT, &op) == HUD_OK && !op.exact);
    for (int n = 0; n < calls; n++) {
        int kind = kinds[draw(&random, sizeof kinds / sizeof *kinds)];
        int root = (int)draw(&random, RANKS);
        size_t elements = draw_elements(&random), block_bytes[RANKS],
               bytes = elements * sizeof(float);
        for (int i = 0; i < RANKS; i++)
            block_bytes[i] =
                (elements * (size_t)(i + 1) / RANKS - elements * (size_t)i / RANKS) * sizeof(float);
        size_t got = kind == COLL_REDUCE_SCATTER ? block_bytes[r->rank] : bytes;
        const struct hud_view in = view_of(term + draw(&random, SPARE), bytes),
                              out = view_of(result, got);
        memset(result, 0, got);
        int status = hud_call(r->team, &(struct hud_args){ .collective = kind,
                                                           .in = &in,
                                                           .out = &out,
                                                           .op = &op,
                                                           .block_bytes = block_bytes,
                                                           .root = root });
        MUST(r, status == HUD_OK);
        uint64_t h = hash(result, got);
        if (compares && bits[r->rank][n] != h)
            rank_check(r, false, coll_name(kind), bytes);
        bits[r->rank][n] = h;
    }
    if (compares)
        rank_check(r, mem_count_read(&context_stats(r->context)->tried) > 300, "trials", 0);
    free(term);
    free(result);
}

static void measured_choices_change_no_bit(void **state)
{
    static const char *const off[] = { "HUDDLE_WISDOM=off", NULL }, *const on[] = {
        "HUDDLE_WISDOM=on", NULL
    };

    (void)state;
    for (int r = 0; r < RANKS; r++)
        bits[r] = calloc((size_t)calls, sizeof **bits);
    compares = false;
    ranks_run(&(struct ranks){ .ranks = RANKS, .settings = off, .body = reductions });
    compares = true;
    ranks_run(&(struct ranks){ .ranks = RANKS, .settings = on, .body = reductions });
    for (int r = 0; r < RANKS; r++)
        free(bits[r]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(measured_choices_change_no_bit) };

    if (argc > 1)
        calls = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
