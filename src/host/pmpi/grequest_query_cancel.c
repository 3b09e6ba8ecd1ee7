/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grequest_query_cancel.c - the status that the MPI gets for a complete generalized request.
 *
 * A generalized request has no communicator, so the communicator's error handler is called here.
 * The error is in the status.  MPI_Wait returns the error only if MPI_COMM_WORLD's errors return,
 * because the MPI would otherwise end the job.
 */
#include "base/process_atomics.h"
#include "host/pmpi/nonblocking.h"

#include <stdio.h>

static bool errors_return(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    if (real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool returns = handler == MPI_ERRORS_RETURN;
    real.Errhandler_free(&handler);
    return returns;
}

/* Reports once that an error cannot be returned: the MPI would end the job, since a generalized
 * request has no communicator but MPI_COMM_WORLD. */
static void say_lost(void)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;

    if (local_claim(&once))
        fprintf(stderr, "huddle: a nonblocking collective failed, and MPI_Wait does not return the "
                        "error: MPI_COMM_WORLD does not have MPI_ERRORS_RETURN\n");
}

int hud_request_query(void *state, MPI_Status *status)
{
    struct request *r = state;
    const struct comm *comm = r->comm; /* NULL: disconnected */

    real.Status_set_elements(status, MPI_BYTE, 0);
    real.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    if (r->code == MPI_SUCCESS)
        return MPI_SUCCESS;
    status->MPI_ERROR = r->code;
    if (comm && r->inner == MPI_REQUEST_NULL && r->request && !r->reported) {
        r->reported = true; /* MPICH may call this function more than once */
        hud_comm_raise(r->comm, "a nonblocking collective", r->code);
    }
    if (errors_return(MPI_COMM_WORLD))
        return r->code;
    if (comm && errors_return(comm->handle))
        say_lost();
    return MPI_SUCCESS;
}

int hud_request_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_ERR_REQUEST;
}
