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

/* A broadcast: the root's `out` is filled; whoever has others counts them. */
void data_fill_root(const struct shots_call *c);
long data_wrong_message(const struct shots_call *c);

/* A reduction: every rank's `in`; sums in `out`, everywhere, at the root, or a block of them at
 * each rank. */
void data_fill_numbers(const struct shots_call *c);
long data_wrong_sums(const struct shots_call *c);
long data_wrong_sums_at_root(const struct shots_call *c);
long data_wrong_block(const struct shots_call *c);

/* An exchange: `bytes` from each rank to each. */
void data_fill_blocks(const struct shots_call *c);
long data_wrong_blocks(const struct shots_call *c);

#endif
