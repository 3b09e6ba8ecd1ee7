/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - the root gets a block of each rank, all of one size. */
#include "coll/meanings.h"

/* Each block except the root's own is read and written.  The blocks of the other socket cross.  The
 * ranks share the root's copies if they write into its buffer. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .km = 1 } };

COLL_DEFINE(gather) = { .block_bytes = coll_bytes_to_root,
                        .needs = coll_root_needs_each,
                        .cost = &cost };
