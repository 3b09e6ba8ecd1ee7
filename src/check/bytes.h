/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.h - the last accesses to each byte of some memory, kept as ranges, and the race test on
 * them.
 *
 * Two accesses to a byte, at least one of them a write, race unless one happened before the other.
 * Each range keeps the last write, and each rank's last read since.  Older accesses are not needed:
 * a write that passed the test is ordered after all of them.
 */
#ifndef HUD_BYTES_H
#define HUD_BYTES_H

#include "check/order.h"

struct sim_range;

struct sim_bytes {
    /* Ascending and disjoint.  Bytes between ranges have not been accessed yet. */
    struct sim_range *ranges;
    int count, room;
};

/*
 * Records an access to [first, end) by `by`, whose vector clock is `clock`.  Returns NULL without a
 * race.  Otherwise returns an earlier access with which it races, valid until the next call, and
 * sets *at to the first byte of the race.
 */
const struct sim_event *hud_bytes_read(struct sim_bytes *b, size_t first, size_t end,
                                       const struct sim_event *by, const struct sim_order *clock,
                                       size_t *at);
const struct sim_event *hud_bytes_write(struct sim_bytes *b, size_t first, size_t end,
                                        const struct sim_event *by, const struct sim_order *clock,
                                        size_t *at);
/* Finds the first byte without a write in this call, among bytes that have all been read.  Returns
 * the byte's last write (rank -1 if never written) and sets *at, or returns NULL. */
const struct sim_event *hud_bytes_stale(const struct sim_bytes *b, size_t first, size_t end,
                                        unsigned call, size_t *at);
/* Frees all ranges. */
void hud_bytes_free(struct sim_bytes *b);

#endif
