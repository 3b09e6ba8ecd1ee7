/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - a nonblocking collective as a generalized request of the MPI.
 *
 * MPIX_Grequest_start is MPICH's extension: MPI_Wait, MPI_Test and related functions call the poll
 * function of such a request until it is complete.  They do nothing else meanwhile, so the poll
 * function also progresses the MPI's messages.  If the MPI can call a function in every wait (MPICH
 * 5: MPIX_Async_start), this function makes progress as long as requests are in flight.  In other
 * MPIs of the family requests advance when requests of huddle are completed or tested, and when a
 * blocking collective of huddle waits.
 *
 * Adopted    With HUDDLE_NONBLOCKING=on in such an MPI, a nonblocking collective that is the MPI's
 *            own gets a generalized request, too: a wait for it advances huddle's requests, which
 *            other ranks may need before they come to this collective.
 * Persistent collectives are the MPI's own: MPI_Start refuses generalized requests.  Wrapping
 * MPI_Start would require wrappers of all functions that complete requests, for every message of
 * every program.
 */
#define _GNU_SOURCE
#include "base/process_atomics.h"
#include "host/object.h"
#include "host/pmpi/nonblocking.h"
#include "host/status.h"

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
/* Head of the list of requests in flight. */
static struct request in_flight = { .next = &in_flight, .before = &in_flight };
static atomic_int in_flight_count;
static atomic_int incomplete; /* requests in flight whose completion the MPI does not know */
static bool polled;           /* the MPI calls poll_context() */

bool hud_requests_find(const struct object *mpi)
{
    void *start = hud_object_address(mpi, "PMPIX_Grequest_start"),
         *async = hud_object_address(mpi, "PMPIX_Async_start");

    memcpy(&grequest_start, &start, sizeof start);
    memcpy(&async_start, &async, sizeof async);
    return start != NULL;
}

bool hud_requests_polled(bool threads)
{
    return async_start != NULL && !threads;
}

/* ---- end of a request ------------------------------------------------------------------------ */

/*
 * Removes a request from the list and gives the request back.  A communicator freed by the user is
 * released with its last request.  With MPI_THREAD_MULTIPLE the release happens when the request is
 * taken from the pool again, or in MPI_Finalize, as for the types and the operation of each request
 * (pool.c).  Until then the program's functions for deleting attributes are not called.
 */
static void retire(struct request *r)
{
    local_lock(&lock, hud_job_threaded);
    local_count_by(&in_flight_count, -1);
    r->next->before = r->before;
    r->before->next = r->next;
    if (r->comm && local_count_by(&r->comm->in_flight, -1) == 0) {
        r->holder = r->comm->holder;
        r->comm->holder = MPI_REQUEST_NULL;
    }
    local_unlock(&lock, hud_job_threaded);
    hud_pool_give(r);
}

/*
 * Keeps a freed communicator by a request of the MPI on this communicator.  Another thread may
 * complete the last request of huddle meanwhile.
 */
void hud_requests_hold(struct comm *comm, MPI_Comm handle)
{
    MPI_Request made;

    if (local_count(&comm->in_flight) == 0 || comm->holder != MPI_REQUEST_NULL)
        return;
    if (real.Recv_init(NULL, 0, MPI_BYTE, comm->rank, 0, handle, &made) != MPI_SUCCESS) {
        hud_requests_drain(comm);
        return;
    }
    local_lock(&lock, hud_job_threaded);
    bool needed = local_count(&comm->in_flight) > 0 && comm->holder == MPI_REQUEST_NULL;
    if (needed)
        comm->holder = made;
    local_unlock(&lock, hud_job_threaded);
    if (!needed)
        real.Request_free(&made);
}

static void store_result(struct request *r, int status)
{
    status = hud_call_settle(&r->call, status);
    if (status != HUD_PASS)
        r->code = status_code(status, MPI_ERR_OTHER);
    r->state = status == HUD_PASS && r->code == MPI_SUCCESS ? WITH_MPI : ENDED;
}

static void begin_inner(void *arg)
{
    struct request *r = arg;

    r->code = r->start_inner(r);
    r->reported = r->code != MPI_SUCCESS; /* the MPI has reported the error */
}

/* Advances a request.  If it is the MPI's, requests of huddle advance, too, because other ranks may
 * wait for them. */
static void test_request(struct request *r)
{
    MPI_Status status;
    int done = 0;

    if (r->state == WITH_MPI)
        (void)hud_progress(hud_job_context());
    if (r->state == WITH_HUDDLE) {
        int result = hud_request_test(r->request, &done);
        if (done)
            store_result(r, result);
    }
    if (r->state == WITH_MPI) {
        int code = real.Test(&r->inner, &done, &status);
        r->code = code;
        r->state = done || code != MPI_SUCCESS ? ENDED : WITH_MPI;
    }
}

/* Claims a request for polling; called under the lock.  Returns true for a single thread at a
 * time.  Until this thread has polled the request, the request is not complete, and is not
 * freed. */
static bool claim(struct request *r)
{
    bool mine = !r->complete && !r->polled;

    r->polled = r->polled || mine;
    return mine;
}

/* Polls a request; called by the thread with the claim. */
static void poll_claimed(struct request *r)
{
    static _Thread_local unsigned polls;

    test_request(r);
    bool ended = r->state == ENDED, ours = r->state == WITH_HUDDLE;
    MPI_Request handle = r->handle;
    local_lock(&lock, hud_job_threaded);
    r->complete = ended;
    r->polled = false;
    local_count_by(&incomplete, -(int)ended);
    local_unlock(&lock, hud_job_threaded);
    if (ended)
        real.Grequest_complete(handle);
    else if (ours && polls++ % MESSAGES_EVERY == 0)
        hud_job_progress(NULL);
}

static int poll_one(void *state, MPI_Status *status)
{
    struct request *r = state;

    (void)status;
    local_lock(&lock, hud_job_threaded);
    bool mine = claim(r);
    local_unlock(&lock, hud_job_threaded);
    if (mine)
        poll_claimed(r);
    return MPI_SUCCESS;
}

bool hud_requests_in_flight(void)
{
    return local_count(&in_flight_count) > 0;
}

/* Polls the request of a handle.  A request that is being started has no handle yet. */
bool hud_request_poll(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return false;
    local_lock(&lock, hud_job_threaded);
    struct request *r = in_flight.next;
    while (r != &in_flight && r->handle != handle)
        r = r->next;
    bool found = r != &in_flight, mine = found && claim(r);
    local_unlock(&lock, hud_job_threaded);
    if (mine)
        poll_claimed(r);
    return found;
}

static struct request *first_incomplete(const struct comm *comm)
{
    struct request *r = in_flight.next;

    while (r != &in_flight && (r->comm != comm || r->complete))
        r = r->next;
    return r != &in_flight ? r : NULL;
}

/* Detaches the requests of a communicator, and frees their requests of huddle. */
static void leave(const struct comm *comm)
{
    hud_request *left = NULL;
    struct request *r = in_flight.next;

    do {
        local_lock(&lock, hud_job_threaded);
        for (r = in_flight.next; r != &in_flight && r->comm != comm;)
            r = r->next;
        if (r != &in_flight) {
            local_count_by(&r->comm->in_flight, -1);
            left = r->request;
            r->request = NULL;
            r->comm = NULL;
        }
        local_unlock(&lock, hud_job_threaded);
        hud_request_free(left);
        left = NULL;
    } while (r != &in_flight);
}

void hud_requests_drain(struct comm *comm)
{
    for (;;) {
        local_lock(&lock, hud_job_threaded);
        struct request *r = first_incomplete(comm);
        bool mine = r && claim(r);
        local_unlock(&lock, hud_job_threaded);
        if (!r)
            break;
        if (mine)
            poll_claimed(r);
        else
            hud_job_progress(NULL); /* another thread is polling it */
    }
    leave(comm);
}

static int poll_all(int count, void **states, double seconds, MPI_Status *status)
{
    (void)seconds;
    for (int i = 0; i < count; i++)
        poll_one(states[i], status);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    retire(state);
    return MPI_SUCCESS;
}

/* ---- progress in waits of the MPI ------------------------------------------------------------ */

/* Completes requests that are over, even if the program has freed them and never tests them again.
 * Requests carried out by the MPI are tested less often, because a test is a call of the MPI. */
static void poll_in_flight(void)
{
    enum { THEIRS_EVERY = 64 };
    static unsigned rounds;
    bool theirs = rounds++ % THEIRS_EVERY == 0;
    struct request *next;

    for (struct request *r = in_flight.next; r != &in_flight; r = next) {
        next = r->next; /* r may be freed */
        if ((r->state == WITH_HUDDLE || theirs) && claim(r))
            poll_claimed(r);
    }
}

/* Makes progress in a wait of the MPI.  Not used with MPI_THREAD_MULTIPLE, where the MPI calls it
 * with a lock held, which calls of the MPI by huddle may take again. */
static int poll_context(void *thing)
{
    static bool inside; /* a test of the MPI's own request may call this function again */

    (void)thing;
    if (inside || hud_progress(hud_job_context()) > 0)
        return ASYNC_NOPROGRESS;
    inside = true;
    if (local_count(&incomplete) > 0)
        poll_in_flight();
    inside = false;
    if (local_count(&incomplete) > 0)
        return ASYNC_NOPROGRESS;
    polled = false;
    return ASYNC_DONE;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void enter_in_flight(struct request *r)
{
    local_lock(&lock, hud_job_threaded);
    local_count_by(&in_flight_count, 1);
    local_count_by(&incomplete, 1);
    r->before = &in_flight;
    r->next = in_flight.next;
    r->next->before = in_flight.next = r;
    local_count_by(&r->comm->in_flight, 1);
    bool first = hud_requests_polled(hud_job_threaded) && !polled;
    polled = polled || first;
    local_unlock(&lock, hud_job_threaded);
    if (first)
        async_start(poll_context, NULL, STREAM_NULL);
}

static void give_handle(struct request *r, MPI_Request *request)
{
    enter_in_flight(r);
    if (grequest_start(hud_request_query, release, hud_request_cancel, poll_one, poll_all, r,
                       &r->handle) != MPI_SUCCESS) {
        fprintf(stderr, "huddle: no memory left for a request; aborting\n");
        real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    *request = r->handle;
    poll_one(r, MPI_STATUS_IGNORE);
}

int hud_request_issue(struct request *r, const struct hud_args *args, MPI_Request *request)
{
    const struct hud_passed passed = { begin_inner, r };
    int status = hud_request_create(r->comm->team, args, &passed, &r->request);

    if (status == HUD_OK)
        status = hud_request_start(r->request);
    if (status == HUD_OK)
        give_handle(r, request);
    return status;
}

void hud_request_adopt(struct comm *comm, MPI_Request *request)
{
    struct request *r = *request != MPI_REQUEST_NULL ? hud_pool_take(comm) : NULL;

    if (!r) /* no memory: the request stays the MPI's */
        return;
    r->inner = *request;
    r->state = WITH_MPI;
    give_handle(r, request);
}
