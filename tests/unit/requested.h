/* SPDX-License-Identifier: BSD-3-Clause */
/* requested.h - ranks as threads, and their requests. */
#ifndef HUD_TESTS_REQUESTED_H
#define HUD_TESTS_REQUESTED_H

#include "gang.h"

static const char *const plain[] = { "HUDDLE_TUNING=off", "HUDDLE_LOG=quiet", NULL };

static inline void on_ranks(int ranks, int teams, const char *const *settings,
                            void (*body)(struct gang_member *m))
{
    struct gang g = { .ranks = ranks, .teams = teams, .body = body };

    for (int r = 0; r < GANG_RANKS; r++)
        g.settings[r] = settings;
    gang_run(&g);
}

static inline void count(void *arg)
{
    ++*(int *)arg;
}

/* A request for a barrier, or, with a view, for a broadcast from rank 0; HUD_PLACE: a place. */
static inline hud_request *create(struct gang_member *m, hud_team *team, const char *name,
                                  struct hud_view *view, int *passed)
{
    struct hud_args args = { .collective = name ? hud_collective(name) : HUD_PLACE, .out = view };
    hud_request *r = NULL;

    MUST(m, hud_request_create(team, &args, &(struct hud_passed){ count, passed }, &r) == HUD_OK);
    return r;
}

static inline void finish(struct gang_member *m, hud_request *r, int status)
{
    int done = 0;

    MUST(m, hud_request_wait(r) == status);
    MUST(m, hud_request_peek(r, &done) == status && done);
    MUST(m, hud_request_test(r, &done) == status && done);
    hud_request_free(r);
}

#endif
