/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - the data that ranks send in a shot, and the data that each rank must have afterwards.
 * Every shot has fresh data: all of it depends on the shot's stamp.
 *
 * Reductions add doubles that are small whole numbers, so that sums are exact in any order, or
 * integers of 64 bits.  Bytes that do not fill an element are ignored.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "coll/coll.h"
#include "shots.h"

/* Returns the number of elements of a reduction.  If each rank gets a block of the result,
 * data_before counts the elements before a rank's block, and data_block the elements of the block.
 * Blocks are as equal as possible. */
static inline size_t data_elements(const struct shots_call *c)
{
    return c->bytes / sizeof(double);
}

static inline size_t data_before(const struct shots_call *c, int rank)
{
    return data_elements(c) * (size_t)rank / (size_t)c->ranks;
}

static inline size_t data_block(const struct shots_call *c, int rank)
{
    return data_before(c, rank + 1) - data_before(c, rank);
}

/* Returns the bytes that make whole elements. */
static inline size_t data_bytes(const struct shots_call *c)
{
    return coll_has(c->kind, COLL_REDUCES) ? data_elements(c) * sizeof(double) : c->bytes;
}

/* Returns the position and size of the bytes from a rank to another rank. */
struct coll_piece data_piece(const struct shots_call *c, int from, int to);

/* Returns the bytes that a rank sends, or receives.  A broadcast's root has its message where the
 * others receive theirs. */
size_t data_sent(const struct shots_call *c);
size_t data_received(const struct shots_call *c);

/* Returns whether the collective moves data. */
static inline bool data_moves(int kind)
{
    return coll_has(kind, COLL_BLOCKS) || !coll_has(kind, COLL_UNSIZED);
}

/* Fills a rank's send buffer. */
void data_fill(const struct shots_call *c);

/* Fills rows: a row for each of huddle's collectives, then a row without a name.  `call` makes a
 * call of any collective; `prepare` runs before the common start. */
void data_colls(int (*call)(const struct shots_call *c),
                void (*prepare)(const struct shots_call *c),
                struct shots_coll rows[COLL_KINDS + 1]);

#endif
