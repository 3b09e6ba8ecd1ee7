/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carry.h - the calls of mem.h that move bytes, in simulated time: each is a call of copies.h, for
 * which its rank waits.
 *
 * Bytes in a flag's line are not copied: they come with the line (lines.h), which the core that has
 * awaited it holds.  Bytes in the lines after it are copied.  A packed view costs as much as bytes
 * in the core's own cache: the host reads its elements.
 */
#ifndef HUD_SIM_CARRY_H
#define HUD_SIM_CARRY_H

#include "sim/clock.h"
#include "sim/copies.h"

/*
 * m's rank does this with `bytes` bytes of its operands, and waits until it has ended.  Does
 * nothing without a clock or without bytes.  Spans are in shared memory or in any rank's view.
 */
void hud_carry(struct mem *m, enum copies_kind kind, const struct mem_span *to, int tos,
               const struct mem_span *from, int froms, size_t bytes);

/*
 * How mem_out copies a part of a message of this size, and how mem_move copies: with non-temporal
 * stores if the message is too long for the caches (src/core/team/policy.c) and the machine has
 * them.
 */
enum copies_kind hud_carry_out(const struct mem *m, const struct mem_span *to,
                               size_t message_bytes);
enum copies_kind hud_carry_move(const struct mem *m, const struct mem_span *to, size_t bytes);

/* The views of the rank's call lie in its node's memory. */
void hud_carry_views(struct mem *m);

/* The copies of each part, on its machine and links; each arena is in its rank's node. */
void hud_carry_create(struct sim *s, struct sim_clock *c);
void hud_carry_free(struct sim_clock *c);

#endif
