/* SPDX-License-Identifier: BSD-3-Clause */
/* attach.c - finds the functions of the MPI by name. */
#define _GNU_SOURCE
#include "base/launcher_env.h"
#include "core/config/config.h"
#include "core/job/presence.h"
#include "host/loader/front.h"
#include "host/object.h"
#include "host/pmpi/nonblocking.h"
#include "host/pmpi/pmi_kvs.h"

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

/* Publishes this rank's presence before MPI_Init, which synchronises.  Not earlier: a process that
 * is linked to the MPI without initialising the MPI is not a rank, although its environment may be
 * a rank's. */
static void starting(void)
{
    unsigned manner = hud_config_manner(NULL, !hud_requests_polled(false) || hud_imports_waits());

    hud_presence_announce(manner);
    if (hud_config_spans(NULL, (int)launched_size()))
        hud_pmi_kvs_announce(manner);
}

/* Creates the context after MPI_Init has returned, so that its attribute of COMM_SELF is the first
 * and is deleted last (life.c). */
static void initialised(void)
{
    if (hud_job_context())
        hud_abi_report_untested();
}

/* Returns whether fault tolerance is on.  It lets a collective fail on some ranks only, which
 * shared memory cannot detect. */
static bool fault_tolerant(void)
{
    const char *set = getenv("MPIR_CVAR_ENABLE_FT");

    return set && !strchr("0nNfF", *set);
}

HUD_API hud_mpich_entry huddle_mpich_attach;

HUD_API const char *huddle_mpich_attach(const struct object *mpi, const char *version,
                                        const struct hud_front **front)
{
    static struct hud_front ours = { { hud_wrappers }, starting, initialised };

    if (fault_tolerant())
        return "fault tolerance is on";
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *found = hud_object_address(mpi, calls[i].name);
        if (!found)
            return "too old: huddle needs the functions of MPI 4";
        memcpy((char *)&real + calls[i].offset, &found, sizeof found);
    }
    const char *refusal = hud_abi_refusal(mpi, version);
    if (refusal)
        return refusal;
    hud_life_name(version);
    if (hud_requests_find(mpi)) {
        ours.wrappers[1] = hud_nonblocking_wrappers;
        ours.wrappers[2] = hud_order_wrappers;
        ours.wrappers[3] = hud_fortran_wrappers;
    }
    *front = &ours;
    return NULL;
}
