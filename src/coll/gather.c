/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - the root gets a block of each rank, all of one size. */
#include "coll/coll.h"

static size_t block_bytes(const struct coll_args *args, int from, int to)
{
    (void)from;
    return to == args->root ? args->bytes : 0;
}

static bool needs(const struct coll_args *args, int entry, int exit)
{
    (void)entry;
    return exit == args->root;
}

/* Each block except the root's own is read and written.  The blocks of the other socket cross.  The
 * ranks share the root's copies if they write into its buffer. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .km = 1 } };

COLL_DEFINE(gather) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
