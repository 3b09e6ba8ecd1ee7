/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.h - the activity of each rank in simulated time, call by call, and the critical path: the
 * chain of calls that the last exit has waited for.
 *
 * A step is a call of mem.h, divided where it waits:   begin --- ready --- turn --- end
 *   begin to ready   waits until a post of rank `by` is visible, made at by_ns in by_file:by_line
 *   ready to turn    waits for other users of the same line
 *   turn to end      its own work: the transfer of the line, copies, other costs of the call
 */
#ifndef HUD_SIM_TRACE_H
#define HUD_SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>

struct sim_step {
    const char *what, *file; /* "awaits", ..., and the file of the call */
    int line;
    double begin_ns, ready_ns, turn_ns, end_ns;
    int by; /* -1 if it did not wait for a rank */
    const char *by_file;
    int by_line;
    double by_ns;
    size_t bytes; /* moved or combined; 0 if none */
};

struct sim_steps {
    struct sim_step *step;
    int count, room;
};

/* The steps of each rank, in the order of time. */
struct sim_trace {
    bool on;
    int ranks;
    struct sim_steps *of; /* [ranks] */
};

/* A part of the critical path: a rank's call, or the part of the call that the path contains. */
struct sim_leg {
    int rank;
    const struct sim_step *step;
    double begin_ns, end_ns;
};

struct sim_trace hud_trace_create(int ranks);
void hud_trace_free(struct sim_trace *t);
/* Deletes all steps, and turns recording on or off. */
void hud_trace_restart(struct sim_trace *t, bool on);
/* Records a step that has ended, if the trace is on. */
void hud_trace_note(struct sim_trace *t, int rank, const struct sim_step *step);

/*
 * Computes the path to the end of this rank's last step.  It begins with the begin of a rank's
 * first step, and each leg begins when the previous leg ends.  If a step waited for a post, the
 * path continues from the poster's step at the time of the post.  Sets *legs, which the caller must
 * free, and returns their number.
 */
int hud_trace_path(const struct sim_trace *t, int rank, struct sim_leg **legs);

#endif
