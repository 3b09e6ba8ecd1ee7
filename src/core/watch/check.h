/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - HUDDLE_CHECK: do all members of a team make the same calls, and which member keeps the
 * others waiting?
 *
 * Before each collective, handled by huddle or not, the members exchange what they call
 * (rollcall.c). So all know alike whether they agree.  If they differ, the first of them prints one
 * line with each member's call, and the call falls back on all of them; huddle's own counters and
 * buffers are not touched.  The context's watch names members that do not come, or do not come
 * back.
 *
 * So a call waits until all members have come.  MPI allows this for every collective, so a correct
 * program runs as without HUDDLE_CHECK.
 */
#ifndef HUD_CHECK_H
#define HUD_CHECK_H

#include "core/team/team.h"
#include "core/watch/rollcall.h"

enum check_stage {
    CHECK_IDLE,   /* no call */
    CHECK_SET_UP, /* the first call: the members have not met yet */
    CHECK_COMING, /* a call that not all members have entered */
    CHECK_INSIDE  /* a call that all members have entered */
};
enum { CHECK_NAME = 128 };

struct check {
    /* State of the thread that makes the call: */
    struct mem mem; /* handle of the team, for the lines of the roll call */
    struct mem_policy
        policy;    /* policy of mem: waits in the roll call are outside of the algorithm's guard */
    int depth;     /* number of nested calls: an MPI's collective may use another one of the same
                     communicator */
    bool entered;  /* the outermost call is checked, and has not returned */
    bool alike;    /* all members make the same outermost call, as far as is known */
    bool reported; /* a difference was printed: one line per team is enough */
    /* Under the lock of the context's watch: */
    struct check *prev, *next; /* neighbours in the watch's list */
    const struct hud_team *team;
    enum check_stage stage;
    uint64_t call;        /* number of the last call entered */
    uint64_t since_ns;    /* moment at which the stage began */
    uint64_t due_ns;      /* maximum time until the next line */
    struct mem watch_mem; /* mem for the watch's thread */
    char name[CHECK_NAME];
    struct check_member {
        struct roll_record record; /* record of the current call, at the last check */
        bool there;                /* has entered the current call */
        bool back;                 /* has returned from it */
        int pid;                   /* 0: not known here */
    } member[];
};

/* Returns whether calls of this context's teams are checked. */
static inline bool hud_checks(const struct hud_context *c)
{
    return c->config.number[SET_CHECK] == SWITCH_ON && c->config.number[SET_ON] == SWITCH_ON &&
           c->config.error[0] == '\0';
}

/* Creates a check before the team's set-up, since nothing may fail later.  Returns NULL if out
 * of memory. */
struct check *hud_check_create(struct hud_team *team);
/* Starts the check of a team that has been set up.  cards: cards of its members. */
void hud_check_start(struct hud_team *team, const struct peer_card *cards);
/* Ends the check, if there is one.  In a team after its set-up, publishes a call (CHECK_GONE)
 * for the others to miss. */
void hud_check_free(struct hud_team *team);

/* Enters a call of a team that is ready, and waits for all members.  Returns HUD_OK if all make
 * the same call, HUD_PASS if the caller must fall back, the answer of the outer call within
 * another call, or another status if a member cannot come any more, and the call fails. */
int hud_check_enter(struct hud_team *team, const struct hud_announced *call);
/* Leaves that call. */
void hud_check_exit(struct hud_team *team);

/* Prints the missing members if it is time to.  Called by the watch, under its lock. */
void hud_check_report_missing(struct check *check);

/* ---- rollcall_report.c: the lines, under that lock, about the current call and member[] ---- */
void hud_rollcall_report_difference(const struct check *check);
void hud_rollcall_report_wait(struct check *check, uint64_t longest_ns, uint64_t now_ns);

/* The name of the call that a member publishes when it leaves the team for good. */
#define CHECK_GONE "gone"

#endif
