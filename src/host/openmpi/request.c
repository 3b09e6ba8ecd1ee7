/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - the life of a request: taken from a pool, launched, completed by Open MPI's progress,
 * freed by the user's MPI_Wait or MPI_Request_free.
 *
 * Progress    A function that Open MPI calls in every wait and test, registered while something is
 *             in flight and a while longer: registering takes a lock.
 * Threads     One thread at a time makes progress, and it alone touches the lists; launched
 *             requests are handed over to it.  Nothing is completed with a lock held: to complete a
 *             request may end its communicator, and with it the module.
 * Fallback    Where huddle does not carry a request out, begin_inner starts Open MPI's own.  All
 *             ranks do so in the order of the team's calls, as Open MPI numbers them.
 */
#include "request.h"

#include "core/local.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_MAX = 1000, /* looks at nothing in flight, after which Open MPI no longer asks */
    LOOK_ANYWAY = 64
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next three */
static struct request *pool, *fresh; /* to be used; launched, not yet in a list */
static bool registered;

static atomic_flag busy = ATOMIC_FLAG_INIT; /* guards the rest, held by a thread in progress() */
static struct request *carried, *passed;    /* in flight: by huddle, by Open MPI itself */
static hud_context *context;
static int seen_in_flight, idle;
static unsigned looks;

static int progress(void);

/* ---- the object ------------------------------------------------------------------------------ */

static int request_free(ompi_request_t **request);
static int request_start(size_t count, ompi_request_t **requests);

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

typedef struct request hud_openmpi_request;
static OBJ_CLASS_INSTANCE(hud_openmpi_request, ompi_coll_base_nbc_request_t, construct, NULL);

bool hud_requests_fit(void)
{
    const ompi_request_t *empty = &ompi_request_empty;
    size_t bytes = ompi_coll_base_nbc_request_t_class.cls_sizeof;

    return ompi_request_t_class.cls_sizeof == sizeof(ompi_request_t) &&
           bytes >= sizeof(ompi_request_t) && bytes <= offsetof(struct request, module) &&
           empty->req_type == OMPI_REQUEST_NULL && empty->req_complete == REQUEST_COMPLETED &&
           empty->req_state == OMPI_REQUEST_ACTIVE && !empty->req_persistent &&
           empty->req_mpi_object.comm == &ompi_mpi_comm_world.comm;
}

struct request *hud_request_take(hud_module *m, bool persistent)
{
    pthread_mutex_lock(&lock);
    struct request *r = pool;
    if (r != NULL)
        pool = r->next;
    pthread_mutex_unlock(&lock);
    if (r == NULL)
        r = OBJ_NEW(hud_openmpi_request);
    if (r == NULL)
        return NULL;
    ompi_request_t *q = &r->super.super;
    OMPI_REQUEST_INIT(q, persistent);
    q->req_type = OMPI_REQUEST_COLL;
    q->req_status = ompi_status_empty;
    q->req_start = request_start;
    q->req_free = request_free;
    q->req_cancel = request_cancel;
    q->req_mpi_object.comm = m->comm;
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
    free(r->call.in.convertor);
    free(r->call.out.convertor);
    hud_room_free(&r->room);
    for (int i = 0; i < SAVED_ARRAYS; i++)
        free(r->arrays[i]);
    for (int i = 0; i < r->kept_count; i++)
        OBJ_RELEASE(r->kept[i]);
    free(r->kept);
    OMPI_REQUEST_FINI(&r->super.super);
    /* what Open MPI keeps of the call is behind its own part of the request */
    memset((char *)r + sizeof(ompi_request_t), 0, sizeof *r - sizeof(ompi_request_t));
    pthread_mutex_lock(&lock);
    r->next = pool;
    pool = r;
    pthread_mutex_unlock(&lock);
    OBJ_RELEASE(comm);
}

/* MPI_Wait and MPI_Test free what is complete; the user may free only a persistent one. */
static int request_free(ompi_request_t **request)
{
    struct request *r = (struct request *)*request;

    if (!REQUEST_COMPLETE(&r->super.super))
        return MPI_ERR_REQUEST;
    if (r->inner != NULL)
        ompi_request_free(&r->inner);
    hud_request_give(r);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Of a call that has such a side. */
static bool furnish_side(const struct request *r, unsigned shape, struct side *side,
                         struct view_state *states, const struct hud_view *views, int count)
{
    for (int i = 0; r->shape & shape && i < count; i++) {
        if (views[i].host == NULL)
            continue;
        if (side->convertor == NULL) {
            if ((side->convertor = malloc(sizeof *side->convertor)) == NULL)
                return false;
            hud_convertor_open(side->convertor);
        }
        states[i].convertor = side->convertor;
    }
    return true;
}

bool hud_request_furnish(struct request *r)
{
    struct side *in = &r->call.in, *out = &r->call.out;
    const struct room *room = &r->room;

    return furnish_side(r, SHAPE_IN, in, &in->state, &in->view, 1) &&
           furnish_side(r, SHAPE_OUT, out, &out->state, &out->view, 1) &&
           furnish_side(r, SHAPE_MANY_IN, in, room->in_states, room->in_views, r->call.ranks) &&
           furnish_side(r, SHAPE_MANY_OUT, out, room->out_states, room->out_views, r->call.ranks);
}

const void *hud_request_copy(struct request *r, const void *array, size_t bytes)
{
    int i = 0;

    while (r->arrays[i] != NULL)
        i++;
    r->arrays[i] = array != NULL ? malloc(bytes) : NULL;
    return r->arrays[i] != NULL ? memcpy(r->arrays[i], array, bytes) : NULL;
}

bool hud_request_keep(struct request *r, const void *object)
{
    opal_object_t **more = realloc(r->kept, ((size_t)r->kept_count + 1) * sizeof *more);

    if (more == NULL)
        return false;
    r->kept = more;
    r->kept[r->kept_count] = (opal_object_t *)(uintptr_t)object;
    OBJ_RETAIN(r->kept[r->kept_count++]);
    return true;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void set_status(struct request *r, int code)
{
    r->super.super.req_status.MPI_ERROR = code;
}

/* Open MPI's own.  A persistent one is made when it is first needed, on all ranks alike. */
static void begin_inner(void *arg)
{
    struct request *r = arg;
    int code = r->inner == NULL ? r->below(r, &r->inner) : OMPI_SUCCESS;

    /* (one that has nothing to do has no such function) */
    if (code == OMPI_SUCCESS && r->super.super.req_persistent && r->inner->req_start != NULL)
        code = r->inner->req_start(1, &r->inner);
    set_status(r, code);
}

int hud_request_make(struct request *r, bool handled)
{
    static const struct hud_args place = { .collective = HUD_PLACE };
    const struct hud_passed passed_on = { begin_inner, r };

    return hud_request_create(r->module->team, handled ? &r->call.args : &place, &passed_on,
                              &r->request);
}

static void hand_over(struct request *r)
{
    pthread_mutex_lock(&lock);
    r->next = fresh;
    fresh = r;
    r->module->in_flight++;
    context = r->module->context;
    if (!registered)
        opal_progress_register(progress);
    registered = true;
    pthread_mutex_unlock(&lock);
}

/* Huddle's part of it has ended. */
static void absorb(struct request *r, int status)
{
    unsigned data = r->shape & ~(unsigned)SHAPE_OP; /* the operation may be for further starts */

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
        absorb(r, status);
    if (done && status == HUD_OK) {
        hud_request_give(r);
        *request = &ompi_request_empty;
    } else {
        *request = &r->super.super;
        hand_over(r);
    }
    return HUD_OK;
}

/* MPI_Start. */
static int request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        struct request *r = (struct request *)requests[i];
        r->super.super.req_complete = REQUEST_PENDING;
        r->super.super.req_state = OMPI_REQUEST_ACTIVE;
        r->state = WITH_HUDDLE;
        set_status(r, MPI_SUCCESS);
        int status = hud_request_start(r->request);
        if (status == HUD_PASS)
            begin_inner(r);
        if (status != HUD_OK)
            absorb(r, status);
        hand_over(r);
    }
    return OMPI_SUCCESS;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void take_fresh(void)
{
    pthread_mutex_lock(&lock);
    for (struct request *r; (r = fresh) != NULL;) {
        fresh = r->next;
        struct request **list = r->state == WITH_HUDDLE ? &carried : &passed;
        r->next = *list;
        *list = r;
    }
    pthread_mutex_unlock(&lock);
}

/* Those of huddle's that have ended go where Open MPI's own are. */
static void look_at_carried(void)
{
    for (struct request **at = &carried, *r; (r = *at) != NULL;) {
        int done = 0, status = hud_request_peek(r->request, &done);
        if (!done) {
            at = &r->next;
            continue;
        }
        absorb(r, status);
        *at = r->next;
        r->next = passed;
        passed = r;
    }
}

/* Open MPI's own is complete, and so is the user's. */
static void absorb_inner(struct request *r)
{
    r->super.super.req_status = r->inner->req_status;
    if (r->super.super.req_persistent)
        r->inner->req_state = OMPI_REQUEST_INACTIVE;
    else
        ompi_request_free(&r->inner);
    r->state = ENDED;
}

static struct request *take_ended(void)
{
    struct request *ended = NULL;

    for (struct request **at = &passed, *r; (r = *at) != NULL;) {
        if (r->state == WITH_MPI && REQUEST_COMPLETE(r->inner))
            absorb_inner(r);
        if (r->state != ENDED) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = ended;
        ended = r;
    }
    return ended;
}

/* The user's threads may free a request, and its communicator, as soon as it is complete. */
static int complete(struct request *ended)
{
    int count = 0;

    for (struct request *r = ended, *next; r != NULL; r = next, count++) {
        next = r->next;
        pthread_mutex_lock(&lock);
        r->module->in_flight--;
        pthread_mutex_unlock(&lock);
        ompi_request_complete(&r->super.super, true);
    }
    return count;
}

/* Nothing has been in flight for a while. */
static void rest(void)
{
    pthread_mutex_lock(&lock);
    if (fresh == NULL) {
        opal_progress_unregister(progress);
        registered = false;
    }
    pthread_mutex_unlock(&lock);
}

static int progress(void)
{
    struct request *ended = NULL;

    if (!local_claim(&busy))
        return 0;
    if (fresh != NULL)
        take_fresh();
    if (carried != NULL) {
        int in_flight = hud_progress(context);
        if (in_flight != seen_in_flight || looks++ % LOOK_ANYWAY == 0)
            look_at_carried();
        seen_in_flight = in_flight;
    }
    if (passed != NULL)
        ended = take_ended();
    idle = carried == NULL && passed == NULL ? idle + 1 : 0;
    bool resting = idle > IDLE_MAX;
    if (resting) {
        idle = 0;
        rest();
    }
    local_release(&busy);
    return complete(ended);
}

/* ---- life ------------------------------------------------------------------------------------ */

void hud_requests_end(void)
{
    if (registered)
        opal_progress_unregister(progress);
    registered = false;
    for (struct request *r; (r = pool) != NULL;) {
        pool = r->next;
        OBJ_RELEASE(r);
    }
}
