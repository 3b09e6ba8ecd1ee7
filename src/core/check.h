/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - HUDDLE_CHECK: do all members of a team make the same calls, and who keeps the others waiting?
 *
 * Before a collective begins, taken by huddle or not, its members tell each other what they call (rollcall.c).  So all of them know alike
 * whether they agree: where they do not, the first of them says in one line who calls what, and the call goes to the MPI on all of them; huddle's
 * own counters and buffers are not touched.  A member that does not come is named by those that wait for it.
 *
 * A call thus waits until all have come.  MPI allows a collective to do so: a correct program runs as without.
 */
#ifndef HUD_CHECK_H
#define HUD_CHECK_H

#include "core/rollcall.h"
#include "core/team.h"

struct check {
    struct mem mem;           /* the team's, for the lines of the roll call */
    struct mem_policy policy; /* the team's, with a look at the clock in it */
    uint64_t call;            /* number of the last call entered */
    int depth;                /* calls inside each other: an MPI's collective may use another one of the same communicator */
    bool entered;             /* the outermost call is of those that are checked, and has not been left */
    bool said;                /* a difference has been: one line a team is enough */
    uint64_t due_ns, look_ns; /* how long the longest wait may last before the next line; when to look again */
    struct check_member {
        struct roll_record said; /* of the current call */
        int pid;                 /* 0: not known here */
        bool there;              /* has entered the current call */
    } member[];
};

/* Calls of this context's teams are checked. */
static inline bool hud_checks(const struct hud_context *c)
{
    return c->config.number[SET_CHECK] == SWITCH_ON && c->config.number[SET_ON] == SWITCH_ON && c->config.error[0] == '\0';
}

/* The memory for it, before a set-up that nothing may fail in later; NULL: none. */
struct check *hud_check_create(int ranks);
/* The team has been set up.  cards: what its members told of themselves. */
void hud_check_start(struct hud_team *team, const struct peer_card *cards);
/* Frees it.  A team that was set up tells the others, as a call that they should not see. */
void hud_check_free(struct hud_team *team);

/* On entering a call: waits for all members.  True: all make the same call.  False: the caller leaves it to the MPI.  Within another call: true. */
bool hud_check_enter(struct hud_team *team, const struct hud_call *call);
/* On return from what was entered. */
void hud_check_exit(struct hud_team *team);

/* ---- complain.c: the lines.  They are about the current call, and those in it (member[].there). ---- */
void hud_complain_difference(const struct hud_team *team);
void hud_complain_wait(const struct hud_team *team, uint64_t longest_ns, uint64_t now_ns);

/* What a member says when it leaves the team for good. */
#define CHECK_GONE "gone"

#endif
