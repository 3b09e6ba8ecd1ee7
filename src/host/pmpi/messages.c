/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - messages between nodes: the MPI's own, on a duplicate of the communicator that only
 * huddle knows, so that no receive of the program matches them.  The duplicate is created in the
 * set-up of a team that spans nodes, by a nonblocking call, and freed with the communicator.
 *
 * Errors     MPICH reports errors of a request to MPI_COMM_WORLD's error handler, whatever the
 *            communicator is.  If this handler returns, the call fails by the communicator's own.
 */
#include "host/pmpi/pmpi.h"

#include <limits.h>

static void *of_request(MPI_Request request)
{
    return (void *)(intptr_t)request;
}

static int start_open(void *arg, void **pending)
{
    struct comm *c = arg;

    *pending = &c->exchange;
    return real.Comm_idup(c->handle, &c->between, &c->exchange) != MPI_SUCCESS;
}

static int test_open(void *arg, void **pending, int *done)
{
    int code = real.Test(*pending, done, MPI_STATUS_IGNORE);

    if (!*done && code == MPI_SUCCESS)
        return 0;
    *done = 1;
    if (code == MPI_SUCCESS) /* errors are returned when messages are started */
        code = real.Comm_set_errhandler(((struct comm *)arg)->between, MPI_ERRORS_RETURN);
    return code != MPI_SUCCESS;
}

static int start_send(void *arg, int rank, int kind, const void *from, size_t bytes, void **pending)
{
    struct comm *c = arg;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = bytes > INT_MAX
                   ? MPI_ERR_COUNT
                   : real.Isend(from, (int)bytes, MPI_BYTE, rank, kind, c->between, &request);

    *pending = of_request(request);
    return code != MPI_SUCCESS;
}

static int start_receive(void *arg, int rank, int kind, void *to, size_t bytes, void **pending)
{
    struct comm *c = arg;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = bytes > INT_MAX
                   ? MPI_ERR_COUNT
                   : real.Irecv(to, (int)bytes, MPI_BYTE, rank, kind, c->between, &request);

    *pending = of_request(request);
    return code != MPI_SUCCESS;
}

static int test(void *arg, void **pending, int *done, size_t *bytes)
{
    MPI_Request request = (MPI_Request)(intptr_t)*pending;
    MPI_Status status;
    int code = real.Test(&request, done, &status), class = MPI_SUCCESS, received = 0;

    (void)arg;
    *pending = of_request(request);
    if (code != MPI_SUCCESS)
        real.Error_class(code, &class);
    else if (*done)
        real.Get_count(&status, MPI_BYTE, &received);
    *bytes = (size_t)received;
    return class == MPI_ERR_TRUNCATE ? HUD_ERR_TRUNCATE
           : class != MPI_SUCCESS    ? HUD_ERR_FAILED
                                     : HUD_OK;
}

static int probe_message(void *arg, int kind, int *there, size_t *bytes)
{
    struct comm *c = arg;
    MPI_Status status;
    int received = 0;

    if (real.Iprobe(MPI_ANY_SOURCE, kind, c->between, there, &status) != MPI_SUCCESS)
        return 1;
    if (*there)
        real.Get_count(&status, MPI_BYTE, &received);
    *bytes = (size_t)received;
    return 0;
}

/* Cancels a message.  The MPI frees the request when it is complete. */
static void cancel(void *arg, void **pending)
{
    MPI_Request request = (MPI_Request)(intptr_t)*pending;

    (void)arg;
    real.Cancel(&request);
    real.Request_free(&request);
    *pending = of_request(request);
}

static void end(void *arg)
{
    ((struct comm *)arg)->spoilt = true;
}

const struct hud_messages hud_pmpi_messages = { .open = start_open,
                                                .opened = test_open,
                                                .send = start_send,
                                                .receive = start_receive,
                                                .test = test,
                                                .probe = probe_message,
                                                .cancel = cancel,
                                                .end = end };
