/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alg.h - what an algorithm is: a row of alg.def and a `struct alg`.  The struct is in a file of
 * its own, alg/<collective>/<name>.c, or in the unit of the algorithm's family, alg/<family>/.  An
 * algorithm uses mem.h, shape.h and its call.  It keeps state only in its slots.
 */
#ifndef HUD_ALG_H
#define HUD_ALG_H

#include "mem/mem.h"
#include "net/net.h"
#include "shape/shape.h"

enum { ALG_PARAMS = 8 }; /* maximum number of parameters of an algorithm */

/* Where an algorithm's memory is in each slice, in bytes, as whole lines of HUD_LINE. */
struct alg_place {
    size_t slot_offset;   /* offset of its slot, which keeps its contents from call to call */
    size_t window_offset; /* offset of its window, for data during a call */
    size_t slot_bytes;    /* 0: there is no room */
    size_t window_bytes;  /* 0: it needs no window */
    int user; /* its number among the algorithms that use the team's window in turn, from 1 on;
                 0: the window is its own */
};

/* A call, already validated by the core.  The same on every rank, except the views. */
struct coll {
    size_t bytes; /* size for which the algorithm was chosen: the bytes of the message; alltoall:
                     of a block; alltoallv: 0 */
    const struct hud_view *in,
        *out; /* one view each; alltoallv: [ranks], for and from each rank; bcast: only `out`,
                 also at the root; reduce: `out` is empty except at the root */
    const size_t
        *block_bytes; /* reduce_scatter: [ranks] bytes of the blocks of the result, some of which
                         may be 0 */
    const struct hud_op *reduction;
    int root;
    uint64_t op; /* number of the operation (1, 2, 3, ...) of this slot in this team's lease; the
                    same on every rank */
    const struct shape_groups *groups; /* the ranks by shared levels of the memory hierarchy */
    const long *param;                 /* values, in the order of the algorithm's table of
                                          parameters */
    const struct alg_place *place;     /* place of the algorithm's memory in each slice */
    const struct alg *alg;             /* the algorithm that runs */
    size_t cache_bytes; /* each rank's share of the largest cache that ranks share; the same on
                           every rank; 0: unknown */
    struct net *net;    /* NULL if all ranks are on one node, not a span */
};

/* Returns the tree of a call.  `kind` and `degree` are the numbers of the algorithm's
 * parameters. */
static inline struct shape_tree coll_tree(struct mem *m, const struct coll *c, int root, int kind,
                                          int degree)
{
    return (struct shape_tree){ (enum shape_kind)c->param[kind], (int)c->param[degree], mem_size(m),
                                root, c->groups };
}

/*
 * Reports whether the call is in place: `out` then overwrites `in`.  allreduce, reduce: both have
 * the same offsets, so an algorithm reads `in` at an offset before writing `out` there.
 * reduce_scatter: `out` is the beginning of `in`.  alltoall: block i of `out` is where block i of
 * `in` is.
 */
static inline bool coll_in_place(const struct coll *c)
{
    return c->in->base == c->out->base;
}

/* A parameter that users, tuning files and tests may set:
 * HUDDLE_LAB_<COLLECTIVE>_<ALGORITHM>_<NAME>. */
struct alg_param {
    const char *name, *unit, *doc; /* lower case; unit "B", "1", or "" with words */
    long min, max, preset;
    const char *const *words; /* names for min..max; NULL: the value is a number */
    bool per_call;            /* the slot does not depend on the value, so calls with different
                                 values can share a slot */
    const char *tune;         /* values that are tried (HUDDLE_WISDOM) in addition to the preset:
                                 "8K,32K"; NULL: none */
    const char *tune_with;    /* the parameter has no effect alone, so its values are tried with
                                 these: "cma=8K"; NULL: alone */
};

/*
 * What the algorithms of a family share: parameters and memory.  A single slot serves all of them,
 * and their calls may follow each other in any order.  Most families have one algorithm.  Two
 * families of a backend are the same if their addresses are equal.
 */
struct alg_family {
    const struct alg_param *params; /* at most ALG_PARAMS, terminated by a NULL name; NULL: none */
    bool direct;        /* only for ranks that can access each other's memory (mem_expose) */
    size_t fixed_bytes; /* size of the slot; 0: given by one of the functions below */
    /* Returns the bytes of a slot that contains the data, at most max_bytes, or 0 if max_bytes is
     * too small. */
    size_t (*slot_bytes)(const long *param, int ranks, size_t max_bytes);
    /*
     * Returns the bytes of a window for the data, in whole lines and at most max_bytes, or 0 if
     * max_bytes is too small.  A family has this function or slot_bytes.  Other algorithms may have
     * used the window (mem_window) since the last call.  A team with nothing but control lines has
     * no data, neither in slots nor in a window.
     */
    size_t (*window_bytes)(const long *param, int ranks, size_t max_bytes);
    /* Returns the bytes of the slot without the window.  NULL: fixed_bytes. */
    size_t (*lines_bytes)(const long *param, int ranks, size_t window_bytes);
    size_t walk_bytes; /* bytes from the beginning of the window to which all short messages go;
                          0: they may go anywhere */
};

struct alg {
    const char *coll, *name, *doc, *source;
    bool baseline; /* kept for comparison: it is in no row of the built-in table, and `huddle
                      tune` chooses it only on request; its doc begins with "baseline: " */
    bool sends;    /* each post represents the send or the receive of an MPI message: a simulator
                      adds the MPI's own work there */
    bool ordered;  /* reductions: each element is combined from rank 0 on, one rank after the
                      other, for any groups and sizes */
    int version;   /* a change that makes the algorithm faster or slower adds one; then what an
                      earlier program has learned about it is forgotten (HUDDLE_WISDOM) */
    const struct alg_family *family;
    /*
     * Reports whether the algorithm can handle a call.  Pure.  Called once when a team is set up,
     * not at each call.  Reads only bytes, param and place of c.  Must be monotone: an algorithm
     * that accepts n bytes accepts fewer.  NULL: every call is accepted.
     */
    bool (*accepts)(const struct coll *c, int ranks);
    void (*run)(struct mem *m, const struct coll *c); /* cannot fail once the call was accepted */
};

/* Returns parameter number p (from 0 on) of an algorithm, and NULL if there are no more. */
static inline const struct alg_param *alg_param_at(const struct alg *a, int p)
{
    const struct alg_param *params = a->family->params;

    return params && params[p].name ? &params[p] : NULL;
}

static inline bool alg_holds_data(const struct alg *a)
{
    return a->family->slot_bytes || a->family->window_bytes;
}

/* Returns the bytes of a slot without its window of window_bytes. */
static inline size_t alg_lines_bytes(const struct alg_family *f, const long *param, int ranks,
                                     size_t window_bytes)
{
    return mem_lines(f->lines_bytes ? f->lines_bytes(param, ranks, window_bytes) : f->fixed_bytes);
}

/* Returns the memory of an algorithm from byte `offset` of the slice on, at most max_bytes, with a
 * window of its own.  slot_bytes is 0 in the result if there is no room. */
static inline struct alg_place alg_place_alone(const struct alg *a, const long *param, int ranks,
                                               size_t offset, size_t max_bytes)
{
    const struct alg_family *f = a->family;
    const struct alg_place none = { .slot_bytes = 0 };
    struct alg_place p = { .slot_offset = offset };

    if (!f->window_bytes) {
        p.slot_bytes =
            mem_lines(f->slot_bytes ? f->slot_bytes(param, ranks, max_bytes) : f->fixed_bytes);
        return p.slot_bytes <= max_bytes ? p : none;
    }
    for (size_t good = 0, bad = max_bytes + 1, max = max_bytes; bad - good > 1;
         max = good + (bad - good) / 2) { /* finds the largest window that leaves room for the
                                             slot */
        size_t window = f->window_bytes(param, ranks, max),
               lines = alg_lines_bytes(f, param, ranks, window);
        bool fits = lines + mem_lines(window) <= max_bytes;
        if (fits && window != 0)
            p = (struct alg_place){ offset, offset + lines, lines, window, 0 };
        if (fits)
            good = max;
        else
            bad = max;
    }
    return p.window_bytes != 0 ? p : none;
}

static inline size_t alg_place_bytes(const struct alg_place *p)
{
    return p->slot_bytes + mem_lines(p->window_bytes);
}

static inline bool alg_accepts(const struct alg *a, const struct coll *c, int ranks)
{
    return c->place->slot_bytes != 0 && (!a->accepts || a->accepts(c, ranks));
}

extern const struct alg *const HUD_BACKEND(algs)[]; /* alg.def, terminated by NULL */

/* Tags of messages, one for each algorithm that sends messages (spans.def). */
enum net_tag {
#define SPAN_ALG(tag, ID, c, n) NET_##tag,
#include "alg/spans.def"
#undef SPAN_ALG
    NET_TAGS
};

/* spans.def, in the order of enum net_tag, terminated by NULL. */
extern const struct alg *const HUD_BACKEND(nodes_algs)[NET_TAGS + 1];

/* Runs c->alg in its turn in the team's window (window.c). */
void HUD_BACKEND(window_run)(struct mem *m, const struct coll *c);

/* Carries out a call: the algorithm's function, or window_run(). */
typedef void alg_run(struct mem *m, const struct coll *c);

static inline alg_run *alg_run_of(const struct alg *a, const struct alg_place *place)
{
    return place->user != 0 ? HUD_BACKEND(window_run) : a->run;
}

/* For code that the algorithms of a family share: it is inlined into each of them, so that their
 * differences are constants. */
#define ALG_INLINE static inline __attribute__((always_inline))

#define ALG_DEFINE(coll_, name_)                                                                   \
    extern const struct alg HUD_BACKEND(alg_##coll_##_##name_);                                    \
    const struct alg HUD_BACKEND(alg_##coll_##_##name_)

#endif
