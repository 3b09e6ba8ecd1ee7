/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c - functions that are not MPI's, and that the loader stands in front of.
 *
 * dlsym    A program may open its MPI and ask for its functions by a handle (Julia, numba,
 *          P/Invoke, ctypes).  It gets the trampolines, as if it were linked to the MPI.  Calls
 *          with another name, or without a handle, go on unchanged: the C library looks at its
 *          caller's address (trampolines.S).
 * dladdr   Programs ask which library MPI_Init is in, to open it again.  For a trampoline the
 *          answer is where it leads to.
 * __asan_default_options
 *          AddressSanitizer ends a program whose first library is not its own.  The loader stands
 *          in front of no function that it intercepts, so the order does not matter.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "core/local.h"

#include <dlfcn.h>
#include <link.h>

#define EXPORT __attribute__((visibility("default")))

static void *next_of(_Atomic(void *) *kept, const char *name)
{
    void *next = local_get(kept);

    if (!next) {
        next = hud_scope_next(name);
        local_set(kept, next);
    }
    return next;
}

/* ---- dlsym ---- */

/* The C library takes the address to which dlsym returns as its caller's.  So it is never called by
 * a jump from here (CMakeLists.txt). */

typedef void *search(void *handle, const char *name);

static void *find_nothing(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

/* Returns the next dlsym.  Sanitizers call it while they start, when their own versions of most
 * functions do not work yet. */
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

void *hud_real_dlsym(void *handle, const char *name)
{
    return real_dlsym()(handle, name);
}

void *hud_real_dlopen(const char *path, int flags)
{
    static _Atomic(void *) kept;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))next_of(&kept, "dlopen");

    return next ? next(path, flags) : NULL;
}

void hud_real_dlclose(void *handle)
{
    static _Atomic(void *) kept;
    int (*next)(void *) = (int (*)(void *))next_of(&kept, "dlclose");

    if (next && handle)
        next(handle);
}

const char *hud_real_dlerror(void)
{
    static _Atomic(void *) kept;
    const char *(*next)(void) = (const char *(*)(void))next_of(&kept, "dlerror");

    return next ? next() : "no dynamic linker";
}

/* Takes the place of dlsym for a name that only the loader has.  The C library, asked for it in a
 * library of its own, finds nothing and makes the text of dlerror: programs rely on that. */
static void *undefined(void *handle, const char *name)
{
    void *library = hud_real_dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

    (void)handle; /* (dlclose would drop the text) */
    return library ? hud_real_dlsym(library, name) : NULL;
}

/* Returns whether a handle stands for the program, whose scope the loader is in. */
static bool is_of_program(void *handle)
{
    void *program = hud_real_dlopen(NULL, RTLD_LAZY);

    hud_real_dlclose(program);
    return program == handle;
}

/* Takes the place of dlsym for a name of MPI and a handle. */
static void *handed(void *handle, const char *name)
{
    bool is_program = is_of_program(handle); /* (first: it would drop the text of dlerror) */
    void *found = hud_real_dlsym(handle, name);

    if (!found)
        return is_program ? undefined(handle, name) : NULL;
    return hud_names_handed(hud_scope_named(name), found);
}

/* Takes the place of dlsym(RTLD_NEXT, name of MPI) for a caller behind the loader: a tool that
 * calls the MPI through what it gets here. */
static void *handed_next(void *handle, const char *name)
{
    (void)handle;
    return hud_names_handed(hud_scope_named(name),
                            hud_scope_after(name, __builtin_return_address(0)));
}

void *hud_hook_dlsym(void *handle, const char *name, const void *caller)
{
    hud_loader_opened();
    if (!name || hud_scope_named(name) < 0 || hud_loader_is_own(caller))
        return (void *)real_dlsym();
    if (handle == RTLD_NEXT && hud_scope_after(name, caller))
        return (void *)handed_next;
    if (handle == RTLD_NEXT)
        return hud_scope_next(name) ? (void *)real_dlsym() : (void *)undefined;
    if (handle != RTLD_DEFAULT)
        return (void *)handed;
    return hud_names_visible(name, caller) ? (void *)real_dlsym() : (void *)undefined;
}

/* ---- dladdr ---- */

EXPORT int dladdr(const void *address, Dl_info *info)
{
    static _Atomic(void *) kept;
    int (*next)(const void *, Dl_info *) =
        (int (*)(const void *, Dl_info *))next_of(&kept, "dladdr");

    return next ? next(hud_names_beyond(address), info) : 0;
}

EXPORT int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    static _Atomic(void *) kept;
    int (*next)(const void *, Dl_info *, void **, int) =
        (int (*)(const void *, Dl_info *, void **, int))next_of(&kept, "dladdr1");

    return next ? next(hud_names_beyond(address), info, extra, flags) : 0;
}

/* ---- AddressSanitizer ---- */

EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
