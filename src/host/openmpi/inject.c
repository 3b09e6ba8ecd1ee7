/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inject.c - adds the component to an Open MPI without a component file: before MPI_Init, as one of
 * the components that are compiled in.  This works for every build, also one without dlopen, and is
 * what `huddle run` uses.
 *
 * Open MPI ignores a component file whose name is already registered, so a site's installed copy
 * and this one are never both in one process.
 */
#include "component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Called by the loader.  0: the component will be used by MPI_Init; 1: one of this name is there
 * already; -1: it cannot be, said in one line.  Nothing but the list of components has changed; a
 * second call is harmless.
 */
HUD_API int huddle_openmpi_inject(void);

static bool same_series(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor;

    return MPI_Get_library_version(text, &length) == MPI_SUCCESS &&
           sscanf(text, "Open MPI v%d.%d.", &major, &minor) == 2 && major == OMPI_MAJOR_VERSION &&
           minor == OMPI_MINOR_VERSION;
}

static int refuse(const char *why)
{
    hud_openmpi_warn("Open MPI cannot use the component: %s", why);
    return -1;
}

int huddle_openmpi_inject(void)
{
    mca_base_framework_t *coll = &ompi_coll_base_framework;
    const mca_base_component_t **old = coll->framework_static_components, **list;
    size_t n = 0;

    if (!same_series())
        return refuse("it was built for another series");
    if (strcmp(coll->framework_name, "coll") != 0 || old == NULL ||
        (old[0] != NULL && strcmp(old[0]->mca_type_name, "coll") != 0))
        return refuse("its list of components is not where the headers say");
    for (; old[n] != NULL; n++) {
        if (strcmp(old[n]->mca_component_name, "huddle") == 0)
            return 1;
    }
    if (coll->framework_refcnt != 0)
        return refuse("it has chosen its components already");
    list = malloc((n + 2) * sizeof *list); /* lives as long as the process */
    if (list == NULL)
        return refuse("out of memory");
    memcpy(list, old, n * sizeof *list);
    list[n] = &mca_coll_huddle_component.collm_version;
    list[n + 1] = NULL;
    coll->framework_static_components = list;
    return 0;
}
