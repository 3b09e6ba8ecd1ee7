/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c - finds the target of each exported name.
 *
 * An entry calls the definition that its caller would have found without huddle.  The front
 * end's function wraps that definition if, and only if, the definition belongs to the MPI that the
 * front end serves.  So a profiling tool between program and MPI gets the calls first and repeats
 * them as PMPI_*, and functions of another MPI in the same process are left alone.
 *
 * The first call of a name looks up the target; later calls are a jump.  If several MPIs are in the
 * process, the target depends on the caller.
 *
 * A function returned by dlsym does not depend on its caller: a tool or a translation library that
 * looked up the functions of an MPI must not find its own functions behind them.  So there are
 * further sets of entries, each for an MPI.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/process_atomics.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[HUD_NAMES] = {
#define ROW(name) #name,
#include "host/loader/names.def"
};

/* See look_up.S. */
enum { FIRST_BYTES = 16 };
extern _Atomic(void *) hud_targets[HUD_ENTRIES] __attribute__((visibility("hidden")));
extern const char *const hud_first_targets __attribute__((visibility("hidden")));

static struct layer {
    void (*function)(void);
    void **next;
} layers[HUD_LAYERS][HUD_NAMES];
static _Atomic(void *) several;     /* not NULL if more than one MPI is in the process */
static _Atomic uint64_t answers_of; /* number of changes of objects for which the kept answers are
                                       valid */

/* ---- MPIs whose functions the program got from dlsym ---- */

/* PMPI_Init of the MPI of each set.  A function returned by dlsym is bound to this MPI, independent
 * of its caller. */
static _Atomic(void *) given[HUD_SETS];

/* Finds the MPI of a set.  Returns false if there is none, or if it has been closed. */
static bool find_given(int set, struct object *mpi)
{
    void *init = local_get(&given[set]);

    return init && hud_object_at(init, mpi) && hud_object_address(mpi, "PMPI_Init") == init;
}

void *hud_names_given(int set, const char *name)
{
    struct object mpi;

    return find_given(set, &mpi) ? hud_object_address(&mpi, name) : NULL;
}

/* Returns the set of an MPI, if necessary a new set, or 0 if no set is free. */
static int set_for(const struct object *mpi)
{
    void *init = hud_object_address(mpi, "PMPI_Init");
    struct object other_mpi;

    for (int set = 1; set < HUD_SETS; set++)
        if (local_get(&given[set]) == init)
            return set;
    for (int set = 1; set < HUD_SETS; set++) {
        void *before = local_get(&given[set]);
        if (!find_given(set, &other_mpi) && local_replace(&given[set], before, init)) {
            hud_names_forget();
            return set;
        }
        if (local_get(&given[set]) == init)
            return set;
    }
    return 0;
}

/* ---- the next definition ---- */

static void *other(void *definition)
{
    return hud_scope_index(definition) < 0 ? definition : NULL;
}

static void *found_by_linker(const char *name, const void *caller)
{
    struct object from;
    void *next = other(hud_real_dlsym(RTLD_NEXT, name));

    if (!next && hud_object_at(caller, &from))
        next = other(hud_loader_look(&from, name));
    hud_real_dlerror(); /* discards the error, which the program did not cause */
    return next;
}

bool hud_names_visible(const char *name, const void *caller)
{
    return hud_scope_has_before(name) || found_by_linker(name, caller);
}

/* Searches as the dynamic linker does: the global scope first, then the caller's own libraries. */
void *hud_names_next(const char *name, const void *caller)
{
    void *next = found_by_linker(name, caller);

    return next ? next : hud_scope_any(name);
}

static void *definition_of(int index, const void *caller)
{
    const char *name = names[index % HUD_NAMES];

    return index < HUD_NAMES ? hud_names_next(name, caller)
                             : hud_names_given(index / HUD_NAMES, name);
}

const void *hud_names_beyond(const void *address)
{
    int index = hud_scope_index(address);
    void *definition = index < 0 ? NULL : definition_of(index, NULL);

    return definition ? definition : address;
}

/* ---- layers ---- */

void hud_names_forget(void)
{
    for (int i = 0; i < HUD_ENTRIES; i++)
        local_set(&hud_targets[i], (void *)(uintptr_t)(hud_first_targets + i * FIRST_BYTES));
    local_store(&answers_of, 0);
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
}

/* Returns whether the front end's function wraps a definition: a definition in the MPI itself, or
 * for Fortran in a binding that is linked to the MPI. */
static bool is_served(int name, const void *definition, const struct object *mpi)
{
    struct object own;

    return hud_plugged_serves(mpi) &&
           (names[name][0] == 'm' || (hud_object_at(definition, &own) && own.base == mpi->base));
}

/* Returns whether the recorder wraps a definition.  Each function of the recorder has a single next
 * function: if the exported entry leads to a tool, the tool's call is recorded, and not the call
 * that the tool makes. */
static bool is_recorded(int name, int set, const void *definition, const struct object *mpi)
{
    struct object exported_mpi;
    void *exported = set == 0 || !mpi ? NULL : other(hud_real_dlsym(RTLD_NEXT, names[name]));

    hud_real_dlerror();
    if (!exported || exported == definition)
        return hud_plugged_records(mpi) && (set == 0 || mpi);
    bool is_mpi = hud_loader_mpi_of(exported, &exported_mpi);
    return hud_plugged_records(mpi) && !hud_plugged_records(is_mpi ? &exported_mpi : NULL);
}

static void *put_layers(int name, int set, void *definition)
{
    struct object mpi;
    bool is_mpi = hud_loader_mpi_of(definition, &mpi);
    const bool wanted[HUD_LAYERS] = { is_mpi && is_served(name, definition, &mpi),
                                      is_recorded(name, set, definition, is_mpi ? &mpi : NULL) };
    void *target = definition;

    for (int i = 0; i < HUD_LAYERS; i++) {
        const struct layer *layer = &layers[i][name];
        if (!layer->function || !wanted[i])
            continue;
        if (layer->next)
            *layer->next = target;
        target = (void *)layer->function;
    }
    return target;
}

/* ---- kept answers ---- */

/* Targets for each caller, if several MPIs are in the process.  They are valid until an object is
 * loaded or unloaded, because a new object may get the address of an unloaded one.  An answer is
 * never changed, so threads read it without a lock; old answers are not freed. */
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

    hud_object_each(count_changes, &changes);
    if (changes != local_load(&answers_of)) {
        for (int i = 0; i < ANSWERS; i++)
            local_set(&answers[i], NULL);
        local_store(&answers_of, changes);
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
    if (local_get(&several) || hud_scope_count("PMPI_Init") < 2)
        return;
    local_set(&several, &several);
    hud_names_forget();
}

/* Replaces a function of MPI that no object defines, but whose name was visible to a library's
 * constructor. */
static int absent(void)
{
    enum { ERROR_OTHER = 15 };

    return ERROR_OTHER;
}

static void *look_up(int index, const void *caller)
{
    void *definition = definition_of(index, caller);

    if (!definition)
        return (void *)absent;
    hud_loader_pin(definition);
    return put_layers(index % HUD_NAMES, index / HUD_NAMES, definition);
}

void *hud_names_target(int index, const void *caller, void *initialiser)
{
    count_mpis();
    bool for_all = index >= HUD_NAMES || !local_get(&several);
    void *target = for_all ? NULL : find_answer(index, caller);
    if (target)
        return target;
    target = initialiser ? initialiser : look_up(index, caller);
    if (target == (void *)absent)
        return target;
    if (for_all)
        local_set(&hud_targets[index], target);
    else
        keep_answer(index, caller, target);
    if (for_all && index < HUD_NAMES && local_get(&several)) /* another thread has found a second
                                                                MPI meanwhile */
        hud_names_forget();
    return target;
}

void *hud_names_resolved(int name)
{
    count_mpis();
    return hud_scope_count(names[name]) > 0 ? hud_scope_entry(name) : NULL;
}

/* ---- dlsym ---- */

void *hud_names_handed(int name, void *definition)
{
    struct object mpi;

    if (!definition || hud_scope_index(definition) >= 0 || !hud_object_at(definition, &mpi) ||
        !hud_object_address(&mpi, "PMPI_Init"))
        return definition;
    int set = set_for(&mpi);
    return set ? hud_scope_entry(set * HUD_NAMES + name) : definition;
}
