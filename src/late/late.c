/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c - see late.h. */
#include "late/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { WHY_BYTES = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char why[LATE_LIBRARIES][WHY_BYTES]; /* "": no trouble; the first stays */

static void *keep(enum late which, void *found)
{
    const char *error = found ? NULL : dlerror();

    if (error) {
        pthread_mutex_lock(&lock);
        if (why[which][0] == '\0')
            snprintf(why[which], WHY_BYTES, "%s", error);
        pthread_mutex_unlock(&lock);
    }
    return found;
}

void *hud_late_open(enum late which, const char *path)
{
    return keep(which, dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

void *hud_late_find(enum late which, void *library, const char *name)
{
    return keep(which, dlsym(library, name));
}

const char *hud_late_trouble(enum late which)
{
    pthread_mutex_lock(&lock);
    const char *found = why[which][0] != '\0' ? why[which] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}
