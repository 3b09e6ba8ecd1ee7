/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h - the interface between the parts of the loader.
 *
 * scope.c        which names are defined in this process, and by whom
 * trampolines.S  the functions that the loader exports
 * names.c        where each of them leads to
 * libraries.c    objects as the dynamic linker handles them
 * loader.c       which MPI runs, and its front end
 * hooks.c        functions of the C library and of sanitizers that the loader stands in front of
 */
#ifndef HUD_LOADER_H
#define HUD_LOADER_H

#include "host/loader/front.h"
#include "host/loader/sets.h"
#include "host/object.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- scope.c ---- */

/* Returns the number of the entry (trampolines.S) at an address, or -1. */
int hud_scope_index(const void *address);
/* Returns the address of an entry. */
void *hud_scope_entry(int index);
/* Returns the number of a name, or -1 if the loader does not export it. */
int hud_scope_named(const char *name);
/* Returns the first definition of a name in an object behind the loader; behind the caller's
 * object, if that is behind the loader; or in any other object.  NULL if there is none. */
void *hud_scope_next(const char *name);
void *hud_scope_after(const char *name, const void *caller);
void *hud_scope_any(const char *name);
/* Returns true if an object in front of the loader defines a name. */
bool hud_scope_has_before(const char *name);
/* Returns the number of other objects that define a name. */
int hud_scope_count(const char *name);
/* Hides the loader's names wherever no other object defines them.  Called once, by the loader's
 * constructor. */
void hud_scope_settle(void);

/* ---- names.c ---- */

/* Sets of entries: number 0 is exported, the others are handed out by dlsym, each for an MPI. */
enum { HUD_SETS = 1 + HUD_HANDED_SETS };
/* Functions that the loader puts in front of definitions: the front end's, then the recorder's. */
enum hud_layer { HUD_FRONT_END, HUD_RECORDER, HUD_LAYERS };
/* Adds functions to a layer. */
void hud_names_add(enum hud_layer layer, const struct hud_wrapper *wrappers);
/* Has every entry looked up again at its next call. */
void hud_names_forget(void);
/* Returns the next definition of a name behind the loader, as its caller would have found it
 * without the loader; or NULL. */
void *hud_names_next(const char *name, const void *caller);
/* Returns whether dlsym(RTLD_DEFAULT, name) finds a definition without the loader. */
bool hud_names_visible(const char *name, const void *caller);
/* Returns what dlsym is to return for a definition that it has found. */
void *hud_names_handed(int name, void *definition);
/* Returns the definition that an entry leads to, or the address itself if it is no entry. */
const void *hud_names_beyond(const void *address);

/* ---- libraries.c ---- */

/* Finds the object that is the MPI of a definition: the one that defines PMPI_Init, itself or for a
 * binding or tool that is linked to it.  Returns false if there is none. */
bool hud_loader_mpi_of(const void *definition, struct object *mpi);
/* Returns what dlsym finds in an object's own scope, or NULL. */
void *hud_loader_look(const struct object *object, const char *name);
/* Keeps the object of a definition mapped from now on. */
void hud_loader_pin(const void *definition);

/* ---- loader.c ---- */

/* Returns whether an MPI is the one that the front end serves. */
bool hud_loader_serves(const struct object *mpi);
/* Returns whether the recorder counts calls of an MPI; NULL: of a tool that is linked to none. */
bool hud_loader_records(const struct object *mpi);
/* Calls an initialising function of an MPI, and what belongs before and after it. */
uintptr_t hud_loader_initialise(const char *name, void *function, const uintptr_t arguments[4]);
/* Returns whether an address is in a library that the loader has plugged in. */
bool hud_loader_is_own(const void *caller);
/* Tells the front end that the program may have opened a library. */
void hud_loader_opened(void);

/* ---- hooks.c ---- */

/* The C library's functions, or the next ones of another tool.  They return NULL where the process
 * has none: before glibc 2.34 they are in a library of their own. */
void *hud_real_dlsym(void *handle, const char *name);
void *hud_real_dlopen(const char *path, int flags);
const char *hud_real_dlerror(void);
void hud_real_dlclose(void *handle);
/* Returns the function to which a call of dlsym goes on. */
void *hud_hook_dlsym(void *handle, const char *name, const void *caller);

#endif
