/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c - where each exported name leads to.
 *
 * A trampoline leads to the definition that its caller would have found without huddle.  The front
 * end's function stands in front of that definition if, and only if, it is one of the MPI that the
 * front end serves: so a profiling tool between program and MPI gets the calls first and makes them
 * again as PMPI_*, and functions of another MPI in the same process are left alone.
 *
 * The first call of a name looks this up, later ones are a jump.  Where several MPIs are in the
 * process the answer depends on the caller.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "core/local.h"
#include "mem/kept_errno.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define INITIALISER(name) AT_##name,
#define ROW INITIALISER
#include "host/loader/names.def"
    NAMES
};
#undef INITIALISER
#undef ROW

static const char *const names[NAMES] = {
#define INITIALISER(name) #name,
#define ROW INITIALISER
#include "host/loader/names.def"
};
#undef INITIALISER
#undef ROW

extern _Atomic(void *) hud_targets[NAMES];
extern const char hud_firsts[] __attribute__((visibility("hidden")));
enum { FIRST_BYTES = 16 }; /* trampolines.S */

void *hud_loader_look_up(unsigned long name, const void *caller, void *first, const char *second);
void *hud_loader_resolve(unsigned long name);

static struct layer {
    void (*function)(void);
    void **next;
} layers[HUD_LAYERS][NAMES];
static struct object given; /* the MPI whose functions the program got from dlsym */
static bool has_given, several;
static _Atomic uint64_t answers_of; /* what is kept for callers is of so many changes of objects */

/* ---- the next definition ---- */

static void *other(void *definition)
{
    return hud_scope_index(definition) < 0 ? definition : NULL;
}

static void *defined_in(const struct object *object, const char *name)
{
    void *handle = hud_loader_handle(object);

    return handle ? other(hud_real_dlsym(handle, name)) : NULL;
}

/* Searches as the dynamic linker does: the global scope first, then the caller's own libraries.  A
 * caller that is linked to no MPI has its functions from dlsym. */
void *hud_names_next(const char *name, const void *caller)
{
    struct object from;
    void *next = other(hud_real_dlsym(RTLD_NEXT, name));

    if (!next && hud_object_at(caller, &from))
        next = defined_in(&from, name);
    if (!next && has_given)
        next = hud_object_address(&given, name);
    hud_real_dlerror(); /* the program did not ask for what has failed here */
    return next ? next : hud_scope_any(name);
}

/* ---- initialisers ---- */

/* Functions that initialise the MPI, for callers of the trampoline, and for callers that got them
 * from dlsym although the trampoline leads to another MPI.  None has more than 4 arguments. */
#define INITIALISER(name)                                                                          \
    static uintptr_t start_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)              \
    {                                                                                              \
        return hud_loader_initialise(#name, hud_names_next(#name, __builtin_return_address(0)),    \
                                     (const uintptr_t[4]){ a, b, c, d });                          \
    }                                                                                              \
    static void *handed_##name;                                                                    \
    static uintptr_t start_handed_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)       \
    {                                                                                              \
        return hud_loader_initialise(#name, handed_##name, (const uintptr_t[4]){ a, b, c, d });    \
    }
#define ROW(name)
#include "host/loader/names.def"
#undef INITIALISER
#undef ROW

static const struct initialiser {
    void *start, *start_handed, **handed;
} initialisers[NAMES] = {
#define INITIALISER(name)                                                                          \
    [AT_##name] = { (void *)start_##name, (void *)start_handed_##name, &handed_##name },
#define ROW(name)
#include "host/loader/names.def"
};

/* ---- layers ---- */

static void forget_targets(void)
{
    local_tell(&answers_of, 0);
    for (int i = 0; i < NAMES; i++)
        local_set(&hud_targets[i], (void *)(uintptr_t)(hud_firsts + i * FIRST_BYTES));
}

static void put(enum hud_layer layer, const char *name, const struct hud_wrapper *wrapper)
{
    int at = hud_scope_named(name);

    if (at >= 0)
        layers[layer][at] = (struct layer){ wrapper->function, wrapper->next };
}

void hud_names_add(enum hud_layer layer, const struct hud_wrapper *wrappers)
{
    char profiled[80];

    for (; wrappers->name; wrappers++) {
        put(layer, wrappers->name, wrappers);
        snprintf(profiled, sizeof profiled, "P%s", wrappers->name);
        if (!wrappers->next && wrappers->name[0] == 'M')
            put(layer, profiled, wrappers);
    }
    forget_targets();
}

const char *hud_names_text(int name)
{
    return names[name];
}

/* Returns whether a definition is one of the MPI that the front end serves: in the MPI itself, or
 * for Fortran in a binding that is linked to it. */
static bool is_served(int name, const void *definition)
{
    struct object own, mpi;

    return hud_loader_mpi_of(definition, &mpi) && hud_loader_serves(&mpi) &&
           (names[name][0] == 'm' || (hud_object_at(definition, &own) && own.base == mpi.base));
}

static void *put_layers(int name, void *definition)
{
    void *target = definition;

    for (int i = 0; i < HUD_LAYERS; i++) {
        const struct layer *layer = &layers[i][name];
        if (!layer->function || (i == HUD_FRONT_END && !is_served(name, definition)) ||
            (layer->next && several))
            continue;
        if (layer->next)
            *layer->next = target;
        target = (void *)layer->function;
    }
    return target;
}

/* ---- answers for each caller ---- */

/* Targets for each caller, if several MPIs are in the process.  They hold as long as no object
 * comes or goes, since a new object may get the address of one that is gone.  An answer is never
 * changed, so threads read it without a lock; old answers are not freed. */
enum { ANSWERS = 1024 };
struct answer {
    const void *caller;
    int name;
    void *target;
};
static _Atomic(void *) answers[ANSWERS]; /* const struct answer * */

static int count_changes(struct dl_phdr_info *info, size_t bytes, void *changes)
{
    (void)bytes;
    *(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static _Atomic(void *) *answer_for(int name, const void *caller)
{
    return &answers[((uintptr_t)caller ^ (uintptr_t)caller >> 10 ^ (uintptr_t)name) % ANSWERS];
}

static void *find_answer(int name, const void *caller)
{
    uint64_t changes = 0;

    dl_iterate_phdr(count_changes, &changes);
    if (changes != local_time(&answers_of)) {
        for (int i = 0; i < ANSWERS; i++)
            local_set(&answers[i], NULL);
        local_tell(&answers_of, changes);
    }
    const struct answer *answer = local_get(answer_for(name, caller));
    return answer && answer->caller == caller && answer->name == name ? answer->target : NULL;
}

static void keep_answer(int name, const void *caller, void *target)
{
    struct answer *made = local_get(answer_for(name, caller)) ? NULL : malloc(sizeof *made);

    if (!made)
        return;
    *made = (struct answer){ caller, name, target };
    local_set(answer_for(name, caller), made);
}

/* ---- looking up ---- */

static void count_mpis(void)
{
    if (several || hud_scope_count("PMPI_Init") < 2)
        return;
    several = true;
    forget_targets();
}

void *hud_names_missing(const char *name)
{
    fprintf(stderr, "huddle: %s is called, and no MPI in this process defines it\n", name);
    abort(); /* without us the dynamic linker would have ended it */
}

/* Returns the target of a name for a caller.  Called by a trampoline that does not know it yet, and
 * for dlsym (number NAMES, with its arguments). */
void *hud_loader_look_up(unsigned long name, const void *caller, void *first, const char *second)
{
    int at = (int)name;

    if (at == NAMES)
        return hud_hook_dlsym(first, second, caller);
    KEEP_ERRNO();
    count_mpis();
    void *target = several ? find_answer(at, caller) : NULL;
    if (target)
        return target;
    target = initialisers[at].start;
    if (!target) {
        void *next = hud_names_next(names[at], caller);
        target = next ? put_layers(at, next) : hud_names_missing(names[at]);
    }
    if (several)
        keep_answer(at, caller, target);
    else
        local_set(&hud_targets[at], target);
    return target;
}

/* Returns what the dynamic linker binds a reference to a name to. */
void *hud_loader_resolve(unsigned long name)
{
    count_mpis();
    return hud_scope_any(names[name]) ? hud_scope_entry((int)name) : NULL;
}

/* ---- dlsym ---- */

/* Returns whether an exported name leads elsewhere than to that MPI, or the caller is an MPI or a
 * tool itself: it wants the functions of that object. */
static bool is_direct(const struct object *mpi, const void *caller)
{
    struct object from, at;
    void *next = other(hud_real_dlsym(RTLD_NEXT, "MPI_Init"));

    if (hud_object_at(caller, &from) && hud_object_defines(&from, "MPI_Init"))
        return true;
    if (next)
        return !hud_object_at(next, &at) || at.base != mpi->base;
    return has_given && given.base != mpi->base;
}

void *hud_names_handed(int name, void *definition, const void *caller)
{
    struct object mpi;

    if (!definition || hud_scope_index(definition) >= 0 || !hud_object_at(definition, &mpi) ||
        !hud_object_address(&mpi, "PMPI_Init"))
        return definition;
    if (!is_direct(&mpi, caller)) {
        hud_real_dlerror();
        given = mpi;
        has_given = true;
        return hud_scope_entry(name);
    }
    hud_real_dlerror();
    hud_loader_load(&mpi);
    if (!hud_loader_serves(&mpi))
        return definition;
    if (initialisers[name].start) {
        *initialisers[name].handed = definition;
        return initialisers[name].start_handed;
    }
    const struct layer *layer = &layers[HUD_FRONT_END][name];
    return layer->function && !layer->next ? (void *)layer->function : definition;
}
