/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrap.c - the wrapped MPI functions.  What huddle does not take goes to PMPI_* with the caller's own arguments, so that the MPI's own
 * checks answer for what is wrong with them.
 */
#include "host/pmpi/pmpi.h"

/* The MPI's own collective has returned. */
static int came_back(MPI_Comm handle, int code)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm)
        hud_team_exit(comm->team);
    return code;
}

int hud_wrap_barrier(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    if (comm && comm->team && hud_barrier(comm->team) == HUD_OK)
        return MPI_SUCCESS;
    return came_back(handle, real.Barrier(handle));
}

/* mpi_f08's barrier does not pass through C; its communicator is a structure of one integer. */
void hud_wrap_barrier_f08(const MPI_Comm *handle, MPI_Fint *error)
{
    int code = hud_wrap_barrier(*handle);

    if (error)
        *error = code;
}

/* The MPI's codes for what huddle itself found wrong. */
static int fail(struct comm *comm, int status)
{
    int code = status == HUD_ERR_TRUNCATE ? MPI_ERR_TRUNCATE : status == HUD_ERR_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;

    real.Comm_call_errhandler(comm->handle, code);
    return code;
}

/* Any type, any count. */
static int bcast_any(struct comm *comm, void *buffer, MPI_Count count, MPI_Datatype type, int root)
{
    struct message message;

    int status = hud_message_open(buffer, count, type, comm->handle, &message);
    if (status != HUD_OK)
        return status;
    status = hud_bcast(comm->team, &message.view, root);
    hud_message_close(&message);
    return status;
}

/* True: done, with an MPI code. */
static bool take_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm handle, int *code)
{
    struct comm *comm = hud_comm_find(handle);
    struct hud_view view = { .base = buffer };
    size_t element = (size_t)hud_type_plain(type);
    int status;

    if (!comm || !comm->team || root < 0 || root >= comm->size)
        return false;
    if (element > 0 && count > 0 && count < 1 << 30 && buffer && buffer != MPI_IN_PLACE) { /* by far the most */
        view.bytes = (size_t)count * element;
        status = hud_bcast(comm->team, &view, root);
    } else {
        status = bcast_any(comm, buffer, count, type, root);
    }
    if (status == HUD_PASS)
        return false;
    *code = status == HUD_OK ? MPI_SUCCESS : fail(comm, status);
    return true;
}

int hud_wrap_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int code;

    return take_bcast(buffer, count, type, root, comm, &code) ? code : came_back(comm, real.Bcast(buffer, count, type, root, comm));
}

int hud_wrap_bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int code;

    return take_bcast(buffer, count, type, root, comm, &code) ? code : came_back(comm, real.Bcast_c(buffer, count, type, root, comm));
}
