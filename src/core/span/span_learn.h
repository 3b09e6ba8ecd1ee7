/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_learn.h - a span measures the candidates of its cells while the program runs, the MPI's own
 * collective among them, and keeps the fastest of each (HUDDLE_WISDOM).
 *
 * Cell      As of a team on one node (core/call/learn.h): a collective, what its reduction asks of
 *           the order, and a class of sizes.  The size of the first call decides the candidates.
 * Sample    Clocks of nodes differ.  So a sample begins when a rank leaves a barrier of huddle's
 *           own, and is this rank's own time.
 * Agreement Before a call: a small allreduce of huddle's own gives all ranks the longest times.
 * Proof     All ranks choose alike, for the reasons in core/call/learn.h.
 *
 * Broadcasts: proof that a truncation ends with an error, if all broadcasts have one tree of nodes
 *   MPI lets a rank of a wrong program pass a smaller size than the root, and so another cell.
 *   With two nodes there is one tree.  With more nodes the model's tree depends on the size, also
 *   where nothing is measured: then a rank may wait for a node that sends it nothing.
 *   1. The ranks *compare* their sizes before a call of an open cell, before a sample, and before
 *      the MPI's own broadcast: a broadcast of huddle's own, from the same root, brings the root's
 *      size and a hash to all ranks.  A rank with another size ends its calls, and so the calls of
 *      all ranks that wait in huddle.
 *   2. So a call of all ranks that compare counts alike on all ranks, or ends.
 *   3. Let some ranks compare, and others be in the broadcast itself.  Both are broadcasts from the
 *      same root with the same number, and pass the same ranks.  The first message brings its
 *      length to all ranks that wait for it.  Lengths that differ end a rank's calls
 *      (alg/nodes/buffers.h, src/net/net.c).  Equal lengths have data that are not the hash.
 *   4. Before the MPI's own broadcast a barrier follows the comparison.  A rank leaves it when all
 *      ranks have compared equal sizes, so no rank is in the MPI while another rank is in huddle.
 *   5. If no rank compares, all are in the broadcast itself, where 3 holds.
 *   The root of a short broadcast may return before it learns of the end, as without learning.
 *   A call that no cell serves (HUDDLE_WISDOM=read, a full table) is chosen as without learning:
 *   with HUDDLE_NODES=auto and one rank on each node its size may leave it to the MPI.
 *   The learner counts the comparisons of an open cell as time lost (learner.h, Open).  The time of
 *   a comparison is taken after a barrier, like a sample.  A sample of the MPI's own broadcast
 *   includes a comparison and a barrier, which it always needs.  The time that is recorded for it
 *   is without them, as in a program without huddle.
 *
 * Known     What rank 0 knew when the span was set up is decided from the first call on.  The
 *           ranks share no memory.  So the second round of the set-up has a hash of what each rank
 *           knows about such spans, and if the hashes differ, rank 0 broadcasts before the first
 *           call.
 * Bits      Trials never change a result (core/plan/others.c).  The MPI's own reduction serves only
 *           if it is known before the first call, or if the model leaves the call to the MPI
 *           (span_choose.c), and then in all calls.  If the order of the ranks decides the bits of
 *           a reduction, its choice never changes within a run: the known choice, or else the
 *           first algorithm that accepts the call.
 *           An exception are two equal communicators, if one that was set up between them shows
 *           that ranks share processors (hud_place_shares_processors).  Then the first one may
 *           leave a reduction to the MPI, and the second one does not.
 * Cost      A decided call looks up its choice.  One call in LEARNER_EVERY is a sample.
 * Full      A cell for which there is no room is not measured.  Its known choice is fixed.
 */
#ifndef HUD_SPAN_LEARN_H
#define HUD_SPAN_LEARN_H

#include "core/plan/learner.h"
#include "core/span/span.h"

enum {
    SPAN_CELLS = 64,  /* cells of a span; further cells keep their first or known choice */
    SPAN_KNOWN = 128, /* cells about which a rank tells the others */
    SPAN_NO_CELL = UINT8_MAX
};
_Static_assert(SPAN_CELLS + SPAN_KNOWN < SPAN_NO_CELL, "span_learn.cell_of");

struct span_cell {
    struct learner learner;
    struct span_choice choice[LEARNER_CANDIDATES];
    uint64_t ns[LEARNER_BATCH]; /* this rank's samples, not agreed yet */
    uint64_t precede_ns;        /* its shortest time before the MPI's own broadcast in a sample */
    int at;                     /* plan_at */
    int count;                  /* number of choices */
    int mpi;                    /* index of the MPI's own collective, or -1 */
    int first;                  /* the choice as long as nothing has been measured */
    bool known, learned; /* the choice was known at the first call; this span has measured it */
    bool compares;       /* the ranks may pass different sizes */
};

/* What is known about the spans of a shape. */
struct span_table {
    struct span_known {
        uint32_t at;
        struct wisdom_known choice; /* its name is 0 at the end of the table */
    } known[SPAN_KNOWN];
};

struct span_learn {
    struct plan_facts facts;    /* the shape */
    struct span_table table[2]; /* own knowledge, by oversubscribed, until the first call */
    bool shares;                /* rank 0 must broadcast its knowledge before the first call */
    struct hud_op max;
    uint64_t (*clock_ns)(void); /* tests have their own */
    uint64_t *sample_ns;        /* time of the running call; NULL: the call is no sample */
    int nested;                 /* calls within this sample that have not ended */
    uint64_t begin_ns;
    int until_sample; /* calls of decided cells before the next sample */
    uint32_t seed;    /* state from which the distance between samples follows */
    int cells;
    uint8_t cell_of[PLAN_CELLS]; /* 0: no call yet.  Up to SPAN_CELLS: number of a cell plus one.
                                    Above: SPAN_CELLS plus number of a fixed choice plus one.
                                    SPAN_NO_CELL: the first choices serve the calls */
    struct span_cell cell[SPAN_CELLS];
    int fixed_count;
    struct span_choice fixed[SPAN_KNOWN]; /* known choices of cells that are not measured */
};

/* Varies the distance between samples, so that no period of the program coincides with the
 * distance. */
static inline void span_set_distance(struct span_learn *l)
{
    l->seed = l->seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
    l->until_sample = LEARNER_EVERY / 2 + (int)((l->seed >> 16) % LEARNER_EVERY);
}

/* ---- for the set-up ---- */

/* Allocates the memory, if the setting asks for measurements, and looks up what this rank knows.
 * The map is made.  Returns false if out of memory. */
bool hud_span_learn_create(struct span *span);
/* Returns a hash of what this rank knows, which is never 0, or 0 if nothing is measured. */
uint32_t hud_span_learn_hash(const struct span *span);
/* Starts, after the second round. */
void hud_span_learn_start(struct span *span, const struct reply *reply);
/* Returns what is known about a cell, or NULL. */
const struct span_known *hud_span_find_known(const struct span_learn *l, int at);

/* ---- for calls ---- */

/* Opens the cell of a first call. */
void hud_span_open(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at);
/* Begins a call of a cell with a choice (span_learn.cell_of).  All ranks make the call.  Sets
 * *choice.  Returns HUD_OK, or the status with which calls have ended. */
int hud_span_enter(struct hud_team *team, int at, const struct coll *call,
                   const struct span_choice **choice);
/* Returns whether a call is a trial: its choice is not the present choice of its cell. */
static inline bool span_tries(const struct span_learn *l, int at, const struct span_choice *choice)
{
    int number = l->cell_of[at] - 1;

    return number < SPAN_CELLS &&
           choice != &l->cell[number].choice[hud_learner_choice(&l->cell[number].learner)];
}

/* Begins a call on a team with a span: one within the MPI's own collective, if a sample runs. */
void hud_span_nest(struct hud_team *team);
/* Ends a call, of huddle or of the host itself, on a team with a span. */
void hud_span_exit(struct hud_team *team);

/* ---- the choices of a cell (span_candidates.c) ---- */

/* Lists the candidates for calls of a cell, the first choice first, or only a known choice that
 * other candidates must not replace.  known: the name of the choice known as the fastest, or 0.
 * *mpi: index of the MPI's own collective, or -1; *is_known: index of the known choice, or -1.
 * Returns the number of candidates, 0 if huddle makes no such calls. */
int hud_span_candidates(struct span *span, int at, enum coll_kind kind, const struct coll *call,
                        uint32_t known, struct span_choice choice[LEARNER_CANDIDATES], int *mpi,
                        int *is_known);
/* Returns the choice's hud_wisdom_name. */
uint32_t hud_span_choice_number(const struct span_choice *choice);

#endif
