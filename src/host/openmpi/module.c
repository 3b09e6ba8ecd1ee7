/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module.c - one communicator under huddle: its team, and the modules from which it takes over the
 * collectives.
 *
 * Modules are enabled in ascending priority.  So the functions in the communicator's table, when
 * huddle's module is enabled, are those that would have served without it.  They are kept (and
 * retained) as the module below: calls for which huddle returns HUD_PASS go there, and that
 * decision is the same on every rank.
 */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the team's way to its members while it is set up ---------------------------------------- */

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
    int rc = table->coll_allgather(mine, (int)bytes, byte, all, (int)bytes, byte, m->comm,
                                   table->coll_allgather_module);
    m->setting_up = false;
    return rc;
}

static void exchange_name(void *arg, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s", ((hud_module *)arg)->comm->c_name);
}

/* To a collective of a communicator that was revoked, or has a process that has failed, not all
 * ranks come any more. */
static int exchange_interrupted(void *arg)
{
    ompi_communicator_t *comm = ((hud_module *)arg)->comm;

    return compat_revoked(comm) || compat_has_failed(comm);
}

/* From the group alone: names no process that Open MPI has not met yet. */
static int exchange_world_rank(void *arg, int rank)
{
    opal_process_name_t name =
        ompi_group_get_proc_name(((hud_module *)arg)->comm->c_local_group, rank);
    return name.jobid == OMPI_PROC_MY_NAME->jobid ? (int)name.vpid : -1;
}

/* ---- calls that go below --------------------------------------------------------------------- */

int hud_module_leave(hud_module *m, int code)
{
    if (!m->setting_up)
        hud_team_exit(m->team);
    return code;
}

static void keep_below(hud_module *m, const mca_coll_base_comm_coll_t *table)
{
#define KEEP(slot)                                                                                 \
    if (table->coll_##slot != NULL) {                                                              \
        m->below.slot = table->coll_##slot;                                                        \
        m->below.slot##_module = table->coll_##slot##_module;                                      \
        OBJ_RETAIN(m->below.slot##_module);                                                        \
    }
#define KEEP_ALIKE(slot)                                                                           \
    if (m->nonblocking)                                                                            \
    KEEP(slot)
#define PLAIN(Name, name, ...) KEEP(name) KEEP_ALIKE(i##name) KEEP_ALIKE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) KEEP_ALIKE(ineighbor_##name) KEEP_ALIKE(neighbor_##name##_init)
#include "host/signatures.def"
}

static void release_below(hud_module *m)
{
#define RELEASE(slot)                                                                              \
    if (m->below.slot##_module != NULL)                                                            \
        OBJ_RELEASE(m->below.slot##_module);
#define PLAIN(Name, name, ...) RELEASE(name) RELEASE(i##name) RELEASE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) RELEASE(ineighbor_##name) RELEASE(neighbor_##name##_init)
#include "host/signatures.def"
}

/* ---- life ------------------------------------------------------------------------------------ */

bool hud_room_make(struct room *r, size_t ranks)
{
    if (r->in_states != NULL)
        return true;
    r->in_states =
        calloc(ranks, 2 * sizeof *r->in_states + 2 * sizeof *r->in_views + sizeof *r->block_bytes);
    if (r->in_states == NULL)
        return false;
    r->out_states = r->in_states + ranks;
    r->in_views = (struct hud_view *)(r->out_states + ranks);
    r->out_views = r->in_views + ranks;
    r->block_bytes = (size_t *)(r->out_views + ranks);
    return true;
}

void hud_room_free(struct room *r)
{
    free(r->in_states);
    r->in_states = NULL;
}

bool hud_module_make_room(hud_module *m)
{
    return hud_room_make(&m->room, (size_t)ompi_comm_size(m->comm));
}

/* The team may have a lease: then its calls must find room on all ranks.  Where ranks are on other
 * nodes it has none, and they may be very many. */
static bool may_be_near(ompi_communicator_t *comm)
{
    return (int64_t)ompi_comm_size(comm) <= (int64_t)ompi_process_info.num_local_peers + 1;
}

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
        .interrupted = compat_fault_tolerant() ? exchange_interrupted : NULL,
        .start_allgather = hud_exchange_start,
        .test_allgather = hud_exchange_test,
    };

    if (table->coll_allgather == NULL)
        return OMPI_ERROR; /* no way to set a team up; the same on every rank */
    m->comm = comm;
    if (hud_team_create(m->context, &exchange, &m->team) != HUD_OK) {
        hud_module_give_up(comm);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (may_be_near(comm) && !hud_module_make_room(m))
        hud_team_decline(
            m->team); /* a module that is missing on one rank only would leave the others waiting */
    keep_below(m, table);
    hud_handled_install(m);
    if (m->nonblocking)
        hud_nonblocking_install(m);
    return OMPI_SUCCESS;
}

void hud_module_give_up(ompi_communicator_t *comm)
{
    if (!may_be_near(comm))
        return;
    fprintf(stderr, "huddle: rank %d has no memory left for a communicator; aborting\n",
            (int)OMPI_PROC_MY_NAME->vpid);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
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
    release_below(m);
    hud_room_free(&m->room);
}

static OBJ_CLASS_INSTANCE(hud_module, mca_coll_base_module_t, construct, destruct);

static hud_module *spare; /* for when there is no memory for one: its team has to report that */

void hud_module_prepare(void)
{
    if (spare == NULL)
        spare = OBJ_NEW(hud_module);
}

void hud_module_finish(void)
{
    if (spare != NULL)
        OBJ_RELEASE(spare);
    spare = NULL;
}

mca_coll_base_module_t *hud_module_create(hud_context *context, bool nonblocking)
{
    hud_module *m = OBJ_NEW(hud_module);

    if (m == NULL) {
        m = spare;
        spare = NULL;
    }
    hud_module_prepare();
    if (m == NULL)
        return NULL;
    m->context = context;
    m->nonblocking = nonblocking;
    m->super.coll_module_enable = module_enable;
    return &m->super;
}

size_t hud_module_room(void)
{
    return offsetof(hud_module, comm);
}
