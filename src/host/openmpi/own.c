/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own.c - finds functions of MPI in the Open MPI that loaded this component.
 *
 * They are not called by their symbols: with two MPIs in a process a symbol may lead to the other
 * MPI.  No other MPI has data with the names of Open MPI's internals, so these locate Open MPI.
 */
#include "component.h"

#include "host/object.h"

void *hud_openmpi_function(const char *name, void *by_symbol)
{
    struct object own;
    void *found =
        hud_object_at(&ompi_coll_base_framework, &own) ? hud_object_address(&own, name) : NULL;

    return found != NULL ? found : by_symbol;
}
