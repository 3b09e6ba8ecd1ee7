/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall.c - each rank sends one block to each rank, and all blocks have the same size:
 * every rank is a neighbor of every rank. */
#include "coll/meanings.h"

COLL_DEFINE(neighbor_alltoall) = { .block_bytes = coll_bytes_from_each, .needs = coll_needs_each };
