/* SPDX-License-Identifier: BSD-3-Clause */
/* real.c - the dynamic linker's functions, behind the functions in front of them (hooks.c). */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/process_atomics.h"

#include <dlfcn.h>

void *hud_real_next(_Atomic(void *) *kept, const char *name)
{
    void *next = local_get(kept);

    if (!next) {
        next = hud_scope_next(name);
        local_set(kept, next);
    }
    return next;
}

/* The C library takes the return address of dlsym as the address of its caller.  So dlsym must
 * never be called from here by a jump (CMakeLists.txt). */

typedef void *search(void *handle, const char *name);

static void *find_nothing(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

/* Returns the next dlsym.  Sanitizers call this function while they start, when their own versions
 * of most functions do not work yet. */
static search *real_dlsym(void)
{
    static _Atomic(void *) kept;
    void *next = local_get(&kept);

    if (!next) {
        next = hud_object_early("dlsym");
        if (!next)
            next = hud_scope_next("dlsym");
        local_set(&kept, next ? next : (void *)find_nothing);
    }
    return (search *)local_get(&kept);
}

void *hud_real_dlsym_here(void)
{
    return (void *)real_dlsym();
}

void *hud_real_dlsym(void *handle, const char *name)
{
    return real_dlsym()(handle, name);
}

void *hud_real_dlopen(const char *path, int flags)
{
    static _Atomic(void *) kept;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))hud_real_next(&kept, "dlopen");

    return next ? next(path, flags) : NULL;
}

void hud_real_dlclose(void *handle)
{
    static _Atomic(void *) kept;
    int (*next)(void *) = (int (*)(void *))hud_real_next(&kept, "dlclose");

    if (next && handle)
        next(handle);
}

const char *hud_real_dlerror(void)
{
    static _Atomic(void *) kept;
    const char *(*next)(void) = (const char *(*)(void))hud_real_next(&kept, "dlerror");

    const char *text = next ? next() : NULL; /* NULL also after a tool's dlopen has failed */
    return text ? text : "the dynamic linker gives no reason";
}
