/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module.c - one communicator under huddle: its team.  Calls for which huddle returns HUD_PASS go
 * to the modules below (below.c), and that decision is the same on every rank.
 */
#include "exchange.h"
#include "messages.h"

#include "mem/kept_errno.h"

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

static void exchange_name(void *arg, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s", ((hud_module *)arg)->comm->c_name);
}

bool hud_module_interrupted(const hud_module *m)
{
    return compat_fault_tolerant() && (compat_revoked(m->comm) || compat_has_failed(m->comm));
}

static int exchange_interrupted(void *arg)
{
    return hud_module_interrupted(arg);
}

static bool asserts_no_devices(ompi_communicator_t *comm)
{
    char kinds[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int given = 0;

    if (OWN(Comm_get_info)(comm, &info) != MPI_SUCCESS)
        return false;
    OWN(Info_get)(info, "mpi_assert_memory_alloc_kinds", MPI_MAX_INFO_VAL, kinds, &given);
    OWN(Info_free)(&info);
    return given && hud_device_is_excluded(kinds);
}

bool hud_module_has_no_devices(hud_module *m)
{
    if (m->devices == DEVICES_UNKNOWN)
        m->devices = asserts_no_devices(m->comm) ? DEVICES_NONE : DEVICES_MAYBE;
    return m->devices == DEVICES_NONE;
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
    hud_team_exit(m->team);
    return code;
}

/* ---- life ------------------------------------------------------------------------------------ */

bool hud_per_rank_allocate(struct per_rank *r, size_t ranks)
{
    size_t each = 2 * sizeof *r->in_states + 2 * sizeof *r->in_views + sizeof *r->block_bytes;

    r->ranks = 0;
    r->in_states = grown_to(&r->memory, ranks * each);
    if (r->in_states == NULL)
        return false;
    memset(r->in_states, 0, ranks * each);
    r->ranks = ranks;
    r->out_states = r->in_states + ranks;
    r->in_views = (struct hud_view *)(r->out_states + ranks);
    r->out_views = r->in_views + ranks;
    r->block_bytes = (size_t *)(r->out_views + ranks);
    return true;
}

void hud_per_rank_free(struct per_rank *r)
{
    grown_free(&r->memory);
    r->ranks = 0;
}

/* The team may have a lease: then its calls must find room on all ranks.  Members on other nodes
 * may be very many. */
static bool may_be_near(ompi_communicator_t *comm)
{
    return (int64_t)ompi_comm_size(comm) <= (int64_t)ompi_process_info.num_local_peers + 1;
}

struct hud_exchange hud_module_exchange(hud_module *m)
{
    return (struct hud_exchange){
        .rank = exchange_rank,
        .size = exchange_size,
        .world_rank = exchange_world_rank,
        .arg = m,
        .name = exchange_name,
        .interrupted = compat_fault_tolerant() ? exchange_interrupted : NULL,
        .start_allgather = hud_exchange_start,
        .test_allgather = hud_exchange_test,
        .messages = &hud_openmpi_messages,
    };
}

static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hud_module *m = (hud_module *)base;
    const mca_coll_base_comm_coll_t *table = comm->c_coll;
    struct hud_exchange exchange = hud_module_exchange(m);

    if (table->coll_allgather == NULL)
        return OMPI_ERROR; /* no way to set a team up; the same on every rank */
    m->comm = comm;
    KEEP_ERRNO();
    if (hud_team_create(m->context, &exchange, &m->team) != HUD_OK) {
        hud_module_give_up(comm);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (may_be_near(comm) && !hud_module_make_room(m))
        hud_team_decline(
            m->team); /* a module that is missing on one rank only would leave the others waiting */
    huddle_look_again();
    hud_below_keep(m);
    hud_handled_install(m);
    if (m->nonblocking)
        hud_nonblocking_install(m);
    return OMPI_SUCCESS;
}

void hud_module_give_up(ompi_communicator_t *comm)
{
    if (!may_be_near(comm) && !hud_openmpi_spans())
        return;
    fprintf(stderr, "huddle: rank %d has no memory left for a communicator; aborting\n",
            (int)OMPI_PROC_MY_NAME->vpid);
    OWN(Abort)(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* The class of super has zeroed its own part, in the length that the running release gives it. */
static void construct(hud_module *m)
{
    size_t own = offsetof(hud_module, comm);
    memset((char *)m + own, 0, sizeof *m - own);
}

static void destruct(hud_module *m)
{
    KEEP_ERRNO();
    hud_team_free(m->team);
    hud_below_release(m);
    hud_per_rank_free(&m->room);
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
