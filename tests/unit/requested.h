/* SPDX-License-Identifier: BSD-3-Clause */
/* requested.h - helpers for tests of requests on ranks that are threads. */
#ifndef HUD_TESTS_REQUESTED_H
#define HUD_TESTS_REQUESTED_H

#include "ranks.h"

static const char *const plain[] = { "HUDDLE_TUNING=off", "HUDDLE_LOG=quiet", NULL };

static inline void on_ranks(int ranks, int teams, const char *const *settings,
                            void (*body)(struct rank *me))
{
    ranks_run(
        &(struct ranks){ .ranks = ranks, .teams = teams, .settings = settings, .body = body });
}

static inline void count(void *arg)
{
    ++*(int *)arg;
}

/* Creates a request for a barrier, or with a view for a broadcast from rank 0. Without a name,
 * creates a request with HUD_PLACE. */
static inline hud_request *create(struct rank *me, hud_team *team, const char *name,
                                  struct hud_view *view, int *passed)
{
    struct hud_args args = { .collective = name ? hud_collective(name) : HUD_PLACE, .out = view };
    hud_request *r = NULL;

    MUST(me, hud_request_create(team, &args, &(struct hud_passed){ count, passed }, &r) == HUD_OK);
    return r;
}

static inline void finish(struct rank *me, hud_request *r, int status)
{
    int done = 0;

    MUST(me, hud_request_wait(r) == status);
    MUST(me, hud_request_peek(r, &done) == status && done);
    MUST(me, hud_request_test(r, &done) == status && done);
    hud_request_free(r);
}

#endif
