/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writes.h - the cost of a write to lines that are not the core's own, by what other cores have
 * done to the lines: the same for flags (lines.h) and for bytes (rates.h).
 *
 * Nothing   Lines that no other core has touched since the core wrote them take the time of its
 *           own cache.
 * Written   Lines that another core has written since, and no other core has read, take as long as
 *           a read of them (cached_gbps).
 * Read      Copies that other cores have read must be revoked first.  A row of copies into lines
 *           that a single core has read takes 1 / retake_gbps per byte, or store_gap_ns per line.
 *           If there are more readers, a single store takes revoke_each_ns longer for each of them
 *           (lines.h).  A core has a certain number of stores in flight.  So the time from one
 *           store of a row to the next grows by the same factor as the time of a single store.
 * Returned  The last reader of lines may write to them, so that they count as written by it.  It
 *           then takes 1 / return_gbps per byte instead of 1 / cached_gbps.  Without return_gbps no
 *           rank returns lines.
 */
#ifndef HUD_SIM_WRITES_H
#define HUD_SIM_WRITES_H

#include "lab/sim/machine.h"

/* Returns the time of a single store to a line of `readers` cores, of which the farthest is of this
 * class, in relation to a line of a single core. */
double hud_writes_crowd(const struct sim_machine *m, int class, int readers);
/* Returns the time in ns from one line to the next of stores to such lines in a row. */
double hud_writes_gap_ns(const struct sim_machine *m, int class, int readers);
/* Returns the time in ns per byte of a copy's end at such lines, or 0 if the machine has neither
 * retake_gbps nor store_gap_ns. */
double hud_writes_byte_ns(const struct sim_machine *m, int class, int readers);
/* Returns the time in ns per byte that the last reader of lines needs to return them, while
 * `readers` other cores have them.  Returns INFINITY if the machine has no return_gbps. */
double hud_writes_return_ns(const struct sim_machine *m, int class, int readers);

#endif
