/* SPDX-License-Identifier: BSD-3-Clause */
/* late/topology.c - the one name that libhuddle-topology.so exports. */
#include "late/entry.h"

__attribute__((visibility("default"))) topo_entry hud_topology_entry;

struct topo *hud_topology_entry(const char *description)
{
    return hud_topo_discover(description);
}
