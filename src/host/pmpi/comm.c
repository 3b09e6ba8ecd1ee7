/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm.c - huddle's data about a communicator: an attribute of the communicator, found through a
 * cache of one entry.
 *
 * The cache is per thread if several threads may call at once.  Its entry has a generation, which
 * every delete callback increments, because handles are reused, and another thread's callback
 * cannot clear this thread's entry.  Only communicators that carry the attribute are cached, so the
 * end of a communicator invalidates its entries.  Creating the attribute is local.  In a
 * communicator's first collective, the core decides whether huddle handles its collectives; the
 * decision is the same on all ranks.
 *
 * A communicator is in one collective at a time (MPI's rule), so its own state needs no lock.  The
 * list of all communicators has a lock, and no MPI function is called with this lock held.
 */
#include "host/pmpi/pmpi.h"

#include "base/emergency_pool.h"
#include "base/process_atomics.h"
#include "host/status.h"
#include "mem/kept_errno.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_COMMS = 16 };
EMERGENCY_POOL(kept_comms, struct comm, KEPT_COMMS);

static atomic_uint generation = 1;
static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm list = { .prev = &list, .next = &list };

struct entry {
    MPI_Comm handle;
    unsigned generation;
    struct comm *comm;
};
static _Thread_local struct entry last_of_thread;
static struct entry last_of_all; /* cheaper, and sufficient if MPI lets one thread call at a time */

/* ---- the exchange of a team: this communicator ---- */

static int exchange_rank(void *arg)
{
    return ((struct comm *)arg)->rank;
}

static int exchange_size(void *arg)
{
    return ((struct comm *)arg)->size;
}

static void exchange_name(void *arg, char *name, size_t bytes)
{
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length;

    real.Comm_get_name(((struct comm *)arg)->handle, text, &length);
    snprintf(name, bytes, "%s", text);
}

/*
 * Handles the lack of memory for a communicator, including the emergency pool.  If the communicator
 * may have a lease, the others wait for this rank in the set-up of its team, so the job ends.
 */
static struct comm *give_up(MPI_Comm handle)
{
    int inter, size, rank;

    if (real.Comm_test_inter(handle, &inter) == MPI_SUCCESS && !inter &&
        real.Comm_size(handle, &size) == MPI_SUCCESS && size > 1 &&
        (size <= hud_job_local_ranks() || hud_job_spans) &&
        real.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS) {
        fprintf(stderr, "huddle: rank %d has no memory left for a communicator; aborting\n", rank);
        real.Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return NULL;
}

static int exchange_start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    struct comm *c = arg;

    *pending = &c->exchange;
    /* sent from `all`, which is kept if a test fails, because the MPI may still send */
    memcpy((char *)all + (size_t)c->rank * bytes, mine, bytes);
    if (bytes <= INT_MAX && real.Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                            c->handle, &c->exchange) == MPI_SUCCESS)
        return 0;
    give_up(c->handle); /* otherwise the others would wait for ever */
    return 1;
}

static int exchange_test(void *arg, void **pending, int *done)
{
    int code = real.Test(*pending, done, MPI_STATUS_IGNORE);

    (void)arg;
    if (!*done && code == MPI_SUCCESS)
        return 0;
    *done = 1;
    return code != MPI_SUCCESS;
}

/* Translates all ranks at once, to be kept. */
static void translate(struct comm *c)
{
    int *own = malloc((size_t)c->size * sizeof *own),
        *world = malloc((size_t)c->size * sizeof *world);
    MPI_Group group;

    if (own && world && real.Comm_group(c->handle, &group) == MPI_SUCCESS) {
        for (int i = 0; i < c->size; i++)
            own[i] = i;
        if (real.Group_translate_ranks(group, c->size, own, hud_job_world(), world) ==
            MPI_SUCCESS) {
            c->world = world;
            world = NULL;
        }
        real.Group_free(&group);
    }
    free(own);
    free(world);
}

/* Translates a single rank, if there is no memory to keep all.  Members must not be mistaken for
 * ranks of another job, because they would wait for ever. */
static int translate_one(const struct comm *c, int rank)
{
    MPI_Group group;
    int world = -1;

    if (real.Comm_group(c->handle, &group) != MPI_SUCCESS)
        return -1;
    if (real.Group_translate_ranks(group, 1, &rank, hud_job_world(), &world) != MPI_SUCCESS)
        world = -1;
    real.Group_free(&group);
    return world;
}

static int exchange_world_rank(void *arg, int rank)
{
    struct comm *c = arg;

    if (!c->world)
        translate(c);
    int world = c->world ? c->world[rank] : translate_one(c, rank);
    return world >= 0 ? world : -1; /* MPI_UNDEFINED is negative */
}

/* ---- creation and destruction ---- */

/* Frees the duplicate for messages.  All members call this function when they free the
 * communicator, or at the end.  MPICH reuses the number of a freed communicator, which would then
 * receive messages that were never received here. */
static void free_between(struct comm *c)
{
    if (c->between != MPI_COMM_NULL && !c->spoilt)
        real.Comm_free(&c->between);
}

static int forget(MPI_Comm handle, int key, void *attribute, void *extra)
{
    struct comm *c = attribute;

    (void)handle;
    (void)key;
    (void)extra;
    KEEP_ERRNO();
    local_raise(&generation);
    pthread_mutex_lock(&list_lock);
    c->prev->next = c->next;
    c->next->prev = c->prev;
    pthread_mutex_unlock(&list_lock);
    hud_team_free(c->team);
    free_between(c);
    scratch_array_free(&c->scratch);
    free(c->world);
    emergency_free(&kept_comms, c);
    return MPI_SUCCESS;
}

static bool describe(struct comm *c, hud_context *context)
{
    struct hud_exchange exchange = {
        .rank = exchange_rank,
        .size = exchange_size,
        .world_rank = exchange_world_rank,
        .arg = c,
        .name = exchange_name,
        .start_allgather = exchange_start,
        .test_allgather = exchange_test,
        .messages = &hud_pmpi_messages,
    };
    int inter;

    if (real.Comm_test_inter(c->handle, &inter) != MPI_SUCCESS ||
        real.Comm_rank(c->handle, &c->rank) != MPI_SUCCESS ||
        real.Comm_size(c->handle, &c->size) != MPI_SUCCESS)
        return false;
    if (inter || c->size < 2)
        return true;
    if (hud_team_create(context, &exchange, &c->team) != HUD_OK)
        return false;
    /* If the team may have a lease, no call may fail because memory that all calls need is
     * missing. */
    if (c->size <= hud_job_local_ranks() &&
        !scratch_array_reserve(&c->scratch, hud_exchange_bytes(c->size)))
        hud_team_decline(c->team);
    return true;
}

static struct comm *create(MPI_Comm handle, hud_context *context)
{
    struct comm *c = calloc(1, sizeof *c);

    if (!c && (c = emergency_take(&kept_comms)) == NULL)
        return give_up(handle);
    c->handle = handle;
    c->holder = MPI_REQUEST_NULL;
    c->between = MPI_COMM_NULL;
    c->prev = c->next = c;
    if (!describe(c, context) || real.Comm_set_attr(handle, keyval, c) != MPI_SUCCESS) {
        hud_team_free(c->team);
        scratch_array_free(&c->scratch);
        emergency_free(&kept_comms, c);
        return give_up(handle);
    }
    pthread_mutex_lock(&list_lock);
    c->next = list.next;
    c->prev = &list;
    c->next->prev = list.next = c;
    pthread_mutex_unlock(&list_lock);
    huddle_look_again();
    return c;
}

static struct comm *look_up(MPI_Comm handle, struct entry *last)
{
    unsigned now =
        local_read(&generation); /* read before the look-up, so that a later change is detected */
    hud_context *context = handle_is_comm(handle) ? hud_job_context() : NULL;
    void *attribute;
    int found;

    KEEP_ERRNO();
    if (!context || real.Comm_get_attr(handle, keyval, &attribute, &found) != MPI_SUCCESS)
        return NULL;
    struct comm *c = found ? attribute : create(handle, context);
    if (c) {
        last->handle = handle;
        last->generation = now;
        last->comm = c;
    }
    return c;
}

struct comm *hud_comm_find(MPI_Comm handle)
{
    struct entry *last = hud_job_threaded ? &last_of_thread : &last_of_all;

    return last->handle == handle && last->generation == local_read(&generation)
               ? last->comm
               : look_up(handle, last);
}

static bool asserts_no_devices(MPI_Comm handle)
{
    char kinds[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int given = 0;

    if (real.Comm_get_info(handle, &info) != MPI_SUCCESS)
        return false;
    real.Info_get(info, "mpi_assert_memory_alloc_kinds", MPI_MAX_INFO_VAL, kinds, &given);
    real.Info_free(&info);
    return given && hud_device_is_excluded(kinds);
}

bool hud_comm_has_no_devices(MPI_Comm handle)
{
    struct comm *c = hud_comm_find(handle);

    if (!c)
        return false;
    if (c->devices == DEVICES_UNKNOWN)
        c->devices = asserts_no_devices(handle) ? DEVICES_NONE : DEVICES_MAYBE;
    return c->devices == DEVICES_NONE;
}

int hud_comm_start(void)
{
    return real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
}

/* Ends the teams.  Communicators that are still alive, including COMM_WORLD, outlive the context:
 * they keep their attribute, without a team. */
void hud_comm_finish(void)
{
    local_raise(&generation);
    pthread_mutex_lock(&list_lock);
    for (struct comm *c = list.next; c != &list; c = c->next) {
        hud_team_free(c->team);
        c->team = NULL;
    }
    pthread_mutex_unlock(&list_lock);
    for (struct comm *c = list.next; c != &list; c = c->next) /* no other thread calls any more */
        free_between(c);
    real.Comm_free_keyval(&keyval);
}

/* Returns whether an error of the communicator ends the job. */
static bool errors_are_fatal(MPI_Comm handle)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    if (real.Comm_get_errhandler(handle, &handler) != MPI_SUCCESS)
        return false;
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
    real.Errhandler_free(&handler);
    return fatal;
}

/* Waits until the launcher has read this rank's lines, at most 100 ms, and has had time to pass
 * them on.  When a rank aborts, Hydra discards lines that are still on the way. */
static void await_reader(void)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    int unread = 1;

    for (int i = 0; i < 20 && unread != 0; i++) {
        nanosleep(&pause, NULL);
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0)
            return;
    }
    nanosleep(&pause, NULL);
}

/* Ends the job here if errors are fatal: the MPI's own handler would name MPI_Comm_call_errhandler
 * instead of the program's call. */
void hud_comm_raise(struct comm *comm, const char *function, int code)
{
    char name[MPI_MAX_OBJECT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (!errors_are_fatal(comm->handle)) {
        real.Comm_call_errhandler(comm->handle, code);
        return;
    }
    real.Error_string(code, text, &length);
    exchange_name(comm, name, sizeof name);
    fprintf(stderr, "huddle: fatal error in %s on %s, rank %d: %s\n", function,
            name[0] != '\0' ? name : "a communicator", comm->rank, text);
    await_reader();
    real.Abort(comm->handle, code);
}

int hud_comm_fail(struct comm *comm, const char *function, int status)
{
    int code = status_code(status, MPI_ERR_OTHER);

    hud_comm_raise(comm, function, code);
    return code;
}
