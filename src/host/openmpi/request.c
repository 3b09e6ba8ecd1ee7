/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - the life of a request: taken from a pool, launched, completed by Open MPI's progress
 * (progress.c), freed by the user's MPI_Wait or MPI_Request_free.
 *
 * Fallback    If huddle does not carry out a request, begin_inner starts Open MPI's own.  All ranks
 *             do so in the order of the team's calls, because Open MPI numbers them.  A persistent
 *             request has no such order (persistent.c).
 */
#include "request.h"
#include "callers.h"

#include "base/process_atomics.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next line */
static struct request *pool;
static bool threads;      /* MPI_THREAD_MULTIPLE */
static size_t base_bytes; /* size of Open MPI's class of such requests */

/* ---- the object ------------------------------------------------------------------------------ */

static int request_free(ompi_request_t **request);

static int request_cancel(ompi_request_t *request, int complete)
{
    (void)request, (void)complete;
    return MPI_ERR_REQUEST; /* a collective cannot be cancelled */
}

static void construct(struct request *r)
{
    size_t own = offsetof(struct request, module);

    memset((char *)r + own, 0, sizeof *r - own);
}

static void destruct(struct request *r)
{
    hud_per_rank_free(&r->room);
    saved_arrays_free(&r->arrays);
    scratch_array_free(&r->convertors[0]);
    scratch_array_free(&r->convertors[1]);
}

typedef struct request hud_openmpi_request;
static OBJ_CLASS_INSTANCE(hud_openmpi_request, ompi_coll_base_nbc_request_t, construct, destruct);

bool hud_requests_begin(bool with_threads)
{
    threads = with_threads;
    hud_progress_begin(threads);
    const ompi_request_t *empty = &ompi_request_empty;

    base_bytes = ompi_coll_base_nbc_request_t_class.cls_sizeof;
    return ompi_request_t_class.cls_sizeof == sizeof(ompi_request_t) &&
           base_bytes >= sizeof(ompi_request_t) && base_bytes <= offsetof(struct request, module) &&
           empty->req_type == OMPI_REQUEST_NULL && empty->req_complete == REQUEST_COMPLETED &&
           empty->req_state == OMPI_REQUEST_ACTIVE && !empty->req_persistent &&
           empty->req_mpi_object.comm == &ompi_mpi_comm_world.comm;
}

struct request *hud_request_take(hud_module *m, bool persistent)
{
    local_lock(&lock, threads);
    struct request *r = pool;
    if (r != NULL)
        pool = r->next;
    local_unlock(&lock, threads);
    if (r == NULL)
        r = OBJ_NEW(hud_openmpi_request);
    if (r == NULL)
        return NULL;
    ompi_request_t *q = &r->super.super;
    OMPI_REQUEST_INIT(q, persistent);
    q->req_type = OMPI_REQUEST_COLL;
    q->req_status = ompi_status_empty;
    q->req_start = hud_persistent_start;
    q->req_free = request_free;
    q->req_cancel = request_cancel;
    q->req_mpi_object.comm = m->comm;
    r->arrays.count = 0;
    r->module = m;
    OBJ_RETAIN(m->comm);
    return r;
}

void hud_request_give(struct request *r)
{
    COMM *comm = r->module->comm;

    if (r->shape & SHAPE_OP)
        hud_reduction_close(&r->call.own);
    hud_request_free(r->request);
    hud_team_free(r->team);
    for (int i = 0; i < r->kept_count; i++)
        OBJ_RELEASE(r->kept[i]);
    free(r->kept);
    OMPI_REQUEST_FINI(&r->super.super);
    /* Open MPI's data about the call is behind its own part of the request */
    memset(&r->super.super + 1, 0, base_bytes - sizeof(ompi_request_t));
    /* the next call writes the rest; clearing all of it would take as long as a call */
    memset(&r->request, 0, offsetof(struct request, call) - offsetof(struct request, request));
    r->call.in.convertor = r->call.out.convertor = NULL;
    r->kept = NULL;
    r->kept_count = 0;
    local_lock(&lock, threads);
    r->next = pool;
    pool = r;
    local_unlock(&lock, threads);
    OBJ_RELEASE(comm);
}

/* Frees a request.  MPI_Wait and MPI_Test free complete requests; the user may free only a
 * persistent request.  Open MPI also frees persistent requests that end with an error; in MPI they
 * become inactive instead. */
static int request_free(ompi_request_t **request)
{
    struct request *r = (struct request *)*request;

    if (!REQUEST_COMPLETE(&r->super.super))
        return MPI_ERR_REQUEST;
    if (r->super.super.req_persistent &&
        !hud_callers_is_users(AT_REQUEST_FREE, __builtin_return_address(0)))
        return OMPI_SUCCESS;
    if (r->inner != NULL)
        ompi_request_free(&r->inner);
    hud_request_give(r);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Sets up the convertors of a buffer of the call, if the call has this buffer. */
static bool furnish_buffer(struct request *r, unsigned shape, struct buffer *buffer,
                           struct view_state *states, const struct hud_view *views, int count)
{
    struct scratch_array *own = &r->convertors[buffer == &r->call.out];

    for (int i = 0; r->shape & shape && i < count; i++) {
        if (views[i].host == NULL)
            continue;
        if (buffer->convertor == NULL) {
            if ((buffer->convertor = scratch_array_reserve(own, sizeof *buffer->convertor)) == NULL)
                return false;
            hud_convertor_open(buffer->convertor);
        }
        states[i].convertor = buffer->convertor;
    }
    return true;
}

bool hud_request_furnish(struct request *r)
{
    struct buffer *in = &r->call.in, *out = &r->call.out;
    const struct per_rank *room = &r->room;

    return furnish_buffer(r, SHAPE_IN, in, &in->state, &in->view, 1) &&
           furnish_buffer(r, SHAPE_OUT, out, &out->state, &out->view, 1) &&
           furnish_buffer(r, SHAPE_VECTORS_IN, in, room->in_states, room->in_views,
                          r->call.ranks) &&
           furnish_buffer(r, SHAPE_VECTORS_OUT, out, room->out_states, room->out_views,
                          r->call.ranks);
}

bool hud_request_keep(struct request *r, const void *object)
{
    opal_object_t **more = realloc(r->kept, ((size_t)r->kept_count + 1) * sizeof *more);

    if (more == NULL)
        return false;
    r->kept = more;
    r->kept[r->kept_count] = (opal_object_t *)(uintptr_t)object;
    OBJ_RETAIN(r->kept[r->kept_count]); /* OBJ_RETAIN evaluates its argument more than once in debug
                                           builds */
    r->kept_count++;
    return true;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void set_status(struct request *r, int code)
{
    if (code != MPI_SUCCESS)
        r->super.super.req_type = COMPAT_REQUEST_FAILED;
    r->super.super.req_status.MPI_ERROR = code;
}

/* Starts Open MPI's own collective. */
static void begin_inner(void *arg)
{
    struct request *r = arg;

    set_status(r, r->start_inner(r, &r->inner));
}

int hud_request_make(struct request *r, const struct hud_args *args)
{
    const struct hud_passed passed_on = { begin_inner, r };

    r->early = args->collective == HUD_PLACE_EARLY;
    return hud_request_create(r->module->team, args, &passed_on, &r->request);
}

void hud_request_store_result(struct request *r, int status)
{
    unsigned data = r->shape & ~(unsigned)SHAPE_OP; /* the operation may be used by further
                                                       starts */

    if (r->team != NULL)
        status = hud_persistent_judge(r, status);
    if (status != HUD_PASS)
        set_status(r, hud_call_answer(r->module->comm, hud_call_close(&r->call, data, status)));
    bool begun = status == HUD_PASS && r->super.super.req_status.MPI_ERROR == MPI_SUCCESS;
    r->state = begun ? WITH_MPI : ENDED;
}

int hud_request_launch(struct request *r, ompi_request_t **request)
{
    int done = 0, status = hud_request_start(r->request);

    if (status != HUD_OK)
        return status;
    r->super.super.req_state = OMPI_REQUEST_ACTIVE;
    status = hud_request_test(r->request, &done);
    if (done)
        hud_request_store_result(r, status);
    /* Closing the call may have failed: MPI_Wait must report this. */
    if (done && status == HUD_OK && r->super.super.req_status.MPI_ERROR == MPI_SUCCESS) {
        hud_request_give(r);
        *request = &ompi_request_empty;
    } else {
        *request = &r->super.super;
        hud_request_hand_over(r);
    }
    return HUD_OK;
}

/* ---- finalization ---------------------------------------------------------------------------- */

void hud_requests_end(void)
{
    hud_progress_end();
    for (struct request *r; (r = pool) != NULL;) {
        pool = r->next;
        OBJ_RELEASE(r);
    }
}
