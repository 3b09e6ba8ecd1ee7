/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late/hwloc.c - hud_topo_discover in libhuddle: loads the library that asks hwloc at its first
 * call, from the folder of the front ends.
 */
#define _GNU_SOURCE
#include "late/entry.h"
#include "late/late.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* NULL: it is not there, or cannot be loaded. */
static void *open_library(void)
{
    char path[PATH_MAX];
    Dl_info self;

    if (!dladdr((const void *)&hud_topo_discover, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    int bytes = snprintf(path, sizeof path, "%.*s" TOPO_ENTRY_FILE, folder, self.dli_fname);
    return bytes < (int)sizeof path ? hud_late_open(LATE_TOPOLOGY, path) : NULL;
}

struct topo *hud_topo_discover(const char *description)
{
    void *library = open_library(); /* one that is open already is found again */
    topo_entry *ask =
        library ? (topo_entry *)hud_late_find(LATE_TOPOLOGY, library, TOPO_ENTRY) : NULL;

    return ask ? ask(description) : NULL;
}
