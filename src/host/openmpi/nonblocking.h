/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.h - for the component: whether this Open MPI's nonblocking collectives can be
 * handled. */
#ifndef HUD_OPENMPI_NONBLOCKING_H
#define HUD_OPENMPI_NONBLOCKING_H

#include <stdbool.h>

/* Looks for Open MPI's functions, by which this rank recognizes its callers; once, before the first
 * communicator.  False: it cannot (no memory), and runs without huddle. */
bool hud_nonblocking_find(void);

/* A return address: within MPI_Request_free. */
bool hud_is_users_free(const void *caller);

#endif
