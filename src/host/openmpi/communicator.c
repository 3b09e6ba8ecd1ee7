/* SPDX-License-Identifier: BSD-3-Clause */
/* communicator.c - facts about a communicator with huddle, and the memory for its ranks. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hud_module_interrupted(const hud_module *m)
{
    return compat_fault_tolerant() && (compat_revoked(m->comm) || compat_has_failed(m->comm));
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

int hud_module_leave(hud_module *m, int code)
{
    hud_team_exit(m->team);
    return code;
}

bool hud_per_rank_allocate(struct per_rank *r, size_t ranks)
{
    size_t each = 2 * sizeof *r->in_states + 2 * sizeof *r->in_views + sizeof *r->block_bytes;

    r->ranks = 0;
    r->in_states = scratch_array_reserve(&r->memory, ranks * each);
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
    scratch_array_free(&r->memory);
    r->ranks = 0;
}

bool hud_module_may_be_near(ompi_communicator_t *comm)
{
    return (int64_t)ompi_comm_size(comm) <= (int64_t)ompi_process_info.num_local_peers + 1;
}

void hud_module_give_up(ompi_communicator_t *comm)
{
    if (!hud_module_may_be_near(comm) && !hud_openmpi_spans())
        return;
    fprintf(stderr, "huddle: rank %d has no memory left for a communicator; aborting\n",
            (int)OMPI_PROC_MY_NAME->vpid);
    OWN(Abort)(MPI_COMM_WORLD, EXIT_FAILURE);
}
