/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spanned.h - ranks of a span that learns (HUDDLE_WISDOM), as threads.
 *
 * The clock is simulated: the test determines the time of a call from its algorithm and its
 * parameters. So the tests know which choice must be kept.
 */
#ifndef HUD_TESTS_SPANNED_H
#define HUD_TESTS_SPANNED_H

#include "calls.h"
#include "core/span/span_learn.h"

enum { SPANNED_RANKS = 4, SPANNED_SMALL = 64, SPANNED_LARGE = 100000 };

extern const int spanned_in_two[SPANNED_RANKS], spanned_mixed[SPANNED_RANKS],
    spanned_alone[SPANNED_RANKS];          /* nodes of the ranks */
extern const char *const spanned_learns[]; /* settings */
extern const struct hud_op spanned_exact, spanned_inexact;

extern struct spanned_cost {
    const char *fast; /* the beginning of the name of the fast choice */
    bool unlike;      /* rank 1 finds it fast, other ranks find it slow */
    bool shared;      /* nodes share a kernel, and ranks a processor */
} spanned_cost;

extern _Thread_local struct rank *spanned_me;

/* Runs a body on ranks of these nodes. */
void spanned_run(const int *nodes, void (*body)(struct rank *r), const char *const *settings);
/* Sets a rank's span up. */
void spanned_begin(struct rank *r);
struct span *spanned_span_of(const struct rank *r, int team);
/* Makes a call and verifies the result. Returns its status, the same on all ranks. */
int spanned_call_with(int team, const char *name, size_t bytes, const struct hud_op *op);
int spanned_call(const char *name, size_t bytes);
/* Returns the algorithm of the last call with its parameters. */
const char *spanned_used(void);
/* Returns the last opened cell of a collective, or NULL. */
struct span_cell *spanned_cell_of(const char *name);
/* Makes calls until their cell is decided, without a budget. Returns the name of the choice. */
const char *spanned_learned(const char *name, size_t bytes);
/* Stores what an earlier program could have learned. */
void spanned_know(struct rank *r, int at, int row, uint64_t ns);

#endif
