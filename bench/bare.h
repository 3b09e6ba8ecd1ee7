/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare.h - four collectives in a plain form: flags and copies, without team, choice and tree.  They
 * show what team, choice and tree cost, or gain.
 *
 *   barrier    Each rank posts its line and looks at the others'.
 *   bcast      The root writes into a ring of buffers, which all others read.
 *   allreduce  Each rank writes its contributions to the others' slices into its window, adds up
 *              its own slice in tiles, and copies the other sums from the windows of their owners.
 *   alltoall   Each rank writes its blocks into one of two windows, and copies those for it.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "shots.h"

enum {
    BARE_INLINE = 120,          /* bytes in a flag's line */
    BARE_MAX_BUFFERS = 64,      /* of a ring */
    BARE_SPINS = 1024,          /* where ranks have a core each */
    BARE_WINDOW_BYTES = 1 << 26 /* of a rank: one for allreduce, two halves for alltoall */
};

struct bare; /* shared by all ranks, all zero at first, aligned to 128 bytes */

struct bare_rank {
    struct bare *shared;
    size_t fragment_bytes; /* of the ring: a multiple of 128 */
    int buffers;           /* at most BARE_MAX_BUFFERS */
    unsigned spins;        /* looks before each sched_yield */
    /* This rank's counts: barriers and exchanges; fragments broadcast; how many of them all have
     * read, as far as it knows. */
    uint64_t calls, at, left;
};

size_t bare_bytes(const struct bare_rank *bare, int ranks);

/* c->kind is of coll/coll.h.  Calls of one kind and size may follow each other; before another one
 * all ranks must have ended the last.  Nonzero: not one of the four, or more bytes than a window
 * has. */
int bare_call(struct bare_rank *bare, const struct shots_call *c);

#endif
