/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.c - the context of the process.  It is created when MPI_Init returns, or by the first
 * collective if huddle did not see MPI_Init (mpi_f08 bypasses C).  Its teams end in the delete
 * callback of an attribute of COMM_SELF, which MPI_Finalize calls first of all, bypassed or not.
 * Attributes are deleted in reverse order, so callbacks of the program that still communicate come
 * before huddle's.  The context itself ends with the process: other ranks may still count when rank
 * 0 enters MPI_Finalize, and rank 0 prints their statistics too.
 *
 * Some processes get no context.  Without MPI_Init (sessions) no COMM_WORLD names ranks, and
 * spawned ranks are not part of the job that the launcher named.  Both are the same on all ranks of
 * a COMM_WORLD, and all their collectives fall back to the MPI.
 */
#include "host/pmpi/nonblocking.h"
#include "host/pmpi/pmi_kvs.h"
#include "host/pmpi/pmpi.h"

#include "base/launcher_env.h"
#include "core/config/config.h"
#include "host/first_words.h"
#include "host/report.h"
#include "mem/kept_errno.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hud_context *ended; /* the context after MPI_Finalize, until the process ends */
static char mpi_name[FIRST_WORDS] = "MPICH ABI";
static int self_keyval = MPI_KEYVAL_INVALID;

static hud_context *start(bool *never);

void hud_life_name(const char *version)
{
    char number[32];

    /* An MPI that nobody has tested may have one order for all collectives, as Intel MPI has. */
    hud_job_one_order = sscanf(version, "MPICH Version: %31s", number) != 1;
    if (!hud_job_one_order)
        snprintf(mpi_name, sizeof mpi_name, "MPICH %s", number);
    else
        first_words(version, mpi_name);
    hud_job_started_by(start);
}

static void abort_job(void *arg)
{
    (void)arg;
    real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* ---- end ---- */

static int finish(MPI_Comm self, int key, void *attribute, void *extra)
{
    (void)self;
    (void)key;
    (void)attribute;
    (void)extra;
    KEEP_ERRNO();
    hud_context *ending = hud_job_end();
    if (!ending)
        return MPI_SUCCESS;
    hud_comm_finish();
    hud_requests_finish();
    hud_type_finish();
    ended = ending;
    hud_job_forget();
    real.Comm_free_keyval(&self_keyval);
    return MPI_SUCCESS;
}

__attribute__((destructor)) static void end_of_process(void)
{
    hud_context_destroy(ended);
    ended = NULL;
}

/* ---- start ---- */

static bool is_spawned(void)
{
    MPI_Comm parent;

    return real.Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

static hud_context *create(void)
{
    struct hud_host host = {
        .name = mpi_name, .ends_own_calls = 1, .progress = hud_job_progress, .abort = abort_job
    };
    hud_context *created = NULL;
    int level;

    if (getenv("HUDDLE_DEVICES") && !hud_config_asks_devices(NULL)) /* reading the settings takes
                                                                       time */
        hud_device_switch_off();
    real.Query_thread(&level);
    hud_job_threaded = level == MPI_THREAD_MULTIPLE;
    host.threads = hud_job_threaded;
    host.waits_alone = !hud_requests_polled(hud_job_threaded) || hud_imports_waits();
    /* Settings are read only if this variable is set, because reading them takes time. */
    hud_job_adopts = host.waits_alone && getenv("HUDDLE_NONBLOCKING") &&
                     (hud_config_manner(NULL, true) & MANNER_REQUESTS);
    real.Comm_rank(MPI_COMM_WORLD, &host.world_rank);
    real.Comm_size(MPI_COMM_WORLD, &host.world_size);
    hud_job_spans = hud_config_spans(NULL, host.world_size);
    host.local_ranks = launched_local_size(host.world_size);
    int local_ranks = host.local_ranks > 0 ? host.local_ranks : host.world_size;
    if (hud_comm_start() || hud_type_start() || !hud_job_learn(local_ranks))
        return NULL;
    if (real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &self_keyval, NULL) ||
        real.Comm_set_attr(MPI_COMM_SELF, self_keyval, NULL))
        return NULL;
    hud_op_start();
    hud_pmi_kvs_look_up(host.world_size);
    host.present_far = hud_pmi_kvs_announced() ? hud_pmi_kvs_present : NULL;
    hud_context_create(&host, &created);
    return created;
}

/* Creates the context if possible, for hud_job_context.  Sets *never if there will be none.  Calls
 * no other function of the MPI outside MPI_Init .. MPI_Finalize than Initialized and Finalized. */
static hud_context *start(bool *never)
{
    int initialised, finalised;

    if (real.Initialized(&initialised) != MPI_SUCCESS || !initialised)
        return NULL;
    if (real.Finalized(&finalised) != MPI_SUCCESS || finalised || is_spawned()) {
        *never = true;
        return NULL;
    }
    const char *misfit = hud_abi_misfit();
    if (misfit) {
        hud_report_refuse("this MPI differs from MPICH's headers (%s); using its own collectives",
                          misfit);
        *never = true;
        return NULL;
    }
    hud_context *created = create();
    *never = !created;
    return created;
}
