/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello.h - makes a rank's part of the first round of a set-up, and the verdicts on both rounds
 * that all ranks reach alike.
 */
#ifndef HUD_TEAM_HELLO_H
#define HUD_TEAM_HELLO_H

#include "core/slice/hello.h"
#include "core/team/team.h"

void hud_hello_make(struct hud_team *team, union hello *hello);

/* Writes "NAME=VALUE" of a setting, from a rank's hello, else with the default. */
void hud_hello_value(const union hello *hello, const struct setting *setting, char text[SET_TEXT]);

/* Writes a line about the first setting in which rank 0 and another rank differ.  in_job: ranks
 * have a number in the job, which the user knows. */
void hud_hello_describe_difference(const union hello *all, int other, bool in_job, char *line,
                                   size_t bytes);

/* Prints a line, by the job's rank 0 and once, if huge pages are asked for and some ranks have
 * none.  No choice depends on the pages. */
void hud_hello_explain_pages(struct hud_team *team, const union hello *all);

/*
 * Decides whether a team on one node can be set up.  All ranks get the same answer, since the
 * answer depends on the hellos only.  Sets *bytes to the size of a slice, and *who to the rank to
 * blame for a refusal.  REASON_EXCHANGE: the data of rank *who is not valid.
 */
enum reason hud_hello_verdict(const union hello *all, int ranks, size_t *bytes, int *who);
/* Decides the same for ranks that may be on several nodes. */
enum reason hud_hello_verdict_nodes(const union hello *all, int ranks, size_t *bytes, int *who);
/* Decides the same from the replies.  A slice of `bytes` must fit into each arena at the owner's
 * offset. */
enum reason hud_reply_verdict(const struct reply *all, const union hello *hello, int ranks,
                              size_t bytes, int *who);

#endif
