/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callers_probe.c - calls a function of MPI to find where it calls a module.
 *
 * The communicator of the call is a copy of MPI_COMM_SELF whose table has the functions of this
 * file, so no module takes part.  It has two ranks, because some functions do nothing for one rank.
 * The arguments are valid, and the call is complete at once.  If the function reports an error
 * instead, the error is returned.
 */
#include "callers.h"
#include "module.h"

#include "host/saved.h"

#include "ompi/errhandler/errhandler.h"
#include "ompi/request/request.h"

static const void *met; /* the return address of the call of a function of this file */

/* ---- the functions of the table ---- */

#define IGNORE(kind) (void)kind;
#define PLAIN(Name, name, ...)                                                                     \
    static int meet_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request, MODULE *module)      \
    {                                                                                              \
        JOIN(IGNORE, __VA_ARGS__)                                                                  \
        (void)module;                                                                              \
        met = __builtin_return_address(0);                                                         \
        *request = &ompi_request_empty;                                                            \
        return OMPI_SUCCESS;                                                                       \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

static mca_coll_base_comm_coll_t table = {
#define PLAIN(Name, name, ...) .coll_i##name = meet_##name,
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
};

static int meet_free(ompi_request_t **request)
{
    met = __builtin_return_address(0);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* ---- the calls ---- */

static ompi_predefined_communicator_t own;
static ompi_group_t ranks = { .grp_proc_count = 2 };
static int sent[2], received[2];
static const int ones[2] = { 1, 1 }, places[2] = { 0, 1 };
static TYPE *const types[2] = { &ompi_mpi_int.dt, &ompi_mpi_int.dt };

/* The arguments, one of each kind. */
static const struct {
    JOIN(FIELD, buffer, in, out, count, ins, outs)
    JOIN(FIELD, counts, in_counts, out_counts, in_places, out_places)
    JOIN(FIELD, type, in_type, out_type, in_types, out_types, op, root, comm)
} any = {
    .buffer = received,
    .in = sent,
    .out = received,
    .count = 1,
    .ins = 1,
    .outs = 1,
    .counts = ones,
    .in_counts = ones,
    .out_counts = ones,
    .in_places = places,
    .out_places = places,
    .type = &ompi_mpi_int.dt,
    .in_type = &ompi_mpi_int.dt,
    .out_type = &ompi_mpi_int.dt,
    .in_types = types,
    .out_types = types,
    .op = &ompi_mpi_op_sum.op,
    .root = 0,
    .comm = &own.comm,
};
#define ANY(kind) any.kind

#define PLAIN(Name, name, ...)                                                                     \
    static void call_##name(void (*function)(void))                                                \
    {                                                                                              \
        ompi_request_t *request = MPI_REQUEST_NULL;                                                \
        ((__typeof__(&PMPI_I##name))function)(MAP(ANY, __VA_ARGS__), &request);                    \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

static void call_free(void (*function)(void))
{
    ompi_request_t request = ompi_request_empty, *given = &request;

    request.req_free = meet_free;
    ((__typeof__(&PMPI_Request_free))function)(&given);
}

const void *hud_callers_probe(int at, void (*function)(void))
{
    static void (*const calls[FUNCTIONS])(void (*)(void)) = {
#define PLAIN(Name, name, ...) [AT_##name] = call_##name,
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
        [AT_REQUEST_FREE] = call_free,
    };

    own = ompi_mpi_comm_self;
    own.comm.c_coll = &table;
    own.comm.c_local_group = own.comm.c_remote_group = &ranks;
    own.comm.error_handler = &ompi_mpi_errors_return.eh;
    met = NULL;
    calls[at](function);
    return met;
}
