/* SPDX-License-Identifier: BSD-3-Clause */
/* making.h - a plan that is being made.  Private to src/core/choose. */
#ifndef HUD_MAKING_H
#define HUD_MAKING_H

#include "core/choose/planner.h"

struct candidate {
    const struct rule *rule; /* NULL: forced */
    const struct rules *rules;
    int kind, row; /* row -1: falls back to the MPI */
    size_t min_bytes, max_bytes;
    long param[ALG_PARAMS];
    bool barred; /* its slot has no room */
};

struct making {
    const struct config *config;
    const struct rules *tuning;
    struct plan *plan;
    struct candidate candidate[PLAN_RULES];
    int count;
    int winner[PLAN_ENTRIES]; /* candidate of each of the plan's entries, -1: none */
    bool lean, cramped; /* windows for reductions only; a slot has found no room, or too little */
};

/* What hud_plan_bytes has found. */
struct reserved {
    int ranks; /* 0: nothing yet */
    bool windows, direct;
    size_t max_bytes, bytes;
};

enum { RESERVED_KEPT = 32 };

struct planner {
    const struct config *config;
    const struct rules *tuning;
    struct making making;
    struct plan plan; /* of those that hud_plan_bytes makes */
    struct reserved kept[RESERVED_KEPT];
    unsigned next; /* of kept, to be replaced */
    unsigned made; /* plans so far */
};

#endif
