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
 * Adopted    With HUDDLE_NONBLOCKING=on in such an MPI, a nonblocking collective that is the MPI's
 *            own gets a generalized request, too: a wait for it advances huddle's, on which other
 *            ranks may depend before they come to it.
 * Persistent collectives are the MPI's own: MPI_Start refuses generalized requests.  Wrappers of it
 * would need wrappers of all functions that complete requests, for every message of every program.
 */
#define _GNU_SOURCE
#include "core/local.h"
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
static struct request flying = { .next = &flying, .before = &flying }; /* in flight */
static atomic_int in_flight;
static atomic_int incomplete; /* of them, those of which the MPI was not told */
static bool polled;           /* the MPI has our function */

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

/* ---- its life -------------------------------------------------------------------------------- */

/*
 * The communicator that the user has freed is let go with its last request.  With
 * MPI_THREAD_MULTIPLE that is when the request is taken from the pool again, or in MPI_Finalize,
 * and so are the types and the operation of each (pool.c).  Until then the program's functions that
 * delete attributes are not called.
 */
static void land(struct request *r)
{
    local_lock(&lock, hud_life_threaded);
    local_count_by(&in_flight, -1);
    r->next->before = r->before;
    r->before->next = r->next;
    if (r->comm && local_count_by(&r->comm->in_flight, -1) == 0) {
        r->holder = r->comm->holder;
        r->comm->holder = MPI_REQUEST_NULL;
    }
    local_unlock(&lock, hud_life_threaded);
    hud_request_give(r);
}

/*
 * By a request of the MPI's own on it.  Another thread may complete the last of ours meanwhile.
 */
void hud_requests_hold(struct comm *comm, MPI_Comm handle)
{
    MPI_Request made;

    if (local_count(&comm->in_flight) == 0 || comm->holder != MPI_REQUEST_NULL)
        return;
    if (real.Recv_init(NULL, 0, MPI_BYTE, comm->rank, 0, handle, &made) != MPI_SUCCESS) {
        hud_requests_end(comm);
        return;
    }
    local_lock(&lock, hud_life_threaded);
    bool needed = local_count(&comm->in_flight) > 0 && comm->holder == MPI_REQUEST_NULL;
    if (needed)
        comm->holder = made;
    local_unlock(&lock, hud_life_threaded);
    if (!needed)
        real.Request_free(&made);
}

static void absorb(struct request *r, int status)
{
    status = hud_call_settle(&r->call, status);
    if (status != HUD_PASS)
        r->code = status_code(status, MPI_ERR_OTHER);
    r->state = status == HUD_PASS && r->code == MPI_SUCCESS ? WITH_MPI : ENDED;
}

static void begin_inner(void *arg)
{
    struct request *r = arg;

    r->code = r->below(r);
    r->reported = r->code != MPI_SUCCESS; /* by the MPI */
}

/* Where it is the MPI's, those of huddle advance, too: others may wait for what these start. */
static void look(struct request *r)
{
    MPI_Status status;
    int done = 0;

    if (r->state == WITH_MPI)
        (void)hud_progress(hud_life_context());
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

/* Under the lock.  True for one thread at a time, which then polls; until it has done so the
 * request is not complete, and nobody frees it. */
static bool claim(struct request *r)
{
    bool mine = !r->complete && !r->polled;

    r->polled = r->polled || mine;
    return mine;
}

/* By the thread that has claimed it. */
static void poll_claimed(struct request *r)
{
    static _Thread_local unsigned polls;

    look(r);
    bool ended = r->state == ENDED, ours = r->state == WITH_HUDDLE;
    MPI_Request handle = r->handle;
    local_lock(&lock, hud_life_threaded);
    r->complete = ended;
    r->polled = false;
    local_count_by(&incomplete, -(int)ended);
    local_unlock(&lock, hud_life_threaded);
    if (ended)
        real.Grequest_complete(handle);
    else if (ours && polls++ % MESSAGES_EVERY == 0)
        hud_life_progress();
}

static int poll_one(void *state, MPI_Status *status)
{
    struct request *r = state;

    (void)status;
    local_lock(&lock, hud_life_threaded);
    bool mine = claim(r);
    local_unlock(&lock, hud_life_threaded);
    if (mine)
        poll_claimed(r);
    return MPI_SUCCESS;
}

bool hud_requests_fly(void)
{
    return local_count(&in_flight) > 0;
}

/* (one that is being started has no handle yet) */
bool hud_request_poll(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return false;
    local_lock(&lock, hud_life_threaded);
    struct request *r = flying.next;
    while (r != &flying && r->handle != handle)
        r = r->next;
    bool found = r != &flying, mine = found && claim(r);
    local_unlock(&lock, hud_life_threaded);
    if (mine)
        poll_claimed(r);
    return found;
}

static struct request *first_incomplete(const struct comm *comm)
{
    struct request *r = flying.next;

    while (r != &flying && (r->comm != comm || r->complete))
        r = r->next;
    return r != &flying ? r : NULL;
}

/* From then on they have no part in it: what they keep of huddle's is freed. */
static void leave(const struct comm *comm)
{
    hud_request *left = NULL;
    struct request *r = flying.next;

    do {
        local_lock(&lock, hud_life_threaded);
        for (r = flying.next; r != &flying && r->comm != comm;)
            r = r->next;
        if (r != &flying) {
            local_count_by(&r->comm->in_flight, -1);
            left = r->request;
            r->request = NULL;
            r->comm = NULL;
        }
        local_unlock(&lock, hud_life_threaded);
        hud_request_free(left);
        left = NULL;
    } while (r != &flying);
}

void hud_requests_end(struct comm *comm)
{
    for (;;) {
        local_lock(&lock, hud_life_threaded);
        struct request *r = first_incomplete(comm);
        bool mine = r && claim(r);
        local_unlock(&lock, hud_life_threaded);
        if (!r)
            break;
        if (mine)
            poll_claimed(r);
        else
            hud_life_progress(); /* another thread polls it */
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
    land(state);
    return MPI_SUCCESS;
}

/* ---- progress of others ---------------------------------------------------------------------- */

/* Completes what is over, though the program may have freed it and asks for it no more.  Those that
 * the MPI carries out are looked at less often: a look is a call of the MPI's. */
static void poll_flying(void)
{
    enum { THEIRS_EVERY = 64 };
    static unsigned rounds;
    bool theirs = rounds++ % THEIRS_EVERY == 0;
    struct request *next;

    for (struct request *r = flying.next; r != &flying; r = next) {
        next = r->next; /* r may land */
        if ((r->state == WITH_HUDDLE || theirs) && claim(r))
            poll_claimed(r);
    }
}

/* In a wait of the MPI's.  Not with MPI_THREAD_MULTIPLE: it holds a lock of the MPI's there, which
 * calls of the MPI's that huddle may make want again. */
static int poll_context(void *thing)
{
    static bool inside; /* a look at the MPI's own may come here again */

    (void)thing;
    if (inside || hud_progress(hud_life_context()) > 0)
        return ASYNC_NOPROGRESS;
    inside = true;
    if (local_count(&incomplete) > 0)
        poll_flying();
    inside = false;
    if (local_count(&incomplete) > 0)
        return ASYNC_NOPROGRESS;
    polled = false;
    return ASYNC_DONE;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void take_off(struct request *r)
{
    local_lock(&lock, hud_life_threaded);
    local_count_by(&in_flight, 1);
    local_count_by(&incomplete, 1);
    r->before = &flying;
    r->next = flying.next;
    r->next->before = flying.next = r;
    local_count_by(&r->comm->in_flight, 1);
    bool first = hud_requests_polled(hud_life_threaded) && !polled;
    polled = polled || first;
    local_unlock(&lock, hud_life_threaded);
    if (first)
        async_start(poll_context, NULL, STREAM_NULL);
}

static void give_handle(struct request *r, MPI_Request *request)
{
    take_off(r);
    if (grequest_start(hud_request_query, release, hud_request_cancel, poll_one, poll_all, r,
                       &r->handle) != MPI_SUCCESS) {
        fprintf(stderr, "huddle: no memory left for a request; aborting\n");
        real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    *request = r->handle;
    poll_one(r, MPI_STATUS_IGNORE);
}

int hud_request_launch(struct request *r, const struct hud_args *args, MPI_Request *request)
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
    struct request *r = *request != MPI_REQUEST_NULL ? hud_request_take(comm) : NULL;

    if (!r) /* without memory it stays the MPI's */
        return;
    r->inner = *request;
    r->state = WITH_MPI;
    give_handle(r, request);
}
