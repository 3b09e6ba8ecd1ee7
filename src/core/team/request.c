/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - nonblocking and persistent calls: not handled yet, on all ranks alike. */
#include "core/team/team.h"

#include <stdlib.h>

struct hud_request {
    struct hud_team *team;
};

int hud_request_create(hud_team *team, const struct hud_args *args, const struct hud_passed *passed,
                       hud_request **out)
{
    if (!out)
        return HUD_ERR_ARGUMENT;
    *out = NULL;
    if (!team || !args || !passed || !passed->start)
        return HUD_ERR_ARGUMENT;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return HUD_ERR_MEMORY;
    (*out)->team = team;
    return HUD_OK;
}

int hud_request_start(hud_request *request)
{
    return request ? HUD_PASS : HUD_ERR_ARGUMENT;
}

int hud_request_test(hud_request *request, int *done)
{
    if (!request || !done)
        return HUD_ERR_ARGUMENT;
    *done = 1;
    return HUD_PASS;
}

int hud_request_wait(hud_request *request)
{
    return request ? HUD_PASS : HUD_ERR_ARGUMENT;
}

void hud_request_free(hud_request *request)
{
    free(request);
}

int hud_progress(hud_context *context)
{
    (void)context;
    return 0;
}

void hud_team_flush(hud_team *team)
{
    (void)team;
}
