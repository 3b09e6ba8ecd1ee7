/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - what a team can do: which algorithms may serve which calls, and what its slices hold.
 *
 * Made once per team, from facts that all its members share, so that a call only looks up its size.
 *
 *   axis       a collective; a reduction has three axes, by how the order of the ranks affects the
 *              result
 *   class      sizes above a power of two, up to the next; its largest size decides
 *   cell       an axis and a class: the first choice, and others to try against it
 *              (core/call/learn.h)
 *   entry      an algorithm with its parameters and its slot, or the MPI
 *
 * Order of choices: the algorithm that a setting forces; the tuning file; the built-in table.  Of
 * the rules that match, the first one whose algorithm accepts the largest size of the class is the
 * choice.  An algorithm that no call can reach gets no memory.
 *
 * A slice holds, in this order, the same in every member's slice:
 *
 *   slice_head | member | place_table (filled in rank 0's slice only) | roll_slot (only with
 *   HUDDLE_CHECK) | slot of each algorithm in use, those that hold data last, a small window behind
 *   its slot | a line and the team's window (alg/window.c)
 *
 * Entries that name the same algorithm, or one of the same family, share its slot unless they
 * differ in a parameter that shapes it (alg_param.per_call).  Comparisons of sizes
 * (core/call/learn.h) have a slot that no call of the program uses.
 */
#ifndef HUD_PLAN_H
#define HUD_PLAN_H

#include "core/plan/rules.h"
#include "core/slice/place_table.h"
#include "core/slice/roll_slot.h"

enum { PLAN_ENTRIES = 255, PLAN_SLOTS = 40, PLAN_RULES = 512 };

/* Axes of a collective, by the calls on them.
 * PLAN_ANY_ORDER   no reduction, or a result with the same bits in any order of the ranks
 * PLAN_IN_ORDER    reductions that must combine the ranks in order
 * PLAN_INEXACT     reductions that may combine the ranks in any order, which changes bits */
enum { PLAN_ANY_ORDER = 0, PLAN_IN_ORDER = COLL_KINDS, PLAN_INEXACT = 2 * COLL_KINDS };
enum { PLAN_AXES = 3 * COLL_KINDS };

static inline int plan_axis(enum coll_kind kind, const struct hud_op *reduction)
{
    return (int)kind + (!reduction                ? PLAN_ANY_ORDER
                        : !reduction->commutative ? PLAN_IN_ORDER
                        : !reduction->exact       ? PLAN_INEXACT
                                                  : PLAN_ANY_ORDER);
}

static inline bool plan_axis_in_order(int axis)
{
    return axis / COLL_KINDS == PLAN_IN_ORDER / COLL_KINDS;
}

/* Classes of sizes: up to 8 bytes, 16, 32, 64, 112, 128, 256, ... 32 MB, and above.  A line of
 * HUD_LINE bytes carries up to 112 bytes and its flags. */
enum { PLAN_CLASS_BITS = 3, PLAN_CLASSES = 25, PLAN_LINE_CLASS = 4, PLAN_LINE_BYTES = 112 };

static inline int plan_class(size_t bytes)
{
    if (bytes <= (size_t)1 << PLAN_CLASS_BITS)
        return 0;
    int bits = 64 - __builtin_clzll(bytes - 1),
        class = bits - PLAN_CLASS_BITS + (bytes > PLAN_LINE_BYTES);

    return class < PLAN_CLASSES ? class : PLAN_CLASSES - 1;
}

enum { PLAN_CELLS = PLAN_AXES * PLAN_CLASSES };

/* Returns the largest size of a class. */
static inline size_t plan_class_bytes(int class)
{
    return class == PLAN_CLASSES - 1 ? SIZE_MAX
           : class == PLAN_LINE_CLASS
               ? PLAN_LINE_BYTES
               : (size_t)1 << (class + PLAN_CLASS_BITS - (class > PLAN_LINE_CLASS));
}

_Static_assert((int)MEMBER_FELL_BACK == (int)PLAN_SLOTS, "a member counts the calls of each slot");

/* The call of a single-call team, which makes the same call again and again.  Its plan has one
 * algorithm. */
struct plan_single_call {
    bool enabled; /* the team is a single-call team */
    int axis;
    size_t bytes;
};

/* The facts about a team that decide its plan: those that the conditions of rules name (rules.h),
 * and the call of a single-call team. */
struct plan_facts {
    int ranks;
    int nodes; /* number of nodes of the team's span; 0: the team is on one node */
    struct plan_single_call single_call;
    bool oversubscribed;
    bool direct;  /* the ranks can reach each other's memory, so direct algorithms may serve */
    bool quick;   /* direct, and either the kernel copies quickly for each rank
                     (core/arena/direct.h), or the ranks' memory stays mapped */
    bool divided; /* a level of the memory hierarchy has the ranks in several units */
    char within[TOPO_NAME]; /* the lowest level that holds all ranks, or "machine" */
};

/* Returns whether a row's algorithm needs direct access to other ranks' memory, which the team does
 * not have. */
static inline bool plan_lacks_direct(int row, const struct plan_facts *facts)
{
    return row >= 0 && hud_shm_algs[row]->family->direct && !facts->direct;
}

/* The largest window, in bytes, that an algorithm gets for itself if memory allows.  Small calls of
 * different algorithms in turn then do not wait for each other. */
enum { PLAN_OWN_WINDOW = 64 << 10 };

struct plan_slot {
    int row;       /* row of alg.def: one of the algorithms that use the slot */
    bool compares; /* only comparisons of sizes use the slot */
    struct alg_place place;
    long param[ALG_PARAMS]; /* the parameters for which the slot was laid out */
};

/* An algorithm with its parameters, or the MPI. */
struct plan_entry {
    int16_t row;  /* row of alg.def; -1: the MPI's own collective */
    int16_t slot; /* index of plan.slot; -1: the call falls back to the MPI */
    long param[ALG_PARAMS];
};

/* The first entries.
 * PLAN_NOTHING   no algorithm handles the call
 * PLAN_MPI       the choice is the MPI's own collective
 * PLAN_OPEN      the choice is not made yet, so the call takes the slow path
 * The entries of algorithms follow. */
enum { PLAN_NOTHING, PLAN_MPI, PLAN_OPEN, PLAN_FIRST_ENTRY };

enum { PLAN_CANDIDATES = 7 };
enum { PLAN_COMPARED = 32 }; /* bytes that the ranks of a broadcast compare */

struct plan_cell {
    const struct rule *rule;   /* the rule that names the first choice; NULL: a setting forces the
                                  choice, or no algorithm handles the calls */
    const struct rules *rules; /* the table of that rule */
    uint8_t count;             /* number of candidates, at least 1 */
    uint8_t tried; /* the first ones of them, which may be tried; the others serve only if wisdom
                      names them, from the first call on, since they may change bits */
    uint8_t candidate[PLAN_CANDIDATES]; /* entries; the first choice comes first */
};

struct plan {
    struct plan *next; /* the next plan of the context */
    int teams;         /* number of teams that use the plan */
    bool too_rich; /* the tuning file has more choices for such a team than a plan holds, and was
                      ignored */
    struct plan_facts facts;
    size_t max_bytes; /* the plan was made for slices of at most this size */
    bool windows;     /* the plan may use algorithms that need a window */
    struct plan_cell cell[PLAN_AXES][PLAN_CLASSES];
    int entries;
    struct plan_entry entry[PLAN_ENTRIES];
    int compare; /* entry of an allreduce of PLAN_COMPARED bytes in its own slot, or PLAN_NOTHING */
    const struct plan_entry *choice[PLAN_CELLS]; /* the first choices; valid once the plan has its
                                                    final address */
    size_t roll_offset;                          /* offset of the roll_slot in a slice */
    size_t slots_offset;                         /* offset of the first slot */
    int slots;
    struct plan_slot slot[PLAN_SLOTS];
    size_t total_bytes; /* size of a slice; 0 if no algorithm has a place in it */
};

/* Returns why a rule does not serve calls of such a team on an axis at a size, in words, or NULL if
 * the rule matches.  hud_rule_misfit_team considers only the team. */
const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, int axis,
                            size_t bytes);
const char *hud_rule_misfit_team(const struct rule *rule, const struct plan_facts *facts);

/* Sets the parameters of an algorithm: each one to the user's setting, else to the rule's value,
 * else to the algorithm's preset.  rule may be NULL. */
void hud_plan_params(const struct config *config, const struct rule *rule, int row,
                     long param[ALG_PARAMS]);

/* Returns the minimum size that a rule serves: the rule's own minimum, or the size from which the
 * time model predicts less time than for the algorithm of `cheaper_than`.  Returns SIZE_MAX if
 * there is no such size. */
size_t hud_rule_min_bytes(const struct rule *rule, const struct plan_facts *facts);

enum plan_reject { REJECT_DIRECT, REJECT_ORDER, REJECT_CALL, REJECT_MEMORY };
/* Returns why an algorithm does not serve calls of a size, which fall back to the MPI.  row: a row
 * of alg.def, or -1 for the MPI's own collective.  rule: the rule with the algorithm, or NULL if a
 * setting forces it. */
enum plan_reject hud_plan_reject(const struct config *config, const struct plan *plan,
                                 const struct rule *rule, int row, int axis, size_t bytes);
enum { REJECT_TEXT = 128 };
/* Writes the reason in words, with the settings that matter. */
void hud_plan_reject_text(const struct config *config, const struct plan *plan,
                          enum plan_reject lack, char text[REJECT_TEXT]);

/* Lays out the plan's slots in a slice of max_bytes (layout.c).  Returns -1, or a slot that does
 * not fit. */
int hud_plan_lay_out(const struct config *config, struct plan *plan);

/* Returns the maximum size of a team's slice in an arena. */
size_t hud_plan_lease_bytes(const struct config *config);

/* Returns the setting that gives such a plan more memory: SET_LEASE or SET_MEMORY. */
int hud_plan_limit(const struct config *config, const struct plan *plan);

bool hud_plan_single_call_equal(const struct plan_single_call *a, const struct plan_single_call *b);
bool hud_plan_facts_equal(const struct plan_facts *a, const struct plan_facts *b);

/* Returns whether a condition `within` ("" is none) is met. */
bool hud_plan_is_within(const char *within, const struct plan_facts *facts);

/* Sets `within` and `divided` of the facts from the places of the ranks. */
void hud_plan_locate(const struct place_table *table, struct plan_facts *facts);

static inline const struct plan_cell *plan_cell_at(const struct plan *plan, int at)
{
    return &plan->cell[at / PLAN_CLASSES][at % PLAN_CLASSES];
}

static inline const struct plan_cell *plan_cell(const struct plan *plan, int axis, size_t bytes)
{
    return &plan->cell[axis][plan_class(bytes)];
}

/* Returns the first choice for a call. */
static inline const struct plan_entry *plan_find(const struct plan *plan, int axis, size_t bytes)
{
    return &plan->entry[plan_cell(plan, axis, bytes)->candidate[0]];
}

/* Writes the algorithm of an entry with the parameters that differ from their presets, such as
 * "slices fragment=4096", or "mpi". */
enum { PLAN_ENTRY_NAME = 160 };
void hud_plan_entry_name(const struct plan_entry *entry, char name[PLAN_ENTRY_NAME]);

/* Returns the last class, from `class` on, with the same first choice for the same reason. */
int hud_plan_same_up_to(const struct plan *plan, int axis, int class);

/* Stores the first choices of all cells in choice[PLAN_CELLS], for the fast path. */
void hud_plan_first_choices(const struct plan *plan, const struct plan_entry **choice);

/* Returns the place of a call's cell in such a table. */
static inline int plan_at(int axis, size_t bytes)
{
    return axis * PLAN_CLASSES + plan_class(bytes);
}

#endif
