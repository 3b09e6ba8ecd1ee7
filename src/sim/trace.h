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
    const char *what, *file; /* "awaits", ...; of the call */
    int line;
    double begin_ns, ready_ns, turn_ns, end_ns;
    int by; /* -1: it did not wait for anybody */
    const char *by_file;
    int by_line;
    double by_ns;
    size_t bytes; /* moved or combined; 0: none */
};

struct sim_steps {
    struct sim_step *step;
    int count, room;
};

/* Of each rank, in the order of time. */
struct sim_trace {
    bool on;
    int ranks;
    struct sim_steps *of; /* [ranks] */
};

/* Part of the critical path: a rank's call, or the part of it that the path goes through. */
struct sim_leg {
    int rank;
    const struct sim_step *step;
    double begin_ns, end_ns;
};

struct sim_trace hud_trace_create(int ranks);
void hud_trace_free(struct sim_trace *t);
/* Forgets all steps, and keeps those to come or not. */
void hud_trace_restart(struct sim_trace *t, bool on);
/* A step has ended; kept if the trace is on. */
void hud_trace_note(struct sim_trace *t, int rank, const struct sim_step *step);

/*
 * The path to the end of this rank's last step, from its first leg on, which begins when its rank's
 * first step does: each leg begins when the one before it ends.  Where a wait was for a post, the
 * path goes on from the poster's step at that time.  *legs is the caller's to free.  Returns how
 * many.
 */
int hud_trace_path(const struct sim_trace *t, int rank, struct sim_leg **legs);

#endif
