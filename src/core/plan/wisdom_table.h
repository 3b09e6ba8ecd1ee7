/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_table.h - the choices that rank 0 of a new team already knows for the team's cells
 * (core/job/wisdom.h).  All ranks have the same table. */
#ifndef HUD_WISDOM_TABLE_H
#define HUD_WISDOM_TABLE_H

#include "core/plan/plan.h"

struct wisdom_table {
    struct wisdom_known {
        uint32_t name;             /* an entry's (hud_wisdom_name); 0: unknown */
        uint32_t ns, runner_up_ns; /* times of a call, at most 4.29 s; 0: not known */
        int16_t runner_up;         /* row of alg.def, or -1, if runner_up_ns is not 0 */
    } known[PLAN_CELLS];
};

/* Returns a number other than 0 that names an algorithm with its parameters, or the host's own
 * collective (row -1). */
uint32_t hud_wisdom_name(int row, const long param[ALG_PARAMS]);

#endif
