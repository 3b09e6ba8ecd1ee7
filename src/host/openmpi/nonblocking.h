/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.h - for the component: whether this Open MPI's nonblocking collectives can be
 * handled. */
#ifndef HUD_OPENMPI_NONBLOCKING_H
#define HUD_OPENMPI_NONBLOCKING_H

#include <stdbool.h>

/* Once, before the first communicator.  The same on all ranks that run the same Open MPI, but where
 * one has no memory to look: its nonblocking calls are then the MPI's, and those of the others wait
 * for it. */
bool hud_nonblocking_prepare(bool threads);

/* A return address: within MPI_Request_free. */
bool hud_is_users_free(const void *caller);

#endif
