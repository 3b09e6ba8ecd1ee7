/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c - every rank gets a block of each rank, all of one size. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    (void)from, (void)to;
    return args->bytes;
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    (void)args, (void)entry, (void)exit;
    return true;
}

/* Each block is read at least once, and written by all ranks.  The blocks of a socket cross to the
 * other. */
static const struct coll_cost cost = { .core = { .pm = 1, .m = -1 },
                                       .memory = { .pm = 1, .p2m = 1 },
                                       .link = { .km = 1 } };

COLL_DEFINE(allgather) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
