/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - blocks go to the root through windows of their senders: gather/windows and
 * gatherv/windows.  Lines, edges and proof: one_way.h, blocks.h.
 *
 * Source    this project; lines by halves as in reduce/inline, after paper 01's sets (q = 2); tiles
 *           after paper 02 (data tiling).
 * Shape     p ranks, blocks of n[i] bytes.  All but the root write their blocks and are done, as
 *           far as lines and windows reach; the root copies them out, from rank r + 1 on.  A sender
 *           whose block the kernel may copy waits for the root's answer first.
 * Cost      T = l + (p - 2) g + (sum of n[i]) t       ns; l one line transfer, g one more
 *           overlapped line, t per byte copied in cache; from 0.5 KB on one more copy of a tile
 *           traffic: 2 (sum of n[i]) bytes beyond in and out; the root's own goes from in to out
 *           blocks that the kernel copies: T = 2 l + max n[i] t, t of its copies: all ranks at
 *           once, while the root copies out those in tiles
 * Accepts   any block, if the lease has a window.
 *
 * The root has a place for the blocks of all ranks, and they push them there.  At the beginning it
 * answers all that will ask: with a place, or that there is none, for a block that is to go in
 * tiles.  Those come from the ranks right after it, so it copies them out first.  Where all blocks
 * have one size, their senders know that, and do not ask.
 */
#include "alg/one_way/direct_blocks.h"

struct gathering {
    struct one_way x;
    bool equal; /* all blocks have the call's bytes */
    int tiled;  /* tiles carry so many ranks' blocks; senders of unequal blocks do not know: 0 */
};

static struct block place_of(const struct gathering *g, int rank)
{
    const struct coll *c = g->x.c;

    return g->equal ? block_number(c->out, c->bytes, rank) : block_whole(&c->out[rank]);
}

static void send(struct gathering *g)
{
    const struct block block = block_whole(g->x.c->in);
    mem_flag *cell = one_way_cell(&g->x, g->x.me, 0, g->x.op);
    uint64_t began = g->x.at;
    bool asks = one_way_number(&g->x) > g->tiled && one_way_is_direct(&g->x, &block);
    size_t pushed = asks ? one_way_push(&g->x, g->x.c->root, cell, &block) : 0;

    one_way_send(&g->x, g->x.c->root, cell, &block, pushed);
    one_way_prefetch(&g->x, one_way_cell(&g->x, g->x.me, 0, g->x.op + 1), block.bytes, began);
}

/* The k-th sender waits for an answer, unless its own block is shorter than its place. */
static bool answers(const struct gathering *g, int k, const struct block *place)
{
    return g->x.direct_bytes != 0 && place->bytes >= g->x.direct_bytes &&
           !(g->equal && k <= g->tiled);
}

static void receive(const struct gathering *g, int k)
{
    int sender = one_way_next(&g->x, k);
    mem_flag *cell = one_way_cell(&g->x, sender, 0, g->x.op);
    const struct block place = place_of(g, sender);

    if (place.bytes == 0)
        return;
    one_way_expect(&g->x, sender, 0, place.bytes);
    if (one_way_await_direct(&g->x, cell) && !answers(g, k, &place))
        one_way_answer(&g->x, sender, &place, false);
    one_way_receive(&g->x, sender, cell, place);
}

static void answer_all(const struct gathering *g)
{
    for (int k = 1; k < g->x.ranks; k++) {
        int sender = one_way_next(&g->x, k);
        const struct block place = place_of(g, sender);
        if (place.bytes == 0)
            one_way_tell(&g->x, sender, g->x.op, UINT32_MAX);
        else if (answers(g, k, &place))
            one_way_answer(&g->x, sender, &place, k > g->tiled);
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

    one_way_begin(&g.x, m, c, 1, c->root);
    if (g.x.direct_bytes != 0 && (equal || g.x.me == c->root))
        g.tiled = one_way_tiled_ranks(&g.x, c->out, equal);
    if (g.x.me == c->root)
        receive_all(&g);
    else
        send(&g);
    one_way_end(&g.x);
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
    return one_way_lines_bytes(ranks, 1, window_bytes);
}

static const struct alg_family family = {
    .params = one_way_params,
    .window_bytes = one_way_window_bytes,
    .lines_bytes = lines_bytes,
    .walk_bytes = TILES_WALK,
};

ALG_DEFINE(gather, windows) = {
    ONE_WAY_ALG(
        gather,
        "blocks go to the root by tiles, through a window of each rank, or pushed by the kernel"),
};

ALG_DEFINE(gatherv, windows) = {
    ONE_WAY_ALG(gatherv, "blocks of any sizes go to the root by tiles, or pushed by the kernel"),
};
