/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.c - each rank sends a block to each rank, all of one size. */
#include "coll/meanings.h"

/* Each block is read and written. */
static const struct coll_cost cost = { .core = { .pm = 1, .m = -1 },
                                       .memory = { .p2m = 2 },
                                       .link = { .k2m = 1 } };

COLL_DEFINE(alltoall) = { .block_bytes = coll_bytes_from_each,
                          .needs = coll_needs_each,
                          .cost = &cost };
