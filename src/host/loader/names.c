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
 *
 * What dlsym hands out depends on no caller: a tool or a translator that asked for the functions
 * of one MPI must not find its own behind them.  So there are further sets of entries, each for an
 * MPI.
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

enum {
    ENTRIES = HUD_SETS * NAMES, /* of each set in turn */
    DLSYM = ENTRIES,            /* the number with which dlsym is looked up */
    FIRST_BYTES = 16            /* trampolines.S */
};
extern _Atomic(void *) hud_targets[ENTRIES];
extern const char hud_firsts[] __attribute__((visibility("hidden")));

void *hud_loader_look_up(unsigned long index, const void *caller, void *first, const char *second);
void *hud_loader_resolve(unsigned long name);

static struct layer {
    void (*function)(void);
    void **next;
} layers[HUD_LAYERS][NAMES];
static _Atomic(void *) several;     /* not NULL: more than one MPI is in the process */
static _Atomic uint64_t answers_of; /* what is kept for callers is of so many changes of objects */

/* ---- MPIs whose functions the program has from dlsym ---- */

/* PMPI_Init of the MPI that each set leads to.  What dlsym hands out is bound to an MPI, whatever
 * its caller is linked to. */
static _Atomic(void *) given[HUD_SETS];

/* Finds that MPI.  Returns false if there is none, or if it has been closed. */
static bool find_given(int set, struct object *mpi)
{
    void *init = local_get(&given[set]);

    return init && hud_object_at(init, mpi) && hud_object_address(mpi, "PMPI_Init") == init;
}

static void *given_definition(int set, const char *name)
{
    struct object mpi;

    return find_given(set, &mpi) ? hud_object_address(&mpi, name) : NULL;
}

/* Returns the set of an MPI; a new one if it has none; 0 if there is no more. */
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
    hud_real_dlerror(); /* the program did not ask for what has failed here */
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
    const char *name = names[index % NAMES];

    return index < NAMES ? hud_names_next(name, caller) : given_definition(index / NAMES, name);
}

const void *hud_names_beyond(const void *address)
{
    int index = hud_scope_index(address);
    void *definition = index < 0 ? NULL : definition_of(index, NULL);

    return definition ? definition : address;
}

/* ---- initialisers ---- */

/* Functions that initialise the MPI, of each set.  None has more than 4 arguments. */
#define START(name, set, definition)                                                               \
    static uintptr_t start_##set##_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)      \
    {                                                                                              \
        return hud_loader_initialise(#name, definition, (const uintptr_t[4]){ a, b, c, d });       \
    }
#define INITIALISER(name)                                                                          \
    START(name, 0, hud_names_next(#name, __builtin_return_address(0)))                             \
    START(name, 1, given_definition(1, #name))                                                     \
    START(name, 2, given_definition(2, #name))                                                     \
    START(name, 3, given_definition(3, #name))
#define ROW(name)
#include "host/loader/names.def"
#undef INITIALISER
#undef ROW
_Static_assert((int)HUD_SETS == 4, "each set has its functions");

static void *const initialisers[NAMES][HUD_SETS] = {
#define INITIALISER(name)                                                                          \
    [AT_##name] = { (void *)start_0_##name, (void *)start_1_##name, (void *)start_2_##name,        \
                    (void *)start_3_##name },
#define ROW(name)
#include "host/loader/names.def"
};

/* ---- layers ---- */

void hud_names_forget(void)
{
    for (int i = 0; i < ENTRIES; i++)
        local_set(&hud_targets[i], (void *)(uintptr_t)(hud_firsts + i * FIRST_BYTES));
    local_tell(&answers_of, 0);
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

/* Returns whether the front end's function stands in front of a definition: one in the MPI itself,
 * or for Fortran in a binding that is linked to it. */
static bool is_served(int name, const void *definition, const struct object *mpi)
{
    struct object own;

    return hud_loader_serves(mpi) &&
           (names[name][0] == 'm' || (hud_object_at(definition, &own) && own.base == mpi->base));
}

/* Returns whether the recorder stands in front of a definition.  Its functions have one way on: if
 * the exported entry leads to a tool, they count there, and not where the tool calls on. */
static bool is_recorded(int name, int set, const void *definition, const struct object *mpi)
{
    struct object exported_mpi;
    void *exported = set == 0 || !mpi ? NULL : other(hud_real_dlsym(RTLD_NEXT, names[name]));

    hud_real_dlerror();
    if (!exported || exported == definition)
        return hud_loader_records(mpi) && (set == 0 || mpi);
    bool is_mpi = hud_loader_mpi_of(exported, &exported_mpi);
    return hud_loader_records(mpi) && !hud_loader_records(is_mpi ? &exported_mpi : NULL);
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

    hud_object_each(count_changes, &changes);
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
    if (local_get(&several) || hud_scope_count("PMPI_Init") < 2)
        return;
    local_set(&several, &several);
    hud_names_forget();
}

/* Takes the place of a function of MPI that no object defines, but whose name was visible to a
 * library's constructor. */
static int absent(void)
{
    enum { ERROR_OTHER = 15 };

    return ERROR_OTHER;
}

static void *look_up(int index, const void *caller)
{
    int set = index / NAMES, name = index % NAMES;
    void *target = initialisers[name][set], *definition;

    if (target)
        return target;
    definition = definition_of(index, caller);
    if (!definition)
        return (void *)absent;
    hud_loader_pin(definition);
    return put_layers(name, set, definition);
}

/* Returns the target of an entry for a caller.  Called by an entry that does not know it yet, and
 * for dlsym, with its arguments. */
void *hud_loader_look_up(unsigned long index, const void *caller, void *first, const char *second)
{
    int at = (int)index;

    if (at == DLSYM)
        return hud_hook_dlsym(first, second, caller);
    KEEP_ERRNO();
    count_mpis();
    bool for_all = at >= NAMES || !local_get(&several);
    void *target = for_all ? NULL : find_answer(at, caller);
    if (target)
        return target;
    target = look_up(at, caller);
    if (target == (void *)absent)
        return target;
    if (for_all)
        local_set(&hud_targets[at], target);
    else
        keep_answer(at, caller, target);
    if (for_all && at < NAMES && local_get(&several)) /* another thread has found out meanwhile */
        hud_names_forget();
    return target;
}

/* Returns what the dynamic linker binds a reference to a name to. */
void *hud_loader_resolve(unsigned long name)
{
    count_mpis();
    return hud_scope_count(names[name]) > 0 ? hud_scope_entry((int)name) : NULL;
}

/* ---- dlsym ---- */

void *hud_names_handed(int name, void *definition)
{
    struct object mpi;

    if (!definition || hud_scope_index(definition) >= 0 || !hud_object_at(definition, &mpi) ||
        !hud_object_address(&mpi, "PMPI_Init"))
        return definition;
    int set = set_for(&mpi);
    return set ? hud_scope_entry(set * NAMES + name) : definition;
}
