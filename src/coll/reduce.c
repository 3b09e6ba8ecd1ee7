/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - contributions of all ranks are reduced; the root gets the result. */
#include "coll/meanings.h"

/* A core moves the root's share of the others' contributions, if each rank reduces a share.  Each
 * contribution is read, and the result is written. */
static const struct coll_cost cost = { .core = { .m = 1, .m_p = -1 },
                                       .memory = { .m = 1, .pm = 1 },
                                       .link = { .m = 1 } };

COLL_DEFINE(reduce) = { .block_bytes = coll_bytes_to_root,
                        .needs = coll_root_needs_each,
                        .cost = &cost };
