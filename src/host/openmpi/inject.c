/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inject.c - adds the component to an Open MPI without a component file: before MPI_Init, as if it
 * were compiled in.  This works for every build, also without dlopen, and is used by `huddle run`.
 *
 * Open MPI ignores a component file whose name is already registered, so a site's installed copy
 * and this copy are never both in a process.
 */
#include "component.h"
#include "host/loader/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Adds the component; called by the loader.  Returns NULL if MPI_Init will use this component, or
 * an existing component of the same name; otherwise the reason.  Changes only the list of
 * components.  A second call is harmless.
 */
HUD_API hud_openmpi_entry huddle_openmpi_inject;

/* Returns whether the component was built for the MPI's series.  Does not ask the MPI for its
 * version: with two MPIs in a process the name may lead to the other. */
static bool same_series(const char *version)
{
    int major, minor;

    return sscanf(version, "Open MPI v%d.%d.", &major, &minor) == 2 &&
           major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION;
}

const char *huddle_openmpi_inject(const char *version, const struct hud_front **front)
{
    static const struct hud_front ours = { .initialised = hud_openmpi_initialised };
    mca_base_framework_t *coll = &ompi_coll_base_framework;
    const mca_base_component_t **old = coll->framework_static_components, **list;
    size_t n = 0;

    *front = &ours;
    if (!same_series(version))
        return "the component cannot be used: it was built for another series";
    if (strcmp(coll->framework_name, "coll") != 0 || old == NULL ||
        (old[0] != NULL && strcmp(old[0]->mca_type_name, "coll") != 0))
        return "the component cannot be used: its list of components is not "
               "where the headers say";
    for (; old[n] != NULL; n++) {
        if (strcmp(old[n]->mca_component_name, "huddle") == 0)
            return NULL;
    }
    if (coll->framework_refcnt != 0)
        return "the component cannot be used: it has chosen its components already";
    list = malloc((n + 2) * sizeof *list); /* lives as long as the process */
    if (list == NULL)
        return "the component cannot be used: out of memory";
    memcpy(list, old, n * sizeof *list);
    list[n] = &mca_coll_huddle_component.collm_version;
    list[n + 1] = NULL;
    coll->framework_static_components = list;
    return NULL;
}
