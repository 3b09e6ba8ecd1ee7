/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather/windows.c - blocks are exchanged by tiles, through a window of each rank, the same for
 * every partner.  All of it is in windows.h. */
#include "alg/windows.h"

static const struct alg_param params[] = WINDOWS_PARAMS;

static void run(struct mem *m, const struct coll *c)
{
    windows_exchange(m, c, true);
}

ALG_DEFINE(allgather, windows) = {
    .coll = "allgather",
    .name = "windows",
    .doc = "blocks are exchanged by tiles, through a window of each rank",
    .source = "this project, after alltoall/windows",
    .params = params,
    .family = "windows",
    .slot_bytes = windows_slot_bytes,
    .run = run,
};
