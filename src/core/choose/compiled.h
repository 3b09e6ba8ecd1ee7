/* SPDX-License-Identifier: BSD-3-Clause */
/* compiled.h - the built-in table as an array of rules, so that no rank of a job reads its text. */
#ifndef HUD_COMPILED_H
#define HUD_COMPILED_H

#include "core/choose/rules.h"

struct compiled {
    const struct rule *rule; /* NULL: the text is read */
    int count;
    uint64_t digest; /* of the text */
};

/* In libhuddle it is what src/tools/compile_rules.c prints when the library is built.  Tests, tools
 * and a cross build that cannot run that program have that of compiled.c. */
extern const struct compiled hud_compiled;

#endif
