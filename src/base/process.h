/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - has a process of this PID namespace ended?  A process is identified by its pid and
 * its start time, so that a later process with the same pid is a different one. */
#ifndef HUD_PROCESS_H
#define HUD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the start time of the process, in clock ticks since the boot, or 0 if unknown (/proc
 * not mounted, process hidden or ended). */
uint64_t hud_process_started(int pid);

/* Notes when this process started, for the time after a restart from a checkpoint: then others have
 * other pids and other start times, and none of them has ended for that.  Once in a process. */
void hud_process_note(void);

/* Returns whether the process has ended, reaped by its parent or not.  started: the start time,
 * or 0 if unknown.  Returns false for pid 0, if the kernel cannot tell, and after a restart. */
bool hud_process_ended(int pid, uint64_t started);

#endif
