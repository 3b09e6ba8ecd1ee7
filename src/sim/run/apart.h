/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apart.h - cores that copy apart, each within memory of its own on its own node, at the same
 * time: what they take from each other is caches and memory.  In a request:
 *
 * {"machine": {...},
 *  "apart": {"bytes": 2097152,        of each core's memory: one half is copied to the other
 *            "cores": [0, 1, 2],      none twice
 *            "repetitions": 10}}      copies of each core that count, after one that does not
 */
#ifndef HUD_SIM_APART_H
#define HUD_SIM_APART_H

#include "sim/machine.h"

/* {"time_ns": a copy of the core that takes longest, the mean}; NULL: *error is one line. */
json_t *apart_tell(const struct sim_machine *machine, const json_t *asked, char *error,
                   size_t error_bytes);

#endif
