/* SPDX-License-Identifier: BSD-3-Clause */
/* lazy_libs.c - see lazy_libs.h. */
#define _GNU_SOURCE
#include "lazy_libs/lazy_libs.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WHY_BYTES = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char why[LAZY_LIBS][WHY_BYTES]; /* the first error, or "" */

static void *keep(enum lazy_lib which, void *found)
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

void *hud_lazy_open(enum lazy_lib which, const char *file)
{
    char path[PATH_MAX];
    Dl_info self;

    if (!dladdr((const void *)&hud_lazy_open, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    int bytes = snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, file);
    return bytes < (int)sizeof path ? keep(which, dlopen(path, RTLD_NOW | RTLD_LOCAL)) : NULL;
}

void *hud_lazy_find(enum lazy_lib which, void *library, const char *name)
{
    return keep(which, dlsym(library, name));
}

const char *hud_lazy_trouble(enum lazy_lib which)
{
    pthread_mutex_lock(&lock);
    const char *found = why[which][0] != '\0' ? why[which] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}
