/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late/hwloc.c - hud_topo_discover in libhuddle: loads the library that asks hwloc at its first
 * call, from the folder of the front ends.
 */
#include "late/entry.h"
#include "late/late.h"

struct topo *hud_topo_discover(const char *description)
{
    /* One that is open already is found again. */
    void *library = hud_late_beside(LATE_TOPOLOGY, TOPO_ENTRY_FILE);
    topo_entry *ask =
        library ? (topo_entry *)hud_late_find(LATE_TOPOLOGY, library, TOPO_ENTRY) : NULL;

    return ask ? ask(description) : NULL;
}
