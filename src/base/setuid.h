/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setuid.h - whether this process has more rights than the user who started it: set-user-ID,
 * set-group-ID or file capabilities.
 *
 * That user controls the environment.  So huddle does nothing there: it reads no variable, opens no
 * file and loads no library.
 */
#ifndef HUD_SETUID_H
#define HUD_SETUID_H

#include <stdbool.h>
#include <sys/auxv.h>

/* Returns whether the dynamic linker considers the process to have elevated rights. */
static inline bool process_is_elevated(void)
{
    return getauxval(AT_SECURE) != 0;
}

#endif
