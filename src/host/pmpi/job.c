/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - facts about the job of this process: its context, once there is one, and its ranks; and
 * how pending messages of the MPI move. */
#include "host/pmpi/pmpi.h"

#include "base/process_atomics.h"
#include "mem/kept_errno.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(void *) context; /* hud_context *; NULL before and after its life */
static bool over;               /* whether no context will be created any more; under the lock */
static hud_context *(*start)(bool *never);
static MPI_Group world = MPI_GROUP_NULL;
static int local_ranks;

static MPI_Request never; /* a request that only huddle completes: a test of it moves the MPI's
                             pending messages */
bool hud_job_threaded = true;
bool hud_job_one_order = true;
bool hud_job_adopts;
bool hud_job_spans;
static atomic_flag progressing = ATOMIC_FLAG_INIT;

/* ---- the context ---- */

void hud_job_started_by(hud_context *(*how)(bool *never))
{
    start = how;
}

hud_context *hud_job_context(void)
{
    hud_context *here = local_get(&context);

    if (here)
        return here;
    KEEP_ERRNO();
    pthread_mutex_lock(&lock);
    here = local_get(&context);
    if (!here && !over && start) {
        here = start(&over);
        local_set(&context, here);
    }
    pthread_mutex_unlock(&lock);
    return here;
}

hud_context *hud_job_end(void)
{
    pthread_mutex_lock(&lock);
    hud_context *ending = local_get(&context);
    local_set(&context, NULL);
    over = true;
    pthread_mutex_unlock(&lock);
    return ending;
}

/* ---- its ranks, and messages ---- */

MPI_Group hud_job_world(void)
{
    return world;
}

int hud_job_local_ranks(void)
{
    return local_ranks;
}

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

/* Progresses the MPI's messages.  MPI forbids two threads to test a request at the same time; a
 * single thread progresses the messages of all. */
void hud_job_progress(void *arg)
{
    MPI_Request request = never;
    int done;

    (void)arg;
    if (hud_job_threaded && !local_claim(&progressing))
        return;
    real.Test(&request, &done, MPI_STATUS_IGNORE);
    if (hud_job_threaded)
        local_release(&progressing);
}

/* ---- life ---- */

bool hud_job_learn(int ranks_here)
{
    local_ranks = ranks_here;
    return real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
           real.Grequest_start(never_query, never_free, never_cancel, NULL, &never) == MPI_SUCCESS;
}

void hud_job_forget(void)
{
    real.Grequest_complete(never);
    real.Wait(&never, MPI_STATUS_IGNORE);
    real.Group_free(&world);
}
