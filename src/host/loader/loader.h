/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h - the interface between the parts of the loader.
 *
 * look_up.[Sc]  calls that come from entries and from the dynamic linker
 * hooks.c       functions of the C library and of sanitizers that the loader wraps
 * loader.c      the MPI that runs, and its front end
 * names.c       the target of each exported name
 * plugged.c     the libraries that are plugged in
 * libraries.c   objects as the dynamic linker sees them
 * real.c        the C library's functions
 * scope.c       names defined in this process, and their objects
 * entries.S     the functions that the loader exports
 *
 * Each calls only those below it.
 */
#ifndef HUD_LOADER_H
#define HUD_LOADER_H

#include "base/process_atomics.h"
#include "host/loader/front.h"
#include "host/loader/sets.h"
#include "host/object.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- scope.c ---- */

/* Returns the number of the entry (entries.S) at an address, or -1. */
int hud_scope_index(const void *address);
/* Returns the address of an entry. */
void *hud_scope_entry(int index);
/* Returns the number of a name, or -1 if the loader does not export it. */
int hud_scope_named(const char *name);
/* Returns the first definition of a name in an object behind the loader (_next), behind the
 * caller's object if this object is behind the loader (_after), or in any other object (_any).
 * Returns NULL if there is none. */
void *hud_scope_next(const char *name);
void *hud_scope_after(const char *name, const void *caller);
void *hud_scope_any(const char *name);
/* Returns true if an object in front of the loader defines a name. */
bool hud_scope_has_before(const char *name);
/* Returns the number of other objects that define a name. */
int hud_scope_count(const char *name);
/* Hides the loader's names wherever no other object defines them.  Called once, by the loader's
 * constructor, with the first of the functions that resolve the names. */
void hud_scope_settle(const char *first_resolver);

/* ---- names.c ---- */

/* Sets of entries: set 0 is exported; dlsym returns the entries of the others, each of which is for
 * an MPI. */
enum { HUD_SETS = 1 + HUD_HANDED_SETS };
/* The numbers of the names. */
enum {
#define ROW(name) HUD_AT_##name,
#include "host/loader/names.def"
    HUD_NAMES
};
/* Entries are numbered set by set. */
enum { HUD_ENTRIES = HUD_SETS * HUD_NAMES };
/* Functions that the loader puts in front of definitions: the front end's, then the recorder's. */
enum hud_layer { HUD_FRONT_END, HUD_RECORDER, HUD_LAYERS };
/* Adds functions to a layer. */
void hud_names_add(enum hud_layer layer, const struct hud_wrapper *wrappers);
/* Makes every entry look up its target again at its next call. */
void hud_names_forget(void);
/* Returns the next definition of a name behind the loader, as the caller would have found it
 * without the loader, or NULL. */
void *hud_names_next(const char *name, const void *caller);
/* Returns the definition of a name in the MPI of a set, or NULL. */
void *hud_names_given(int set, const char *name);
/* Returns the target of an entry for a caller: the initialiser, unless it is NULL, or else the
 * function found. */
void *hud_names_target(int index, const void *caller, void *initialiser);
/* Returns the entry of a name if another object defines the name, or NULL. */
void *hud_names_resolved(int name);
/* Returns whether dlsym(RTLD_DEFAULT, name) finds a definition without the loader. */
bool hud_names_visible(const char *name, const void *caller);
/* Returns the result of dlsym for a definition that dlsym has found. */
void *hud_names_handed(int name, void *definition);
/* Returns the target of an entry, or the address itself if it is not an entry. */
const void *hud_names_beyond(const void *address);

/* ---- libraries.c ---- */

/* Finds the MPI of a definition: the object, or the library to which this binding or tool is
 * linked, that defines PMPI_Init.  Returns false if there is none. */
bool hud_loader_mpi_of(const void *definition, struct object *mpi);
/* Returns the result of dlsym in an object's own scope, or NULL. */
void *hud_loader_look(const struct object *object, const char *name);
/* Keeps the object of a definition mapped from now on. */
void hud_loader_pin(const void *definition);

/* ---- plugged.c ---- */

/* Notes the library of a layer, which defines `function`.  `again` is the library's hud_look_again,
 * or NULL. */
void hud_plugged_open(enum hud_layer layer, const void *function, void *again);
/* Lets a layer serve an MPI from now on. */
void hud_plugged_serve(enum hud_layer layer, const struct object *mpi);
/* Returns whether the front end serves this MPI, or, if NULL, any MPI. */
bool hud_plugged_serves(const struct object *mpi);
/* Returns whether the recorder counts the calls of an MPI, or, if NULL, of a tool that is linked to
 * no MPI. */
bool hud_plugged_records(const struct object *mpi);
/* Returns whether an address is in a library that the loader has plugged in. */
bool hud_plugged_has(const void *caller);
/* Tells the front end that the program may have opened a library. */
void hud_plugged_look_again(void);

/* ---- loader.c ---- */

/* Calls an MPI's initialisation function, with the necessary work before and after the call. */
uintptr_t hud_loader_initialise(const char *name, void *function, const uintptr_t arguments[4]);

/* ---- real.c, and hooks.c ---- */

/* Calls the C library's functions, or the next definitions of another tool.  Returns NULL if the
 * process has none: before glibc 2.34 they are in a separate library. */
void *hud_real_dlsym(void *handle, const char *name);
void *hud_real_dlsym_here(void); /* its address */
void *hud_real_dlopen(const char *path, int flags);
const char *hud_real_dlerror(void);
void hud_real_dlclose(void *handle);
/* Returns the next function of a name, and keeps it. */
void *hud_real_next(_Atomic(void *) *kept, const char *name);
/* Returns the function at which a call of dlsym continues. */
void *hud_hook_dlsym(void *handle, const char *name, const void *caller);

#endif
