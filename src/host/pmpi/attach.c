/* SPDX-License-Identifier: BSD-3-Clause */
/* attach.c - finds the functions of the MPI by name. */
#include "core/config/config.h"
#include "core/team/presence.h"
#include "host/loader/front.h"
#include "host/pmpi/far.h"
#include "host/pmpi/nonblocking.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct calls real;

static const struct found {
    const char *name;
    size_t offset;
} calls[] = {
#define CALL(name) { "PMPI_" #name, offsetof(struct calls, name) },
#include "host/pmpi/calls.def"
#undef CALL
};

/* MPI_Init has returned: the context is created now, so that its attribute of COMM_SELF is the
 * first and goes last (life.c). */
static void initialised(void)
{
    hud_life_context();
}

/* Fault tolerance lets a collective fail on some ranks only, which shared memory cannot notice. */
static bool fault_tolerant(void)
{
    const char *set = getenv("MPIR_CVAR_ENABLE_FT");

    return set && !strchr("0nNfF", *set);
}

HUD_API hud_mpich_entry huddle_mpich_attach;

HUD_API const char *huddle_mpich_attach(void *mpi, const char *version,
                                        const struct hud_front **front)
{
    static struct hud_front ours = { { hud_wrappers }, NULL, initialised };
    int tables = 1;

    if (fault_tolerant())
        return "fault tolerance is on";
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *found = dlsym(mpi, calls[i].name);
        if (!found)
            return "too old: huddle needs the functions of MPI 4";
        memcpy((char *)&real + calls[i].offset, &found, sizeof found);
    }
    hud_life_name(version);
    bool requests = hud_requests_find(mpi);
    unsigned manner = hud_config_manner(NULL, !hud_requests_polled(false) || hud_imports_waits());
    hud_presence_announce(manner);
    if (hud_config_spans(NULL))
        hud_far_announce(manner);
    if (requests) {
        ours.wrappers[tables++] = hud_nonblocking_wrappers;
        ours.wrappers[tables++] = hud_order_wrappers;
        ours.detours = hud_fortran_detours;
    }
    *front = &ours;
    return NULL;
}
