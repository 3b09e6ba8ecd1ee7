/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_copies.h - cores that copy at the same time, each within its own memory on its own node.
 * They compete only for caches and memory.  In a request:
 *
 * {"machine": {...},
 *  "own_copies": {"bytes": 2097152,    of each core's memory: one half is copied to the other
 *                 "cores": [0, 1, 2],  without duplicates
 *                 "repetitions": 10}}  measured copies of each core, after one for warm-up
 */
#ifndef HUD_SIM_OWN_COPIES_H
#define HUD_SIM_OWN_COPIES_H

#include "lab/sim/machine.h"

/* Returns {"time_ns": the mean time of a copy on the slowest core}, or NULL with a line in
 * *error. */
json_t *own_copies_times_json(const struct sim_machine *machine, const json_t *asked, char *error,
                              size_t error_bytes);

#endif
