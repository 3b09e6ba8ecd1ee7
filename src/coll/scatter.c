/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter.c - each rank gets a block of the root, all of one size. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    (void)to;
    return from == args->root ? args->bytes : 0;
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    (void)exit;
    return entry == args->root;
}

/* Each block is read and written.  The blocks of the other socket cross.  Each rank copies its own
 * block if it reads the root's buffer. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .km = 1 } };

COLL_DEFINE(scatter) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
