/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernels.c - bench-kernels: how fast the kernels of src/ops are, on each path of this processor,
 * compared with memcpy.
 *
 *   bench-kernels [bytes of a source]...     4096, 65536, 1M and 16M if none is given
 *
 * Prints one line per operation, type and number of sources: GB/s of all bytes read and written,
 * the best of many runs of about a millisecond.  memcpy is measured in the same way.
 */
#include "ops/ops.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SOURCES = 16, TRIES = 12, PAGE = 4096, STEP = 320 };

static const struct {
    const char *name;
    enum hud_operation operation;
    enum hud_type type;
} rows[] = {
    { "sum double", HUD_SUM, HUD_DOUBLE },
    { "sum float", HUD_SUM, HUD_FLOAT },
    { "sum int32", HUD_SUM, HUD_INT32 },
    { "sum int8", HUD_SUM, HUD_INT8 },
    { "prod double", HUD_PROD, HUD_DOUBLE },
    { "prod int64", HUD_PROD, HUD_INT64 },
    { "prod int8", HUD_PROD, HUD_INT8 },
    { "max double", HUD_MAX, HUD_DOUBLE },
    { "max float", HUD_MAX, HUD_FLOAT },
    { "max int64", HUD_MAX, HUD_INT64 },
    { "min uint8", HUD_MIN, HUD_UINT8 },
    { "land int32", HUD_LAND, HUD_INT32 },
    { "bxor int64", HUD_BXOR, HUD_INT64 },
    { "sum float complex", HUD_SUM, HUD_FLOAT_COMPLEX },
    { "prod float complex", HUD_PROD, HUD_FLOAT_COMPLEX },
    { "prod double complex", HUD_PROD, HUD_DOUBLE_COMPLEX },
    { "sum long double", HUD_SUM, HUD_LONG_DOUBLE },
    { "maxloc double int", HUD_MAXLOC, HUD_DOUBLE_INT },
    { "maxloc float int", HUD_MAXLOC, HUD_FLOAT_INT },
    { "minloc int int", HUD_MINLOC, HUD_INT_INT },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const int counts[] = { 2, 3, 4, 5, 8, 16 };
enum { COUNTS = sizeof counts / sizeof counts[0] };

static char *places[SOURCES + 1]; /* buffers of the sources, then of the result */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs the timed work: a kernel, or memcpy. */
static void work(const struct hud_op *op, int sources, size_t bytes)
{
    if (op)
        op->combine(op, places[SOURCES], (const void *const *)places, sources,
                    bytes / op->element_bytes);
    else
        memcpy(places[SOURCES], places[0], bytes);
}

/* Fills the sources with numbers between 1 and 2, of the type or of its components.  Nothing
 * overflows, and the larger of two numbers cannot be predicted. */
static void fill(enum hud_type type, size_t bytes)
{
    uint32_t drawn = 1;

    for (int s = 0; s < SOURCES; s++)
        for (size_t i = 0; i + sizeof(long double) <= bytes;
             i += type == HUD_LONG_DOUBLE ? sizeof(long double) : sizeof(float)) {
            drawn = drawn * 1664525 + 1013904223;
            float f = 1.0F + (float)(drawn >> 8) * 0x1p-24F;
            if (type == HUD_LONG_DOUBLE)
                memcpy(places[s] + i, &(long double){ f }, sizeof(long double));
            else
                memcpy(places[s] + i, &f, sizeof f);
        }
}

/* Returns the seconds of the fastest run. */
static double best(const struct hud_op *op, int sources, size_t bytes)
{
    double min = 1e9;
    long repeats = 1;

    for (int tries = 0; tries < TRIES;) {
        double begin = now();
        for (long i = 0; i < repeats; i++)
            work(op, sources, bytes);
        double took = now() - begin;
        if (took < 3e-4)
            repeats *= 2;
        else
            tries++;
        if (took >= 3e-4 && took / (double)repeats < min)
            min = took / (double)repeats;
    }
    return min;
}

static double rate(const struct hud_op *op, int sources, size_t bytes)
{
    return (double)bytes * (sources + 1) / best(op, sources, bytes) * 1e-9;
}

static void print(size_t bytes)
{
    printf("\n%zu bytes: memcpy %.1f GB/s; an 8-byte sum of 2 sources %.1f ns\n%-20s %-9s", bytes,
           rate(NULL, 1, bytes),
           best(&(struct hud_op){ .element_bytes = 8,
                                  .combine = hud_ops_path_at(0)->kernels[HUD_SUM][HUD_DOUBLE] },
                2, 8) *
               1e9,
           "GB/s", "path");
    for (int c = 0; c < COUNTS; c++)
        printf("%5d src", counts[c]);
    for (int r = 0; r < ROWS; r++) {
        const struct hud_ops_path *path;
        fill(rows[r].type, bytes);
        for (int p = 0; (path = hud_ops_path_at(p)); p++) {
            struct hud_op op;
            if (hud_op_find(rows[r].operation, rows[r].type, &op) != HUD_OK)
                continue;
            op.combine = path->kernels[rows[r].operation][rows[r].type];
            printf("\n%-20s %-9s", p == 0 ? rows[r].name : "", path->name);
            for (int c = 0; c < COUNTS; c++)
                printf("%9.1f", rate(&op, counts[c], bytes));
            fflush(stdout);
        }
    }
    printf("\n");
}

static const char *bytes_of(const char *text, size_t *bytes)
{
    char *end;

    *bytes = strtoull(text, &end, 10);
    *bytes <<= *end == 'M' ? 20 : *end == 'K' ? 10 : 0;
    return *bytes == 0 || (*end && end[1]) || (*end && *end != 'M' && *end != 'K') ? NULL : text;
}

/* Measures a size.  Sources begin at different lines of a page, as is usual for different ranks, so
 * the associativity of the caches is not measured. */
static int run(size_t bytes)
{
    char *memory =
        aligned_alloc(PAGE, (bytes + 2 * PAGE) / PAGE * PAGE * (SOURCES + 1) + SOURCES * PAGE);

    if (!memory)
        return 1;
    for (int s = 0; s <= SOURCES; s++) {
        places[s] = memory + (size_t)s * ((bytes + 2 * PAGE) / PAGE * PAGE) +
                    (size_t)s * STEP % PAGE / 64 * 64;
        memset(places[s], 0, bytes);
    }
    print(bytes);
    free(memory);
    return 0;
}

int main(int argc, char **argv)
{
    const char *usual[] = { "4K", "64K", "1M", "16M" };
    size_t bytes;

    for (int i = 1; i < argc; i++)
        if (!bytes_of(argv[i], &bytes)) {
            fprintf(stderr,
                    "bench-kernels: '%s' is not a number of bytes; examples: 4096, 64K, 1M\n",
                    argv[i]);
            return 2;
        }
    for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++)
        if (run((bytes_of(argc > 1 ? argv[i + 1] : usual[i], &bytes), bytes)) != 0)
            return 1;
    return 0;
}
