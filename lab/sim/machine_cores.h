/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_cores.h - the cores of a modelled machine, from its topology. */
#ifndef HUD_SIM_MACHINE_CORES_H
#define HUD_SIM_MACHINE_CORES_H

#include "lab/sim/machine.h"

#include <stdbool.h>

/* Sets the topology, the cores, and their units, nodes and sockets.  Returns false on an error,
 * with a line in *error. */
bool hud_machine_read_cores(struct sim_machine *m, const char *topology, char *error,
                            size_t error_bytes);

#endif
