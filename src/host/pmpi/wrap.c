/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.c - the wrapped MPI functions.  Calls that huddle does not handle call PMPI_* with the
 * caller's own arguments, so that the MPI reports errors in them. */
#include "host/pmpi/call.h"
#include "host/pmpi/nonblocking.h"
#include "host/short_form.h"

/* Ends a collective of the MPI itself.  Returns `code`. */
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
                              : hud_comm_fail(comm, "MPI_Barrier", status);
}

/* Wraps mpi_f08's barrier, which does not call C; its communicator is a structure of one
 * integer. */
static void wrap_barrier_f08(const MPI_Comm *handle, MPI_Fint *error)
{
    answer_f08(error, wrap_barrier(*handle));
}

/*
 * Number of calls of MPI_Win_test.  A program that tests after a barrier whether an exposure epoch
 * has ended expects that it has: in MPICH's queue the messages that report the end are before the
 * barrier's.  huddle's barrier progresses no messages, and MPI_Win_test progresses a few messages
 * only after its test: so there are several calls (8 ranks that exposed to, and put 64 integers to,
 * each other needed 8 to see as many ended as after the MPI's own barrier).
 */
enum { LOOKS = 16 };

static int wrap_win_test(MPI_Win window, int *ended)
{
    int code = real.Win_test(window, ended);

    for (int look = 1; look < LOOKS && code == MPI_SUCCESS && !*ended; look++)
        code = real.Win_test(window, ended);
    return code;
}

/* Returns the status of a call that was not opened.  If huddle handles the call on no rank, the
 * MPI's own collective follows, which must not begin before earlier requests; the call is counted,
 * and announced with HUDDLE_CHECK. */
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

/* Closes a call.  A passed call ends after the MPI's own collective (came_back).  Inlined, because
 * every call has this part. */
static inline __attribute__((always_inline)) int closed(struct call *c, int status)
{
    status = call_close(c, status);
    if (__builtin_expect(c->named, 0) && status != HUD_PASS)
        hud_team_exit(c->comm->team);
    return status;
}

/* Parameters by the kinds of signatures.def; arguments have the kinds' names. */
#define WRAPPER(Name, name, ...)                                                                   \
    static int wrap_##Name(MAP(PARAM, __VA_ARGS__))                                                \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        struct call here, *call = &here;                                                           \
        int status = HUD_PASS;                                                                     \
        if (ours && ours->team) {                                                                  \
            call_begin(call, ours, &ours->scratch);                                                \
            status = hud_open_##name(MAP(TAKE, __VA_ARGS__));                                      \
            if (__builtin_expect(status == HUD_OK, 1)) {                                           \
                if (__builtin_expect(call->named, 0))                                              \
                    hud_call_announce(call);                                                       \
                status = closed(call, short_form_call(ours->team, KIND_##name, &call->args));      \
            } else {                                                                               \
                status = unopened(call, status);                                                   \
            }                                                                                      \
        }                                                                                          \
        if (status == HUD_PASS)                                                                    \
            return came_back(comm, real.Name(__VA_ARGS__));                                        \
        return status == HUD_OK ? MPI_SUCCESS : hud_comm_fail(ours, "MPI_" #Name, status);         \
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
