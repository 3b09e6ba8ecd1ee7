/* SPDX-License-Identifier: BSD-3-Clause */
/* teams.h - huddle's own collectives as rows of a measuring program.  A call's `host` points to a
 * struct that begins with a struct teams_host. */
#ifndef BENCH_TEAMS_H
#define BENCH_TEAMS_H

#include "huddle/huddle.h"
#include "shots.h"

struct teams_host {
    hud_team *team;
    enum shots_way way; /* used after a blocking call has set up the team */
    struct teams_kept {
        hud_request *request; /* persistent, of the last call; to be freed at the end */
        struct shots_call of;
    } kept;
};

const struct shots_coll *teams_colls(void); /* terminated by a NULL name */

#endif
