/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * look_up.c - calls that come from look_up.S: an entry without a known target, dlsym, and the
 * dynamic linker's question which function a name is bound to.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "mem/kept_errno.h"

extern const char hud_resolvers[] __attribute__((visibility("hidden")));

void *hud_loader_look_up(unsigned long index, const void *caller, void *first, const char *second);
void *hud_loader_resolve(unsigned long name);

/* Functions that initialise the MPI, for each set.  None of MPI's initialisation functions has more
 * than 4 arguments. */
#define START(name, set, definition)                                                               \
    static uintptr_t start_##set##_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)      \
    {                                                                                              \
        return hud_loader_initialise(#name, definition, (const uintptr_t[4]){ a, b, c, d });       \
    }
#define INITIALISER(name)                                                                          \
    START(name, 0, hud_names_next(#name, __builtin_return_address(0)))                             \
    START(name, 1, hud_names_given(1, #name))                                                      \
    START(name, 2, hud_names_given(2, #name))                                                      \
    START(name, 3, hud_names_given(3, #name))
#include "host/loader/names.def"
_Static_assert((int)HUD_SETS == 4, "each set has its functions");

static void *const initialisers[HUD_NAMES][HUD_SETS] = {
#define INITIALISER(name)                                                                          \
    [HUD_AT_##name] = { (void *)start_0_##name, (void *)start_1_##name, (void *)start_2_##name,    \
                        (void *)start_3_##name },
#include "host/loader/names.def"
};

/* Returns the target of an entry for a caller.  The number HUD_ENTRIES stands for dlsym, whose
 * arguments are first and second. */
void *hud_loader_look_up(unsigned long index, const void *caller, void *first, const char *second)
{
    int at = (int)index;

    if (at == HUD_ENTRIES)
        return hud_hook_dlsym(first, second, caller);
    KEEP_ERRNO();
    return hud_names_target(at, caller, initialisers[at % HUD_NAMES][at / HUD_NAMES]);
}

/* Returns the address to which the dynamic linker binds a reference to a name. */
void *hud_loader_resolve(unsigned long name)
{
    return hud_names_resolved((int)name);
}

__attribute__((constructor)) static void settle(void)
{
    hud_scope_settle(hud_resolvers);
}
