/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - messages between nodes: Open MPI's own, on the communicator itself.
 *
 * They have the tags of Open MPI's collectives, which no receive of the program's takes, not even
 * one of any tag; where a communicator is revoked, Open MPI ends them as those of a collective.
 * Blocking collectives of a communicator come one after the other, and each has taken all that was
 * sent to it when it returns.  So messages of huddle's and of Open MPI's own may share a tag.
 */
#include "messages.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

#include "net/net.h"

static const int tags[NET_TAGS] = {
    [NET_BARRIER] = MCA_COLL_BASE_TAG_BARRIER,
    [NET_BCAST] = MCA_COLL_BASE_TAG_BCAST,
    [NET_BCAST_SCATTER] = MCA_COLL_BASE_TAG_BCAST,
    [NET_REDUCE] = MCA_COLL_BASE_TAG_REDUCE,
    [NET_REDUCE_LANES] = MCA_COLL_BASE_TAG_REDUCE,
    [NET_REDUCE_ORDERED] = MCA_COLL_BASE_TAG_REDUCE,
    [NET_ALLREDUCE] = MCA_COLL_BASE_TAG_ALLREDUCE,
    [NET_ALLREDUCE_LANES] = MCA_COLL_BASE_TAG_ALLREDUCE,
    [NET_REDUCE_SCATTER] = MCA_COLL_BASE_TAG_REDUCE_SCATTER,
    [NET_REDUCE_SCATTER_LANES] = MCA_COLL_BASE_TAG_REDUCE_SCATTER,
    [NET_ALLGATHER] = MCA_COLL_BASE_TAG_ALLGATHER,
    [NET_ALLGATHER_LANES] = MCA_COLL_BASE_TAG_ALLGATHER,
    [NET_ALLGATHERV] = MCA_COLL_BASE_TAG_ALLGATHERV,
    [NET_ALLGATHERV_LANES] = MCA_COLL_BASE_TAG_ALLGATHERV,
    [NET_ALLTOALL] = MCA_COLL_BASE_TAG_ALLTOALL,
    [NET_ALLTOALL_PAIRS] = MCA_COLL_BASE_TAG_ALLTOALL,
    [NET_ALLTOALLV] = MCA_COLL_BASE_TAG_ALLTOALLV,
    [NET_GATHER] = MCA_COLL_BASE_TAG_GATHER,
    [NET_GATHER_PAIRS] = MCA_COLL_BASE_TAG_GATHER,
    [NET_GATHERV] = MCA_COLL_BASE_TAG_GATHERV,
    [NET_SCATTER] = MCA_COLL_BASE_TAG_SCATTER,
    [NET_SCATTER_PAIRS] = MCA_COLL_BASE_TAG_SCATTER,
    [NET_SCATTERV] = MCA_COLL_BASE_TAG_SCATTERV,
};

static int start_send(void *arg, int rank, int tag, const void *from, size_t bytes, void **pending)
{
    COMM *comm = ((hud_module *)arg)->comm;
    ompi_request_t *request = NULL;
    int rc = MCA_PML_CALL(isend((void *)(uintptr_t)from, bytes, &ompi_mpi_byte.dt, rank, tags[tag],
                                MCA_PML_BASE_SEND_STANDARD, comm, &request));

    *pending = request;
    return rc != OMPI_SUCCESS;
}

static int start_receive(void *arg, int rank, int tag, void *to, size_t bytes, void **pending)
{
    COMM *comm = ((hud_module *)arg)->comm;
    ompi_request_t *request = NULL;
    int rc = MCA_PML_CALL(irecv(to, bytes, &ompi_mpi_byte.dt, rank, tags[tag], comm, &request));

    *pending = request;
    return rc != OMPI_SUCCESS;
}

static int test(void *arg, void **pending, int *done)
{
    ompi_request_t *request = *pending;

    (void)arg;
    if (!REQUEST_COMPLETE(request))
        opal_progress();
    *done = REQUEST_COMPLETE(request);
    if (!*done)
        return 0;
    int failed = request->req_status.MPI_ERROR != MPI_SUCCESS;
    ompi_request_free(&request);
    *pending = NULL;
    return failed;
}

/* Open MPI frees it when it is over. */
static void cancel(void *arg, void **pending)
{
    ompi_request_t *request = *pending;

    (void)arg;
    ompi_request_cancel(request);
    ompi_request_free(&request);
    *pending = NULL;
}

const struct hud_messages hud_openmpi_messages = {
    .send = start_send, .receive = start_receive, .test = test, .cancel = cancel
};
