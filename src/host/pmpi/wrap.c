/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.c - the wrapped MPI functions.  Calls that huddle does not handle go to PMPI_* with the
 * caller's own arguments, so that the MPI reports errors in them. */
#include "host/pmpi/pmpi.h"
#include "host/status.h"

/* The MPI's own collective has returned. */
static int came_back(MPI_Comm handle, int code)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm)
        hud_team_exit(comm->team);
    return code;
}

/* What huddle itself found wrong. */
static int fail(struct comm *comm, int status)
{
    int code = status_code(status, MPI_ERR_OTHER);

    if (status == HUD_ERR_MEMORY) /* found before the call: the others are in it */
        hud_team_fail(comm->team);
    real.Comm_call_errhandler(comm->handle, code);
    return code;
}

static int wrap_barrier(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);
    int status = comm && comm->team ? hud_barrier(comm->team) : HUD_PASS;

    if (__builtin_expect(status == HUD_OK, 1))
        return MPI_SUCCESS;
    return status == HUD_PASS ? came_back(handle, real.Barrier(handle)) : fail(comm, status);
}

/* mpi_f08's barrier does not pass through C; its communicator is a structure of one integer. */
static void wrap_barrier_f08(const MPI_Comm *handle, MPI_Fint *error)
{
    int code = wrap_barrier(*handle);

    if (error)
        *error = code;
}

static int hud_take_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                          struct comm *comm)
{
    struct message message;

    if (root < 0 || root >= comm->size)
        return HUD_PASS;
    int status = message_open(buffer, count, type, comm->handle, &message);
    if (status != HUD_OK)
        return status;
    status = hud_bcast(comm->team, &message.view, root);
    hud_message_close(&message);
    return status;
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

/* Parameters by the kinds of signatures.def; arguments have the kinds' names. */
#define WRAPPER(Name, name, ...)                                                                   \
    static int wrap_##Name(MAP(PARAM_, __VA_ARGS__))                                               \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        int status = ours && ours->team ? hud_take_##name(MAP(TAKE_, __VA_ARGS__)) : HUD_PASS;     \
        if (status == HUD_PASS)                                                                    \
            return came_back(comm, real.Name(__VA_ARGS__));                                        \
        return status == HUD_OK ? MPI_SUCCESS : fail(ours, status);                                \
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
