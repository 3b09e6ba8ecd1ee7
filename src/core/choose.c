/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - the choice of an algorithm for one call. */
#include "core/choose.h"

/* Fills the call in for a row and asks it. */
static bool takes(const struct hud_team *team, int row, struct coll *call)
{
    call->param = team->context->config.param[row];
    call->slot_bytes = team->layout.bytes[row];
    return alg_accepts(hud_shm_algs[row], call, team->size);
}

/* The built-in table is the order of alg.def: the first row of the collective that takes the call. */
int hud_choose(const struct hud_team *team, enum coll_kind kind, struct coll *call, enum reason *reason)
{
    int forced = hud_config_forced(&team->context->config, (int)kind);

    call->groups = &team->groups;
    *reason = forced == -2 ? REASON_FORCED : REASON_REFUSED;
    if (forced >= 0)
        return takes(team, forced, call) ? forced : -1;
    for (int row = 0; forced == -1 && hud_shm_algs[row]; row++)
        if (team->row_kind[row] == (int)kind && takes(team, row, call))
            return row;
    return -1;
}
