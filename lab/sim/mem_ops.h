/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem_ops.h - the calls of mem.h that move bytes, in simulated time.  Each becomes a call of
 * copies.h, for which its rank waits.
 *
 * Bytes in a flag's line are not copied: they come with the line (lines.h), which the core that has
 * awaited it holds.  Bytes in the lines after it are copied.  A packed view costs as much as bytes
 * in the core's own cache, since the host reads its elements.
 */
#ifndef HUD_SIM_MEM_OPS_H
#define HUD_SIM_MEM_OPS_H

#include "lab/sim/clock.h"
#include "lab/sim/copies.h"

/* Runs a call for m's rank, and waits until its end. */
void hud_mem_op(struct mem *m, const struct sim_mem_op *c);

/* Puts the views of the rank's call into its node's memory. */
void hud_mem_ops_views(struct mem *m);

/* Creates the copies of each part, over its machine and links.  Each arena is in the memory of its
 * rank's node. */
void hud_mem_ops_create(struct sim *s, struct sim_clock *c);
void hud_mem_ops_free(struct sim_clock *c);

#endif
