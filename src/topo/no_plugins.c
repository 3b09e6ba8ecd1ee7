/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/no_plugins.c - a second array of the process's variables, for the time of a call.
 *
 * setenv() would do, but may free the array that another thread reads.
 */
#define _GNU_SOURCE /* environ */
#include "topo/no_plugins.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 4096 };

static char nowhere[] = "HWLOC_PLUGINS_PATH=/dev/null";

/* Of this process; one discovery at a time uses them. */
static char *ours[VARIABLES], **before;

bool hud_no_plugins_begin(void)
{
    size_t count = 0;

    while (environ && environ[count])
        count++;
    if (!environ || count + 2 > VARIABLES)
        return false;
    before = environ;
    ours[0] = nowhere;
    memcpy(ours + 1, before, (count + 1) * sizeof *ours);
    environ = ours;
    return true;
}

/* Another thread may have added a variable: then `e` is an array of the C library's. */
static void remove_ours(char **e)
{
    while (*e && *e != nowhere)
        e++;
    for (; *e; e++)
        e[0] = e[1];
}

void hud_no_plugins_end(void)
{
    bool mine = environ == ours;
    size_t bytes = sizeof *ours;

    remove_ours(environ);
    if (!mine)
        return;
    for (char **e = ours; *e; e++)
        bytes += sizeof *e;
    if (memcmp(before, ours, bytes) != 0) /* one changed or removed one */
        memcpy(before, ours, bytes);
    environ = before;
}
