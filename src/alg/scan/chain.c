/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.c - running sums go from rank to rank, fragment by fragment: scan/chain, exscan/chain.
 *
 * Source    textbook: linear pipeline; the ring of cells as in bcast/queue (paper 01).
 * Shape     p ranks, n bytes, fragments of f bytes, some cells in each rank's window.  For each
 *           fragment a rank reduces its predecessor's sum with its own contribution into a cell,
 *           and announces it; then it writes its own result.
 * Cost      F = n / f fragments, l ns one line transfer, r ns per byte that a reduction reads, t ns
 *           per byte copied
 *             T = (p - 1 + F) (l + 2 f r) + F f t
 *           traffic: n bytes written to the window and n read from the predecessor's, whatever p
 *           is, and both in caches: a single copy by the kernel could save no access to memory
 * Accepts   any n, if the lease has a window.
 *
 * Positions count fragments within a call, and go on by a constant from call to call of the family.
 * So a call begins at one position on all ranks, whatever their counts were before.  Cells are used
 * in turn over all calls: each rank counts its own, and tells its successor in each call.
 *
 * Line              written by   read by         value k means
 *   slot[r].sent    r            its successor   the sums of the fragments before k, of the ranks
 *                                                up to r, are or were in r's window.  With it,
 *                                                for the last calls: the first cell of each
 *   slot[r].done    r            its             r needs no sum of a fragment before k any more;
 *                                predecessor     after a call's last one, k begins the next
 *   slot[r].calls,  r            r               (plain) calls and cells so far
 *     .cells
 *   slot[r].freed   r            r               (plain) what it has last seen in its successor's
 *                                                `done`
 *   slot[r].until   r            r               (plain) for each cell, what its successor's `done`
 *                                                is when that has read it
 *
 * Edges     R1 -> A1   a sum in the window              happens before  the successor's reading it
 *           R2 -> A2   a rank's reads of a cell of its  happen before   the next write there
 *                      predecessor's
 *
 * Deadlock freedom
 *   1. For fragment k a rank waits for its predecessor's sum of k, and for its successor to have
 *      finished the fragment that had its cell.  The rank of the earliest fragment, and of these
 *      the first, waits for nobody.
 * Safety
 *   1. The last rank has no successor, and writes no cell.  Rank 0 reads no other rank's.
 *   2. In place, a fragment of `in` is read into a cell before the result is written to `out`; the
 *      last rank reads and writes at the same offset.
 *   3. Counts may differ between ranks: such a call has a wrong result, or ranks wait in it and the
 *      mismatch is found.  Later calls are right, if all ranks have made this one here, which one
 *      whose count is zero has not.  A rank with fewer fragments frees all cells of the call by its
 *      last one.  A rank with more may read cells of later calls, but frees none of these before it
 *      makes those calls itself.
 */
#include "alg/reduction.h"

/* Of a window: as many as have room for an element, between these.  A cell that is reused soon is
 * still in the caches of its reader, from where each write takes its lines (docs/evidence/E72.csv).
 */
enum { CELLS_MIN = 4, CELLS_MAX = 12 };

/* Bits of a position that count fragments of a call; calls whose first cells are told: more than
 * cells, so that a successor has read what a later call writes there. */
enum { FRAGMENTS = 32, TOLD = 14 };

enum param { FRAGMENT, BUDGET };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes that a rank passes on at a time; no more than a cell",
                   64, 1 << 20, 8 << 10, NULL, .per_call = true, .tune = "2K,4K,16K,32K" },
    [BUDGET] = { "budget", "B", "bytes of the window, 4 to 12 cells", CELLS_MIN *HUD_ELEMENT_MAX,
                 1 << 22, 384 << 10, NULL, .tune = "768K" },
    { .name = NULL },
};

struct slot {
    mem_flag sent, done;
    _Alignas(HUD_LINE) uint64_t calls;
    uint64_t cells, freed, until[CELLS_MAX];
};

/* A rank of the chain in a call. */
struct chain {
    struct mem *m;
    const struct coll *c;
    struct slot *mine, *before, *after; /* slots; NULL: there is no such rank */
    uint64_t cells;                     /* of a window */
    size_t cell_bytes;
    uint64_t at, done;     /* the fragment's position, and the one after it */
    uint64_t own, befores; /* cells of it: its own, and its predecessor's */
    bool exclusive;
};

static void *own_cell(const struct chain *x)
{
    return (char *)mem_window(x->m, mem_rank(x->m)) + x->own % x->cells * x->cell_bytes;
}

static void *befores_cell(const struct chain *x)
{
    return (char *)mem_window(x->m, mem_rank(x->m) - 1) + x->befores % x->cells * x->cell_bytes;
}

/* Its cell of this fragment is free, and then in use until the successor has read it. */
static void take_cell(const struct chain *x)
{
    uint64_t *until = &x->mine->until[x->own % x->cells], min = mem_get(x->m, until);

    if ((int64_t)(min - mem_get(x->m, &x->mine->freed)) > 0) {
        uint64_t freed = mem_await(x->m, &x->after->done, min); /* A2 */
        mem_put(x->m, &x->mine->freed, freed);
    }
    mem_put(x->m, until, x->done);
}

/* This rank's sum of a fragment into its cell, for its successor. */
static void send(const struct chain *x, const struct mem_span *own, size_t bytes)
{
    const struct mem_span to = { .shared = own_cell(x) };
    struct sources sum;

    take_cell(x);
    if (!x->before) {
        mem_in_all(x->m, to.shared, own->view, own->offset_bytes, bytes);
    } else {
        sources_begin(&sum, x->m, x->c, &to, bytes);
        sources_add(&sum, (struct mem_span){ .shared = befores_cell(x) });
        sources_add(&sum, *own);
        sources_reduce(&sum, &to, NULL);
    }
    mem_post(x->m, &x->mine->sent, x->at + 1); /* R1 */
}

/* The result of the last rank, which has no cell of it. */
static void finish(const struct chain *x, const struct mem_span *own, const struct mem_span *out,
                   size_t bytes)
{
    struct sources sum;

    sources_begin(&sum, x->m, x->c, out, bytes);
    sources_add(&sum, (struct mem_span){ .shared = befores_cell(x) });
    sources_add(&sum, *own);
    sources_reduce(&sum, out, NULL);
}

/* This rank's result. */
static void take_result(const struct chain *x, const struct mem_span *own,
                        const struct mem_span *out, size_t bytes)
{
    if (!x->before) {
        if (!x->exclusive && !coll_in_place(x->c))
            mem_move(x->m, out, own, bytes);
    } else if (x->exclusive) {
        mem_out(x->m, out->view, befores_cell(x), out->offset_bytes, bytes);
    } else if (x->after) {
        mem_out(x->m, out->view, own_cell(x), out->offset_bytes, bytes);
    } else {
        finish(x, own, out, bytes);
    }
}

/* A fragment: `in` and `out` at an offset. */
static void pass_on(struct chain *x, size_t offset_bytes, size_t bytes)
{
    const struct mem_span own = { .view = x->c->in, .offset_bytes = offset_bytes },
                          out = { .view = x->c->out, .offset_bytes = offset_bytes };
    uint64_t call = x->at >> FRAGMENTS;

    if (x->before)
        mem_await(x->m, &x->before->sent, x->at + 1); /* A1 */
    if (x->before && offset_bytes == 0)
        x->befores = mem_get(x->m, &x->before->sent.payload[call % TOLD]);
    if (x->after)
        send(x, &own, bytes);
    take_result(x, &own, &out, bytes);
    if (x->before)
        mem_post(x->m, &x->mine->done, x->done); /* R2 */
}

static uint64_t cells_of(size_t window_bytes)
{
    size_t cells = window_bytes / HUD_ELEMENT_MAX;

    return cells < CELLS_MAX ? cells : CELLS_MAX;
}

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(CELLS_MIN, param[BUDGET], max_bytes);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .window_bytes = window_bytes,
};

/* Whole elements, and whole lines where elements fit lines. */
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
    uint64_t call = mem_get(m, &x.mine->calls), next = (call + 1) << FRAGMENTS;

    x.at = call << FRAGMENTS;
    x.own = mem_get(m, &x.mine->cells);
    if (x.after)
        mem_put(m, &x.mine->sent.payload[call % TOLD], x.own);
    for (size_t begin = 0; begin < c->bytes; begin += bytes, x.at++, x.own++, x.befores++) {
        bytes = pieces_min(fragment, c->bytes - begin);
        x.done = begin + bytes < c->bytes ? x.at + 1 : next;
        pass_on(&x, begin, bytes);
    }
    mem_put(m, &x.mine->calls, call + 1);
    mem_put(m, &x.mine->cells, x.own);
}

static void scan_chain(struct mem *m, const struct coll *c)
{
    run_chain(m, c, false);
}

ALG_DEFINE(scan, chain) = {
    .coll = "scan",
    .name = "chain",
    .doc = "running sums go from rank to rank, fragment by fragment",
    .source = "textbook: linear pipeline",
    .ordered = true,
    .family = &family,
    .run = scan_chain,
};

static void exscan_chain(struct mem *m, const struct coll *c)
{
    run_chain(m, c, true);
}

ALG_DEFINE(exscan, chain) = {
    .coll = "exscan",
    .name = "chain",
    .doc = "running sums go from rank to rank, fragment by fragment",
    .source = "textbook: linear pipeline",
    .ordered = true,
    .family = &family,
    .run = exscan_chain,
};
