/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choose.h - which algorithm takes a call: once per call, from facts that all ranks share (collective, bytes of the signature, ranks, groups, root).
 * Order: forced by the user; built-in table.
 */
#ifndef HUD_CHOOSE_H
#define HUD_CHOOSE_H

#include "core/team.h"

/* The row of alg.def that takes the call, with the call's fields of that algorithm filled in; -1 and *reason: none does. */
int hud_choose(const struct hud_team *team, enum coll_kind kind, struct coll *call, enum reason *reason);

#endif
