/* SPDX-License-Identifier: BSD-3-Clause */
/* scatterv.c - each rank gets a block of the root, of any size.  Ranks that get nothing do not
 * wait. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    return from == args->root ? args->block(args->host, from, to) : 0;
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    return entry == args->root && args->block(args->host, entry, exit) != 0;
}

COLL_DEFINE(scatterv) = { .block_bytes = block_bytes, .needs = needs };
