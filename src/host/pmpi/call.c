/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - common parts of calls of all collectives: announcing and ending them. */
#include "host/pmpi/call.h"

void hud_call_announce(const struct call *c)
{
    if (hud_context_checks(hud_job_context()))
        hud_team_enter(c->comm->team, &c->about);
}

static bool settle_side(struct message *messages, int count)
{
    bool good = true;

    for (int r = 0; r < count; r++)
        if (messages[r].closes && !hud_message_close(&messages[r]))
            good = false;
    return good;
}

int hud_call_settle(struct call *c, int status)
{
    bool good = true;

    if (c->opened & OPENED_FROM)
        good = hud_message_close(&c->from) && good;
    if (c->opened & OPENED_TO)
        good = hud_message_close(&c->to) && good;
    if (c->opened & OPENED_IN)
        good = settle_side(c->in, c->comm->size) && good;
    if (c->opened & OPENED_OUT)
        good = settle_side(c->out, c->comm->size) && good;
    return good || status != HUD_OK ? status : HUD_ERR_DEVICE;
}

int hud_open_barrier(struct call *c)
{
    c->args.collective = COLL_BARRIER;
    return HUD_OK;
}

int hud_open_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, struct call *c)
{
    if (root < 0 || root >= c->comm->size)
        return HUD_PASS;
    c->args.collective = COLL_BCAST;
    c->args.root = root;
    c->args.out = &c->to.view;
    int status = message_open(buffer, count, type, c->comm->handle, &c->to);
    if (__builtin_expect(status == HUD_OK, 1))
        c->opened = OPENED_TO;
    return status;
}
