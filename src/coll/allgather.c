/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c - every rank gets a block of each rank, all of one size. */
#include "coll/meanings.h"

/* Each block is read at least once, and written by all ranks.  The blocks of a socket cross to the
 * other. */
static const struct coll_cost cost = { .core = { .pm = 1, .m = -1 },
                                       .memory = { .pm = 1, .p2m = 1 },
                                       .link = { .km = 1 } };

COLL_DEFINE(allgather) = { .block_bytes = coll_bytes_from_each,
                           .needs = coll_needs_each,
                           .cost = &cost };
