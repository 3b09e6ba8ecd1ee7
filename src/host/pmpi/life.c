/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.c - the context of the process.  It is created when MPI_Init returns, or by the first
 * collective if huddle did not see MPI_Init (mpi_f08 bypasses C).  Its teams end in the delete
 * callback of an attribute of COMM_SELF, which MPI_Finalize calls first of all, bypassed or not.
 * Attributes are deleted in reverse order, so callbacks of the program that still communicate come
 * before huddle's.  The context itself ends with the process: other ranks may still count when rank
 * 0 enters MPI_Finalize, and it prints their statistics too.
 *
 * Some processes get no context.  Without MPI_Init (sessions) no COMM_WORLD names ranks, and
 * spawned ranks are not part of the job that the launcher named.  Both are the same on all ranks of
 * a COMM_WORLD, and all their collectives fall back to the MPI.
 */
#include "host/pmpi/far.h"
#include "host/pmpi/nonblocking.h"
#include "host/pmpi/pmpi.h"

#include "core/config/config.h"
#include "core/local.h"
#include "mem/kept_errno.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(void *) context; /* hud_context *; NULL before and after its life */
static bool over;               /* there will be no context (any more); under the lock */
static hud_context *ended;      /* after MPI_Finalize, until the process ends */
static char mpi_name[64] = "MPICH ABI";
static MPI_Group world = MPI_GROUP_NULL;
static int local_ranks;
static int self_keyval = MPI_KEYVAL_INVALID;

static MPI_Request never; /* a request that is completed by nothing but us: testing it moves the
                             MPI's pending messages */
bool hud_life_threaded = true;
bool hud_life_one_order = true;
bool hud_life_adopts;
bool hud_life_spans;
static atomic_flag progressing = ATOMIC_FLAG_INIT;

void hud_life_name(const char *version)
{
    char number[32];

    hud_life_one_order = sscanf(version, "MPICH Version: %31s", number) != 1;
    if (!hud_life_one_order)
        snprintf(mpi_name, sizeof mpi_name, "MPICH %s", number);
    else
        snprintf(mpi_name, sizeof mpi_name, "%.*s", (int)strcspn(version, "\n"), version);
}

MPI_Group hud_life_world(void)
{
    return world;
}

int hud_life_local_ranks(void)
{
    return local_ranks;
}

/* ---- progress ---- */

static int never_query(void *extra, MPI_Status *status)
{
    (void)extra;
    (void)status;
    return MPI_SUCCESS;
}

static int never_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int never_cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

/* MPI forbids two threads to test one request at a time; one at a time moves the messages of
 * all. */
static void progress(void *arg)
{
    MPI_Request request = never;
    int done;

    (void)arg;
    if (hud_life_threaded && !local_claim(&progressing))
        return;
    real.Test(&request, &done, MPI_STATUS_IGNORE);
    if (hud_life_threaded)
        local_release(&progressing);
}

void hud_life_progress(void)
{
    progress(NULL);
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
    pthread_mutex_lock(&lock);
    hud_context *ending = local_get(&context);
    local_set(&context, NULL);
    over = true;
    pthread_mutex_unlock(&lock);
    if (!ending)
        return MPI_SUCCESS;
    hud_comm_finish();
    hud_requests_finish();
    hud_type_finish();
    ended = ending;
    real.Grequest_complete(never);
    real.Wait(&never, MPI_STATUS_IGNORE);
    real.Group_free(&world);
    real.Comm_free_keyval(&self_keyval);
    return MPI_SUCCESS;
}

__attribute__((destructor)) static void end_of_process(void)
{
    hud_context_destroy(ended);
    ended = NULL;
}

/* ---- start ---- */

/* The packed form must be the bare bytes: other ranks may see the same message as contiguous. */
static bool packs_bare_bytes(void)
{
    const int given[2] = { 0x01020304, 0x05060708 };
    MPI_Count position = 0;
    char packed[64] = "";

    return real.Pack_c(given, 2, MPI_INT, packed, sizeof packed, &position, MPI_COMM_SELF) ==
               MPI_SUCCESS &&
           position == sizeof given && memcmp(packed, given, sizeof given) == 0;
}

static bool is_spawned(void)
{
    MPI_Comm parent;

    return real.Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

static int number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? atoi(text) : 0;
}

static hud_context *create(void)
{
    struct hud_host host = { .name = mpi_name,
                             .progress = progress,
                             .abort = abort_job,
                             .local_ranks = number_of("MPI_LOCALNRANKS") };
    hud_context *created = NULL;
    int level;

    hud_life_spans = hud_config_spans(NULL);
    if (getenv("HUDDLE_DEVICES") && !hud_config_asks_devices(NULL)) /* (reading takes time) */
        hud_device_switch_off();
    real.Query_thread(&level);
    hud_life_threaded = level == MPI_THREAD_MULTIPLE;
    host.threads = hud_life_threaded;
    host.waits_alone = !hud_requests_polled(hud_life_threaded) || hud_imports_waits();
    /* (settings are read for it only where that one is given: reading them takes time) */
    hud_life_adopts = host.waits_alone && getenv("HUDDLE_NONBLOCKING") &&
                      (hud_config_manner(NULL, true) & MANNER_REQUESTS);
    real.Comm_rank(MPI_COMM_WORLD, &host.world_rank);
    real.Comm_size(MPI_COMM_WORLD, &host.world_size);
    local_ranks = host.local_ranks > 0 ? host.local_ranks : host.world_size;
    if (hud_comm_start() || hud_type_start() || real.Comm_group(MPI_COMM_WORLD, &world) ||
        real.Grequest_start(never_query, never_free, never_cancel, NULL, &never))
        return NULL;
    if (real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &self_keyval, NULL) ||
        real.Comm_set_attr(MPI_COMM_SELF, self_keyval, NULL))
        return NULL;
    hud_op_start();
    hud_far_look(host.world_size);
    host.present_far = hud_far_known() ? hud_far_present : NULL;
    hud_context_create(&host, &created);
    return created;
}

/* Under the lock.  Calls nothing of the MPI outside MPI_Init .. MPI_Finalize. */
static hud_context *start(void)
{
    int initialised, finalised;

    if (over || real.Initialized(&initialised) != MPI_SUCCESS || !initialised)
        return NULL;
    if (real.Finalized(&finalised) != MPI_SUCCESS || finalised || is_spawned() ||
        !packs_bare_bytes()) {
        over = true;
        return NULL;
    }
    hud_context *created = create();
    over = !created;
    local_set(&context, created);
    return created;
}

hud_context *hud_life_context(void)
{
    hud_context *here = local_get(&context);

    if (here)
        return here;
    KEEP_ERRNO();
    pthread_mutex_lock(&lock);
    here = local_get(&context);
    if (!here)
        here = start();
    pthread_mutex_unlock(&lock);
    return here;
}
