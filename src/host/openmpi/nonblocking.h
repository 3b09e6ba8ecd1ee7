/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.h - for the component: whether this Open MPI's nonblocking collectives can be
 * handled. */
#ifndef HUD_OPENMPI_NONBLOCKING_H
#define HUD_OPENMPI_NONBLOCKING_H

#include <stdbool.h>

/* Once, before the first communicator.  False: this rank cannot look at its MPI's functions, for
 * lack of memory.  It must not take part in nonblocking calls, and so in none: its communicators
 * fall back on all ranks. */
bool hud_nonblocking_find(void);

/* A return address: within MPI_Request_free. */
bool hud_is_users_free(const void *caller);

#endif
