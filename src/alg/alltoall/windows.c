/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall/windows.c - blocks are exchanged by tiles, through a window of each rank.  All of it is
 * in windows.h. */
#include "alg/windows.h"

static const struct alg_param params[] = WINDOWS_PARAMS;

ALG_DEFINE(alltoall, windows) = {
    .coll = "alltoall",
    .name = "windows",
    .doc = "blocks are exchanged by tiles, through a window of each rank",
    .source = "paper 02, Alltoall",
    .params = params,
    .family = "windows",
    .slot_bytes = windows_slot_bytes,
    .run = windows_run,
};
