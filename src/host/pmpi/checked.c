/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.c - with HUDDLE_CHECK: wrappers of the collectives that huddle does not handle.  Each
 * announces its call, calls the MPI's own function, and announces its return.  Arguments that the
 * MPI will refuse count as a call without data; the MPI reports them.
 */
#include "host/pmpi/call.h"

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
    hud_team_flush(team);
    hud_team_enter(team, &(struct hud_announced){
                             .name = name, .root = root, .bytes = bytes, .detail = detail });
}

void hud_checked_enter(const struct call *call)
{
    if (hud_context_checks(hud_life_context()))
        hud_team_enter(call->comm->team, &call->about);
}

static int leave(struct comm *comm, int code)
{
    if (comm)
        hud_team_exit(comm->team);
    return code;
}

/* The arguments are looked at only where there is a team: those of an intercommunicator's call are
 * counted by the other group. */
#define WRAPPER(Name, name, root, bytes, detail, ...)                                              \
    static int checked_##Name(MAP(PARAM_, __VA_ARGS__))                                            \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        if (ours && ours->team)                                                                    \
            enter(ours->team, #name, root, bytes, detail);                                         \
        return leave(ours, real.Name(__VA_ARGS__));                                                \
    }

#define SUM sum_int
#define OP_NAME hud_op_name
#define IS_RANK is_rank

#define COUNT int
#define PLACE int
#define CHECKED WRAPPER
#define CHECKED_ARRAYS WRAPPER
#include "host/signatures.def"
#undef COUNT
#undef PLACE

#define COUNT MPI_Count
#define CHECKED(Name, ...) WRAPPER(Name##_c, __VA_ARGS__)
#include "host/signatures.def"

const struct hud_wrapper hud_checked_wrappers[] = {
#define CHECKED_ARRAYS(Name, ...) { "MPI_" #Name, (void (*)(void))checked_##Name },
#define CHECKED(Name, ...) CHECKED_ARRAYS(Name) CHECKED_ARRAYS(Name##_c)
#include "host/signatures.def"
    { NULL, NULL },
};
