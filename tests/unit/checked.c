/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.c - see checked.h. */
#include "checked.h"
#include "captured.h"

const char *const checked_settings[] = { "HUDDLE_CHECK=on", "HUDDLE_CHECK_TIMEOUT=1", NULL };

const char *checked_stderr(struct ranks all)
{
    all.ranks = RANKS;
    all.blocking = true;
    all.name = "everybody";
    all.settings = checked_settings;
    struct fork_team team = ranks_to_start(&all);
    captured_begin();
    int status = fork_team_run(&team);
    const char *text = captured_end();
    if (status != 0)
        fail_msg("%s", text);
    return text;
}

const char *checked_stderr_of(void (*body)(struct rank *r))
{
    return checked_stderr((struct ranks){ .body = body });
}

void checked_enter(struct rank *r, const char *what, int root, size_t bytes, const char *detail)
{
    const struct hud_announced call = {
        .name = what, .root = root, .bytes = bytes, .detail = detail
    };

    MUST(r, hud_team_enter(r->team, &call) == HUD_OK);
}
