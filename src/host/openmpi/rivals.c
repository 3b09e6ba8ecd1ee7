/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rivals.c - components of Open MPI that serve collectives instead of huddle, because their
 * priority is higher: a vendor's library, or one that the user prefers.  huddle gets no such call,
 * so a line names the component and the collectives.
 *
 * A component is known by the class of its modules.  Open MPI also has a list of components, whose
 * place differs between releases of a series.
 */
#include "component.h"

#include <stdio.h>
#include <string.h>

/* A collective in the table of a communicator. */
struct slot {
    const char *name;
    mca_coll_base_module_t *module; /* NULL: not served, as in no communicator with huddle */
};

enum { CLASS_ROOM = 64 };

/* Stores "tuned" for a module of the class mca_coll_tuned_module_t. */
static void name_component(const mca_coll_base_module_t *module, char name[CLASS_ROOM])
{
    const char *class = module->super.obj_class->cls_name;

    if (sscanf(class, "mca_coll_%63s", name) != 1)
        snprintf(name, CLASS_ROOM, "%s", class);
    char *end = strstr(name, "_module");
    if (end != NULL && end != name)
        *end = '\0';
}

/* Returns whether a component only watches calls or copies their buffers: it passes the calls on to
 * the next component. */
static bool passes_on(const char *component)
{
    static const char *const names[] = { "accelerator", "cuda", "demo", "monitoring", "sync" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(component, names[i]) == 0)
            return true;
    return false;
}

/* Reports the module of the first slot, with all of its slots.  The later slots are emptied. */
static void report_rival(struct slot *slots, size_t count, int priority)
{
    mca_coll_base_module_t *rival = slots[0].module;
    char component[CLASS_ROOM], names[256] = "";

    name_component(rival, component);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(names);
        if (slots[i].module != rival)
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", slots[i].name);
        slots[i].module = NULL;
    }
    if (!passes_on(component))
        hud_report_warn("Open MPI's component %s has a higher priority than coll_huddle_priority "
                        "(%d), and serves instead of huddle: %s",
                        component, priority, names);
}

void hud_module_report_rivals(const ompi_communicator_t *comm, int priority)
{
    struct slot slots[] = {
#define PLAIN(Name, name, ...) { #name, comm->c_coll->coll_##name##_module },
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    };
    enum { SLOTS = sizeof slots / sizeof slots[0] };
    bool has_own = false; /* huddle's module is enabled, so the other modules came later */

    for (size_t i = 0; i < SLOTS; i++) {
        bool is_own =
            slots[i].module != NULL && slots[i].module->super.obj_class == &hud_module_class;
        has_own = has_own || is_own;
        if (is_own)
            slots[i].module = NULL;
    }
    for (size_t i = 0; has_own && i < SLOTS; i++)
        if (slots[i].module != NULL)
            report_rival(&slots[i], SLOTS - i, priority);
}
