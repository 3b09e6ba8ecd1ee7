/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/no_plugins.c - replaces the process's array of environment variables during a call.
 *
 * setenv() may free the array that another thread is reading.  The second array is never freed, and
 * never written while it is the process's environment.
 */
#define _GNU_SOURCE /* environ */
#include "topo/no_plugins.h"

#include "base/process_atomics.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "HWLOC_PLUGINS_PATH"

enum { VARIABLES = 4096 };

static char nowhere[] = NAME "=/dev/null";
static char *ours[VARIABLES], **before;
static const char *theirs; /* the user's value, or NULL */

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

/* Restores the variable after another thread has added a variable or cleared all of them, so that
 * the array belongs to the C library. */
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
    /* Otherwise a thread has set or removed the variable. */
    bool kept = ours[0] == nowhere,
         given = !kept && ours[0] && !strncmp(ours[0], NAME "=", sizeof NAME);
    char **variables = ours + (kept || given);
    size_t bytes = sizeof *ours;
    for (char **v = variables; *v; v++)
        bytes += sizeof *v;
    if (memcmp(before, variables, bytes) != 0) /* a thread has changed or removed a variable */
        memcpy(before, variables, bytes);
    local_publish(&environ, before);
    if (given)
        setenv(NAME, ours[0] + sizeof NAME, 1);
}
