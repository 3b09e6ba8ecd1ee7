/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alg.h - what an algorithm is: a row of alg.def and a `struct alg`, which is in a file of its
 * own, alg/<collective>/<name>.c, or in that of its family, alg/<family>/.  It sees mem.h, shape.h
 * and its call; it keeps no state but in its slots.
 */
#ifndef HUD_ALG_H
#define HUD_ALG_H

#include "mem/mem.h"
#include "net/net.h"
#include "shape/shape.h"

enum { ALG_PARAMS = 8 }; /* parameters of one algorithm, at most */

/* Where an algorithm's memory is in each slice, in bytes, lines of HUD_LINE. */
struct alg_place {
    size_t slot_offset;   /* where its own memory begins, kept from call to call */
    size_t window_offset; /* where its window begins, for data in the course of a call */
    size_t slot_bytes;    /* 0: there is no room */
    size_t window_bytes;  /* 0: it needs none */
    int user; /* its number among those that use the team's window in turn, from 1 on; 0: the window
                 is its own */
};

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
    const struct alg_place *place;     /* where the algorithm's memory is in each slice */
    const struct alg *alg;             /* what runs */
    size_t cache_bytes; /* of the largest cache that ranks share, what each has of it; the same on
                           every rank; 0: not known */
    struct net *net;    /* of a span; NULL: all ranks are on one node */
};

/* The tree of a call: its kind and degree are those two of the algorithm's parameters. */
static inline struct shape_tree coll_tree(struct mem *m, const struct coll *c, int root, int kind,
                                          int degree)
{
    return (struct shape_tree){ (enum shape_kind)c->param[kind], (int)c->param[degree], mem_size(m),
                                root, c->groups };
}

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

/* A parameter that users, tuning files and tests may set:
 * HUDDLE_<COLLECTIVE>_<ALGORITHM>_<NAME>. */
struct alg_param {
    const char *name, *unit, *doc; /* lower case; unit "B", "1", or "" with words */
    long min, max, preset;
    const char *const *words; /* names for min..max, or NULL: a number */
    bool per_call; /* the slot is the same whatever its value, so that calls with different values
                      can share one */
    const char *tune; /* values that `huddle tune` tries besides the preset: "8K,32K"; NULL: none */
    const char
        *tune_with; /* it does nothing alone, so they are tried with these: "single=8K"; NULL:
                              alone */
};

/*
 * What the algorithms of one family have in common: parameters and memory.  One slot serves them
 * all, and their calls may follow each other in it in any order.  Many an algorithm is the only one
 * of its family.  Two families are the same if their addresses are, in one backend.
 */
struct alg_family {
    const struct alg_param *params; /* ALG_PARAMS at most, ended by a NULL name; NULL: none */
    bool direct;        /* only for ranks that can reach each other's memory (mem_expose) */
    size_t fixed_bytes; /* of the slot; 0: one of these says */
    /* Bytes of a slot that holds data among its lines, at most max_bytes; 0: cannot work in that.
     */
    size_t (*slot_bytes)(const long *param, int ranks, size_t max_bytes);
    /*
     * Or the data have a window (mem_window), in which others may have worked since the last call:
     * bytes of that, whole lines, at most max_bytes, 0: cannot work in that; and the rest of the
     * slot with such a window, NULL: fixed_bytes.  A team that gets control lines only does without
     * either.
     */
    size_t (*window_bytes)(const long *param, int ranks, size_t max_bytes);
    size_t (*lines_bytes)(const long *param, int ranks, size_t window_bytes);
    size_t walk_bytes; /* from the window's beginning on, where all short messages go; 0: they may
                          go anywhere */
};

struct alg {
    const char *coll, *name, *doc, *source;
    bool baseline; /* here to be compared with: no row of the built-in table, and `huddle tune`
                     chooses it only if asked to; its text begins with "baseline: " */
    bool sends;    /* each post stands for the send or the receive of an MPI's message: a simulator
                   adds the MPI's own work there */
    bool ordered; /* reductions: each element from rank 0 on, one rank after the other, whatever the
                     groups and the sizes */
    const struct alg_family *family;
    /*
     * Pure; asked once, when a team is set up, not at a call: sees bytes, param and place, and
     * nothing else of c.  What takes n bytes takes every smaller message.  NULL: takes every call.
     */
    bool (*accepts)(const struct coll *c, int ranks);
    void (*run)(struct mem *m, const struct coll *c); /* cannot fail once accepted */
};

/* Its parameter number p, from 0 on; NULL: it has no more. */
static inline const struct alg_param *alg_param_at(const struct alg *a, int p)
{
    const struct alg_param *params = a->family->params;

    return params && params[p].name ? &params[p] : NULL;
}

static inline bool alg_holds_data(const struct alg *a)
{
    return a->family->slot_bytes || a->family->window_bytes;
}

/* Bytes of the slot without its window of window_bytes. */
static inline size_t alg_lines_bytes(const struct alg_family *f, const long *param, int ranks,
                                     size_t window_bytes)
{
    return mem_lines(f->lines_bytes ? f->lines_bytes(param, ranks, window_bytes) : f->fixed_bytes);
}

/* Its memory from the slice's byte `offset` on, at most max_bytes, with a window of its own. */
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
         max = good + (bad - good) / 2) { /* the largest window that leaves room for the slot */
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

extern const struct alg *const HUD_BACKEND(algs)[]; /* alg.def, ended by NULL */
/* spans.def, in the order of enum net_tag, ended by NULL. */
extern const struct alg *const HUD_BACKEND(nodes_algs)[NET_TAGS + 1];

/* Runs c->alg, whose window is the team's (window.c). */
void HUD_BACKEND(window_run)(struct mem *m, const struct coll *c);

/* What carries out a call: the algorithm, or its turn in the team's window. */
typedef void alg_run(struct mem *m, const struct coll *c);

static inline alg_run *alg_run_of(const struct alg *a, const struct alg_place *place)
{
    return place->user != 0 ? HUD_BACKEND(window_run) : a->run;
}

/* What the algorithms of a family have in common, once in each: what they differ in is constant. */
#define ALG_INLINE static inline __attribute__((always_inline))

#define ALG_DEFINE(coll_, name_)                                                                   \
    extern const struct alg HUD_BACKEND(alg_##coll_##_##name_);                                    \
    const struct alg HUD_BACKEND(alg_##coll_##_##name_)

#endif
