/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * times.h - what a clean run has taken, added to the answer:
 *
 *  "times": {"time_ns": 1500, "min_ns": 1400, "max_ns": 2000},     of single calls: of the
 *                                                                  repetitions; of a loop: of the
 *                                                                  ranks
 *  "links": [{"name": "numa 0", "bytes": 8192, "busy": 0.25}, ...]     of the last single call, or
 *  of all "spans": [{"rank": 1, "begin_ns": 0, "end_ns": 750, "what": "wait", "call": "awaits",
 *  "at": "src/alg/...:70", "for": 0, "bytes": 0}, ...] "path": [the same, from the start to the
 *  end], only where a trace was asked for; times are from the start of the last call
 *
 * A span's "what": "wait" for a rank's post, "queue" for others that want the same line, "copy",
 * "reduce", or "line", whatever else a call takes.
 */
#ifndef HUD_SIM_TIMES_H
#define HUD_SIM_TIMES_H

#include "sim/run/job.h"

void times_tell(const struct job *job, json_t *call);

#endif
