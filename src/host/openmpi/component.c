/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * component.c - `coll` component "huddle" of Open MPI.
 *
 * When        In MPI_Init the framework registers and opens the component before the modex, so a
 *             rank publishes that it uses huddle before any other rank can ask (published.c).  A
 *             new communicator asks the component (comm_query).  MPI_Finalize first waits for all
 *             ranks of the job (a PMIx fence), then frees every communicator, then closes the
 *             component: the context prints the statistics after all ranks have stopped counting.
 * Collective  Nothing here is collective: a team is set up in the first collective that uses it.
 * Falling back
 *             Inter-communicators and single ranks fall back.  All communicators do if MPI_Init
 *             does not wait for all ranks, or if Open MPI's objects have another layout than in the
 *             headers (abi_check.c).  All of this is the same on every rank of a job.  A process
 *             with elevated privileges (base/setuid.h) does not publish itself: the other ranks see
 *             it as absent.
 * Fault tolerance
 *             With ULFM, a collective during which a process ends fails with MPI_ERR_PROC_FAILED,
 *             and on a revoked communicator with MPI_ERR_REVOKED; later collectives of this
 *             communicator are Open MPI's own.
 */
#include "component.h"
#include "callers.h"
#include "request.h"

#include "base/setuid.h"
#include "core/config/config.h"
#include "mem/kept_errno.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above tuned (30) and sync (50).  Below cuda and accelerator (78), which pass calls on to the
 * component below, and below vendors' libraries that a site has installed on purpose (hcoll,
 * 90). */
static int priority = 70;

#define MISFIT_TEXT                                                                                \
    "this Open MPI differs from the one that huddle's component was built for (%s); using Open "   \
    "MPI's own collectives"

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards the rest: sessions create communicators in several
                                  threads */
static enum { UNKNOWN, FITS, MISFIT } layout; /* determined with the first communicator */
static hud_context *context;                  /* created for the first communicator that is
                                                 handled */
static bool nonblocking; /* this Open MPI's nonblocking collectives are handled, too */

static int component_register(void)
{
    const mca_base_component_t *self = &mca_coll_huddle_component.collm_version;

    KEEP_ERRNO();
    mca_base_component_var_register(self, "priority", "Priority of the component, 0 to 100",
                                    MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6,
                                    MCA_BASE_VAR_SCOPE_READONLY, &priority);
    return hud_openmpi_settings_register(self);
}

/* Returns why no communicator of this process is handled, the same on every rank of the job, or
 * NULL if there is no such reason. */
static const char *reason_to_stay_out(void)
{
    if (ompi_async_mpi_init)
        return "MPI_Init does not wait for all ranks (async_mpi_init)"; /* some ranks may not have
                                                                           announced themselves */
    return NULL;
}

static bool was_asked; /* Open MPI has opened the component, with any result */

void hud_openmpi_initialised(void)
{
    int initialised = 0;

    if (OWN(Initialized)(&initialised) != MPI_SUCCESS || initialised == 0)
        return;
    if (!was_asked)
        hud_report_refuse("Open MPI does not use the component%s",
                          " (excluded by the MCA parameter coll?)");
    if (layout == FITS)
        hud_module_report_rivals(&ompi_mpi_comm_world.comm, priority);
}

static int component_open(void)
{
    was_asked = true;
    const char *misfit = hud_openmpi_misfit(), *reason = reason_to_stay_out();

    KEEP_ERRNO();
    if (process_is_elevated())
        return OPAL_ERR_NOT_AVAILABLE; /* a message would depend on variables of a user with fewer
                                          privileges */
    if (misfit != NULL)
        hud_report_refuse(MISFIT_TEXT, misfit);
    else if (reason != NULL)
        hud_report_refuse("%s; using Open MPI's own collectives", reason);
    if (misfit != NULL || reason != NULL)
        return OPAL_ERR_NOT_AVAILABLE;
    layout = UNKNOWN;
    hud_module_prepare();
    const char *const *given = hud_openmpi_settings_given();
    if (compat_knows_devices())
        hud_device_ask_always();
    bool may_be_off = getenv("HUDDLE_DEVICES") != NULL || (given != NULL && given[0] != NULL);
    if (may_be_off && !hud_config_asks_devices(given)) /* reading the settings takes time */
        hud_device_switch_off();
    hud_openmpi_publish(hud_callers_find(), hud_config_manner(given, false),
                        hud_config_spans(given, (int)ompi_process_info.num_procs));
    return OMPI_SUCCESS;
}

static int component_close(void)
{
    KEEP_ERRNO();
    hud_module_finish();
    hud_requests_end();
    hud_context_destroy(context);
    context = NULL;
    hud_openmpi_settings_drop();
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads, (void)mpi_threads;
    return OMPI_SUCCESS;
}

static void progress(void *arg)
{
    (void)arg;
    opal_progress();
}

static void abort_job(void *arg)
{
    (void)arg;
    OWN(Abort)(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* Stores "Open MPI 4.1.4" for "Open MPI v4.1.4, package: ...". */
static void name_library(char name[64])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], version[32];
    int length;

    if (OWN(Get_library_version)(text, &length) == MPI_SUCCESS &&
        sscanf(text, "Open MPI v%31[^, ]", version) == 1)
        snprintf(name, 64, "Open MPI %s", version);
    else
        snprintf(name, 64, "Open MPI");
}

static void create_context(void)
{
    static char name[64];

    name_library(name);
    struct hud_host host = {
        .name = name,
        .ends_own_calls = 1,
        .world_rank = (int)OMPI_PROC_MY_NAME->vpid,
        .world_size = (int)ompi_process_info.num_procs,
        .local_ranks = (int)ompi_process_info.num_local_peers + 1,
        .threads = ompi_mpi_thread_multiple,
        .progress = progress,
        .abort = abort_job,
        .fault_tolerant = compat_fault_tolerant(),
        .settings = hud_openmpi_settings_given(),
        .present = hud_openmpi_published,
        .present_far = hud_openmpi_published_far,
    };
    hud_context_create(&host, &context);
}

static void prepare(void)
{
    hud_reduction_prepare();
    nonblocking = hud_requests_begin(ompi_mpi_thread_multiple);
    if (!nonblocking)
        hud_report_warn(
            "this Open MPI's requests differ from those that huddle's component was built "
            "for; nonblocking collectives are Open MPI's own");
}

/* Returns the context if huddle handles this communicator, or NULL.  Creates a context also for a
 * job of a single rank, to report a bad setting and to write statistics. */
static hud_context *context_for(ompi_communicator_t *comm)
{
    if (layout == UNKNOWN) {
        const char *misfit = hud_openmpi_misfit_of(comm);
        layout = misfit == NULL ? FITS : MISFIT;
        if (misfit != NULL)
            hud_report_refuse(MISFIT_TEXT, misfit);
        else
            prepare();
    }
    if (layout == MISFIT || OMPI_COMM_IS_INTER(comm))
        return NULL;
    if (context == NULL)
        create_context();
    return ompi_comm_size(comm) < 2 ? NULL : context;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *of)
{
    *of = priority;
    KEEP_ERRNO();
    pthread_mutex_lock(&lock);
    hud_context *ours = context_for(comm);
    mca_coll_base_module_t *module = ours == NULL ? NULL : hud_module_create(ours, nonblocking);
    pthread_mutex_unlock(&lock);
    if (ours != NULL && module == NULL)
        hud_module_give_up(comm);
    return module;
}

mca_coll_base_component_t mca_coll_huddle_component = {
    .collm_version = {
        COMPAT_COLL_VERSION,
        .mca_component_name = "huddle",
        MCA_BASE_MAKE_VERSION(component, HUD_VERSION_MAJOR, HUD_VERSION_MINOR, HUD_VERSION_PATCH),
        .mca_open_component = component_open,
        .mca_close_component = component_close,
        .mca_register_component_params = component_register,
    },
    .collm_data = { .param_field = MCA_BASE_METADATA_PARAM_NONE },
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
