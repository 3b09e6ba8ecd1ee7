/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - the allgathers of a team that is set up while nobody waits.
 *
 * They are messages between all members, with a tag that nothing else uses.  Open MPI's own
 * nonblocking allgather would do, but for its number: these start at moments that differ from rank
 * to rank, and others of the communicator must have the same number on all.  Messages of a pair
 * arrive in order, so the two allgathers of a team may share the tag.
 */
#include "exchange.h"

#include "ompi/mca/pml/pml.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = -5 }; /* below those of programs, above those of Open MPI's collectives */

struct pending {
    int count;
    ompi_request_t *requests[];
};

static bool post(struct pending *p, COMM *comm, int rank, const char *mine, size_t bytes, char *all)
{
    ompi_datatype_t *byte = &ompi_mpi_byte.dt;

    if (MCA_PML_CALL(irecv(all + (size_t)rank * bytes, bytes, byte, rank, TAG, comm,
                           &p->requests[p->count])) != OMPI_SUCCESS)
        return false;
    p->count++;
    if (MCA_PML_CALL(isend((void *)(uintptr_t)mine, bytes, byte, rank, TAG,
                           MCA_PML_BASE_SEND_STANDARD, comm, &p->requests[p->count])) !=
        OMPI_SUCCESS)
        return false;
    p->count++;
    return true;
}

/* A rank whose messages do not go out would leave the others waiting. */
int hud_exchange_start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    COMM *comm = ((hud_module *)arg)->comm;
    int size = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    struct pending *p = malloc(sizeof *p + 2 * (size_t)size * sizeof *p->requests);

    *pending = p;
    bool posted = p != NULL;
    if (posted)
        p->count = 0;
    memcpy((char *)all + (size_t)me * bytes, mine, bytes);
    for (int i = 1; i < size && posted; i++)
        posted = post(p, comm, (me + i) % size, mine, bytes, all);
    if (!posted)
        hud_module_give_up(comm);
    return !posted;
}

int hud_exchange_test(void *arg, void **pending, int *done)
{
    struct pending *p = *pending;
    int code = 0;

    (void)arg;
    *done = 0;
    for (int i = 0; i < p->count; i++)
        if (!REQUEST_COMPLETE(p->requests[i]))
            return 0;
    *done = 1;
    for (int i = 0; i < p->count; i++) {
        if (p->requests[i]->req_status.MPI_ERROR != MPI_SUCCESS)
            code = 1;
        ompi_request_free(&p->requests[i]);
    }
    free(p);
    *pending = NULL;
    return code;
}
