/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter.c - contributions of all ranks are reduced; each rank gets a block of the result,
 * of any size. */
#include "coll/meanings.h"

/* A core moves the others' parts of its own block.  The half of the other socket crosses. */
static const struct coll_cost cost = { .core = { .m = 1, .m_p = -1 },
                                       .memory = { .m = 1, .pm = 1 },
                                       .link = { .m = 0.5 } };

COLL_DEFINE(reduce_scatter) = { .block_bytes = coll_bytes_by_count,
                                .needs = coll_needs_by_count,
                                .cost = &cost };
