/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - the way out of a collective that can never end: from within a wait, through the
 * algorithm's frames, back to its caller.
 *
 * It costs nothing until it is used: the compiler's unwind tables have the necessary data, so the
 * algorithms and all code between are compiled with them (-fexceptions).  No frame in between owns
 * a resource that must be released.
 */
#ifndef HUD_GUARD_H
#define HUD_GUARD_H

struct mem;
struct coll;

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the algorithm.  Returns 0, or the status of hud_guard_leave. */
int hud_guard_run(void (*run)(struct mem *m, const struct coll *call), struct mem *m,
                  const struct coll *call);

/* Runs any other function that waits.  Returns 0, or the status of hud_guard_leave. */
int hud_guard_call(void (*call)(void *arg), void *arg);

/* Ends this thread's call of hud_guard_run or hud_guard_call, which then returns `status`.  status:
 * not 0. */
__attribute__((noreturn)) void hud_guard_leave(int status);

#ifdef __cplusplus
}
#endif
#endif
