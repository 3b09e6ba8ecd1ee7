/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - messages between nodes: the MPI's own, on a duplicate of the communicator that only
 * huddle knows, so that no receive of the program's takes them.  It is made in the set-up of a
 * team that spans nodes, by a call that does not wait, and freed with the communicator.  Its
 * error handler is that of the communicator.
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

    (void)arg;
    if (!*done && code == MPI_SUCCESS)
        return 0;
    *done = 1;
    return code != MPI_SUCCESS;
}

static int start_send(void *arg, int rank, int tag, const void *from, size_t bytes, void **pending)
{
    struct comm *c = arg;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = bytes > INT_MAX
                   ? MPI_ERR_COUNT
                   : real.Isend(from, (int)bytes, MPI_BYTE, rank, tag, c->between, &request);

    *pending = of_request(request);
    return code != MPI_SUCCESS;
}

static int start_receive(void *arg, int rank, int tag, void *to, size_t bytes, void **pending)
{
    struct comm *c = arg;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = bytes > INT_MAX
                   ? MPI_ERR_COUNT
                   : real.Irecv(to, (int)bytes, MPI_BYTE, rank, tag, c->between, &request);

    *pending = of_request(request);
    return code != MPI_SUCCESS;
}

static int test(void *arg, void **pending, int *done)
{
    MPI_Request request = (MPI_Request)(intptr_t)*pending;
    int code = real.Test(&request, done, MPI_STATUS_IGNORE);

    (void)arg;
    *pending = of_request(request);
    return code != MPI_SUCCESS;
}

/* The MPI frees it when it is over. */
static void cancel(void *arg, void **pending)
{
    MPI_Request request = (MPI_Request)(intptr_t)*pending;

    (void)arg;
    real.Cancel(&request);
    real.Request_free(&request);
    *pending = of_request(request);
}

const struct hud_messages hud_pmpi_messages = { .open = start_open,
                                                .opened = test_open,
                                                .send = start_send,
                                                .receive = start_receive,
                                                .test = test,
                                                .cancel = cancel };
