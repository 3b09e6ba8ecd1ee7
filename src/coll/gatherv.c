/* SPDX-License-Identifier: BSD-3-Clause */
/* gatherv.c - the root gets a block of each rank, of any size.  It does not wait for ranks that
 * send nothing. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    return to == args->root ? args->block(args->host, from, to) : 0;
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    return exit == args->root && args->block(args->host, entry, exit) != 0;
}

COLL_DEFINE(gatherv) = { .block_bytes = block_bytes, .needs = needs };
