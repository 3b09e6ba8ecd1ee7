/* SPDX-License-Identifier: BSD-3-Clause */
/* compiled.h - the built-in table as an array of rules, so that no rank of a job reads its text. */
#ifndef HUD_COMPILED_H
#define HUD_COMPILED_H

#include "core/plan/rules.h"

struct compiled {
    const struct rule *rule; /* NULL: the text is read */
    int count;
    uint64_t digest; /* digest of the text */
};

/* The compiled table.  In libhuddle src/tools/compile_rules.c writes it when the library is built.
 * Tests, tools, and a cross build that cannot run that program use the empty one of compiled.c. */
extern const struct compiled hud_compiled;

#endif
