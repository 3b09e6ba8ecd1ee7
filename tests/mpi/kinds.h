/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - the memory layouts that the differential tests use for a message.
 *
 * Kinds of one family have the same type signature per unit of 48 bytes, so ranks may describe the
 * same message by different kinds.
 */
#ifndef HUD_TESTS_KINDS_H
#define HUD_TESTS_KINDS_H

#include "layout.h"

enum { UNIT = 48, UNIT_INTS = 12, UNIT_RECORDS = 3 };

static struct layout integer(void)
{
    return laid_basic(MPI_INT, sizeof(int));
}

/* ---- family 0: units of 12 int ---- */

static struct layout plain(int units, int *count)
{
    *count = units * UNIT_INTS;
    return integer();
}

static struct layout one_block(int units, int *count)
{
    *count = 1;
    return laid_contiguous(integer(), units * UNIT_INTS);
}

static struct layout spaced(int units, int *count)
{
    *count = units * UNIT_INTS;
    return laid_resized(integer(), 0, 12);
}

/* Makes an int at byte 8 of elements that begin at -4, so data and bounds start at different
 * places. */
static struct layout shifted(int units, int *count)
{
    struct layout of[] = { integer() };

    *count = units * UNIT_INTS;
    return laid_resized(laid_struct(1, of, (int[]){ 1 }, (ptrdiff_t[]){ 8 }), -4, 16);
}

/* Makes a column of a matrix with 5 columns. The whole message is an element. */
static struct layout column(int units, int *count)
{
    *count = 1;
    return laid_vector(integer(), units * UNIT_INTS, 1, 5 * sizeof(int));
}

static struct layout backward(int units, int *count)
{
    *count = 1;
    return laid_vector(integer(), units * UNIT_INTS, 1, -(ptrdiff_t)sizeof(int));
}

/* Makes four ints whose order in memory differs from the signature, although the size equals the
 * extent. */
static struct layout permuted_four(void)
{
    return laid_indexed(integer(), 4, (int[]){ 1, 1, 1, 1 }, (int[]){ 2, 0, 3, 1 });
}

static struct layout permuted(int units, int *count)
{
    *count = units * UNIT_INTS / 4;
    return permuted_four();
}

static struct layout permuted_whole(int units, int *count)
{
    *count = 1;
    return laid_contiguous(permuted_four(), units * UNIT_INTS / 4);
}

static struct layout nested(int units, int *count)
{
    *count = units;
    return laid_resized(laid_vector(permuted_four(), 3, 1, 24), 0, 80);
}

/* Makes columns that interleave: the next element starts 4 bytes after this element. */
static struct layout transposed(int units, int *count)
{
    *count = units;
    return laid_resized(
        laid_vector(integer(), UNIT_INTS, 1, (ptrdiff_t)units * (ptrdiff_t)sizeof(int)), 0,
        sizeof(int));
}

static struct layout subarray(int units, int *count)
{
    struct layout row[] = { laid_vector(laid_contiguous(integer(), UNIT_INTS), units, 1,
                                        17 * sizeof(int)) };
    struct layout l = laid_struct(1, row, (int[]){ 1 }, (ptrdiff_t[]){ (17 + 3) * sizeof(int) });

    MPI_Type_free(&l.type);
    MPI_Type_create_subarray(2, (int[]){ units + 2, 17 }, (int[]){ units, UNIT_INTS },
                             (int[]){ 1, 3 }, MPI_ORDER_C, MPI_INT, &l.type);
    l.lower = 0;
    l.extent = (units + 2) * 17 * (ptrdiff_t)sizeof(int);
    *count = 1;
    return l;
}

/* Makes parts of unequal lengths, including an empty part. */
static struct layout ragged(int units, int *count)
{
    *count = units;
    return laid_resized(laid_indexed(integer(), 4, (int[]){ 5, 0, 1, 6 }, (int[]){ 1, 30, 0, 10 }),
                        0, 64);
}

/* ---- family 1: units of 3 records (double, int, int) ---- */

static struct layout record(ptrdiff_t real, ptrdiff_t first, ptrdiff_t second, ptrdiff_t extent)
{
    struct layout of[] = { laid_basic(MPI_DOUBLE, sizeof(double)), integer(), integer() };

    return laid_resized(
        laid_struct(3, of, (int[]){ 1, 1, 1 }, (ptrdiff_t[]){ real, first, second }), 0, extent);
}

static struct layout record_plain(int units, int *count)
{
    *count = units * UNIT_RECORDS;
    return record(0, 8, 12, 16);
}

static struct layout record_permuted(int units, int *count)
{
    *count = units * UNIT_RECORDS;
    return record(8, 4, 0, 16);
}

static struct layout record_wide(int units, int *count)
{
    *count = units * UNIT_RECORDS;
    return record(16, 4, 28, 40);
}

static struct layout record_whole(int units, int *count)
{
    *count = 1;
    return laid_vector(record(8, 4, 0, 16), units * UNIT_RECORDS, 1, 24);
}

/* ---- the table ---- */

struct kind {
    const char *name;
    struct layout (*make)(int units,
                          int *count); /* makes a layout of `units` units; *count elements are the
                                        * message */
};

static const struct kind ints[] = {
    { "plain", plain },       { "one block", one_block },
    { "spaced", spaced },     { "shifted", shifted },
    { "column", column },     { "backward", backward },
    { "permuted", permuted }, { "permuted whole", permuted_whole },
    { "nested", nested },     { "transposed", transposed },
    { "subarray", subarray }, { "ragged", ragged },
};
static const struct kind records[] = {
    { "record", record_plain },
    { "record permuted", record_permuted },
    { "record wide", record_wide },
    { "record whole", record_whole },
};

static const struct family {
    const struct kind *kinds;
    int count;
} families[] = {
    { ints, sizeof ints / sizeof *ints },
    { records, sizeof records / sizeof *records },
};

/* ---- messages of any number of bytes ---- */

enum { BYTES = -1 };

static struct layout bytes_plain(int units, int *count)
{
    *count = units;
    return laid_basic(MPI_BYTE, 1);
}

static const struct kind byte_kinds[] = { { "bytes", bytes_plain } };
static UNUSED const struct family single_bytes = { byte_kinds, 1 };

/* ---- types without bytes ---- */

static struct layout empty_contiguous(void)
{
    return laid_contiguous(integer(), 0);
}

static struct layout empty_vector(void)
{
    return laid_vector(integer(), 0, 3, 16);
}

static struct layout empty_parts(void)
{
    return laid_indexed(integer(), 2, (int[]){ 0, 0 }, (int[]){ 4, 1 });
}

static struct layout (*const empties[])(void) = { empty_contiguous, empty_vector, empty_parts };

#endif
