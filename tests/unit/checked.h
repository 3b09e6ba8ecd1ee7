/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.h - ranks of a team under HUDDLE_CHECK, and the lines they print. */
#ifndef HUD_TESTS_CHECKED_H
#define HUD_TESTS_CHECKED_H

#include "core/watch/check.h"
#include "ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANKS = 4 };

extern const char *const checked_settings[];

/* Runs threads as ranks of a team "everybody", with checked_settings. Returns the text written to
 * standard error. */
const char *checked_stderr(struct ranks all);

/* Calls checked_stderr() for ranks with this body and no other options. */
const char *checked_stderr_of(void (*body)(struct rank *r));

/* Enters a call with a name, a root, a size and a detail for reports. */
void checked_enter(struct rank *r, const char *what, int root, size_t bytes, const char *detail);

#endif
