/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.c - with HUDDLE_CHECK: wrappers of the collectives that huddle does not take.  Each says
 * what it is about to do, calls the MPI's own, and says that it is back.  What the MPI will find
 * wrong with the arguments counts as nothing to do, and is left to it.
 */
#include "host/pmpi/pmpi.h"

static size_t bytes_of(MPI_Count count, MPI_Datatype handle)
{
    struct type type;

    return count > 0 && hud_type_find(handle, &type) ? (size_t)count * (size_t)type.bytes : 0;
}

static bool is_rank(int rank, MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    return comm && comm->rank == rank;
}

static MPI_Count sum_int(const int counts[], MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);
    MPI_Count sum = 0;

    for (int i = 0; comm && counts && i < comm->size; i++)
        sum += counts[i];
    return sum;
}

static void enter(hud_team *team, const char *name, int root, size_t bytes, const char *detail)
{
    hud_team_enter(
        team, &(struct hud_call){ .name = name, .root = root, .bytes = bytes, .detail = detail });
}

void hud_checked_enter(const struct comm *comm, const char *name, size_t bytes, const char *detail)
{
    if (hud_context_checks(hud_life_context()))
        enter(comm->team, name, -1, bytes, detail);
}

static int leave(struct comm *comm, int code)
{
    if (comm)
        hud_team_exit(comm->team);
    return code;
}

/* The arguments are looked at only where there is a team: those of an intercommunicator's call are
 * counted by the other group. */
#define WRAPPER(name, text, parameters, arguments, root, bytes, detail)                            \
    static int checked_##name parameters                                                           \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        if (ours && ours->team)                                                                    \
            enter(ours->team, text, root, bytes, detail);                                          \
        return leave(ours, real.name arguments);                                                   \
    }

#define COUNT int
#define PLACE int
#define SUM sum_int
#define CHECKED WRAPPER
#define V WRAPPER
#include "host/pmpi/checked.def"
#undef COUNT
#undef PLACE
#undef SUM
#undef CHECKED
#undef V

#define COUNT MPI_Count
#define CHECKED(name, ...) WRAPPER(name##_c, __VA_ARGS__)
#define V(...)
#include "host/pmpi/checked.def"
#undef CHECKED
#undef V

const struct hud_wrapper hud_checked_wrappers[] = {
#define V(name, ...) { "MPI_" #name, (void (*)(void))checked_##name },
#define CHECKED(name, ...) V(name) V(name##_c)
#include "host/pmpi/checked.def"
    { NULL, NULL },
};
