/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * times.h - the times of a run without faults, added to the answer:
 *
 *  "times": {"time_ns": 1500, "min_ns": 1400, "max_ns": 2000},
 *  "links": [{"name": "numa 0", "bytes": 8192, "busy": 0.25}, ...],
 *  "lines": {"numa": 3.2, "machine": 1.9},
 *  "spans": [{"rank": 1, "begin_ns": 0, "end_ns": 750, "what": "wait", "call": "awaits",
 *             "at": "src/alg/...:70", "for": 0, "bytes": 0}, ...],
 *  "path": [spans, from the start to the end]
 *
 * "times" are over the repetitions of single calls, or over the ranks of a loop.  "links" are of
 * the last single call, or of the whole loop.  "spans" and "path" are there only if a trace was
 * requested; their times are from the start of the last call.
 *
 * "lines" are the lines that a rank fetches in a call from cores of this class, including polls
 * (hud_sim_lines), in the last single call or as a mean of the whole loop.
 *
 * A span's "what" is "wait" for a rank's post, "queue" for other users of the same line, "copy",
 * "reduce", or "line" for all other costs of a call.
 */
#ifndef HUD_SIM_TIMES_H
#define HUD_SIM_TIMES_H

#include "lab/sim/run/job.h"

void times_add_json(const struct job *job, json_t *call);

#endif
