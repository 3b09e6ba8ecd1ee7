/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carry.h - the calls of mem.h that move bytes, on the clock: each is a call of copies.h, for which
 * its rank waits.
 *
 * Bytes next to a flag are not moved as bytes: they travel with the flag's line (lines.h), which
 * the core that has awaited it holds; what lies in the lines behind it is.  A packed view costs
 * what bytes in its own cache do: where its elements lie is its host's affair.
 */
#ifndef HUD_SIM_CARRY_H
#define HUD_SIM_CARRY_H

#include "sim/clock.h"
#include "sim/copies.h"

/*
 * m's rank does this with `bytes` bytes of its operands, and waits until it has ended.  Without a
 * clock, or of no bytes: nothing.  Spans are of shared memory or of anybody's view.
 */
void hud_carry(struct mem *m, enum copies_kind kind, const struct mem_span *to, int tos,
               const struct mem_span *from, int froms, size_t bytes);

/*
 * How mem_out copies a part of a message of so many bytes, and how mem_move does: with non-temporal
 * stores what is too long for the caches, as src/core/team/policy.c says, where the machine can.
 */
enum copies_kind hud_carry_out(const struct mem *m, const struct mem_span *to,
                               size_t message_bytes);
enum copies_kind hud_carry_move(const struct mem *m, const struct mem_span *to, size_t bytes);

/* The views of the rank's call lie in its node's memory. */
void hud_carry_views(struct mem *m);

/* The clock's engine: copies on its machine and links; each arena is in its rank's node. */
void hud_carry_create(struct sim *s, struct sim_clock *c);
void hud_carry_free(struct sim_clock *c);

#endif
