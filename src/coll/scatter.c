/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter.c - each rank gets a block of the root, all of one size. */
#include "coll/meanings.h"

/* Each block is read and written.  The blocks of the other socket cross.  Each rank copies its own
 * block if it reads the root's buffer. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .km = 1 } };

COLL_DEFINE(scatter) = { .block_bytes = coll_bytes_from_root,
                         .needs = coll_needs_root,
                         .cost = &cost };
