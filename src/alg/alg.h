/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alg.h - what an algorithm is: one file alg/<collective>/<name>.c and one row of alg.def.
 * It sees mem.h, shape.h and its call; it keeps no state but in its slots.
 */
#ifndef HUD_ALG_H
#define HUD_ALG_H

#include "mem/mem.h"
#include "shape/shape.h"

enum { ALG_PARAMS = 6 }; /* most parameters of one algorithm */

/* One call, already validated by the core; the same on every rank but for buf. */
struct coll {
    struct hud_view buf;
    int root;
    uint64_t op;                       /* 1, 2, 3, ... of this algorithm in this team's lease; the same on every rank */
    const struct shape_groups *groups; /* who shares which level of the memory hierarchy */
    const long *param;                 /* values, in the order of the algorithm's own table */
    size_t slot_bytes;                 /* of this algorithm's region in each slice */
};

/* A parameter that users, tuning files and tests may set: HUDDLE_<COLLECTIVE>_<ALGORITHM>_<NAME>. */
struct alg_param {
    const char *name, *unit, *doc; /* lower case; unit "B", "1", or "" with words */
    long least, most, preset;
    const char *const *words; /* names for least..most, or NULL: a number */
};

struct alg {
    const char *coll, *name, *doc, *source;
    const struct alg_param *params; /* ALG_PARAMS at most, ended by a NULL name; NULL: none */
    /* Pure; every rank gets the same answer.  c->slot_bytes 0: the lease had no room for this algorithm. */
    bool (*accepts)(const struct coll *c, int ranks);
    /* Bytes it wants of each slice, at most most_bytes, a multiple of HUD_LINE; 0: cannot work in that. */
    size_t (*slot_bytes)(const long *param, int ranks, size_t most_bytes);
    bool window; /* its region holds fragments of data; a team that gets control lines only does without it */
    void (*run)(struct mem *m, const struct coll *c); /* cannot fail once accepted */
};

extern const struct alg *const HUD_BACKEND(algs)[]; /* alg.def, ended by NULL */

#define ALG_DEFINE(coll_, name_)                                                                                                           \
    extern const struct alg HUD_BACKEND(alg_##coll_##_##name_);                                                                            \
    const struct alg HUD_BACKEND(alg_##coll_##_##name_)

#endif
