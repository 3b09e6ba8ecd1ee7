/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.c - names of the collectives and of the reasons. */
#include "core/coll.h"

#include <string.h>

const char *const hud_coll_names[COLL_KINDS] = { [COLL_BARRIER] = "barrier",
                                                 [COLL_BCAST] = "bcast",
                                                 [COLL_REDUCE] = "reduce",
                                                 [COLL_ALLREDUCE] = "allreduce",
                                                 [COLL_REDUCE_SCATTER] = "reduce_scatter",
                                                 [COLL_ALLTOALL] = "alltoall",
                                                 [COLL_ALLTOALLV] = "alltoallv" };

#define REASON_TEXT(name, text) [REASON_##name] = text,
const char *const hud_reason_text[REASON_COUNT] = { REASONS(REASON_TEXT) };

int hud_coll_kind(const char *name)
{
    for (int kind = 0; kind < COLL_KINDS; kind++)
        if (strcmp(hud_coll_names[kind], name) == 0)
            return kind;
    return -1;
}
