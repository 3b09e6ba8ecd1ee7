/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - the interface of the library that libhuddle loads for hwloc. */
#ifndef HUD_ENTRY_H
#define HUD_ENTRY_H

#include "topo/machine.h"

#define TOPO_ENTRY_FILE "huddle/libhuddle-topology.so" /* below libhuddle's folder */
#define TOPO_ENTRY "hud_topology_entry"
typedef struct topo *topo_entry(const char *description);

#endif
