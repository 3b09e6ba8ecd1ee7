/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own.c - functions of MPI, of the Open MPI that this component is in.
 *
 * They are not called by their symbols: with two MPIs in a process a symbol may lead to the other
 * one.  No other MPI has functions with the names of Open MPI's internals, so these tell where it
 * is.
 */
#include "component.h"

#include "host/object.h"

void *hud_openmpi_function(const char *name, void *by_symbol)
{
    static struct object own;
    const void *inside = (const void *)(uintptr_t)ompi_group_get_proc_ptr_raw;

    if (own.symbols == NULL && !hud_object_at(inside, &own))
        return by_symbol;
    void *found = hud_object_address(&own, name);
    return found != NULL ? found : by_symbol;
}
