/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - blocks go to the root through windows of their senders: gather/windows and
 * gatherv/windows.  Lines, edges and proof: gather_scatter.h, blocks.h.
 *
 * Source    this project; lines by halves as in reduce/inline, after paper 01's sets (q = 2); tiles
 *           after paper 02 (data tiling).
 * Shape     p ranks, blocks of n[i] bytes.  All ranks but the root write their blocks and are done,
 *           as far as lines and windows suffice.  The root copies the blocks out, from rank r + 1
 *           on.  A sender whose block the kernel may copy first waits for the root's answer.
 * Cost      T = l + (p - 2) g + (sum of n[i]) t       ns; l one line transfer, g one more
 *           overlapped line, t per byte copied in cache; from 0.5 KB on one more copy of a tile
 *           traffic: 2 (sum of n[i]) bytes beyond in and out; the root's own goes from in to out
 *           blocks that the kernel copies: T = 2 l + max n[i] t, t of its copies: all ranks at
 *           once, while the root copies out those in tiles
 * Accepts   any block, if the lease has a window.
 *
 * The root has a place for the blocks of all ranks, and the ranks push their blocks there.  At the
 * beginning, the root answers all ranks that will ask, with a place, or "nowhere" for a block that
 * is sent in tiles.  Such blocks come from the ranks right after the root, so it copies them out
 * first.  If all blocks have one size, their senders know this and do not ask.
 */
#include "alg/gather_scatter/direct_blocks.h"

struct gathering {
    struct gather_scatter x;
    bool equal; /* all blocks have the call's bytes */
    int tiled;  /* number of ranks whose blocks are sent in tiles; 0 at senders of unequal
                   blocks, which do not know the number */
};

static struct block place_of(const struct gathering *g, int rank)
{
    const struct coll *c = g->x.c;

    return g->equal ? block_number(c->out, c->bytes, rank) : block_whole(&c->out[rank]);
}

static void send(struct gathering *g)
{
    const struct block block = block_whole(g->x.c->in);
    mem_flag *cell = gather_scatter_cell(&g->x, g->x.me, 0, g->x.op);
    uint64_t began = g->x.at;
    bool asks = gather_scatter_number(&g->x) > g->tiled && gather_scatter_is_direct(&g->x, &block);
    size_t pushed = asks ? gather_scatter_push(&g->x, g->x.c->root, cell, &block) : 0;

    gather_scatter_send(&g->x, g->x.c->root, cell, &block, pushed);
    gather_scatter_prefetch(&g->x, gather_scatter_cell(&g->x, g->x.me, 0, g->x.op + 1), block.bytes,
                            began);
}

/* Reports whether the k-th sender waits for an answer, unless its own block is shorter than its
 * place. */
static bool answers(const struct gathering *g, int k, const struct block *place)
{
    return g->x.direct_bytes != 0 && place->bytes >= g->x.direct_bytes &&
           !(g->equal && k <= g->tiled);
}

static void receive(const struct gathering *g, int k)
{
    int sender = gather_scatter_next(&g->x, k);
    mem_flag *cell = gather_scatter_cell(&g->x, sender, 0, g->x.op);
    const struct block place = place_of(g, sender);

    if (place.bytes == 0)
        return;
    gather_scatter_expect(&g->x, sender, 0, place.bytes);
    if (gather_scatter_await_direct(&g->x, cell) && !answers(g, k, &place))
        gather_scatter_answer(&g->x, sender, &place, false);
    gather_scatter_receive(&g->x, sender, cell, place);
}

static void answer_all(const struct gathering *g)
{
    for (int k = 1; k < g->x.ranks; k++) {
        int sender = gather_scatter_next(&g->x, k);
        const struct block place = place_of(g, sender);
        if (place.bytes == 0)
            gather_scatter_acknowledge(&g->x, sender, g->x.op, UINT32_MAX);
        else if (answers(g, k, &place))
            gather_scatter_answer(&g->x, sender, &place, k > g->tiled);
    }
}

static void receive_all(const struct gathering *g)
{
    const struct coll *c = g->x.c;
    const struct block place = place_of(g, g->x.me),
                       own = g->equal && coll_in_place(c) ? place : block_whole(c->in);

    if (!g->equal || g->x.direct_bytes != 0)
        answer_all(g);
    block_move(g->x.m, &place, &own);
    for (int k = 1; k < g->x.ranks; k++)
        receive(g, k);
}

static void gather(struct mem *m, const struct coll *c, bool equal)
{
    struct gathering g = { .equal = equal };

    gather_scatter_begin(&g.x, m, c, 1, c->root);
    if (g.x.direct_bytes != 0 && (equal || g.x.me == c->root))
        g.tiled = gather_scatter_tiled_ranks(&g.x, c->out, equal);
    if (g.x.me == c->root)
        receive_all(&g);
    else
        send(&g);
    gather_scatter_end(&g.x);
}

static void gather_windows(struct mem *m, const struct coll *c)
{
    gather(m, c, true);
}

static void gatherv_windows(struct mem *m, const struct coll *c)
{
    gather(m, c, false);
}

static size_t lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param;
    return gather_scatter_lines_bytes(ranks, 1, window_bytes);
}

static const struct alg_family family = {
    .params = gather_scatter_params,
    .window_bytes = gather_scatter_window_bytes,
    .lines_bytes = lines_bytes,
    .walk_bytes = TILES_WALK,
};

ALG_DEFINE(gather, windows) = {
    GATHER_SCATTER_ALG(gather,
                       "every rank passes its block to the root in tiles through its window, or "
                       "the kernel copies the block"),
};

ALG_DEFINE(gatherv, windows) = {
    GATHER_SCATTER_ALG(gatherv,
                       "every rank passes its block, of any size, to the root in tiles, or the "
                       "kernel copies the block"),
};
