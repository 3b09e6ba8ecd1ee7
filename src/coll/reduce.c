/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - contributions of all ranks are reduced; the root gets the result. */
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

/* A core moves the root's share of the others' contributions, if each rank reduces a share.  Each
 * contribution is read, and the result is written. */
static const struct coll_cost cost = { .core = { .m = 1, .m_p = -1 },
                                       .memory = { .m = 1, .pm = 1 },
                                       .link = { .m = 1 } };

COLL_DEFINE(reduce) = { .block_bytes = block_bytes, .needs = needs, .cost = &cost };
