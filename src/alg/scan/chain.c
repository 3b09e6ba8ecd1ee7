/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.c - running sums go from rank to rank, fragment by fragment: scan/chain, exscan/chain.
 *
 * Source    textbook: linear pipeline; the ring of cells as in bcast/queue (paper 01).
 * Shape     p ranks, n bytes, fragments of f bytes, some cells in each rank's window.  For each
 *           fragment a rank reduces its predecessor's sum and its own contribution into a cell, and
 *           announces the cell.  Then it writes its own result.
 * Cost      F = n / f fragments, l ns one line transfer, r ns per byte that a reduction reads, t ns
 *           per byte copied
 *             T = (p - 1 + F) (l + 2 f r) + F f t
 *           traffic: n bytes written to the window and n read from the predecessor's, whatever p
 *           is, and both in caches: a single copy by the kernel could save no access to memory
 * Accepts   any n, if the lease has a window.
 *
 * Safety
 *   1. In place, a fragment of `in` is read into a cell before the result is written to `out`; the
 *      last rank reads and writes at the same offset.
 */
#include "alg/scan/chain.h"

enum param { FRAGMENT, BUDGET };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B",
                   "f, bytes of a fragment, the unit that a rank passes on; at most a cell", 64,
                   1 << 20, 8 << 10, NULL, .per_call = true, .tune = "2K,4K,16K,32K" },
    [BUDGET] = { "budget", "B", "bytes of the window, which has 4 to 12 cells",
                 CHAIN_CELLS_MIN *HUD_ELEMENT_MAX, 1 << 22, 384 << 10, NULL, .tune = "768K" },
    { .name = NULL },
};

/* Computes the result of the last rank, which has no cell. */
static void finish(const struct chain *x, const struct mem_span *own, const struct mem_span *out,
                   size_t bytes)
{
    struct sources sum;

    sources_begin(&sum, x->m, x->c, out, bytes);
    sources_add(&sum, (struct mem_span){ .shared = chain_befores_cell(x) });
    sources_add(&sum, *own);
    sources_reduce_as(&sum, out, NULL, chain_reads_last(x));
}

/* Writes this rank's result of a fragment to `out`. */
static void take_result(const struct chain *x, const struct mem_span *own,
                        const struct mem_span *out, size_t bytes)
{
    if (!x->before) {
        if (!x->exclusive && !coll_in_place(x->c))
            mem_move(x->m, out, own, bytes);
        return;
    }
    const void *cell = x->exclusive ? chain_befores_cell(x) : chain_own_cell(x);
    bool last = x->exclusive && chain_reads_last(x);
    if (x->exclusive || x->after)
        mem_out_as(x->m, out->view, cell, out->offset_bytes, bytes, last);
    else
        finish(x, own, out, bytes);
}

/* Passes a fragment on and computes this rank's result of it.  The fragment is at the same offset
 * in `in` and `out`. */
static void pass_on(struct chain *x, size_t offset_bytes, size_t bytes)
{
    const struct mem_span own = { .view = x->c->in, .offset_bytes = offset_bytes },
                          out = { .view = x->c->out, .offset_bytes = offset_bytes };

    if (x->before)
        chain_receive(x, offset_bytes == 0);
    if (x->after)
        chain_send(x, &own, bytes);
    take_result(x, &own, &out, bytes);
    if (x->before)
        chain_release(x);
}

static uint64_t cells_of(size_t window_bytes)
{
    size_t cells = window_bytes / HUD_ELEMENT_MAX;

    return cells < CHAIN_CELLS_MAX ? cells : CHAIN_CELLS_MAX;
}

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(CHAIN_CELLS_MIN, param[BUDGET], max_bytes);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct chain_slot),
    .window_bytes = window_bytes,
};

/* Returns the bytes of a fragment: whole elements, and whole lines if elements fit lines. */
static size_t fragment_bytes(const struct coll *c, size_t cell_bytes)
{
    size_t element = c->reduction->element_bytes,
           unit = HUD_LINE % element == 0 ? HUD_LINE : element,
           wanted = cut_round_up((size_t)c->param[FRAGMENT], unit);

    return pieces_min(wanted, cell_bytes / unit * unit);
}

static void run_chain(struct mem *m, const struct coll *c, bool exclusive)
{
    int me = mem_rank(m);
    uint64_t cells = cells_of(c->place->window_bytes);
    size_t cell = c->place->window_bytes / cells / HUD_LINE * HUD_LINE,
           fragment = fragment_bytes(c, cell), bytes;
    struct chain x = { .m = m,
                       .c = c,
                       .mine = mem_slot(m, me),
                       .before = me > 0 ? mem_slot(m, me - 1) : NULL,
                       .after = me + 1 < mem_size(m) ? mem_slot(m, me + 1) : NULL,
                       .cells = cells,
                       .cell_bytes = cell,
                       .exclusive = exclusive };
    x.call = mem_get(m, &x.mine->calls);
    x.at = x.call << CHAIN_FRAGMENTS;
    x.own = mem_get(m, &x.mine->cells);
    uint64_t next = (x.call + 1) << CHAIN_FRAGMENTS;
    if (x.after)
        chain_announce(&x, (c->bytes + fragment - 1) / fragment);
    for (size_t begin = 0; begin < c->bytes; begin += bytes, x.at++, x.own++, x.befores++) {
        bytes = pieces_min(fragment, c->bytes - begin);
        x.done = begin + bytes < c->bytes ? x.at + 1 : next;
        pass_on(&x, begin, bytes);
    }
    mem_put(m, &x.mine->calls, x.call + 1);
    mem_put(m, &x.mine->cells, x.own);
}

static void scan_chain(struct mem *m, const struct coll *c)
{
    run_chain(m, c, false);
}

static void exscan_chain(struct mem *m, const struct coll *c)
{
    run_chain(m, c, true);
}

/* Fields of both rows. */
#define CHAIN(coll_)                                                                               \
    .coll = #coll_, .name = "chain",                                                               \
    .doc = "partial results pass from rank to rank, fragment by fragment",                         \
    .source = "textbook: linear pipeline", .ordered = true, .family = &family,                     \
    .run = coll_##_chain

ALG_DEFINE(scan, chain) = { CHAIN(scan) };

ALG_DEFINE(exscan, chain) = { CHAIN(exscan) };
