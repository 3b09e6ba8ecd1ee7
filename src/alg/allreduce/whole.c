/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/whole.c - every rank owns a slice of the message; as much of a message as fits the
 * window is processed at once, with two flags per rank.
 *
 * Source    this project, after allreduce/slices.
 * Shape     p ranks, n bytes, by fragments, in which each rank owns one slice.  The window of a
 *           rank has two regions, one for its contributions to the others' slices, one for the
 *           result of its own (whole.h).  For a fragment a rank
 *             copies its contributions in, to r + 1, r + 2, ... | awaits all others' |
 *             reduces its slice, in rank order, and announces it |
 *             copies the others' results out, of r + 1, r + 2, ...
 * Cost      F fragments, l ns one line transfer, t ns per byte copied, r ns per byte that a
 *           reduction reads
 *             T = 2 F l + (1 - 1/p) n t + n r + (1 - 1/p) n t
 *           traffic: (3 - 2/p) n bytes beyond those read from `in` and written to `out`
 * Returned  lines of contributions, by the owner of the slice (mem_reduce_as); of results, if there
 *           are two ranks.
 * Accepts   any n, if the lease has a window.
 *
 * Positions count bytes of messages over all operations.  So a rank whose count differs from the
 * count of the others waits, or others wait for it, and the mismatch is found.
 *
 * Line              written by   read by      value k means
 *   slot[r].in      r            all others   r's contributions to the bytes before k are in its
 *                                             window; r has finished the fragments before the last
 *                                             of these
 *   slot[r].result  r            all others   the result of r's slice of the fragment that ends at
 *                                             k is in its window
 *   slot[r].at      r            r            (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment   happen before  the owners' reading
 *                      them
 *                      a rank's copies out of the results of  happen before  the next write to the
 *                      the fragment before                                   regions of results
 *           R2 -> A2   an owner's result                      happens before  the others' copy out
 *                      an owner's reading of contributions    happens before  the next write to the
 *                                                             regions of contributions
 *
 * Deadlock freedom
 *   1. All ranks go through the same fragments in the same order.  A rank that waits in fragment k
 *      waits for another rank's contributions to it, which that rank announces before it waits in
 *      k; or for a result, whose owner waits only for contributions.
 * Safety
 *   1. A rank writes contributions to a fragment after it has copied out all results of the
 *      previous fragment.  By then, all owners had read its contributions to the previous fragment
 *      (R2 -> A2).  An owner without a slice reads nothing.  So the rank may write anywhere in the
 *      region of contributions.
 *   2. An owner writes a result after it has seen all contributions to the fragment.  By then, all
 *      ranks had copied out the results of the previous fragment (R1 -> A1).  So the owner may
 *      write anywhere in the region of results.
 */
#include "alg/allreduce/whole.h"

static const struct alg_param params[] = {
    [WHOLE_BUDGET] = { "budget", "B", "bytes of the window; 0: as much as the lease allows", 0,
                       1 << 28, 0, NULL },
    [WHOLE_RING] = { "ring", "B",
                     "bytes of the window that small messages use as a ring; 0: the whole window",
                     0, 1 << 28, 64 << 10, NULL, .per_call = true, .tune = "256K" },
    { .name = NULL },
};

struct slot {
    mem_flag in, result;
    _Alignas(HUD_LINE) uint64_t at;
};

static int other(const struct whole *w, int k)
{
    return (mem_rank(w->m) + k) % mem_size(w->m);
}

static void contribute(const struct whole *w)
{
    struct slot *mine = mem_slot(w->m, mem_rank(w->m));

    for (int k = 1; k < mem_size(w->m); k++) {
        struct piece slice = whole_slice(w, other(w, k));
        if (slice.bytes != 0)
            mem_in_all(w->m, whole_contribution(w, mem_rank(w->m), slice.owner), w->c->in,
                       slice.offset_bytes, slice.bytes);
    }
    mem_post(w->m, &mine->in, w->next); /* R1 */
}

static void await_contributions(const struct whole *w)
{
    for (int k = 1; k < mem_size(w->m); k++) {
        struct slot *slot = mem_slot(w->m, other(w, k));
        mem_await(w->m, &slot->in, w->next); /* A1 */
    }
}

/* Reduces this rank's slice into `out` first, and copies the result to the window: lines that
 * others have read are slow to write, and a copy writes them fastest. */
static void reduce_own(const struct whole *w)
{
    int me = mem_rank(w->m);
    struct slot *mine = mem_slot(w->m, me);
    struct piece slice = whole_slice(w, me);
    const struct mem_span in = { .view = w->c->in, .offset_bytes = slice.offset_bytes },
                          out = { .view = w->c->out, .offset_bytes = slice.offset_bytes },
                          cell = { .shared = whole_result(w, me) };
    struct sources all;

    if (slice.bytes == 0)
        return;
    sources_begin(&all, w->m, w->c, &cell, slice.bytes);
    for (int r = 0; r < mem_size(w->m); r++)
        sources_add(&all,
                    r == me ? in : (struct mem_span){ .shared = whole_contribution(w, r, me) });
    sources_reduce_as(&all, &out, mem_size(w->m) > 1 ? &cell : NULL, true);
    mem_post(w->m, &mine->result, w->next); /* R2 */
}

static void collect(const struct whole *w)
{
    bool alone = mem_size(w->m) == 2;

    for (int k = 1; k < mem_size(w->m); k++) {
        struct piece slice = whole_slice(w, other(w, k));
        struct slot *owner = mem_slot(w->m, slice.owner);
        if (slice.bytes == 0)
            continue;
        const void *result = whole_result(w, slice.owner);
        mem_await(w->m, &owner->result, w->next); /* A2 */
        mem_out_as(w->m, w->c->out, result, slice.offset_bytes, slice.bytes, alone);
    }
}

static void allreduce_whole(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct whole w = whole_begin(m, c, mem_get(m, &mine->at));

    while (whole_next(&w)) {
        contribute(&w);
        await_contributions(&w);
        reduce_own(&w);
        collect(&w);
    }
    mem_put(m, &mine->at, w.next);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .window_bytes = whole_window_bytes,
};

ALG_DEFINE(allreduce, whole) = {
    .coll = "allreduce",
    .name = "whole",
    .doc = "every rank reduces one slice of the whole message, without fragments; all ranks copy "
           "the results",
    .source = "this project",
    .ordered = true,
    .family = &family,
    .run = allreduce_whole,
};
