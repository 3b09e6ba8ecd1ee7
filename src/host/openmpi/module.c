/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module.c - one communicator under huddle: its team, the collectives it takes, and the modules it took them from.
 *
 * Modules are enabled in ascending priority, so what stands in the communicator's table when we are enabled is what would have served
 * without us.  It is kept (and retained) as the module below: whatever huddle answers HUD_PASS to goes there, and that answer is the
 * same on every rank.
 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the team's way to its members while it is set up --------------------------------------------------------------- */

static int exchange_rank(void *arg)
{
    return ompi_comm_rank(((hud_module *)arg)->comm);
}

static int exchange_size(void *arg)
{
    return ompi_comm_size(((hud_module *)arg)->comm);
}

static int exchange_allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    hud_module *m = arg;
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;
    ompi_datatype_t *byte = &ompi_mpi_byte.dt;

    m->setting_up = true;
    int rc = table->coll_allgather(mine, (int)bytes, byte, all, (int)bytes, byte, m->comm, table->coll_allgather_module);
    m->setting_up = false;
    return rc;
}

static void exchange_name(void *arg, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s", ((hud_module *)arg)->comm->c_name);
}

/* From the group alone: names no process that Open MPI has not met yet. */
static int exchange_world_rank(void *arg, int rank)
{
    opal_process_name_t name = ompi_group_get_proc_name(((hud_module *)arg)->comm->c_local_group, rank);
    return name.jobid == OMPI_PROC_MY_NAME->jobid ? (int)name.vpid : -1;
}

/* ---- collectives ---------------------------------------------------------------------------------------------------- */

static const int to_mpi[] = {
    [HUD_OK] = MPI_SUCCESS,
    [HUD_PASS] = MPI_ERR_INTERN, /* goes below, never here */
    [HUD_ERR_TRUNCATE] = MPI_ERR_TRUNCATE,
    [HUD_ERR_ARGUMENT] = MPI_ERR_ARG,
    [HUD_ERR_MEMORY] = MPI_ERR_NO_MEM,
};

/* The module below has returned. */
static int came_back(hud_module *m, int code)
{
    if (!m->setting_up)
        hud_team_exit(m->team);
    return code;
}

static int module_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    hud_module *m = (hud_module *)base;
    int status = m->setting_up ? HUD_PASS : hud_barrier(m->team);

    return status == HUD_PASS ? came_back(m, m->barrier(comm, m->barrier_module)) : to_mpi[status];
}

static int module_bcast(void *buffer, int count, ompi_datatype_t *type, int root, ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    hud_module *m = (hud_module *)base;
    int status = HUD_PASS;

    if (!m->setting_up) {
        struct view_state state;
        struct hud_view view;
        hud_view_open(buffer, count, type, &state, &view);
        status = hud_bcast(m->team, &view, root);
        hud_view_close(&state);
        if (state.failed)
            status = HUD_ERR_MEMORY;
    }
    return status == HUD_PASS ? came_back(m, m->bcast(buffer, count, type, root, comm, m->bcast_module)) : to_mpi[status];
}

/* ---- life ----------------------------------------------------------------------------------------------------------- */

static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hud_module *m = (hud_module *)base;
    const mca_coll_base_comm_coll_t *table = comm->c_coll;
    struct hud_exchange exchange = {
        .rank = exchange_rank,
        .size = exchange_size,
        .allgather = exchange_allgather,
        .world_rank = exchange_world_rank,
        .arg = m,
        .name = exchange_name,
    };

    if (table->coll_barrier == NULL || table->coll_bcast == NULL)
        return OMPI_ERROR; /* nothing below; the same on every rank */
    m->comm = comm;
    if (hud_team_create(m->context, &exchange, &m->team) != HUD_OK)
        return OMPI_ERR_OUT_OF_RESOURCE;
    m->barrier = table->coll_barrier;
    m->barrier_module = table->coll_barrier_module;
    OBJ_RETAIN(m->barrier_module);
    m->bcast = table->coll_bcast;
    m->bcast_module = table->coll_bcast_module;
    OBJ_RETAIN(m->bcast_module);
    if (hud_context_checks(m->context))
        hud_checked_take(m, table);
    return OMPI_SUCCESS;
}

/* The class of super has zeroed its own part, in the length that the running release gives it. */
static void construct(hud_module *m)
{
    size_t own = offsetof(hud_module, comm);
    memset((char *)m + own, 0, sizeof *m - own);
}

static void destruct(hud_module *m)
{
    hud_team_free(m->team);
    if (m->barrier_module != NULL)
        OBJ_RELEASE(m->barrier_module);
    if (m->bcast_module != NULL)
        OBJ_RELEASE(m->bcast_module);
    hud_checked_release(m);
}

static OBJ_CLASS_INSTANCE(hud_module, mca_coll_base_module_t, construct, destruct);

mca_coll_base_module_t *hud_module_create(hud_context *context)
{
    hud_module *m = OBJ_NEW(hud_module);

    if (m == NULL)
        return NULL;
    m->context = context;
    m->super.coll_module_enable = module_enable;
    m->super.coll_barrier = module_barrier;
    m->super.coll_bcast = module_bcast;
    return &m->super;
}

size_t hud_module_room(void)
{
    return offsetof(hud_module, comm);
}
