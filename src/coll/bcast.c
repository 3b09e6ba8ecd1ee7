/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - the root's message goes to every rank. */
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

/* The message is read once, and written by all ranks but the root. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 1 },
                                       .link = { .m = 1 } };

COLL_DEFINE(bcast) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
