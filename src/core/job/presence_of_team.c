/* SPDX-License-Identifier: BSD-3-Clause */
/* presence_of_team.c - see presence_of_team.h. */
#include "core/job/presence_of_team.h"
#include "core/job/presence.h"
#include "mem/kept_errno.h"

#include <stdio.h>

static int world_rank(const struct presence_of_team *a, int rank)
{
    return a->exchange->world_rank(a->exchange->arg, rank);
}

static bool is_present(const struct presence_of_team *a, int rank)
{
    int world = world_rank(a, rank);

    return world >= 0 && hud_context_present(a->context, world);
}

static bool is_unlike(const struct presence_of_team *a, int rank)
{
    int world = world_rank(a, rank);

    return world >= 0 && hud_context_unlike(a->context, world);
}

/* Returns whether all members have announced themselves to all nodes.  A team on one node needs
 * only the announcements there.  If some member is elsewhere, all members must have announced
 * themselves to all nodes, also members on this node: so all answer alike, even a member
 * without announcement. */
static bool spans(const struct presence_of_team *a)
{
    const struct hud_context *c = a->context;
    bool all = c->config.number[SET_NODES] != NODES_OFF && c->host.present_far;

    for (int r = 0; all && r < a->ranks; r++)
        all = c->host.present_far(c->host.arg, world_rank(a, r)) > 0;
    return all;
}

bool hud_presence_is_full(const struct presence_of_team *a)
{
    int absent = 0;

    KEEP_ERRNO();
    while (a->exchange->world_rank && absent < a->ranks && is_present(a, absent))
        absent++;
    return !a->exchange->world_rank || absent == a->ranks || spans(a);
}

/* Writes why another rank is absent.  Returns the line, or NULL if the host does not name ranks
 * of the job.  The values of a rank that differs are unknown. */
static const char *explain(const struct presence_of_team *a, int absent, char line[static SET_TEXT])
{
    const struct hud_context *c = a->context;
    int world = world_rank(a, absent);

    if (is_unlike(a, absent))
        snprintf(line, SET_TEXT,
                 "rank %d has another value of HUDDLE_CHECK or HUDDLE_NONBLOCKING than rank %d, "
                 "which has %s and %s (accepted: one value on all ranks)",
                 world, c->host.world_rank, c->config.text[SET_CHECK],
                 c->config.text[SET_NONBLOCKING]);
    else
        snprintf(line, SET_TEXT, "rank %d runs without huddle", world);
    return world >= 0 ? line : NULL;
}

void hud_presence_explain(const struct presence_of_team *a)
{
    struct hud_context *c = a->context;
    const char *why = c->host.present ? NULL : hud_presence_trouble();
    bool all_here = c->host.local_ranks == c->host.world_size;
    int absent = 0, first = 0;
    char line[SET_TEXT];

    if (why || !all_here) {
        hud_context_report(c, REASON_ABSENT, why && c->host.world_rank == 0 ? why : NULL);
        return;
    }
    /* A rank that is absent to itself cannot tell anything of the others.  They see it as absent
     * and report it, unless they are all like it. */
    if (!is_present(a, a->rank)) {
        hud_context_report(
            c, REASON_ABSENT,
            c->host.world_rank == 0 ? "this rank cannot announce itself to the others" : NULL);
        return;
    }
    while (is_present(a, absent))
        absent++;
    /* (ranks that differ are absent to each other: the first that uses huddle reports it) */
    while (first < a->rank && !is_present(a, first) && !is_unlike(a, first))
        first++;
    hud_context_report(c, REASON_ABSENT, first == a->rank ? explain(a, absent, line) : NULL);
}
