/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - what the ranks of a shot send, and what each must have afterwards.  Fresh for every
 * shot: its stamp is in all of it.
 *
 * Reductions add doubles that are small whole numbers, so that sums are exact in any order.  What
 * does not fill an element is left out.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "coll/coll.h"
#include "shots.h"

/* Elements of a reduction; of one whose result is cut over the ranks, those before a rank's block
 * and those in it: blocks are as equal as they can be. */
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

/* Bytes that make whole elements. */
static inline size_t data_bytes(const struct shots_call *c)
{
    return coll_has(c->kind, COLL_REDUCES) ? data_elements(c) * sizeof(double) : c->bytes;
}

/* Where what goes from one rank to another lies. */
struct coll_piece data_piece(const struct shots_call *c, int from, int to);

/* It moves bytes. */
static inline bool data_moves(int kind)
{
    return coll_has(kind, COLL_BLOCKS) || !coll_has(kind, COLL_UNSIZED);
}

/* What a rank sends, in its place. */
void data_fill(const struct shots_call *c);

/* A row for each of huddle's collectives, with one function that makes any of them, and one that
 * prepares it before the start; then a row without a name. */
void data_colls(int (*call)(const struct shots_call *c),
                void (*prepare)(const struct shots_call *c),
                struct shots_coll rows[COLL_KINDS + 1]);

/* A bare broadcast: the root's `out` is filled; whoever has others counts them. */
void data_fill_root(const struct shots_call *c);
long data_wrong_message(const struct shots_call *c);

#endif
