/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare.h - the minimum that two processes need: a barrier of two flags, and a broadcast through one
 * ring of buffers.  Without team, choice and tree they are a lower limit for collectives of two
 * ranks.  The two ranks may share one processor.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "shots.h"

enum { BARE_INLINE = 120, BARE_MAX_BUFFERS = 64 }; /* INLINE: bytes in the flag's line */

struct bare; /* shared by both ranks, all zero at first, aligned to 128 bytes */

struct bare_ring {
    struct bare *shared;
    size_t fragment_bytes;          /* a multiple of 128 */
    int buffers;                    /* at most BARE_MAX_BUFFERS */
    uint64_t calls, at[2], left[2]; /* this rank's: barriers; fragments from each root; how
                                       many of them have been read, as far as it knows */
};

size_t bare_bytes(size_t fragment_bytes, int buffers);

/* Nonzero: not two ranks. */
int bare_barrier(struct bare_ring *ring, const struct shots_call *c);
int bare_bcast(struct bare_ring *ring, const struct shots_call *c);

#endif
