/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_cores.h - where the cores of a modelled machine are, by its topology. */
#ifndef HUD_SIM_MACHINE_CORES_H
#define HUD_SIM_MACHINE_CORES_H

#include "sim/machine.h"

#include <stdbool.h>

/* Sets topology, cores, and units, nodes and sockets of the cores.  False: *error is one line. */
bool hud_machine_read_cores(struct sim_machine *m, const char *topology, char *error,
                            size_t error_bytes);

#endif
