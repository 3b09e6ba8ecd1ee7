/* SPDX-License-Identifier: BSD-3-Clause */
/* lazy_libs/topology.c - the only function that libhuddle-topology.so exports. */
#include "lazy_libs/entry.h"

__attribute__((visibility("default"))) topo_entry hud_topology_entry;

struct topo *hud_topology_entry(const char *description)
{
    return hud_topo_discover(description);
}
