/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h - ranks as threads, each with a context and a team of all, that make the same calls and
 * must get the same answers. */
#ifndef HUD_TESTS_CREW_H
#define HUD_TESTS_CREW_H

#include "huddle/huddle.h"

#include <stdbool.h>

enum { CREW_MAX = 5, CREW_CALLS = 512 };

struct rank {
    int number, ranks;
    hud_context *context;
    hud_team *team;
    int status[CREW_CALLS], calls; /* what crew_took was told */
};

/* Runs the body on so many ranks with these settings, NULL-terminated; the calls that huddle took.
 * Fails where answers differ or something was wrong. */
int crew_run(int ranks, const char *const *settings, void (*body)(struct rank *r));

/* What a call answered; true: it was taken, so its result is there. */
bool crew_took(struct rank *r, int status);

/* Unless all is fine: says what was not, once, and lets crew_run fail. */
void crew_must(const struct rank *r, bool fine, const char *what, size_t bytes);

#endif
