/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.h - a cell of the learner on a simulated machine.  A call takes as long as the test says, so
 * the test knows the best candidate and what each call loses.  The budget is checked in all calls.
 */
#ifndef HUD_TESTS_CELL_H
#define HUD_TESTS_CELL_H

#include "core/plan/learner.h"

enum { US = 1000, MS = 1000 * US, ALLOWANCE = MS };

/* A cell, the machine on which its calls run, and what they took. */
struct cell {
    struct learner l;
    uint64_t (*cost)(const struct cell *c, int candidate); /* returns the time without noise */
    uint64_t base[LEARNER_CANDIDATES];
    unsigned noise_percent; /* share of calls that take 10 times as long */
    unsigned flip;          /* calls between two states of the machine */
    uint64_t open_ns;       /* what a call costs more in an open cell */
    uint32_t random;

    uint64_t ns[LEARNER_BATCH];
    uint64_t calls, agreements, total_ns, best_ns; /* best: of the best candidate in each call */
    uint64_t made[LEARNER_CANDIDATES], sampled[LEARNER_CANDIDATES], changes;
    int until_asked, sampled_by[LEARNER_BATCH], choice;
    bool even;        /* samples of a decided cell have equal distances */
    bool unaccounted; /* times are not the candidates', or there is no budget */
    /* What the budget allows, by the test's own account. */
    int first;                      /* choice with which the trial began */
    bool known[LEARNER_CANDIDATES]; /* has been agreed in this trial */
    uint64_t lost_ns, taken_ns, saved_ns, worst_turn_ns;
    uint64_t opened, rested; /* calls that lost open_ns; calls of open cells that did not */
};

/* Returns a number below `below`. */
unsigned cell_draw(uint32_t *random, unsigned below);

/* Starts a cell with constant costs, `base`.  percent may be NULL. */
void cell_begin(struct cell *c, int candidates, int present, int mpi, const uint64_t base[],
                const uint16_t percent[]);
/* Makes a call.  Returns its candidate. */
int cell_make(struct cell *c);
void cell_make_many(struct cell *c, uint64_t calls);
/* Makes calls until the cell is decided.  Returns their number. */
uint64_t cell_decide(struct cell *c);
uint64_t cell_decide_within(struct cell *c, uint64_t calls);
/* Gives the learner the samples of the batch. */
void cell_agree(struct cell *c);
/* Returns the time of the best candidate, among the agreed ones if `known`. */
uint64_t cell_best(const struct cell *c, bool known);

#endif
