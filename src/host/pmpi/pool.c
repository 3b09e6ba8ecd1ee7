/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.c - unused requests, and the objects of the MPI that a request keeps until it is given back:
 * types, an operation, an info, a communicator that the program has freed.
 */
#include "base/process_atomics.h"
#include "host/pmpi/nonblocking.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *pool;

static bool is_predefined(MPI_Datatype type)
{
    return (unsigned)type >> 30 == 1;
}

/* Keeps a type alive by making another type from this type.  Not a duplicate, because MPI_Type_dup
 * calls the program's functions for copying attributes.  The new type is never used for data, so it
 * is not committed. */
bool hud_request_hold_type(struct request *r, MPI_Datatype type)
{
    if (is_predefined(type) || !handle_is_type(type))
        return true;
    if (r->held_count == r->held_room) {
        int room = r->held_room > 0 ? 2 * r->held_room : 2;
        MPI_Datatype *more = realloc(r->held, (size_t)room * sizeof *more);
        if (!more)
            return false;
        r->held = more;
        r->held_room = room;
    }
    int class, code = real.Type_contiguous(1, type, &r->held[r->held_count]);
    if (code == MPI_SUCCESS)
        r->held_count++;
    else
        real.Error_class(code, &class);
    return code == MPI_SUCCESS || class == MPI_ERR_TYPE; /* the call itself reports MPI_ERR_TYPE */
}

bool hud_request_hold_types(struct request *r, const MPI_Datatype *types, int count)
{
    bool held = true;

    for (int i = 0; types && i < count; i++)
        held = held && hud_request_hold_type(r, types[i]);
    return held;
}

/*
 * Releases the objects of the MPI that a request kept.  With threads, called when the request is
 * reused, not at its end: a request ends in a function of this front end called by MPICH 4 with a
 * lock held, which MPI_Type_free would take once more.
 */
static void let_go(struct request *r)
{
    for (int i = 0; i < r->held_count; i++)
        real.Type_free(&r->held[i]);
    r->held_count = 0;
    if (r->op != MPI_OP_NULL)
        hud_op_drop(r->op);
    r->op = MPI_OP_NULL;
    if (r->info != MPI_INFO_NULL)
        real.Info_free(&r->info);
    if (r->holder != MPI_REQUEST_NULL)
        real.Request_free(&r->holder);
}

struct request *hud_pool_take(struct comm *comm)
{
    local_lock(&lock, hud_job_threaded);
    struct request *r = pool;
    if (r)
        pool = r->next;
    local_unlock(&lock, hud_job_threaded);
    if (r && hud_job_threaded)
        let_go(r);
    if (!r && !(r = calloc(1, sizeof *r)))
        return NULL;
    call_begin(&r->call, comm, &r->scratch);
    r->call.args = (struct hud_args){ .collective = HUD_PLACE };
    r->comm = comm;
    r->request = NULL;
    r->handle = r->inner = MPI_REQUEST_NULL;
    r->state = WITH_HUDDLE;
    r->complete = r->polled = r->reported = false;
    r->holder = MPI_REQUEST_NULL;
    r->code = MPI_SUCCESS;
    r->op = MPI_OP_NULL;
    r->info = MPI_INFO_NULL;
    r->arrays.count = 0;
    return r;
}

void hud_pool_give(struct request *r)
{
    hud_request_free(r->request);
    if (r->call.opened & OPENED_OP)
        hud_op_close(&r->call.local);
    if (!hud_job_threaded)
        let_go(r);
    local_lock(&lock, hud_job_threaded);
    r->next = pool;
    pool = r;
    local_unlock(&lock, hud_job_threaded);
}

void hud_requests_finish(void)
{
    for (struct request *r; (r = pool) != NULL;) {
        pool = r->next;
        if (hud_job_threaded)
            let_go(r);
        free(r->held);
        scratch_array_free(&r->scratch);
        saved_arrays_free(&r->arrays);
        free(r);
    }
}
