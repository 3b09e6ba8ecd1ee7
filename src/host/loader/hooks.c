/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c - functions outside of MPI that the loader wraps.
 *
 * dlsym    A program may open its MPI and look up its functions by a handle (Julia, numba,
 *          P/Invoke, ctypes).  It gets the entries, as if it were linked to the MPI.  Calls
 *          with another name, or without a handle, go on unchanged: the C library uses the address
 *          of its caller (look_up.S).
 * dladdr   Programs ask which library MPI_Init is in, to open the library again.  For an entry the
 *          answer is the library of its target.
 * __asan_default_options
 *          AddressSanitizer ends a program whose first library is not its own.  The loader wraps no
 *          function that AddressSanitizer intercepts, so the order does not matter.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/process_atomics.h"

#include <dlfcn.h>
#include <link.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- dlsym ---- */

/* Replaces dlsym for a name that only the loader defines.  Looking up the name in the C library
 * finds nothing and sets the text of dlerror, which programs rely on. */
static void *undefined(void *handle, const char *name)
{
    void *library = hud_real_dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

    (void)handle; /* dlclose would drop the text */
    return library ? hud_real_dlsym(library, name) : NULL;
}

/* Returns whether a handle is the program's, whose scope includes the loader. */
static bool is_of_program(void *handle)
{
    void *program = hud_real_dlopen(NULL, RTLD_LAZY);

    hud_real_dlclose(program);
    return program == handle;
}

/* Replaces dlsym for a name of MPI and a handle. */
static void *handed(void *handle, const char *name)
{
    bool is_program = is_of_program(handle); /* called first, because it would drop the text of
                                                dlerror */
    void *found = hud_real_dlsym(handle, name);

    if (!found)
        return is_program ? undefined(handle, name) : NULL;
    return hud_names_handed(hud_scope_named(name), found);
}

/* Replaces dlsym(RTLD_NEXT, name of MPI) for a caller behind the loader: a tool that calls the MPI
 * through the returned function. */
static void *handed_next(void *handle, const char *name)
{
    (void)handle;
    return hud_names_handed(hud_scope_named(name),
                            hud_scope_after(name, __builtin_return_address(0)));
}

void *hud_hook_dlsym(void *handle, const char *name, const void *caller)
{
    hud_plugged_look_again();
    if (!name || hud_scope_named(name) < 0 || hud_plugged_has(caller))
        return hud_real_dlsym_here();
    if (handle == RTLD_NEXT && hud_scope_after(name, caller))
        return (void *)handed_next;
    if (handle == RTLD_NEXT)
        return hud_scope_next(name) ? hud_real_dlsym_here() : (void *)undefined;
    if (handle != RTLD_DEFAULT)
        return (void *)handed;
    return hud_names_visible(name, caller) ? hud_real_dlsym_here() : (void *)undefined;
}

/* ---- dladdr ---- */

EXPORT int dladdr(const void *address, Dl_info *info)
{
    static _Atomic(void *) kept;
    int (*next)(const void *, Dl_info *) =
        (int (*)(const void *, Dl_info *))hud_real_next(&kept, "dladdr");

    return next ? next(hud_names_beyond(address), info) : 0;
}

EXPORT int dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    static _Atomic(void *) kept;
    int (*next)(const void *, Dl_info *, void **, int) =
        (int (*)(const void *, Dl_info *, void **, int))hud_real_next(&kept, "dladdr1");

    return next ? next(hud_names_beyond(address), info, extra, flags) : 0;
}

/* ---- AddressSanitizer ---- */

EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
