/* SPDX-License-Identifier: BSD-3-Clause */
/* attendance.c - do all members of a team use huddle?  Asked before its set-up, not by message. */
#include "core/team/presence.h"
#include "core/team/setup.h"
#include "mem/kept_errno.h"

#include <stdio.h>

static bool is_present(const struct hud_team *team, int rank)
{
    int world = team->exchange.world_rank(team->exchange.arg, rank);

    return world >= 0 && hud_context_present(team->context, world);
}

static bool is_unlike(const struct hud_team *team, int rank)
{
    int world = team->exchange.world_rank(team->exchange.arg, rank);

    return world >= 0 && hud_context_unlike(team->context, world);
}

/*
 * A team on one node needs what each rank has announced there.  Where some member is not there, all
 * members must have announced themselves to all nodes, also those of this node: so all answer
 * alike, and a member that has not done so answers so, too.
 */
static bool spans(const struct hud_team *team)
{
    const struct hud_context *c = team->context;
    bool all = !c->host.present && c->config.number[SET_NODES] != NODES_OFF && c->host.present_far;

    for (int r = 0; all && r < team->size; r++) {
        int world = team->exchange.world_rank(team->exchange.arg, r);
        all = c->host.present_far(c->host.arg, world) > 0;
    }
    return all;
}

/* Members that the launcher counts but that use no huddle, or run elsewhere, would never answer:
 * known without asking them. */
bool hud_team_is_present(struct hud_team *team)
{
    int absent = 0;

    if (team->presence == PRESENCE_UNKNOWN) {
        KEEP_ERRNO();
        while (team->exchange.world_rank && absent < team->size && is_present(team, absent))
            absent++;
        team->presence = !team->exchange.world_rank || absent == team->size || spans(team)
                             ? PRESENCE_ALL
                             : PRESENCE_SOME;
    }
    return team->presence == PRESENCE_ALL;
}

/* Why another rank is absent, into line; NULL: the host does not say which rank of the job it is.
 * Of one that differs its values are not known. */
static const char *explain(const struct hud_team *team, int absent, char line[static SET_TEXT])
{
    const struct hud_context *c = team->context;
    int world = team->exchange.world_rank(team->exchange.arg, absent);

    if (is_unlike(team, absent))
        snprintf(line, SET_TEXT,
                 "rank %d has another value of HUDDLE_CHECK or HUDDLE_NONBLOCKING than rank %d, "
                 "which has %s and %s (accepted: one value on all ranks)",
                 world, c->host.world_rank, c->config.text[SET_CHECK],
                 c->config.text[SET_NONBLOCKING]);
    else
        snprintf(line, SET_TEXT, "rank %d runs without huddle", world);
    return world >= 0 ? line : NULL;
}

void hud_team_explain_absence(struct hud_team *team)
{
    struct hud_context *c = team->context;
    const char *trouble = c->host.present ? NULL : hud_presence_trouble();
    bool all_here = c->host.local_ranks == c->host.world_size;
    int absent = 0, first = 0;
    char line[SET_TEXT];

    if (trouble || !all_here) {
        hud_context_say(c, REASON_ABSENT, trouble && c->host.world_rank == 0 ? trouble : NULL);
        return;
    }
    /* A rank that is absent to itself cannot tell anything of the others.  They see it as absent
     * and report it, unless they are all like it. */
    if (!is_present(team, team->rank)) {
        hud_context_say(c, REASON_ABSENT,
                        c->host.world_rank == 0 ? "this rank cannot announce itself to the others"
                                                : NULL);
        return;
    }
    while (is_present(team, absent))
        absent++;
    /* (ranks that differ are absent to each other: the first that uses huddle reports it) */
    while (first < team->rank && !is_present(team, first) && !is_unlike(team, first))
        first++;
    hud_context_say(c, REASON_ABSENT, first == team->rank ? explain(team, absent, line) : NULL);
}
