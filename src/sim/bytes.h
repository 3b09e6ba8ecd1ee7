/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.h - the last accesses to each byte of some memory, kept as ranges, and the race test on
 * them.
 *
 * Two accesses to a byte, at least one of them a write, race unless one happened before the other.
 * Each range keeps the last write, and each rank's last read since.  Older ones are not needed: a
 * write that passed the test is ordered after all of them.
 */
#ifndef HUD_BYTES_H
#define HUD_BYTES_H

#include "sim/order.h"

struct sim_range;

struct sim_bytes {
    struct sim_range *ranges; /* ascending, disjoint; what lies between them was not touched yet */
    int count, room;
};

/*
 * Note an access to [first, end) by `by`, whose vector clock is `clock`.  NULL: no race; else an
 * earlier access that it races with (valid until the next call) and *at, the first byte of that
 * race.
 */
const struct sim_event *hud_bytes_read(struct sim_bytes *b, size_t first, size_t end,
                                       const struct sim_event *by, const struct sim_order *clock,
                                       size_t *at);
const struct sim_event *hud_bytes_write(struct sim_bytes *b, size_t first, size_t end,
                                        const struct sim_event *by, const struct sim_order *clock,
                                        size_t *at);
/* Of bytes that have all been read: the last write of the first one that was not written in that
 * call (rank -1: never written), and *at; NULL: all were. */
const struct sim_event *hud_bytes_stale(const struct sim_bytes *b, size_t first, size_t end,
                                        unsigned call, size_t *at);
/* Somebody wrote or read a byte of [first, end). */
bool hud_bytes_touched(const struct sim_bytes *b, size_t first, size_t end);
/* Forget them. */
void hud_bytes_free(struct sim_bytes *b);

#endif
