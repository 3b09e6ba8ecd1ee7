/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare.h - four collectives in a plain form: flags and copies, without team, choice and tree.  They
 * show what team, choice and tree cost, or gain.
 *
 *   barrier    Each rank posts its line and waits for the others'.
 *   bcast      The root writes into a ring of buffers, which all others read.
 *   allreduce  Each rank writes its contributions to the others' slices into its window, adds up
 *              its own slice in tiles, and copies the other sums from the windows of their owners.
 *   alltoall   Each rank writes its blocks into one of two windows, and copies the blocks for
 *              itself.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "shots.h"

enum {
    BARE_INLINE = 120,          /* bytes in a flag's line */
    BARE_MAX_BUFFERS = 64,      /* buffers of a ring */
    BARE_SPINS = 1024,          /* polls of a rank with a core of its own */
    BARE_WINDOW_BYTES = 1 << 26 /* a rank's window: one for allreduce, two halves for alltoall */
};

struct bare; /* shared by all ranks, all zero at first, aligned to 128 bytes */

struct bare_rank {
    struct bare *shared;
    size_t fragment_bytes; /* a buffer of the ring: a multiple of 128 */
    int buffers;           /* at most BARE_MAX_BUFFERS */
    unsigned spins;        /* reads of a flag before each sched_yield */
    /* This rank's counts: barriers and exchanges; fragments broadcast; fragments that all ranks
     * have read, as far as this rank knows. */
    uint64_t calls, at, left;
};

size_t bare_bytes(const struct bare_rank *bare, int ranks);

/* Makes a call of c->kind (coll/coll.h).  Calls of the same kind and size may follow each other;
 * before any other call, all ranks must have ended the last.  Returns nonzero for another
 * collective, or for more bytes than a window has. */
int bare_call(struct bare_rank *bare, const struct shots_call *c);

#endif
