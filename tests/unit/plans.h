/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.h - settings, rules and the plan made from them, for tests of src/core/plan/plan.c, and
 * checks that hold for every plan. */
#ifndef HUD_TESTS_PLANS_H
#define HUD_TESTS_PLANS_H

#include "core/plan/planner.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { KB = 1 << 10, MB = 1 << 20 };

extern struct plans {
    struct config config;
    struct rules tuning;
    struct plan plan;
    struct planner *planner; /* planner with these settings and rules */
    bool direct, divided;    /* facts of the teams */
} plans;

/* Resets to no settings and no rules. A setup function for cmocka. */
int plans_reset(void **state);

/* Reads settings, a NULL-terminated list of "NAME=VALUE". */
void plans_settings(const char *const *settings);
#define PLANS_SETTINGS(...) plans_settings((const char *const[]){ __VA_ARGS__, NULL })

/* Reads rules from the text of a tuning file. */
void plans_tune(const char *text);

/* Makes the plan of a team with `bytes` bytes in each slice. */
void plans_make(int ranks, bool oversubscribed, const char *within, size_t bytes, bool windows);

/* Returns the name of the algorithm for a call, such as "queue", or "mpi". */
const char *plans_taker(enum coll_kind kind, size_t bytes);

/* Checks the properties that hold for every plan. */
void plans_check(void);

#endif
