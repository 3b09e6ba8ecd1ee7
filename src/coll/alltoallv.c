/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoallv.c - each rank sends a block to each rank, of any size.  Pairs that exchange nothing do
 * not wait for each other. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    return args->block(args->host, from, to);
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    return args->block(args->host, entry, exit) != 0;
}

COLL_DEFINE(alltoallv) = { .block_bytes = block_bytes, .needs = needs };
