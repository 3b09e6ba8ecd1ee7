/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - wrappers of MPI functions for what nonblocking collectives in flight need of them.
 *
 * Order      What takes a number in the MPI's order of nonblocking calls, and may wait for all
 *            ranks, does so until the requests before it are over, or have been passed on to the
 *            MPI: creation of communicators and windows, the initialisation of persistent
 *            collectives.  Blocking ones of neighbourhoods wait under Intel MPI only, as a rank
 *            that is no neighbour need not come.  What must not wait has a request of ours
 *            (nonblocking.c).
 * Freeing    A program may free a communicator or an operation as soon as a call has begun.  The
 *            operation is then freed with the last request that uses it.  A freed communicator is
 *            kept by a request of the MPI's that is never started.
 */
#include "host/pmpi/nonblocking.h"

#include <pthread.h>
#include <stdlib.h>

void hud_order_flush(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm && comm->team && local_count(&comm->in_flight) > 0)
        hud_team_flush(comm->team);
}

/* ---- order ----------------------------------------------------------------------------------- */

#define ORDERED_NEIGHBORS(Name, ...)                                                               \
    static int wrap_##Name(MAP(PARAM_, __VA_ARGS__))                                               \
    {                                                                                              \
        if (hud_life_one_order)                                                                    \
            hud_order_flush(comm);                                                                 \
        return real.Name(__VA_ARGS__);                                                             \
    }
#define ORDERED_INIT(Inner, ...)                                                                   \
    static int wrap_##Inner(MAP(PARAM_, __VA_ARGS__), MPI_Info info, MPI_Request *request)         \
    {                                                                                              \
        hud_order_flush(comm);                                                                     \
        return real.Inner(__VA_ARGS__, info, request);                                             \
    }

#define COUNT int
#define PLACE int
#define PLAIN(Name, name, ...) ORDERED_INIT(Name##_init, __VA_ARGS__)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    ORDERED_NEIGHBORS(Neighbor_##name, __VA_ARGS__)                                                \
    ORDERED_INIT(Neighbor_##name##_init, __VA_ARGS__)
#include "host/signatures.def"
#undef COUNT
#undef PLACE

#define COUNT MPI_Count
#define PLACE MPI_Aint
#define HANDLED(Name, name, ...) ORDERED_INIT(Name##_init_c, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...)                                                                 \
    ORDERED_NEIGHBORS(Neighbor_##name##_c, __VA_ARGS__)                                            \
    ORDERED_INIT(Neighbor_##name##_init_c, __VA_ARGS__)
#include "host/signatures.def"

/* MADE(name, parameters, arguments): what else is collective over `comm`. */
#define MADE_BY(MADE)                                                                              \
    MADE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm * made), (comm, group, made))      \
    MADE(Comm_dup, (MPI_Comm comm, MPI_Comm * made), (comm, made))                                 \
    MADE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm * made), (comm, info, made))  \
    MADE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),                          \
         (comm, color, key, made))                                                                 \
    MADE(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),       \
         (comm, type, key, info, made))                                                            \
    MADE(Cart_create,                                                                              \
         (MPI_Comm comm, int count, const int *sizes, const int *periods, int reorder,             \
          MPI_Comm *made),                                                                         \
         (comm, count, sizes, periods, reorder, made))                                             \
    MADE(Graph_create,                                                                             \
         (MPI_Comm comm, int count, const int *index, const int *edges, int reorder,               \
          MPI_Comm *made),                                                                         \
         (comm, count, index, edges, reorder, made))                                               \
    MADE(Dist_graph_create,                                                                        \
         (MPI_Comm comm, int count, const int *sources, const int *degrees, const int *targets,    \
          const int *weights, MPI_Info info, int reorder, MPI_Comm *made),                         \
         (comm, count, sources, degrees, targets, weights, info, reorder, made))                   \
    MADE(Dist_graph_create_adjacent,                                                               \
         (MPI_Comm comm, int ins, const int *sources, const int *in_weights, int outs,             \
          const int *targets, const int *out_weights, MPI_Info info, int reorder, MPI_Comm *made), \
         (comm, ins, sources, in_weights, outs, targets, out_weights, info, reorder, made))        \
    MADE(Cart_sub, (MPI_Comm comm, const int *kept, MPI_Comm *made), (comm, kept, made))           \
    MADE(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),  \
         (port, info, root, comm, made))                                                           \
    MADE(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made), \
         (port, info, root, comm, made))                                                           \
    MADE(Comm_spawn,                                                                               \
         (const char *command, char **words, int max_procs, MPI_Info info, int root,               \
          MPI_Comm comm, MPI_Comm *made, int *errors),                                             \
         (command, words, max_procs, info, root, comm, made, errors))                              \
    MADE(Comm_spawn_multiple,                                                                      \
         (int count, char **commands, char ***words, const int *max_procs, const MPI_Info *infos,  \
          int root, MPI_Comm comm, MPI_Comm *made, int *errors),                                   \
         (count, commands, words, max_procs, infos, root, comm, made, errors))                     \
    MADE(Intercomm_create,                                                                         \
         (MPI_Comm comm, int leader, MPI_Comm peers, int other, int tag, MPI_Comm *made),          \
         (comm, leader, peers, other, tag, made))                                                  \
    MADE(Win_create,                                                                               \
         (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),       \
         (base, size, unit, info, comm, made))                                                     \
    MADE(Win_create_c,                                                                             \
         (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),  \
         (base, size, unit, info, comm, made))                                                     \
    MADE(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win * made), (info, comm, made))   \
    MADE(Win_allocate,                                                                             \
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),       \
         (size, unit, info, comm, base, made))                                                     \
    MADE(Win_allocate_c,                                                                           \
         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),  \
         (size, unit, info, comm, base, made))                                                     \
    MADE(Win_allocate_shared,                                                                      \
         (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),       \
         (size, unit, info, comm, base, made))                                                     \
    MADE(Win_allocate_shared_c,                                                                    \
         (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),  \
         (size, unit, info, comm, base, made))                                                     \
    MADE(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *made),    \
         (comm, name, mode, info, made))

#define MADE(name, parameters, arguments)                                                          \
    static int wrap_##name parameters                                                              \
    {                                                                                              \
        hud_order_flush(comm);                                                                     \
        return real.name arguments;                                                                \
    }
MADE_BY(MADE)
#undef MADE

/* ---- looking at a request -------------------------------------------------------------------- */

void hud_order_look(MPI_Request request)
{
    if (hud_requests_fly())
        hud_request_poll(request);
}

static int wrap_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    hud_order_look(request);
    return real.Request_get_status(request, flag, status);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void hold(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm && comm->team)
        hud_requests_hold(comm, handle);
}

static int wrap_Comm_free(MPI_Comm *comm)
{
    if (comm)
        hold(*comm);
    return real.Comm_free(comm);
}

/* Waits for what is pending.  Not held: MPICH 5 frees what holds it. */
static int wrap_Comm_disconnect(MPI_Comm *handle)
{
    struct comm *comm = handle ? hud_comm_find(*handle) : NULL;

    if (comm && comm->team && local_count(&comm->in_flight) > 0)
        hud_requests_end(comm);
    return real.Comm_disconnect(handle);
}

static void wrap_comm_free_f08(MPI_Comm *comm, MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_free(comm));
}

static void wrap_comm_disconnect_f08(MPI_Comm *comm, MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_disconnect(comm));
}

/* ---- operations ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held {
    struct held *next;
    MPI_Op op;
    int uses;
    bool freed;
} * held;

static struct held **find(MPI_Op op)
{
    struct held **at = &held;

    while (*at && (*at)->op != op)
        at = &(*at)->next;
    return at;
}

/* Predefined ones are never freed.  Without memory to remember it in, the program must keep it. */
void hud_op_hold(MPI_Op op)
{
    if ((unsigned)op >> 30 == 1)
        return;
    pthread_mutex_lock(&lock);
    struct held **at = find(op);
    if (!*at && (*at = calloc(1, sizeof **at)) != NULL)
        (*at)->op = op;
    if (*at)
        (*at)->uses++;
    pthread_mutex_unlock(&lock);
}

void hud_op_drop(MPI_Op op)
{
    MPI_Op last = MPI_OP_NULL;

    if ((unsigned)op >> 30 == 1)
        return;
    pthread_mutex_lock(&lock);
    struct held **at = find(op), *one = *at;
    if (one && --one->uses == 0) {
        last = one->freed ? op : MPI_OP_NULL;
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(&lock);
    if (last != MPI_OP_NULL)
        real.Op_free(&last);
}

static int wrap_Op_free(MPI_Op *op)
{
    pthread_mutex_lock(&lock);
    struct held *one = op ? *find(*op) : NULL;
    if (one)
        one->freed = true;
    pthread_mutex_unlock(&lock);
    if (!one)
        return real.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static void wrap_op_free_f08(MPI_Op *op, MPI_Fint *error)
{
    answer_f08(error, wrap_Op_free(op));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define W(name) { "MPI_" #name, (void (*)(void))wrap_##name },
const struct hud_wrapper hud_order_wrappers[] = {
#define MADE(name, parameters, arguments) W(name)
    MADE_BY(MADE) W(Comm_free) W(Comm_disconnect) W(Op_free)
        W(Request_get_status){ "mpi_comm_free_f08_", (void (*)(void))wrap_comm_free_f08 },
    { "mpi_comm_disconnect_f08_", (void (*)(void))wrap_comm_disconnect_f08 },
    { "mpi_op_free_f08_", (void (*)(void))wrap_op_free_f08 },
#define PLAIN(Name, name, ...) W(Name##_init)
#define HANDLED(Name, name, ...) W(Name##_init) W(Name##_init_c)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...)                                                                 \
    W(Neighbor_##name)                                                                             \
    W(Neighbor_##name##_init)                                                                      \
    W(Neighbor_##name##_c) W(Neighbor_##name##_init_c)
#include "host/signatures.def"
    { NULL, NULL },
};
