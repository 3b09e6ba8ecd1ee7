/* SPDX-License-Identifier: BSD-3-Clause */
/* exscan.c - contributions of the ranks before a rank are reduced, and that rank gets the result.
 * Rank 0 gets nothing. */
#include "coll/coll.h"

static bool needs(const struct coll_args *args, int entry, int exit)
{
    (void)args;
    return entry < exit;
}

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    return needs(args, from, to) ? args->bytes : 0;
}

/* As for a scan, except that the last contribution is not read, and rank 0 writes nothing. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .m = -2, .pm = 2 },
                                       .link = { .m = 1 } };

COLL_DEFINE(exscan) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
