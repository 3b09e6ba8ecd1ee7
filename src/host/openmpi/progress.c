/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - the function that Open MPI calls in every wait and test, while requests are in
 * flight and for a while afterwards, because registering takes a lock.
 *
 * Threads     One thread at a time makes progress, and only this thread accesses the lists; started
 *             requests are handed over to it.  No request is completed with a lock held, because
 *             completing a request may free its communicator, and with it the module.
 * Cost        a look at the oldest request of each communicator, at each persistent and each early
 *             request, and at each request of Open MPI; at huddle's only if one has ended since
 */
#include "request.h"

#include "base/process_atomics.h"
#include "fiber/sanitizers.h"

enum {
    IDLE_MAX = 1000, /* calls with nothing in flight after which the function is unregistered */
    POLL_ANYWAY = 64
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next three lines */
static struct request *fresh;                            /* started, but not yet in a list */
static atomic_int fresh_count;                           /* number of fresh requests, read without
                                                            the lock */
static bool registered;
static bool threads; /* MPI_THREAD_MULTIPLE */

static atomic_bool busy;          /* guards the rest; held by the thread in progress() */
static hud_module *carrying;      /* modules with requests that huddle carries out, in order of
                                     their starts */
static struct request *unordered; /* persistent requests, which have their own teams, and early
                                     requests */
static struct request *passed;    /* requests that are complete in huddle; Open MPI may still carry
                                     them out */
static hud_context *context;
static int seen_in_flight, idle;
static unsigned polls;

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
    struct request *moved = NULL;

    seen_in_flight = -1; /* a new request may be over before progress() first counts it */
    local_lock(&lock, threads);
    for (struct request *r; (r = fresh) != NULL;) {
        fresh = r->next;
        push(&moved, r);
        local_count_by(&fresh_count, -1);
    }
    local_unlock(&lock, threads);
    for (struct request *r; (r = moved) != NULL;) { /* order of their starts */
        moved = r->next;
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
        hud_request_store_result(r, status);
    return done;
}

/* Moves requests that have ended in huddle to `passed`.  Calls of a communicator end in the order
 * in which they were started. */
static void collect_ended(void)
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

/* Ends the user's request, because Open MPI's own request is complete. */
static void store_inner_result(struct request *r)
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
            store_inner_result(r);
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
 * Completes a request for the user.  The waiting thread has a lock and a condition on its stack,
 * which Open MPI passes on by instructions that ThreadSanitizer does not see.  Open MPI's code is
 * inlined here, so ThreadSanitizer would attribute its accesses to huddle.
 */
static void complete_for_user(struct request *r)
{
    if (threads)
        sanitizer_ignore_begin();
    ompi_request_complete(&r->super.super, true);
    if (threads)
        sanitizer_ignore_end();
}

/* Completes the ended requests.  The user's threads may free a request, and its communicator, as
 * soon as it is complete. */
static int complete(struct request *ended)
{
    int count = 0;

    for (struct request *r = ended, *next; r != NULL; r = next, count++) {
        next = r->next;
        local_lock(&lock, threads);
        local_count_by(&r->module->in_flight, -(r->team == NULL));
        local_unlock(&lock, threads);
        complete_for_user(r);
    }
    return count;
}

static int progress(void);

/* Unregisters the function after a while with nothing in flight. */
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
        if (in_flight != seen_in_flight || polls++ % POLL_ANYWAY == 0)
            collect_ended();
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
    if (context != r->module->context) /* read without the lock */
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
