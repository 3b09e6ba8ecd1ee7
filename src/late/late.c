/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c - see late.h. */
#define _GNU_SOURCE
#include "late/late.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

void *hud_late_beside(enum late which, const char *file)
{
    char path[PATH_MAX];
    Dl_info self;

    if (!dladdr((const void *)&hud_late_beside, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    int bytes = snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, file);
    return bytes < (int)sizeof path ? keep(which, dlopen(path, RTLD_NOW | RTLD_LOCAL)) : NULL;
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
