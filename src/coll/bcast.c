/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - the root's message goes to every rank. */
#include "coll/meanings.h"

/* The message is read once, and written by all ranks but the root. */
static const struct coll_cost cost = { .core = { .m = 1 },
                                       .memory = { .pm = 1 },
                                       .link = { .m = 1 } };

COLL_DEFINE(bcast) = { .block_bytes = coll_bytes_from_root,
                       .needs = coll_needs_root,
                       .cost = &cost };
