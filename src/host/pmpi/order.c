/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - wrappers of MPI functions that must respect nonblocking collectives in flight.
 *
 * Order      Functions that take a number in the MPI's order of nonblocking calls, and may wait for
 *            all ranks, first wait until the earlier requests are over, or have been passed on to
 *            the MPI: creation of communicators and windows, the initialisation of persistent
 *            collectives.  Blocking collectives of neighbourhoods wait only with Intel MPI, because
 *            a rank without neighbours need not come.  Functions that must not wait have a request
 *            of huddle (nonblocking.c).
 * Freeing    A program may free a communicator or an operation as soon as a call has begun.  The
 *            operation is then freed with the last request that uses it.  A freed communicator is
 *            kept by a request of the MPI that is never started.
 */
#include "host/pmpi/nonblocking.h"

#include <pthread.h>
#include <stdlib.h>

void hud_order_flush(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm && comm->team && local_count(&comm->in_flight) > 0)
        hud_team_flush(comm->team);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The functions pass their arguments on, of any type.  Their result is an int. */
#define FLUSHED_IF(condition, Name, ...)                                                           \
    static uintptr_t wrap_##Name(MAP(WORD, __VA_ARGS__))                                           \
    {                                                                                              \
        if (condition)                                                                             \
            hud_order_flush((MPI_Comm)comm);                                                       \
        return PASS_ON(real.Name, __VA_ARGS__);                                                    \
    }
#define ORDERED(Name, ...) FLUSHED_IF(true, Name, __VA_ARGS__)
#define PLAIN(Name, name, ...) ORDERED(Name##_init, __VA_ARGS__, info, request)
#define HANDLED(Name, name, ...)                                                                   \
    ORDERED(Name##_init, __VA_ARGS__, info, request)                                               \
    ORDERED(Name##_init_c, __VA_ARGS__, info, request)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...)                                                                 \
    FLUSHED_IF(hud_job_one_order, Neighbor_##name, __VA_ARGS__)                                    \
    FLUSHED_IF(hud_job_one_order, Neighbor_##name##_c, __VA_ARGS__)                                \
    HANDLED(Neighbor_##name, , __VA_ARGS__)
#include "host/signatures.def"

/* ---- status of a request --------------------------------------------------------------------- */

void hud_order_look(MPI_Request request)
{
    if (hud_requests_in_flight())
        hud_request_poll(request);
}

static int wrap_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    hud_order_look(request);
    return real.Request_get_status(request, flag, status);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void hold(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm && comm->team)
        hud_requests_hold(comm, handle);
}

static int wrap_Comm_free(MPI_Comm *comm)
{
    if (comm)
        hold(*comm);
    return real.Comm_free(comm);
}

/* Disconnects a communicator after waiting for its pending requests.  The communicator is not kept
 * instead, because MPICH 5 would free the request for this purpose. */
static int wrap_Comm_disconnect(MPI_Comm *handle)
{
    struct comm *comm = handle ? hud_comm_find(*handle) : NULL;

    if (comm && comm->team && local_count(&comm->in_flight) > 0)
        hud_requests_drain(comm);
    return real.Comm_disconnect(handle);
}

static void wrap_comm_free_f08(MPI_Comm *comm, MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_free(comm));
}

static void wrap_comm_disconnect_f08(MPI_Comm *comm, MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_disconnect(comm));
}

/* ---- operations ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held {
    struct held *next;
    MPI_Op op;
    int uses;
    bool freed;
} * held;

static struct held **find(MPI_Op op)
{
    struct held **at = &held;

    while (*at && (*at)->op != op)
        at = &(*at)->next;
    return at;
}

/* Keeps an operation.  Predefined operations are never freed.  Without memory for the record, the
 * program must not free the operation early. */
void hud_op_hold(MPI_Op op)
{
    if ((unsigned)op >> 30 == 1)
        return;
    pthread_mutex_lock(&lock);
    struct held **at = find(op);
    if (!*at && (*at = calloc(1, sizeof **at)) != NULL)
        (*at)->op = op;
    if (*at)
        (*at)->uses++;
    pthread_mutex_unlock(&lock);
}

void hud_op_drop(MPI_Op op)
{
    MPI_Op last = MPI_OP_NULL;

    if ((unsigned)op >> 30 == 1)
        return;
    pthread_mutex_lock(&lock);
    struct held **at = find(op), *one = *at;
    if (one && --one->uses == 0) {
        last = one->freed ? op : MPI_OP_NULL;
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(&lock);
    if (last != MPI_OP_NULL)
        real.Op_free(&last);
}

static int wrap_Op_free(MPI_Op *op)
{
    pthread_mutex_lock(&lock);
    struct held *one = op ? *find(*op) : NULL;
    if (one)
        one->freed = true;
    pthread_mutex_unlock(&lock);
    if (!one)
        return real.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static void wrap_op_free_f08(MPI_Op *op, MPI_Fint *error)
{
    answer_f08(error, wrap_Op_free(op));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define W(name) { "MPI_" #name, (void (*)(void))wrap_##name },
const struct hud_wrapper hud_order_wrappers[] = {
    W(Comm_free) W(Comm_disconnect) W(Op_free)
        W(Request_get_status){ "mpi_comm_free_f08_", (void (*)(void))wrap_comm_free_f08 },
    { "mpi_comm_disconnect_f08_", (void (*)(void))wrap_comm_disconnect_f08 },
    { "mpi_op_free_f08_", (void (*)(void))wrap_op_free_f08 },
#define ORDERED(Name, ...) W(Name)
#define PLAIN(Name, name, ...) W(Name##_init)
#define HANDLED(Name, name, ...) W(Name##_init) W(Name##_init_c)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...)                                                                 \
    W(Neighbor_##name)                                                                             \
    W(Neighbor_##name##_init)                                                                      \
    W(Neighbor_##name##_c) W(Neighbor_##name##_init_c)
#include "host/signatures.def"
    { NULL, NULL },
};
