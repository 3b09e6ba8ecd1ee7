/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late.h - how much later than was known at first the uses of something are, that follow each
 * other: of a line, or a core's stores.
 *
 * A use that is delayed delays those behind it, and none before it.  So each notes its delay at its
 * number, and sees the delays up to its own number.
 */
#ifndef HUD_SIM_LATE_H
#define HUD_SIM_LATE_H

#include "sim/grow.h"

enum { LATE_KEPT = 64 }; /* of the latest numbers; older ones see what those before them see */

struct sim_late {
    double all_ns;
    double *kept_ns; /* [LATE_KEPT] in a ring; NULL: nothing was late */
    unsigned latest; /* number */
};

/* A number comes up. */
static inline void late_reach(struct sim_late *late, unsigned number)
{
    while (late->latest != number) {
        late->latest++;
        if (late->kept_ns)
            late->kept_ns[late->latest % LATE_KEPT] = 0;
    }
}

/* What a use of this number sees. */
static inline double late_seen(const struct sim_late *late, unsigned number)
{
    double ns = late->all_ns;

    for (unsigned i = late->latest; late->kept_ns && i != number && late->latest - i < LATE_KEPT;
         i--)
        ns -= late->kept_ns[i % LATE_KEPT];
    return ns;
}

static inline void late_add(struct sim_late *late, unsigned number, double ns)
{
    if (!late->kept_ns)
        late->kept_ns = hud_must(calloc(LATE_KEPT, sizeof *late->kept_ns));
    if (late->latest - number < LATE_KEPT)
        late->kept_ns[number % LATE_KEPT] += ns;
    late->all_ns += ns;
}

#endif
