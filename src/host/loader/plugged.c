/* SPDX-License-Identifier: BSD-3-Clause */
/* plugged.c - the libraries that the loader has plugged in, and the MPI of each. */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/process_atomics.h"

static struct plugged {
    ElfW(Addr) base;   /* address of the library, 0 before it is opened */
    struct object mpi; /* valid if `serves` is not NULL */
    _Atomic(void *) serves;
} plugged[HUD_LAYERS];
static _Atomic(void *) look_again; /* hud_look_again * */

void hud_plugged_open(enum hud_layer layer, const void *function, void *again)
{
    struct object library;

    if (hud_object_at(function, &library))
        plugged[layer].base = library.base;
    if (again)
        local_set(&look_again, again);
}

void hud_plugged_serve(enum hud_layer layer, const struct object *mpi)
{
    plugged[layer].mpi = *mpi;
    local_set(&plugged[layer].serves, &plugged[layer].mpi);
}

static bool serves(enum hud_layer layer, const struct object *mpi)
{
    return local_get(&plugged[layer].serves) && (!mpi || mpi->base == plugged[layer].mpi.base);
}

bool hud_plugged_serves(const struct object *mpi)
{
    return serves(HUD_FRONT_END, mpi);
}

bool hud_plugged_records(const struct object *mpi)
{
    return serves(HUD_RECORDER, mpi);
}

bool hud_plugged_has(const void *caller)
{
    struct object from;
    bool has = false;

    if (!hud_object_at(caller, &from))
        return false;
    for (int i = 0; i < HUD_LAYERS; i++)
        has = has || (plugged[i].base && plugged[i].base == from.base);
    return has;
}

void hud_plugged_look_again(void)
{
    hud_look_again *look = (hud_look_again *)local_get(&look_again);

    if (look)
        look();
}
