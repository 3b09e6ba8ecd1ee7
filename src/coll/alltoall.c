/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.c - each rank sends a block to each rank, all of one size. */
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

/* Each block is read and written. */
static const struct coll_cost cost = { .core = { .pm = 1, .m = -1 },
                                       .memory = { .p2m = 2 },
                                       .link = { .k2m = 1 } };

COLL_DEFINE(alltoall) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
