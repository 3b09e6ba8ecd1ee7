/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elevated.h - whether this process has more rights than the user who started it: set-user-ID,
 * set-group-ID or file capabilities.
 *
 * That user controls the environment.  So huddle does nothing there: it reads no variable, opens no
 * file and loads no library.
 */
#ifndef HUD_ELEVATED_H
#define HUD_ELEVATED_H

#include <stdbool.h>
#include <sys/auxv.h>

/* As the dynamic linker sees it. */
static inline bool process_is_elevated(void)
{
    return getauxval(AT_SECURE) != 0;
}

#endif
