/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.c - huddle's settings as MCA parameters coll_huddle_*, from the table of
 * core/config/config.h.  A parameter that was set (command line, OMPI_MCA_*, a file) overrides the
 * environment variable of the same setting.
 */
#include "core/config/config.h"

#include "component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **values; /* the parameters' values of Open MPI, in the order of the table */
static int *handles;  /* Open MPI's handles of the parameters */
static char **given;

static int register_one(const mca_base_component_t *component, const struct setting *s,
                        char **value)
{
    char doc[1024];
    size_t length = strlen(s->doc);
    const char *stop = length > 0 && s->doc[length - 1] == '.' ? "" : ".";

    snprintf(doc, sizeof doc, "%s%s  Accepted: %s.  As the environment variable %s.", s->doc, stop,
             s->accepted, s->name);
    *value = (char *)(uintptr_t)s->preset;
    return mca_base_component_var_register(component, s->mca, doc, MCA_BASE_VAR_TYPE_STRING, NULL,
                                           0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
                                           value);
}

int hud_openmpi_settings_register(const mca_base_component_t *component)
{
    int count;
    const struct setting *table = hud_settings(&count);

    if (values == NULL)
        values = calloc((size_t)count, sizeof *values);
    if (handles == NULL)
        handles = calloc((size_t)count, sizeof *handles);
    if (values == NULL || handles == NULL)
        return OPAL_ERR_NOT_AVAILABLE;
    for (int i = 0; i < count; i++)
        handles[i] = table[i].lab ? -1 : register_one(component, &table[i], &values[i]);
    return OMPI_SUCCESS;
}

static bool was_given(int handle)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;
    return handle >= 0 && mca_base_var_get_value(handle, NULL, &source, NULL) == OPAL_SUCCESS &&
           source != MCA_BASE_VAR_SOURCE_DEFAULT;
}

const char *const *hud_openmpi_settings_given(void)
{
    int count, used = 0;
    const struct setting *table = hud_settings(&count);

    hud_openmpi_settings_drop();
    given = calloc((size_t)count + 1, sizeof *given);
    for (int i = 0; given != NULL && i < count; i++) {
        if (was_given(handles[i]) && values[i] != NULL &&
            asprintf(&given[used], "%s=%s", table[i].name, values[i]) >= 0)
            used++;
    }
    if (given != NULL)
        given[used] = NULL;
    return (const char *const *)given;
}

void hud_openmpi_settings_drop(void)
{
    for (int i = 0; given != NULL && given[i] != NULL; i++)
        free(given[i]);
    free(given);
    given = NULL;
}
