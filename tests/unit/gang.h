/* SPDX-License-Identifier: BSD-3-Clause */
/* gang.h - ranks as threads or as forked processes, each with a context and many teams of all,
 * whose exchange can wait or not. */
#ifndef HUD_TESTS_GANG_H
#define HUD_TESTS_GANG_H

#include "calls.h"

enum { GANG_RANKS = 4, GANG_TEAMS = 100 };

struct gang_team {
    struct gang_member *member;
    int number, rounds; /* so far */
    struct gang_pending {
        int round, tests;
        size_t bytes;
        void *all;
    } pending;
    int released;
    hud_team *team;
    unsigned turns;   /* of the host's own collectives, and */
    uint64_t history; /* a hash of them, in order */
};

struct gang_member {
    int rank, ranks, teams;
    hud_context *context;
    struct gang_team team[GANG_TEAMS];
    bool failed;
};

struct gang {
    int ranks, teams;
    bool forks, waits; /* waits: the exchange has an allgather that waits only */
    bool fault_tolerant, threads;
    const char *const *settings[GANG_RANKS];
    const struct hud_messages *messages; /* of the exchange; NULL: none */
    void (*body)(struct gang_member *m);
};

/* Fails where a body's demands were not met. */
void gang_run(const struct gang *gang);

/* Unless it holds: prints that, and gang_run fails. */
void gang_must(struct gang_member *m, bool holds, const char *what, int line);
#define MUST(m, holds) gang_must(m, holds, #holds, __LINE__)

/* All members come here. */
void gang_meet(struct gang_member *m);

/* A number that all members give is the same on all: true on the one that comes last. */
bool gang_agrees(struct gang_member *m, int place, uint64_t number);

void gang_free_team(struct gang_team *t);

/* In place of a team that has made no call: one for such calls alone (hud_team_create_for). */
void gang_make_for(struct gang_team *t, const struct hud_args *args);

#endif
