/* SPDX-License-Identifier: BSD-3-Clause */
/* libraries.c - objects of the process as the dynamic linker sees them: the names in their own
 * scope, keeping them mapped, and the MPI of a definition. */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/process_atomics.h"

#include <dlfcn.h>

static void *open_again(const struct object *object)
{
    bool is_program = !object->path || object->path[0] == '\0';

    return hud_real_dlopen(is_program ? NULL : object->path, RTLD_LAZY | RTLD_NOLOAD);
}

void *hud_loader_look(const struct object *object, const char *name)
{
    void *handle = open_again(object), *found = handle ? hud_real_dlsym(handle, name) : NULL;

    hud_real_dlclose(handle);
    return found;
}

void hud_loader_pin(const void *definition)
{
    enum { PINNED = 64 };
    static _Atomic uint64_t bases[PINNED];
    struct object o;

    if (!hud_object_at(definition, &o))
        return;
    for (int i = 0; i < PINNED; i++) {
        if (local_load(&bases[i]) == o.base)
            return;
        if (local_load(&bases[i]) == 0) {
            local_store(&bases[i], o.base);
            (void)open_again(&o); /* never closed */
            return;
        }
    }
}

bool hud_loader_mpi_of(const void *definition, struct object *found)
{
    struct object own;

    if (!hud_object_at(definition, &own))
        return false;
    if (hud_object_address(&own, "PMPI_Init")) {
        *found = own;
        return true;
    }
    void *init = hud_loader_look(&own, "PMPI_Init");
    if (init && hud_scope_index(init) >= 0) /* the program's own handle finds the loader's
                                               PMPI_Init */
        init = hud_real_dlsym(RTLD_NEXT, "PMPI_Init");
    hud_real_dlerror();
    return init && hud_object_at(init, found) && /* the loader of another huddle does not count */
           hud_object_address(found, "PMPI_Init") == init && hud_scope_index(init) < 0;
}
