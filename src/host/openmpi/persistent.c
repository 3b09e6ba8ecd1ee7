/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent.c - persistent requests.  Each has its own team, which is set up with the request.
 *
 * Order       Persistent collectives of a communicator are initialised in the same order on all
 *             ranks, and started in any order, which may differ from rank to rank.  So no request
 *             is part of the order of others, or of the communicator's calls.
 * Fallback    Whether huddle carries out the request is decided at its initialisation, where all
 *             ranks meet; if not, Open MPI's own request is created instead.  The decision is
 *             final: Open MPI's own could only be created at a start, where ranks do not come in
 *             the same order.  If the team is given up later, a process has failed or the program
 *             is wrong; then starts fail with the same error.
 */
#include "request.h"

/* Creates a team for the call, and huddle's request.  If this rank fails, creates a team only to
 * tell the others. */
static int begin(hud_module *m, struct request *r, int status, hud_team **team)
{
    const struct hud_exchange exchange = hud_module_exchange(m);

    *team = NULL;
    if (status == HUD_OK && !hud_request_furnish(r))
        status = HUD_ERR_MEMORY;
    if (status == HUD_OK)
        status = hud_team_create_for(m->context, &exchange, &r->call.args, team);
    if (status == HUD_OK)
        status = hud_request_create(*team, &r->call.args, NULL, &r->request);
    if (*team == NULL && hud_team_create(m->context, &exchange, team) != HUD_OK)
        hud_module_give_up(m->comm);
    if (status != HUD_OK)
        hud_team_decline(*team);
    return status;
}

int hud_persistent_make(hud_module *m, struct request *r, int status)
{
    hud_team *team;

    status = begin(m, r, status, &team);
    if (hud_team_set_up(team) != HUD_OK)
        status = HUD_PASS;
    if (r != NULL) { /* freed with the request */
        r->team = team;
        r->broken = HUD_ERR_UNLIKE;
    } else {
        hud_team_free(team);
    }
    return status;
}

/* Starts requests.  Starting an active request is an error of the program: its call goes on, and
 * the following requests are not started. */
int hud_persistent_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        struct request *r = (struct request *)requests[i];
        if (r->super.super.req_state == OMPI_REQUEST_ACTIVE)
            return MPI_ERR_REQUEST;
        r->super.super.req_complete = REQUEST_PENDING;
        r->super.super.req_state = OMPI_REQUEST_ACTIVE;
        r->super.super.req_status.MPI_ERROR = MPI_SUCCESS;
        r->super.super.req_type = OMPI_REQUEST_COLL;
        r->state = WITH_HUDDLE;
        int status = hud_request_start(r->request);
        if (status != HUD_OK)
            hud_request_store_result(r, status);
        hud_request_hand_over(r);
    }
    return OMPI_SUCCESS;
}

int hud_persistent_judge(struct request *r, int status)
{
    if (status == HUD_PASS)
        return r->broken;
    if (status != HUD_OK)
        r->broken = status;
    return status;
}
