/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callers.h - recognizes the caller of a nonblocking collective: a call of the user comes from the
 * MPI function of that name, a call of Open MPI itself does not.
 *
 * A call comes from a function if its return address is within the function's symbol.  A compiler
 * may place the call elsewhere: it splits a function, or inlines the function into another one when
 * it links (LTO).  Therefore the first use of each function checks this by a call of the function,
 * with a communicator of its own (callers_probe.c).  A function that does not pass the check is not
 * recognized, on any rank that runs this Open MPI, and the user is warned.
 */
#ifndef HUD_OPENMPI_CALLERS_H
#define HUD_OPENMPI_CALLERS_H

#include <stdbool.h>

enum {
#define PLAIN(Name, name, ...) AT_##name,
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    AT_REQUEST_FREE,
    FUNCTIONS
};

/* Looks up Open MPI's functions, by which this rank recognizes its callers; once, before the first
 * communicator.  Returns false if out of memory; then the rank runs without huddle. */
bool hud_callers_find(void);

/* Returns whether a return address is within the user's function of that number. */
bool hud_callers_is_users(int at, const void *caller);

/* Calls Open MPI's function of a number (callers_probe.c).  Returns the return address of the
 * function's call of a module or a request, or NULL if there was none.  MPI must be initialised.
 * Not thread-safe. */
const void *hud_callers_probe(int at, void (*function)(void));

#endif
