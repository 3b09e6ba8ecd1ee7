/* SPDX-License-Identifier: BSD-3-Clause */
/* making.h - a plan that is being made: candidates.c, plan.c, and second.c for second candidates;
 * and a planner, reserve.c with alike.c.  Private to src/core/choose. */
#ifndef HUD_MAKING_H
#define HUD_MAKING_H

#include "core/choose/planner.h"

struct candidate {
    const struct rule *rule; /* NULL: forced */
    const struct rules *rules;
    int kind, row; /* row -1: falls back to the MPI */
    size_t min_bytes, max_bytes;
    long param[ALG_PARAMS];
    bool barred; /* its slot has no room */
    bool alone;  /* the same, next to the slots of all first candidates: it is no second one */
};

struct making {
    const struct config *config;
    const struct rules *tuning;
    struct plan *plan;
    struct candidate candidate[PLAN_RULES];
    int count;
    int of_kind[PLAN_RULES];       /* candidates by collective, in their order */
    int kind_at[COLL_KINDS + 1];   /* where a collective's begin there */
    int first[PLAN_RULES], firsts; /* of the axis that is cut: candidates that may serve it */
    int winner[PLAN_ENTRIES];      /* candidate of each of the plan's entries, -1: none */
    int second[PLAN_ENTRIES];      /* the same for second candidates */
    bool lean, cramped; /* windows for reductions only; a slot has found no room, or too little */
    bool seconds;       /* entries get second candidates */
};

/* What hud_plan_bytes has found. */
struct reserved {
    int ranks; /* 0: nothing yet */
    struct plan_only only;
    bool windows, direct;
    size_t max_bytes, bytes;
    uint64_t choices; /* a hash: what takes those calls in each plan */
};

/* Teams of as many ranks, by the rules that may serve them (alike.c). */
enum { ALIKE_KINDS = 64 };

struct alike {
    const struct rule *rule[PLAN_RULES]; /* for so many ranks, wherever they are */
    int count;
    bool full; /* there are more */
    struct alike_kind {
        uint64_t serves[PLAN_RULES / 64]; /* a bit of each of these rules */
        uint64_t direct;                  /* of the facts, which forced algorithms need, too */
    } kind[ALIKE_KINDS];
    int kinds;
};

/* Forgets all teams.  Later ones have the ranks of these facts, and their calls if these are all
 * alike. */
void hud_alike_begin(struct alike *a, const struct rules *tuning, const struct plan_facts *facts);
/* Whether a team since then has the same plan for certain, with as many bytes.  False: not known;
 * remembers this one, if there is room. */
bool hud_alike_seen(struct alike *a, const struct plan_facts *facts);

enum { RESERVED_KEPT = 32 };

struct planner {
    const struct config *config;
    const struct rules *tuning;
    struct making making;
    struct plan plan;   /* of those that hud_plan_bytes makes */
    struct alike alike; /* of their teams */
    struct reserved kept[RESERVED_KEPT];
    unsigned next; /* of kept, to be replaced */
    unsigned made; /* plans so far */
};

/* Makes the candidates of a plan.  The plan records a tuning file that has more than there is room
 * for, and does without it; leave_tuning: it does. */
void hud_making_collect(struct making *k);
void hud_making_leave_tuning(struct making *k);
/* Its algorithm takes messages of that size, in that place. */
bool hud_candidate_takes(const struct candidate *c, size_t bytes, const struct alg_place *place,
                         int ranks);
/* Sets max_bytes to the largest message up to it that it takes; false: not even the minimum. */
bool hud_candidate_limit(struct candidate *c, const struct alg_place *place, int ranks);
/* Calls may get second candidates. */
bool hud_making_adapts(const struct making *k);

/* Whether a candidate may serve calls of an axis. */
bool hud_making_serves(const struct making *k, const struct candidate *c, int axis);
/* One slot serves both: the same family, and nothing that shapes it differs. */
bool hud_making_share(const struct plan_slot *slot, const struct candidate *c);
/* The slot of a candidate, a new one if none has its shape; -1: a plan holds no more. */
int hud_making_slot(struct plan *plan, const struct candidate *c);

/* Cuts the axes of sizes anew, as candidates were barred.  False: more pieces than a plan holds. */
bool hud_making_cut(struct making *k);

/* How many collectives, or of these reductions, have sizes that no candidate covers. */
int hud_room_lacking(const struct making *k, bool reductions);
/* Slot `without` has no room.  It is given up, if what it serves has another; else one whose loss
 * leaves nothing uncovered that is covered now, the last collectives' first; else it is, too.  A
 * lean plan gives up what reductions can do without, data first. */
void hud_room_find(struct making *k, int without);

/* The second candidate for calls of that size, whose first one is `winner`; -1: none, or none is
 * asked for.  *max_bytes: the size up to which that stays so, at most what it was. */
int hud_second_find(const struct making *k, int axis, size_t bytes, int winner, size_t *max_bytes);
/* Entries and slots of the second candidates, behind those of the first ones.  False: a plan holds
 * no more. */
bool hud_second_add(struct making *k);
/* Fewer second candidates, as a slot (-1: any) has no room, or too little.  firsts: slots of first
 * candidates.  False: there is no second candidate. */
bool hud_second_drop(struct making *k, int slot, int firsts);

#endif
