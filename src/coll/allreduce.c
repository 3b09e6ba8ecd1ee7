/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - contributions of all ranks are reduced; every rank gets the result. */
#include "coll/meanings.h"

/* Each contribution is read, and the result is written by all ranks. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 2 },
                                       .link = { .m = 1 } };

COLL_DEFINE(allreduce) = { .block_bytes = coll_bytes_from_each,
                           .needs = coll_needs_each,
                           .cost = &cost };
