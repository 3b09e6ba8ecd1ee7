/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alg.h - what an algorithm is: a row of alg.def and a `struct alg`, which is in a file of its
 * own, alg/<collective>/<name>.c, or in that of its family, alg/<family>/.  It sees mem.h, shape.h
 * and its call; it keeps no state but in its slots.
 */
#ifndef HUD_ALG_H
#define HUD_ALG_H

#include "mem/mem.h"
#include "shape/shape.h"

enum { ALG_PARAMS = 8 }; /* parameters of one algorithm, at most */

/* One call, already validated by the core; the same on every rank but for the views. */
struct coll {
    size_t bytes; /* what the algorithm was chosen by: of the message; alltoall: of a block;
                     alltoallv: 0 */
    const struct hud_view *in,
        *out; /* one view each; alltoallv: [ranks], for and from each; bcast: `out` alone, also at
                 the root; reduce: `out` is empty but at the root */
    const size_t
        *block_bytes; /* reduce_scatter: [ranks] of the blocks of the result, some may be 0 */
    const struct hud_op *reduction;
    int root;
    uint64_t op; /* 1, 2, 3, ... of this slot in this team's lease; the same on every rank */
    const struct shape_groups *groups; /* who shares which level of the memory hierarchy */
    const long *param;                 /* values, in the order of the algorithm's own table */
    size_t slot_bytes;                 /* of this algorithm's region in each slice */
    size_t cache_bytes; /* of the largest cache that ranks share, what each has of it; the same on
                           every rank; 0: not known */
};

/*
 * In place, what is written to `out` at an offset replaces what `in` held there.  allreduce,
 * reduce: the same offset, so an algorithm reads `in` at an offset before it writes `out` there.
 * reduce_scatter: `out` is the beginning of `in`.  alltoall: block i of `out` lies where block i
 * of `in` does.
 */
static inline bool coll_in_place(const struct coll *c)
{
    return c->in->base == c->out->base;
}

/* A parameter that users, tuning files and tests may set: HUDDLE_<COLLECTIVE>_<ALGORITHM>_<NAME>.
 * */
struct alg_param {
    const char *name, *unit, *doc; /* lower case; unit "B", "1", or "" with words */
    long min, max, preset;
    const char *const *words; /* names for min..max, or NULL: a number */
    bool per_call; /* the slot is the same whatever its value, so that calls with different values
                      can share one */
    const char *tune; /* values that `huddle tune` tries beside the preset: "8K,32K"; NULL: none */
};

struct alg {
    const char *coll, *name, *doc, *source;
    const struct alg_param *params; /* ALG_PARAMS at most, ended by a NULL name; NULL: none */
    bool
        baseline; /* here to be compared with: never the choice of `huddle tune` unless asked for */
    bool direct;  /* only for ranks that can reach each other's memory (mem_expose) */
    bool ordered; /* reductions: each element from rank 0 on, one rank after the other, whatever the
                     groups and the sizes */
    const char *family; /* algorithms of one family have the same parameters and slot, and one slot
                           serves them all; NULL: none */
    size_t fixed_bytes; /* of its slot; 0: slot_bytes says */
    /* Bytes of a slot that holds fragments of data, at most max_bytes; 0: cannot work in that.  A
     * team that gets control lines only does without. */
    size_t (*slot_bytes)(const long *param, int ranks, size_t max_bytes);
    /*
     * Pure; asked once, when a team is set up, not at a call: sees bytes, param and slot_bytes, and
     * nothing else of c.  What takes n bytes takes every smaller message.  NULL: takes every call.
     */
    bool (*accepts)(const struct coll *c, int ranks);
    void (*run)(struct mem *m, const struct coll *c); /* cannot fail once accepted */
};

/* What the core asks: bytes of a slot in at most max_bytes, 0: no room; and whether a call can be
 * run. */
static inline size_t alg_slot_bytes(const struct alg *a, const long *param, int ranks,
                                    size_t max_bytes)
{
    size_t bytes = a->slot_bytes ? a->slot_bytes(param, ranks, max_bytes) : a->fixed_bytes;

    bytes = mem_lines(bytes);
    return bytes <= max_bytes ? bytes : 0;
}

static inline bool alg_accepts(const struct alg *a, const struct coll *c, int ranks)
{
    return c->slot_bytes != 0 && (!a->accepts || a->accepts(c, ranks));
}

extern const struct alg *const HUD_BACKEND(algs)[]; /* alg.def, ended by NULL */

/* What the algorithms of a family have in common, once in each: what they differ in is constant. */
#define ALG_INLINE static inline __attribute__((always_inline))

#define ALG_DEFINE(coll_, name_)                                                                   \
    extern const struct alg HUD_BACKEND(alg_##coll_##_##name_);                                    \
    const struct alg HUD_BACKEND(alg_##coll_##_##name_)

#endif
