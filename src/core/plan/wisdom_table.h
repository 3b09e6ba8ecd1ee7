/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_table.h - the choices that rank 0 of a new team already knows for the team's cells
 * (core/job/wisdom.h).  All ranks have the same table.  before: the choice in another state of the
 * machine, such as with ranks further apart. */
#ifndef HUD_WISDOM_TABLE_H
#define HUD_WISDOM_TABLE_H

#include "core/plan/plan.h"

struct wisdom_table {
    struct wisdom_known {
        uint32_t name, before_name; /* names of entries (hud_wisdom_name); 0: unknown */
        uint32_t ns, before_ns;     /* times of a call, at most 4.29 s; 0: not known */
        bool open;                  /* a trial has not ended: name is its best candidate so far */
        bool unchecked;             /* see wisdom_line */
        int64_t balance_ns;         /* balance of the trial (hud_learner_balance) */
    } known[PLAN_CELLS];
};

/* Returns a number other than 0 that names an algorithm with its parameters, or the host's own
 * collective (row -1). */
uint32_t hud_wisdom_name(int row, const long param[ALG_PARAMS]);

#endif
