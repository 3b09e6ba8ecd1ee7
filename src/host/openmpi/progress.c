/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - the function that Open MPI calls in every wait and test, while something is in
 * flight and a while longer: to register it takes a lock.
 *
 * Threads     One thread at a time makes progress, and it alone touches the lists; launched
 *             requests are handed over to it.  Nothing is completed with a lock held: to complete a
 *             request may end its communicator, and with it the module.
 * Cost        a look at the oldest request of each communicator, at each persistent and each early
 *             one, and at each that is Open MPI's own; at huddle's where something has ended since
 */
#include "request.h"

#include "core/local.h"
#include "fiber/sanitizers.h"

enum {
    IDLE_MAX = 1000, /* looks at nothing in flight, after which Open MPI no longer asks */
    LOOK_ANYWAY = 64
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next three lines */
static struct request *fresh;                            /* launched, not yet in a list */
static atomic_int fresh_count;                           /* their number, read without the lock */
static bool registered;
static bool threads; /* MPI_THREAD_MULTIPLE */

static atomic_bool busy;          /* guards the rest, held by a thread in progress() */
static hud_module *carrying;      /* have requests that huddle carries out, the oldest first */
static struct request *unordered; /* persistent ones, which have teams of their own; early ones */
static struct request *passed;    /* of what huddle has done; Open MPI may carry them out */
static hud_context *context;
static int seen_in_flight, idle;
static unsigned looks;

static void push(struct request **list, struct request *r)
{
    r->next = *list;
    *list = r;
}

static void carry(struct request *r)
{
    hud_module *m = r->module;

    r->next = NULL;
    if (m->oldest == NULL) {
        m->next_carrying = carrying;
        carrying = m;
        m->oldest = r;
    } else {
        m->newest->next = r;
    }
    m->newest = r;
}

static void take_fresh(void)
{
    struct request *taken = NULL;

    seen_in_flight = -1; /* what was launched may be over when progress first counts it */
    local_lock(&lock, threads);
    for (struct request *r; (r = fresh) != NULL;) {
        fresh = r->next;
        push(&taken, r);
        local_count_by(&fresh_count, -1);
    }
    local_unlock(&lock, threads);
    for (struct request *r; (r = taken) != NULL;) { /* in the order in which they were launched */
        taken = r->next;
        if (r->state != WITH_HUDDLE)
            push(&passed, r);
        else if (r->team != NULL || r->early)
            push(&unordered, r);
        else
            carry(r);
    }
}

static bool has_ended(struct request *r)
{
    int done = 0, status = hud_request_peek(r->request, &done);

    if (done)
        hud_request_absorb(r, status);
    return done;
}

/* Those of huddle's that have ended go where Open MPI's own are.  Calls of a communicator end in
 * the order in which they were started. */
static void look_at_carried(void)
{
    for (hud_module **at = &carrying, *m; (m = *at) != NULL;) {
        for (struct request *r; (r = m->oldest) != NULL && has_ended(r);) {
            m->oldest = r->next;
            push(&passed, r);
        }
        if (m->oldest == NULL)
            *at = m->next_carrying;
        else
            at = &m->next_carrying;
    }
    for (struct request **at = &unordered, *r; (r = *at) != NULL;)
        if (has_ended(r)) {
            *at = r->next;
            push(&passed, r);
        } else {
            at = &r->next;
        }
}

/* Open MPI's own is complete, and so is the user's. */
static void absorb_inner(struct request *r)
{
    r->super.super.req_status = r->inner->req_status;
    ompi_request_free(&r->inner);
    r->state = ENDED;
}

static struct request *take_ended(void)
{
    struct request *ended = NULL;

    for (struct request **at = &passed, *r; (r = *at) != NULL;) {
        if (r->state == WITH_MPI && hud_request_is_over(r->inner))
            absorb_inner(r);
        if (r->state != ENDED) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        push(&ended, r);
    }
    return ended;
}

/*
 * The thread that waits has a lock and a condition on its stack, which Open MPI passes on by
 * instructions that ThreadSanitizer does not see.  What follows is inline, as if it were huddle's.
 */
static void tell(struct request *r)
{
    if (threads)
        sanitizer_look_away();
    ompi_request_complete(&r->super.super, true);
    if (threads)
        sanitizer_look_again();
}

/* The user's threads may free a request, and its communicator, as soon as it is complete. */
static int complete(struct request *ended)
{
    int count = 0;

    for (struct request *r = ended, *next; r != NULL; r = next, count++) {
        next = r->next;
        local_lock(&lock, threads);
        local_count_by(&r->module->in_flight, -(r->team == NULL));
        local_unlock(&lock, threads);
        tell(r);
    }
    return count;
}

static int progress(void);

/* Nothing has been in flight for a while. */
static void rest(void)
{
    idle = 0;
    local_lock(&lock, threads);
    if (fresh == NULL) {
        opal_progress_unregister(progress);
        registered = false;
    }
    local_unlock(&lock, threads);
}

static int progress(void)
{
    struct request *ended = NULL;

    if (!local_enter(&busy, threads))
        return 0;
    if (local_count(&fresh_count) > 0)
        take_fresh();
    if (carrying != NULL || unordered != NULL) {
        int in_flight = hud_progress(context);
        if (in_flight != seen_in_flight || looks++ % LOOK_ANYWAY == 0)
            look_at_carried();
        seen_in_flight = in_flight;
    }
    if (passed != NULL)
        ended = take_ended();
    idle = carrying == NULL && unordered == NULL && passed == NULL ? idle + 1 : 0;
    if (idle > IDLE_MAX)
        rest();
    local_leave(&busy);
    return complete(ended);
}

void hud_request_hand_over(struct request *r)
{
    local_lock(&lock, threads);
    push(&fresh, r);
    local_count_by(&fresh_count, 1);
    local_count_by(&r->module->in_flight, r->team == NULL);
    if (context != r->module->context) /* which is read without the lock */
        context = r->module->context;
    if (!registered)
        opal_progress_register(progress);
    registered = true;
    local_unlock(&lock, threads);
}

void hud_progress_begin(bool with_threads)
{
    threads = with_threads;
}

void hud_progress_end(void)
{
    if (registered)
        opal_progress_unregister(progress);
    registered = false;
}
