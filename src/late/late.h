/* SPDX-License-Identifier: BSD-3-Clause */
/* late.h - the libraries that libhuddle loads when it first needs them: why one cannot be. */
#ifndef HUD_LATE_H
#define HUD_LATE_H

enum late { LATE_TOPOLOGY, LATE_JANSSON, LATE_LIBRARIES };

/* Opens a library by its path from the folder of this one; keeps the reason of a failure. */
void *hud_late_beside(enum late which, const char *file);

/* Looks up a name in a library that is open; keeps the reason, too. */
void *hud_late_find(enum late which, void *library, const char *name);

/* Why that library cannot be used, with its name; NULL: it can, or has not been needed. */
const char *hud_late_trouble(enum late which);

#endif
