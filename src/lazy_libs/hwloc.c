/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lazy_libs/hwloc.c - hud_topo_discover in libhuddle: at the first call, loads the library that
 * asks hwloc, from the folder of the front ends.
 */
#include "lazy_libs/entry.h"
#include "lazy_libs/lazy_libs.h"

struct topo *hud_topo_discover(const char *description)
{
    /* dlopen finds a library again that is already open. */
    void *library = hud_lazy_open(LAZY_TOPOLOGY, TOPO_ENTRY_FILE);
    topo_entry *ask =
        library ? (topo_entry *)hud_lazy_find(LAZY_TOPOLOGY, library, TOPO_ENTRY) : NULL;

    return ask ? ask(description) : NULL;
}
