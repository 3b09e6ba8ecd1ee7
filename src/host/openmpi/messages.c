/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - messages between nodes: Open MPI's own, on the communicator itself.
 *
 * Their tags are below the tags of programs, so that no receive with MPI_ANY_TAG matches them, and
 * above the tags of Open MPI's own messages (coll_tags.h).  So messages left behind by a failed
 * call match nothing else.  If a communicator is revoked, Open MPI ends them like all others.
 */
#include "messages.h"
#include "exchange.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

static const int tags[HUD_MESSAGE_KINDS] = {
    [HUD_MESSAGE_CALL] = -2, [HUD_MESSAGE_NETWORK] = -3, [HUD_MESSAGE_END] = -4
};

#ifdef OMPI_COMM_ALLGATHER_TAG /* 5.0 and later */
_Static_assert(OMPI_COMM_ALLGATHER_TAG < HUD_EXCHANGE_TAG,
               "no tag of Open MPI's is one of huddle's");
#endif
_Static_assert(MCA_COLL_BASE_TAG_ALLGATHER < HUD_EXCHANGE_TAG, "nor that of a collective");

static int start_send(void *arg, int rank, int kind, const void *from, size_t bytes, void **pending)
{
    COMM *comm = ((hud_module *)arg)->comm;
    ompi_request_t *request = NULL;
    int rc = MCA_PML_CALL(isend((void *)(uintptr_t)from, bytes, &ompi_mpi_byte.dt, rank, tags[kind],
                                MCA_PML_BASE_SEND_STANDARD, comm, &request));

    *pending = request;
    return rc != OMPI_SUCCESS;
}

static int start_receive(void *arg, int rank, int kind, void *to, size_t bytes, void **pending)
{
    COMM *comm = ((hud_module *)arg)->comm;
    ompi_request_t *request = NULL;
    int rc = MCA_PML_CALL(irecv(to, bytes, &ompi_mpi_byte.dt, rank, tags[kind], comm, &request));

    *pending = request;
    return rc != OMPI_SUCCESS;
}

static int test(void *arg, void **pending, int *done, size_t *bytes)
{
    ompi_request_t *request = *pending;

    (void)arg;
    if (!hud_request_is_over(request))
        opal_progress();
    *done = hud_request_is_over(request);
    if (!*done)
        return 0;
    int code = request->req_status.MPI_ERROR;
    *bytes = request->req_status._ucount;
    ompi_request_free(&request);
    *pending = NULL;
    return code == MPI_ERR_TRUNCATE ? HUD_ERR_TRUNCATE
           : code != MPI_SUCCESS    ? HUD_ERR_FAILED
                                    : HUD_OK;
}

static int probe_message(void *arg, int kind, int *there, size_t *bytes)
{
    ompi_status_public_t status;
    int rc =
        MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, tags[kind], ((hud_module *)arg)->comm, there, &status));

    if (rc == OMPI_SUCCESS && *there)
        *bytes = status._ucount;
    return rc != OMPI_SUCCESS;
}

/* Cancels a message.  Open MPI frees the request when it is complete. */
static void cancel(void *arg, void **pending)
{
    ompi_request_t *request = *pending;

    (void)arg;
    ompi_request_cancel(request);
    ompi_request_free(&request);
    *pending = NULL;
}

const struct hud_messages hud_openmpi_messages = { .send = start_send,
                                                   .receive = start_receive,
                                                   .test = test,
                                                   .probe = probe_message,
                                                   .cancel = cancel };
