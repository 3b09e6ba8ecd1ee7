/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - a nonblocking collective as a generalized request of the MPI.
 *
 * MPIX_Grequest_start is MPICH's extension: MPI_Wait, MPI_Test and their kin call the poll function
 * of such a request until it is complete.  They do nothing else meanwhile, so the poll function
 * also moves the MPI's messages.  Where the MPI can be given a function that it calls in every wait
 * (MPICH 5: MPIX_Async_start), that makes progress as long as requests are in flight.  In other
 * MPIs of the family requests advance when requests of huddle are completed or tested, and when a
 * blocking collective of huddle waits.
 *
 * Errors     A generalized request knows no communicator.  So the communicator's error handler is
 *            called here.  The error is in the status; MPI_Wait returns it where MPI_COMM_WORLD's
 *            errors return, as the MPI would otherwise end the job.
 * Persistent collectives are the MPI's own: MPI_Start refuses generalized requests.  Wrappers of it
 * would need wrappers of all functions that complete requests, for every message of every program.
 */
#include "host/pmpi/nonblocking.h"
#include "host/status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int poll_function(void *state, MPI_Status *status);
typedef int wait_function(int count, void **states, double seconds, MPI_Status *status);
typedef int start_function(MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
                           MPI_Grequest_cancel_function *cancel, poll_function *poll,
                           wait_function *wait, void *state, MPI_Request *request);
typedef int async_poll_function(void *thing);
typedef int async_start_function(async_poll_function *poll, void *state, int stream);

enum { ASYNC_NOPROGRESS = 0, ASYNC_DONE = 1, STREAM_NULL = 0x3c000000, MESSAGES_EVERY = 4 };

static start_function *grequest_start;
static async_start_function *async_start;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest, and comm.in_flight */
static struct request *pool;
static struct request flying = { .next = &flying, .before = &flying }; /* in flight */
static int in_flight;
static bool polled; /* the MPI has our function */

bool hud_requests_find(void *mpi)
{
    void *start = dlsym(mpi, "PMPIX_Grequest_start"), *async = dlsym(mpi, "PMPIX_Async_start");

    memcpy(&grequest_start, &start, sizeof start);
    memcpy(&async_start, &async, sizeof async);
    return start != NULL;
}

bool hud_requests_exist(void)
{
    return grequest_start != NULL;
}

/* ---- what it keeps --------------------------------------------------------------------------- */

static bool is_predefined(MPI_Datatype type)
{
    return (unsigned)type >> 30 == 1;
}

/* A type that is made of another one keeps it alive, under its own handle. */
bool hud_request_hold_type(struct request *r, MPI_Datatype type)
{
    if (is_predefined(type) || !handle_is_type(type))
        return true;
    MPI_Datatype *more = realloc(r->held, ((size_t)r->held_count + 1) * sizeof *more);
    if (!more)
        return false;
    r->held = more;
    if (real.Type_dup(type, &r->held[r->held_count]) == MPI_SUCCESS)
        r->held_count++;
    return true;
}

const MPI_Datatype *hud_request_hold_types(struct request *r, const MPI_Datatype *types)
{
    size_t bytes = (size_t)r->comm->size * sizeof *types;
    MPI_Datatype *copy = types ? malloc(bytes) : NULL;

    if (!copy)
        return NULL;
    r->types[r->types[0] != NULL] = memcpy(copy, types, bytes);
    for (int i = 0; i < r->comm->size; i++)
        hud_request_hold_type(r, types[i]);
    return copy;
}

struct request *hud_request_take(struct comm *comm)
{
    pthread_mutex_lock(&lock);
    struct request *r = pool;
    if (r)
        pool = r->next;
    pthread_mutex_unlock(&lock);
    if (!r && !(r = malloc(sizeof *r)))
        return NULL;
    call_begin(&r->call, comm, true);
    r->call.args = (struct hud_args){ .collective = HUD_PLACE };
    r->comm = comm;
    r->request = NULL;
    r->handle = r->inner = MPI_REQUEST_NULL;
    r->state = WITH_HUDDLE;
    r->complete = false;
    r->code = MPI_SUCCESS;
    r->op = MPI_OP_NULL;
    r->held = NULL;
    r->held_count = 0;
    r->types[0] = r->types[1] = NULL;
    return r;
}

void hud_request_give(struct request *r)
{
    hud_request_free(r->request);
    if (r->call.opened & OPENED_OP)
        hud_op_close(&r->call.local);
    free(r->call.scratch);
    for (int i = 0; i < r->held_count; i++)
        real.Type_free(&r->held[i]);
    free(r->held);
    free(r->types[0]);
    free(r->types[1]);
    if (r->op != MPI_OP_NULL)
        hud_op_drop(r->op);
    pthread_mutex_lock(&lock);
    r->next = pool;
    pool = r;
    pthread_mutex_unlock(&lock);
}

/* ---- its life -------------------------------------------------------------------------------- */

/* The communicator that the user has freed ends with its last request. */
static void land(struct request *r)
{
    MPI_Request holder = MPI_REQUEST_NULL;

    pthread_mutex_lock(&lock);
    in_flight--;
    r->next->before = r->before;
    r->before->next = r->next;
    if (--r->comm->in_flight == 0) {
        holder = r->comm->holder;
        r->comm->holder = MPI_REQUEST_NULL;
    }
    pthread_mutex_unlock(&lock);
    hud_request_give(r);
    if (holder != MPI_REQUEST_NULL)
        real.Request_free(&holder);
}

static void absorb(struct request *r, int status)
{
    if (status != HUD_PASS) {
        hud_call_settle(&r->call);
        r->code = status_code(status, MPI_ERR_OTHER);
    }
    r->state = status == HUD_PASS && r->code == MPI_SUCCESS ? WITH_MPI : ENDED;
}

static void begin_inner(void *arg)
{
    struct request *r = arg;

    r->code = r->below(r);
}

static void look(struct request *r)
{
    MPI_Status status;
    int done = 0;

    if (r->state == WITH_HUDDLE) {
        int result = hud_request_test(r->request, &done);
        if (done)
            absorb(r, result);
    }
    if (r->state == WITH_MPI) {
        int code = real.Test(&r->inner, &done, &status);
        r->code = code;
        r->state = done || code != MPI_SUCCESS ? ENDED : WITH_MPI;
    }
}

static int poll_one(void *state, MPI_Status *status)
{
    static _Thread_local unsigned polls;
    struct request *r = state;

    (void)status;
    if (r->complete)
        return MPI_SUCCESS;
    look(r);
    if (r->state == ENDED) {
        r->complete = true;
        real.Grequest_complete(r->handle);
    } else if (r->state == WITH_HUDDLE && polls++ % MESSAGES_EVERY == 0) {
        hud_life_progress();
    }
    return MPI_SUCCESS;
}

bool hud_requests_fly(void)
{
    return in_flight > 0;
}

bool hud_request_poll(MPI_Request handle)
{
    pthread_mutex_lock(&lock);
    struct request *r = flying.next;
    while (r != &flying && r->handle != handle)
        r = r->next;
    pthread_mutex_unlock(&lock);
    if (r != &flying)
        poll_one(r, MPI_STATUS_IGNORE);
    return r != &flying;
}

static int poll_all(int count, void **states, double seconds, MPI_Status *status)
{
    (void)seconds;
    for (int i = 0; i < count; i++)
        poll_one(states[i], status);
    return MPI_SUCCESS;
}

static bool errors_return(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    if (real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
    bool returns = handler == MPI_ERRORS_RETURN;
    real.Errhandler_free(&handler);
    return returns;
}

static int query(void *state, MPI_Status *status)
{
    const struct request *r = state;

    real.Status_set_elements(status, MPI_BYTE, 0);
    real.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    if (r->code == MPI_SUCCESS)
        return MPI_SUCCESS;
    status->MPI_ERROR = r->code;
    if (r->inner == MPI_REQUEST_NULL && r->request)
        real.Comm_call_errhandler(r->comm->handle, r->code);
    return errors_return(MPI_COMM_WORLD) ? r->code : MPI_SUCCESS;
}

static int release(void *state)
{
    land(state);
    return MPI_SUCCESS;
}

/* A collective cannot be cancelled. */
static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_ERR_REQUEST;
}

/* ---- progress of others ---------------------------------------------------------------------- */

/* In a wait of the MPI's.  Not with MPI_THREAD_MULTIPLE: it holds a lock of the MPI's there, which
 * calls of the MPI's that huddle may make want again. */
static int poll_context(void *thing)
{
    (void)thing;
    if (hud_progress(hud_life_context()) > 0)
        return ASYNC_NOPROGRESS;
    pthread_mutex_lock(&lock);
    bool over = in_flight == 0;
    if (over)
        polled = false;
    pthread_mutex_unlock(&lock);
    return over ? ASYNC_DONE : ASYNC_NOPROGRESS;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void take_off(struct request *r)
{
    pthread_mutex_lock(&lock);
    in_flight++;
    r->before = &flying;
    r->next = flying.next;
    r->next->before = flying.next = r;
    r->comm->in_flight++;
    bool first = async_start && !polled && !hud_life_threaded;
    polled = polled || first;
    pthread_mutex_unlock(&lock);
    if (first)
        async_start(poll_context, NULL, STREAM_NULL);
}

int hud_request_launch(struct request *r, bool handled, MPI_Request *request)
{
    static const struct hud_args place = { .collective = HUD_PLACE };
    const struct hud_passed passed = { begin_inner, r };
    int status =
        hud_request_create(r->comm->team, handled ? &r->call.args : &place, &passed, &r->request);

    if (status == HUD_OK)
        status = hud_request_start(r->request);
    if (status != HUD_OK)
        return status;
    take_off(r);
    if (grequest_start(query, release, cancel, poll_one, poll_all, r, &r->handle) != MPI_SUCCESS) {
        fprintf(stderr, "huddle: no memory left for a request; aborting\n");
        real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    *request = r->handle;
    poll_one(r, MPI_STATUS_IGNORE);
    return HUD_OK;
}
