/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - what a team does: which algorithm takes which calls, and what its slices hold.
 *
 * Made once per team, from facts that all its members share, so that a call only looks up its size.
 * Order: what the user forces; the tuning file; the built-in table; of the rules that fit, the
 * first whose algorithm takes the call.  An algorithm that no call can reach gets no memory.
 *
 * A slice holds, in this order, the same in every member's slice:
 *
 *   slice_head | member | place_table (filled in rank 0's slice only) | roll_slot (only with
 *   HUDDLE_CHECK) | slot of each algorithm in use, those that hold data last, a small window behind
 *   its slot | a line and the team's window (alg/window.c)
 *
 * Rules that name the same algorithm, or one of the same family, share its slot unless they differ
 * in a parameter that shapes it (alg_param.per_call).
 */
#ifndef HUD_PLAN_H
#define HUD_PLAN_H

#include "core/check/rollcall.h"
#include "core/choose/rules.h"
#include "core/team/member.h"
#include "core/team/vacate.h"

enum { PLAN_ENTRIES = 256, PLAN_SLOTS = 40, PLAN_RULES = 512 };

/* Axes of sizes: each collective, and again each reduction that must take the ranks in order. */
enum { PLAN_AXES = 2 * COLL_KINDS };

static inline int plan_axis(enum coll_kind kind, bool ordered)
{
    return (int)kind + (ordered ? (int)COLL_KINDS : 0);
}

/* Rank 0's view of where the ranks are, for all. */
struct place_table {
    int32_t levels;
    int32_t oversubscribed; /* ranks outnumber the processors they may use */
    int32_t intel;          /* the processors are Intel's */
    int32_t seen;           /* rank 0 knows the machine, or the places of these ranks on it */
    int64_t cache_bytes;    /* a rank's share of the largest cache that ranks share, 0: not known */
    struct topo_caches caches; /* the largest ones of the machine */
    char name[SHAPE_LEVELS][TOPO_NAME];
    int16_t unit[]; /* [level * ranks + rank]; the row behind the levels is of the caches */
};
enum { PLACE_LEVELS = SHAPE_LEVELS - 1 }; /* at most; a row is left for the caches */

enum {
    MEMBER_OFFSET = (sizeof(struct slice_head) + HUD_LINE - 1) / HUD_LINE * HUD_LINE,
    PLACE_OFFSET =
        (MEMBER_OFFSET + sizeof(struct member_state) + HUD_LINE - 1) / HUD_LINE * HUD_LINE
};
_Static_assert((int)MEMBER_FELL_BACK == (int)PLAN_SLOTS, "a member counts the calls of each slot");

/* A team whose calls are all alike: its plan has one algorithm, for them. */
struct plan_only {
    bool is;
    int axis;
    size_t bytes;
};

/* What rules may ask of a team; and the calls that it makes, where these are known. */
struct plan_facts {
    int ranks;
    struct plan_only only;
    bool oversubscribed;
    bool direct;  /* the ranks can reach each other's memory: algorithms that need it may serve */
    bool quick;   /* and the kernel copies quickly for each of them (core/arena/direct.h), or their
                    memory stays mapped */
    bool intel;   /* the processors are Intel's, here or by the machine's description */
    bool divided; /* a level of the memory hierarchy has the ranks in several units */
    char within[TOPO_NAME]; /* the lowest level that holds all ranks, or "machine" */
};

/* The row of an algorithm that reaches into other ranks' memory, and such a team cannot. */
static inline bool plan_lacks_direct(int row, const struct plan_facts *facts)
{
    return row >= 0 && hud_shm_algs[row]->family->direct && !facts->direct;
}

/* The largest window, bytes, that is its algorithm's own where memory allows: small calls of
 * different algorithms in turn shall not wait for each other. */
enum { PLAN_OWN_WINDOW = 64 << 10 };

struct plan_slot {
    int row; /* of alg.def: one of those that it serves */
    struct alg_place place;
    long param[ALG_PARAMS]; /* that shaped it */
};

/* Calls of a collective up to max_bytes, and above those of the entry before. */
struct plan_entry {
    size_t max_bytes;
    int16_t row;    /* of alg.def */
    int16_t second; /* the entry that a team tries against this one (core/team/adapt.h); 0: none */
    int slot;       /* -1: falls back to the MPI */
    long param[ALG_PARAMS];
    const struct rule *rule;   /* NULL: forced by a setting, or nothing takes these */
    const struct rules *rules; /* that the rule is of */
};

struct plan {
    struct plan *next; /* of a context's */
    int teams;         /* that have it */
    bool too_rich; /* the tuning file has more choices for such a team than a plan holds, and was
                      left aside */
    struct plan_facts facts;
    size_t max_bytes; /* of a slice, that it was made for */
    bool windows;
    int first[PLAN_AXES + 1]; /* entries of an axis: first[axis] .. first[axis + 1] - 1, ascending,
                                 the last one without end */
    int entries;              /* in all; behind those of the axes are second candidates */
    struct plan_entry entry[PLAN_ENTRIES];
    size_t roll_offset; /* of the roll_slot */
    int slots;
    struct plan_slot slot[PLAN_SLOTS];
    size_t total_bytes; /* of a slice; 0: no algorithm has a place in it */
};

/* Why a rule does not serve a team of that kind at a size, or at any, in words; NULL: it would,
 * unless one before it does. */
const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, size_t bytes);
const char *hud_rule_misfit_team(const struct rule *rule, const struct plan_facts *facts);

/* Values for an algorithm: the user's wish, else the rule's, if there is one, else the algorithm's
 * own. */
void hud_plan_params(const struct config *config, const struct rule *rule, int row,
                     long param[ALG_PARAMS]);

/* The minimum size that a rule is for: its own, or from where the time model has its algorithm take
 * less than the one that it names; SIZE_MAX: none. */
size_t hud_rule_min_bytes(const struct rule *rule, const struct plan_facts *facts);

/* Why an algorithm does not serve calls of that size, where the plan leaves them to the MPI.  row:
 * of alg.def, -1: the MPI's own.  rule: that names it; NULL: a setting does. */
enum plan_lack { LACK_DIRECT, LACK_ORDER, LACK_CALL, LACK_MEMORY };
enum plan_lack hud_plan_lack(const struct config *config, const struct plan *plan,
                             const struct rule *rule, int row, int axis, size_t bytes);
/* In words, with the settings that matter. */
enum { LACK_TEXT = 128 };
void hud_plan_lack_text(const struct config *config, const struct plan *plan, enum plan_lack lack,
                        char text[LACK_TEXT]);

/* Places the plan's slots in a slice of max_bytes.  Returns -1, or the slot that has no room
 * (layout.c). */
int hud_plan_lay_out(const struct config *config, struct plan *plan);

/* Most that one team takes of an arena. */
size_t hud_plan_lease_bytes(const struct config *config);

/* The setting that gives such a plan more memory: SET_LEASE or SET_MEMORY. */
int hud_plan_limit(const struct config *config, const struct plan *plan);

bool hud_plan_only_equal(const struct plan_only *a, const struct plan_only *b);
bool hud_plan_facts_equal(const struct plan_facts *a, const struct plan_facts *b);

/* Where the table has the ranks: `within` and `divided`. */
void hud_plan_locate(const struct place_table *table, struct plan_facts *facts);

/* The entry that takes a call, in constant time for all practical purposes. */
static inline const struct plan_entry *plan_find(const struct plan *plan, int axis, size_t bytes)
{
    const struct plan_entry *e = &plan->entry[plan->first[axis]];

    while (bytes > e->max_bytes)
        e++;
    return e;
}

#endif
