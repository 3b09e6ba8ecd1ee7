/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.h - settings, rules and the plan that is made of them, for the tests of
 * src/core/choose/plan.c; and what must hold of any plan. */
#ifndef HUD_TESTS_PLANS_H
#define HUD_TESTS_PLANS_H

#include "core/choose/planner.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { KB = 1 << 10, MB = 1 << 20 };

extern struct plans {
    struct config config;
    struct rules tuning;
    struct plan plan;
    struct planner *planner;     /* of these settings and rules */
    bool direct, divided, intel; /* of the teams */
} plans;

/* Of cmocka's: no settings, no rules. */
int plans_reset(void **state);

/* "NAME=VALUE", NULL-terminated. */
void plans_settings(const char *const *settings);
#define PLANS_SETTINGS(...) plans_settings((const char *const[]){ __VA_ARGS__, NULL })

/* The text of a tuning file. */
void plans_tune(const char *text);

/* Of a team with so many bytes in each slice. */
void plans_make(int ranks, bool oversubscribed, const char *within, size_t bytes, bool windows);

/* "queue", or "mpi". */
const char *plans_taker(enum coll_kind kind, size_t bytes);

/* What must hold of any plan holds of this one. */
void plans_check(void);

#endif
