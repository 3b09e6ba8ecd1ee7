/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - has a process of this PID namespace ended?  A process is identified by its pid and
 * its start time, so that a later process with the same pid is a different one. */
#ifndef HUD_PROCESS_H
#define HUD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Start time of the process, in clock ticks since the boot; 0: unknown (/proc not mounted, process
 * hidden or ended). */
uint64_t hud_process_started(int pid);

/* The process has ended, reaped by its parent or not.  started: as above, 0 if not known.  False
 * for pid 0, and if the kernel cannot tell. */
bool hud_process_ended(int pid, uint64_t started);

#endif
