/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.c - contributions of the ranks up to a rank are reduced, and that rank gets the result. */
#include "coll/coll.h"

static bool needs(const struct coll_args *args, int entry, int exit)
{
    (void)args;
    return entry <= exit;
}

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    return needs(args, from, to) ? args->bytes : 0;
}

/* Each contribution is read, and each rank writes a result. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .m = 1 } };

COLL_DEFINE(scan) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
