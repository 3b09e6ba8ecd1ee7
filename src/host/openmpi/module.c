/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module.c - a communicator with huddle: its team.  Calls for which huddle returns HUD_PASS fall
 * back to the previous modules (fallback_module.c); this decision is the same on every rank.
 */
#include "exchange.h"

#include "mem/kept_errno.h"

#include <string.h>

/* ---- creation and destruction ---------------------------------------------------------------- */

static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hud_module *m = (hud_module *)base;
    const mca_coll_base_comm_coll_t *table = comm->c_coll;
    struct hud_exchange exchange = hud_module_exchange(m);

    if (table->coll_allgather == NULL)
        return OMPI_ERROR; /* no way to set up a team, the same on every rank */
    m->comm = comm;
    KEEP_ERRNO();
    if (hud_team_create(m->context, &exchange, &m->team) != HUD_OK) {
        hud_module_give_up(comm);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (hud_module_may_be_near(comm) && !hud_module_make_room(m))
        hud_team_decline(m->team); /* the others would wait for a rank that alone has no module */
    huddle_look_again();
    hud_fallback_modules_keep(m);
    hud_handled_install(m);
    if (m->nonblocking)
        hud_nonblocking_install(m);
    return OMPI_SUCCESS;
}

/* Zeroes the fields of huddle.  The constructor of super's class zeroes its own part, in the length
 * of the running release. */
static void construct(hud_module *m)
{
    size_t own = offsetof(hud_module, comm);
    memset((char *)m + own, 0, sizeof *m - own);
}

static void destruct(hud_module *m)
{
    KEEP_ERRNO();
    hud_team_free(m->team);
    hud_fallback_modules_release(m);
    hud_per_rank_free(&m->room);
}

OBJ_CLASS_INSTANCE(hud_module, mca_coll_base_module_t, construct, destruct);

static hud_module *spare; /* used if there is no memory for a module, whose team has to report
                             this */

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
