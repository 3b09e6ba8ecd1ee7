/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.h - between the two halves of the loader: finding the MPI (loader.c) and the names it wraps (trampolines.c). */
#ifndef HUD_LOADER_H
#define HUD_LOADER_H

#include "host/loader/front.h"

/* Looks for an MPI in the process and plugs its front end in.  Does so once: later calls, and calls that find no MPI, cost little. */
void hud_loader_attach(void);
/* The MPI has been initialised. */
void hud_loader_initialised(void);
/* The next definition of an MPI function after the loader's own, as its caller at `address` would have found it; NULL: none. */
void *hud_loader_next(const char *name, void *address);

/* From now on the trampolines of these names lead to the wrappers. */
void hud_trampolines_divert(const struct hud_wrapper *wrappers);

#endif
