/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare.h - the least that two processes can do: a barrier of two flags, and a broadcast through one
 * ring of buffers.  No team, no choice, no tree: the limit that collectives are measured against.
 * Two ranks, also as oversubscribed as two can be.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "shots.h"

enum { BARE_INLINE = 120, BARE_MOST_BUFFERS = 64 }; /* bytes that travel in the flag's line */

struct bare; /* shared by both ranks, all zero at first, aligned to 128 bytes */

struct bare_ring {
    struct bare *shared;
    size_t fragment_bytes;          /* a multiple of 128 */
    int buffers;                    /* at most BARE_MOST_BUFFERS */
    uint64_t calls, at[2], left[2]; /* of this rank: barriers; fragments from each root, and how
                                       many it knows to have been read */
};

size_t bare_bytes(size_t fragment_bytes, int buffers);

/* Nonzero: not two ranks. */
int bare_barrier(struct bare_ring *ring, const struct shots_call *c);
int bare_bcast(struct bare_ring *ring, const struct shots_call *c);

#endif
