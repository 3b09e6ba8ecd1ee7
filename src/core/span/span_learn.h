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
 * Proof     All ranks choose alike, for the reasons in core/call/learn.h.  A program that passes
 *           different sizes to the ranks of a broadcast is wrong in MPI.  Its ranks may then be in
 *           different cells and wait for ever, as they may in the MPI's own broadcast.
 * Known     What rank 0 knew when the span was set up is decided from the first call on.  The
 *           ranks share no memory.  So the second round of the set-up has a hash of what each rank
 *           knows about such spans, and if the hashes differ, rank 0 broadcasts before the first
 *           call.
 * Bits      If the order of the ranks decides the bits of a reduction, the choice never changes
 *           within a run: it is known before the first call, or the first algorithm that accepts
 *           it.
 * Cost      A decided call looks up its choice.  One call in LEARNER_EVERY is a sample.
 */
#ifndef HUD_SPAN_LEARN_H
#define HUD_SPAN_LEARN_H

#include "core/plan/learner.h"
#include "core/span/span.h"

enum {
    SPAN_CELLS = 64,   /* cells of a span; further cells use the first choices */
    SPAN_KNOWN = 128,  /* cells about which a rank tells the others */
    SPAN_CHOICES = 40, /* that a cell might have, at most */
    SPAN_NO_CELL = UINT8_MAX
};

struct span_cell {
    struct learner learner;
    struct span_choice choice[LEARNER_CANDIDATES];
    uint64_t ns[LEARNER_BATCH]; /* this rank's samples, not agreed yet */
    int at;                     /* plan_at */
    int count; /* number of choices; 1: nothing is measured; 0: the first choices serve the calls */
    int mpi;   /* index of the MPI's own collective, or -1 */
    int first; /* the choice as long as nothing has been measured */
    bool known, learned; /* the choice was known at the first call; this span has decided it */
};

/* What is known about the spans of a shape. */
struct span_table {
    struct span_known {
        uint32_t at, name, ns; /* name: as hud_wisdom_name; 0: the end of the table */
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
    int until_sample; /* calls of decided cells */
    uint32_t seed;    /* for the distance between samples */
    int cells;
    uint8_t cell_of[PLAN_CELLS]; /* number of a cell plus one; 0: none yet; or SPAN_NO_CELL */
    struct span_cell cell[SPAN_CELLS];
};

/* ---- for the set-up ---- */

/* Allocates the memory, if the setting asks for measurements, and looks up what this rank knows.
 * The map is made.  Returns false if out of memory. */
bool hud_span_learn_create(struct span *span);
/* Returns a hash of what this rank knows, which is never 0, or 0 if nothing is measured. */
uint32_t hud_span_learn_hash(const struct span *span);
/* Starts, after the second round. */
void hud_span_learn_start(struct span *span, const struct reply *reply);

/* ---- for calls ---- */

/* Returns the cell of a call, which its first call opens, or NULL if the first choices serve it. */
struct span_cell *hud_span_cell(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                                int at);
/* Begins a call of a cell that all ranks make.  Sets *choice.  Returns HUD_OK, or the status with
 * which calls have ended. */
int hud_span_enter(struct hud_team *team, struct span_cell *cell,
                   const struct span_choice **choice);
/* Begins a call on a team with a span: one within the MPI's own collective, if a sample runs. */
void hud_span_nest(struct hud_team *team);
/* Ends a call, of huddle or of the host itself, on a team with a span. */
void hud_span_exit(struct hud_team *team);

/* ---- the choices of a cell (span_candidates.c) ---- */

/* Lists the candidates for calls of a cell, the first choice first.  known: the name of the choice
 * known as the fastest, or 0.  *mpi: index of the MPI's own collective, or -1;
 * *is_known: index of the known choice, or -1.  Returns their number, 0 if huddle makes no such
 * calls. */
int hud_span_candidates(struct span *span, int at, enum coll_kind kind, const struct coll *call,
                        uint32_t known, struct span_choice choice[LEARNER_CANDIDATES], int *mpi,
                        int *is_known);
/* Writes the algorithm with its parameters that are not SPAN_AUTO, or "mpi". */
void hud_span_choice_name(const struct span_choice *choice, char name[PLAN_ENTRY_NAME]);
/* Returns the choice's hud_wisdom_name. */
uint32_t hud_span_choice_number(const struct span_choice *choice);

#endif
