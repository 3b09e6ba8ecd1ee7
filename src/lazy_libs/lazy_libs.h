/* SPDX-License-Identifier: BSD-3-Clause */
/* lazy_libs.h - libraries that libhuddle loads at their first use, and the errors of loading
 * them. */
#ifndef HUD_LAZY_LIBS_H
#define HUD_LAZY_LIBS_H

enum lazy_lib { LAZY_TOPOLOGY, LAZY_LIBS };

/* Opens a library by its path relative to this library's folder.  Keeps the reason of a failure. */
void *hud_lazy_open(enum lazy_lib which, const char *file);

/* Looks up a name in an open library.  Keeps the reason of a failure. */
void *hud_lazy_find(enum lazy_lib which, void *library, const char *name);

/* Returns why a library cannot be used, including its name, or NULL if there was no error so
 * far. */
const char *hud_lazy_trouble(enum lazy_lib which);

#endif
