/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/no_plugins.c - a second array of the process's variables, for the time of a call.
 *
 * setenv() would do, but may free the array that another thread reads.  This one is never freed,
 * and never written while it is the process's.
 */
#define _GNU_SOURCE /* environ */
#include "topo/no_plugins.h"

#include "core/local.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "HWLOC_PLUGINS_PATH"

enum { VARIABLES = 4096 };

static char nowhere[] = NAME "=/dev/null";
static char *ours[VARIABLES], **before;
static const char *theirs; /* the user's value; NULL: none */

bool hud_no_plugins_begin(void)
{
    size_t count = 0;

    while (environ && environ[count])
        count++;
    if (!environ || count + 2 > VARIABLES)
        return false;
    theirs = getenv(NAME);
    before = environ;
    ours[0] = nowhere;
    memcpy(ours + 1, before, (count + 1) * sizeof *ours);
    local_publish(&environ, ours);
    return true;
}

/* Another thread has added a variable, or cleared all: the array is the C library's. */
static void remove_name(void)
{
    if (!environ)
        return;
    unsetenv(NAME);
    if (theirs)
        setenv(NAME, theirs, 1);
}

void hud_no_plugins_end(void)
{
    if (environ != ours) {
        remove_name();
        return;
    }
    /* Else a thread has given it a value, or has removed it. */
    bool kept = ours[0] == nowhere,
         given = !kept && ours[0] && !strncmp(ours[0], NAME "=", sizeof NAME);
    char **variables = ours + (kept || given);
    size_t bytes = sizeof *ours;
    for (char **v = variables; *v; v++)
        bytes += sizeof *v;
    if (memcmp(before, variables, bytes) != 0) /* one changed or removed one */
        memcpy(before, variables, bytes);
    local_publish(&environ, before);
    if (given)
        setenv(NAME, ours[0] + sizeof NAME, 1);
}
