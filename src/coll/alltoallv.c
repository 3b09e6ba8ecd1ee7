/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoallv.c - each rank sends a block to each rank, of any size.  Pairs that exchange nothing do
 * not wait for each other. */
#include "coll/meanings.h"

COLL_DEFINE(alltoallv) = { .block_bytes = coll_bytes_by_count, .needs = coll_needs_by_count };
