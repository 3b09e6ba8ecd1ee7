/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_builder.h - the state of a plan that is being made, and of a planner.  Private to
 * src/core/plan.
 *
 * The plan      plan.c, candidates.c, cells.c, slots.c, layout.c, plan_evict.c; others.c and
 *               others_collect.c add candidates that are tried against the first choices
 * The planner   reserve.c, plan_cache.c
 */
#ifndef HUD_PLAN_BUILDER_H
#define HUD_PLAN_BUILDER_H

#include "core/plan/planner.h"

struct candidate {
    const struct rule *rule; /* NULL: a setting forces the algorithm */
    const struct rules *rules;
    int kind, row; /* row -1: falls back to the MPI */
    size_t min_bytes, max_bytes;
    long param[ALG_PARAMS];
    bool barred;   /* the candidate's slot does not fit */
    bool other;    /* the candidate is only tried against first choices */
    uint8_t entry; /* the entry that the plan has for it; 0: none yet, or not known */
    bool fails;    /* must not be tried: its slot does not fit next to the slots of the first
                    choices, or keeps too much memory */
};

/* A state of a plan, to which others.c returns. */
struct plan_builder_mark {
    int slots, entries;
    size_t total_bytes;
    struct plan_slot slot[PLAN_SLOTS];
    size_t max_bytes[PLAN_ENTRIES];
};

struct plan_builder {
    const struct config *config;
    const struct rules *tuning, *prior; /* prior: hud_planner_prior */
    struct plan *plan;
    struct candidate candidate[PLAN_RULES];
    int count;
    int of_kind[PLAN_RULES];          /* candidates, sorted by collective; otherwise in order */
    int kind_at[COLL_KINDS + 1];      /* index in of_kind of each collective's first candidate */
    int first[PLAN_RULES], firsts;    /* candidates that may serve the current axis */
    size_t class_bytes[PLAN_CLASSES]; /* the size that represents each class: the single
                                                call's, or the largest of the class */
    int16_t winner[PLAN_AXES][PLAN_CLASSES]; /* candidate of each cell; -1: none */
    size_t max_bytes[PLAN_ENTRIES];          /* the largest message of each entry's cells */
    struct plan_builder_mark mark;           /* others.c: without other candidates */
    bool at_once;                            /* others.c: new slots are laid out at the end */
    bool lean;                               /* only reductions have windows */
    bool cramped;                            /* a slot did not fit, or was too small */
};

/* A result of hud_plan_bytes. */
struct reserved {
    int ranks; /* 0: the record is empty */
    struct plan_single_call single_call;
    bool windows, direct;
    size_t max_bytes, bytes;
    uint64_t choices; /* hash of each plan's algorithm for the single call */
};

/* Kinds of teams of one size, told apart by the rules that match them (plan_cache.c). */
enum { PLAN_CACHE_KINDS = 64 };

struct plan_cache {
    const struct rule *rule[PLAN_RULES]; /* rules for this number of ranks, in any places */
    int count;
    bool full; /* there are more such rules than fit */
    struct plan_cache_kind {
        uint64_t serves[PLAN_RULES / 64]; /* a bit for each of these rules that matches */
        uint64_t direct;                  /* plan_facts.direct, since forced algorithms need it */
    } kind[PLAN_CACHE_KINDS];
    int kinds;
};

/* Forgets all teams.  Later teams must have the number of ranks and the single call of these
 * facts. */
void hud_plan_cache_begin(struct plan_cache *a, const struct rules *tuning,
                          const struct rules *prior, const struct plan_facts *facts);
/* Returns whether a team since hud_plan_cache_begin surely had the same plan, of the same size.
 * Otherwise remembers this team, if there is room. */
bool hud_plan_cache_seen(struct plan_cache *a, const struct plan_facts *facts);

enum { RESERVED_KEPT = 32 };

struct planner {
    const struct config *config;
    const struct rules *tuning;
    struct rules prior; /* the table of HUDDLE_LAB_PRIOR; empty: the built-in table is used */
    struct plan_builder builder;
    struct plan plan;        /* memory for the plans that hud_plan_bytes makes */
    struct plan_cache cache; /* the teams of those plans */
    struct reserved kept[RESERVED_KEPT];
    unsigned next; /* counts replacements in `kept` */
    unsigned made; /* number of plans made so far */
};

/* Collects the candidates of a plan.  Ignores the tuning file if there is no room for all of its
 * candidates, and records that in the plan. */
void hud_plan_builder_collect(struct plan_builder *k);
/* Sorts the candidates by collective (of_kind). */
void hud_plan_builder_sort(struct plan_builder *k);
/* Ignores the tuning file from now on, and records that in the plan. */
void hud_plan_builder_leave_tuning(struct plan_builder *k);
/* Adds a candidate, if a team with all the memory of its plan can use it. */
void hud_candidate_add(struct plan_builder *k, struct candidate c);
/* Returns whether the candidate's algorithm accepts messages of a size in a place. */
bool hud_candidate_accepts(const struct candidate *c, size_t bytes, const struct alg_place *place,
                           int ranks);
/* Reduces max_bytes to the largest message that the candidate accepts in a place.  Returns false if
 * the candidate does not even accept min_bytes. */
bool hud_candidate_limit(struct candidate *c, const struct alg_place *place, int ranks);

/* Returns whether a candidate may serve calls of an axis. */
bool hud_plan_builder_serves(const struct plan_builder *k, const struct candidate *c, int axis);
/* Returns whether a candidate can use a slot: the families are the same, and so are all parameters
 * that shape a slot. */
bool hud_plan_builder_share(const struct plan_slot *slot, const struct candidate *c);
/* Returns the slot of a candidate, adding a new one if no slot has its shape.  Returns -1 if the
 * plan is full. */
int hud_plan_builder_slot(struct plan *plan, const struct candidate *c);
/* Returns the entry of a candidate, adding the entry and its slot if necessary.  Returns -1 if the
 * plan is full. */
int hud_plan_builder_entry(struct plan *plan, const struct candidate *c);
/* Sets the size that represents each class. */
void hud_plan_builder_set_bytes(struct plan_builder *k);

/* Keeps the largest size of an entry's cells. */
static inline void plan_builder_keep_bytes(struct plan_builder *k, int entry, size_t bytes)
{
    k->max_bytes[entry] = bytes > k->max_bytes[entry] ? bytes : k->max_bytes[entry];
}

/* Chooses a candidate for each cell, without the barred candidates. */
void hud_plan_builder_choose(struct plan_builder *k);
/* Gives the chosen candidates their entries and slots.  Returns false if the plan is full; then
 * some cells fall back to the MPI. */
bool hud_plan_builder_give_slots(struct plan_builder *k);
/* Returns the entry of the candidate that was chosen for a cell. */
int hud_plan_builder_chosen(const struct plan_builder *k, int axis, int class);
/* Fills the cells of the plan, once its slots are laid out. */
void hud_plan_builder_fill_cells(struct plan_builder *k);
/* Returns -1, or a slot that is too small, as laid out, for the largest message of its entries. */
int hud_plan_builder_check(const struct plan_builder *k);
/* Returns whether an entry accepts messages of a size, as laid out. */
bool hud_plan_builder_accepts(const struct plan *plan, const struct plan_entry *e, size_t bytes);

/* Returns the number of collectives that have sizes which no candidate covers.  reductions: counts
 * only reductions. */
int hud_plan_evict_lacking(const struct plan_builder *k, bool reductions);
/* Gives up a slot, since slot `without` does not fit.  The first of these is given up:
 * 1. slot `without`, if other candidates cover its calls;
 * 2. the last slot with data whose calls other candidates cover;
 * 3. slot `without`.
 * A lean plan first gives up slots that reductions do not need, slots with data before others. */
void hud_plan_evict(struct plan_builder *k, int without);

/* Makes the entries and slots of a plan for its first choices, and no cells.  The first team of a
 * process makes a dozen of such plans only for the size of its slice. */
void hud_plan_make_slots(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                         bool windows, struct plan *plan);
/* Collects the other candidates, by algorithm.  Returns the index of the first one with a value of
 * a parameter's list. */
int hud_others_collect(struct plan_builder *k);
/* Adds candidates to cells that have a first choice, as far as memory is left (others.c). */
void hud_others_add(struct plan_builder *k);
/* Returns whether plans have other candidates. */
bool hud_others_wanted(const struct config *config, bool windows);
/* Returns the maximum size of a slice with other candidates.  bytes: size without them. */
size_t hud_others_bytes(size_t bytes, size_t max_bytes);

#endif
