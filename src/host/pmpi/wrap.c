/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.c - the wrapped MPI functions.  Calls that huddle does not handle go to PMPI_* with the
 * caller's own arguments, so that the MPI reports errors in them. */
#include "host/pmpi/call.h"
#include "host/pmpi/nonblocking.h"

/* The MPI's own collective has returned. */
static int came_back(MPI_Comm handle, int code)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm)
        hud_team_exit(comm->team);
    return code;
}

static int wrap_barrier(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);
    int status = comm && comm->team ? hud_barrier(comm->team) : HUD_PASS;

    if (__builtin_expect(status == HUD_OK, 1))
        return MPI_SUCCESS;
    return status == HUD_PASS ? came_back(handle, real.Barrier(handle))
                              : hud_comm_fail(comm, status);
}

/* mpi_f08's barrier does not pass through C; its communicator is a structure of one integer. */
static void wrap_barrier_f08(const MPI_Comm *handle, MPI_Fint *error)
{
    answer_f08(error, wrap_barrier(*handle));
}

/*
 * A program that tests after a barrier whether an exposure epoch has ended finds it ended: the
 * messages that report it lay before the barrier's in MPICH's queue.  huddle's barrier moves no
 * messages, and a look moves a few only after it has looked: so there are several looks (8 ranks
 * that exposed to, and put 64 integers to, each other needed 8 to see as many ended as after the
 * MPI's own).
 */
enum { LOOKS = 16 };

static int wrap_win_test(MPI_Win window, int *ended)
{
    int code = real.Win_test(window, ended);

    for (int look = 1; look < LOOKS && code == MPI_SUCCESS && !*ended; look++)
        code = real.Win_test(window, ended);
    return code;
}

/* The call, by the shorter forms of hud_call where huddle has one. */
#define MAKE_bcast(t, a) hud_bcast(t, (a)->out, (a)->root)
#define MAKE_reduce(t, a) hud_reduce(t, (a)->in, (a)->out, (a)->op, (a)->root)
#define MAKE_allreduce(t, a) hud_allreduce(t, (a)->in, (a)->out, (a)->op)
#define MAKE_scan hud_call
#define MAKE_exscan hud_call
#define MAKE_reduce_scatter hud_call
#define MAKE_reduce_scatter_block hud_call
#define MAKE_allgatherv hud_call
#define MAKE_gatherv hud_call
#define MAKE_scatterv hud_call
#define MAKE_alltoallv hud_call
#define MAKE_alltoallw hud_call
#define HANDLED_BLOCKS(Name, name, ...)                                                            \
    static inline int MAKE_##name(hud_team *team, const struct hud_args *args)                     \
    {                                                                                              \
        return hud_call(team, args);                                                               \
    }
#define HANDLED_ROOTED HANDLED_BLOCKS
#include "host/signatures.def"

/* The status of a call that was not opened.  What huddle handles on no rank is the MPI's own, which
 * may not begin before requests that are; it is counted, and with HUDDLE_CHECK announced. */
static int unopened(struct call *c, int status)
{
    if (status == HUD_ERR_MEMORY) /* the others are in the call */
        status = hud_team_fail(c->comm->team);
    if (status == HUD_PASS)
        hud_team_flush(c->comm->team);
    if (status == HUD_PASS && c->about.name)
        hud_team_enter(c->comm->team, &c->about);
    return status;
}

/* Inlined: it is on the way of each call. */
static inline __attribute__((always_inline)) int closed(struct call *c, int status)
{
    status = call_close(c, status);
    if (__builtin_expect(c->named, 0))
        hud_team_exit(c->comm->team);
    return status;
}

/* Parameters by the kinds of signatures.def; arguments have the kinds' names. */
#define WRAPPER(Name, name, ...)                                                                   \
    static int wrap_##Name(MAP(PARAM_, __VA_ARGS__))                                               \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        struct call here, *call = &here;                                                           \
        int status = HUD_PASS;                                                                     \
        if (ours && ours->team) {                                                                  \
            call_begin(call, ours, &ours->scratch);                                                \
            status = hud_open_##name(MAP(TAKE_, __VA_ARGS__));                                     \
            if (__builtin_expect(status == HUD_OK, 1)) {                                           \
                if (__builtin_expect(call->named, 0))                                              \
                    hud_call_announce(call);                                                       \
                status = closed(call, MAKE_##name(ours->team, &call->args));                       \
            } else {                                                                               \
                status = unopened(call, status);                                                   \
            }                                                                                      \
        }                                                                                          \
        if (status == HUD_PASS)                                                                    \
            return came_back(comm, real.Name(__VA_ARGS__));                                        \
        return status == HUD_OK ? MPI_SUCCESS : hud_comm_fail(ours, status);                       \
    }

#define COUNT int
#define PLACE int
#define MANY(array) ((struct many){ (array), false, false })
#define HANDLED(Name, name, ...) WRAPPER(Name, name, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"
#undef COUNT
#undef PLACE
#undef MANY

#define COUNT MPI_Count
#define PLACE MPI_Aint
#define MANY(array) ((struct many){ (array), true, false })
#define HANDLED(Name, name, ...) WRAPPER(Name##_c, name, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "large places are read as large counts");

const struct hud_wrapper hud_wrappers[] = {
    { "MPI_Barrier", (void (*)(void))wrap_barrier },
    { "mpi_barrier_f08_", (void (*)(void))wrap_barrier_f08 },
    { "MPI_Win_test", (void (*)(void))wrap_win_test },
#define HANDLED(Name, ...)                                                                         \
    { "MPI_" #Name, (void (*)(void))wrap_##Name },                                                 \
        { "MPI_" #Name "_c", (void (*)(void))wrap_##Name##_c },
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"
    { NULL, NULL },
};
