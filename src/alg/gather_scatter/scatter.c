/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter.c - blocks come from the root through its window: scatter/windows and
 * scatterv/windows.  Lines, edges and proof: gather_scatter.h, blocks.h.
 *
 * Source    this project; lines by halves as in bcast/inline, after paper 01's sets (q = 2); tiles
 *           after paper 02 (data tiling).
 * Shape     p ranks, blocks of n[i] bytes.  The root writes the blocks, for rank r + 1 first, and
 *           is done, as far as lines and its window suffice.  Each other rank copies its own block
 *           out.
 * Cost      T = (sum of n[i]) t + l + (p - 2) o       ns; l one line transfer, t per byte copied
 *           in cache, o of a block; from 0.5 KB on one more copy of a tile
 *           traffic: 2 (sum of n[i]) bytes beyond in and out; the root's own goes from in to out
 *           blocks that the kernel copies: T = 2 l + max n[i] t, t of its copies: all ranks at
 *           once, while the root writes those in tiles
 * Accepts   any block, if the lease has a window.
 *
 * The root publishes where its blocks are, and the other ranks pull them from there.  Then the root
 * sends the blocks that go in tiles, and waits until the others have reported how many bytes they
 * have pulled.
 */
#include "alg/gather_scatter/direct_blocks.h"

struct scattering {
    struct gather_scatter x;
    bool equal; /* all blocks have the call's bytes */
    int tiled;  /* number of ranks after the root whose blocks it sends in tiles */
};

static struct block block_of(const struct scattering *s, int rank)
{
    const struct coll *c = s->x.c;

    return block_part(s->equal ? c->in : &c->in[rank], s->equal ? (size_t)rank * c->bytes : 0,
                      s->equal ? c->bytes : c->in[rank].bytes);
}

static mem_flag *cell_for(const struct scattering *s, int rank)
{
    return gather_scatter_cell(&s->x, s->x.c->root, rank, s->x.op);
}

/* What the root does with each other rank in turn. */
enum phase { PUBLISH, SEND, FINISH };

static inline void serve(struct scattering *s, enum phase phase)
{
    for (int k = 1; k < s->x.ranks; k++) {
        int rank = gather_scatter_next(&s->x, k);
        const struct block block = block_of(s, rank);
        bool direct = k > s->tiled && gather_scatter_is_direct(&s->x, &block);
        if (phase == SEND && !direct)
            gather_scatter_send(&s->x, rank, cell_for(s, rank), &block, 0);
        else if (phase == PUBLISH && direct)
            gather_scatter_publish(&s->x, cell_for(s, rank), &block);
        else if (phase == FINISH && direct)
            gather_scatter_finish(&s->x, rank, cell_for(s, rank), &block);
    }
}

static void send_all(struct scattering *s)
{
    const struct coll *c = s->x.c;
    const struct block own = block_of(s, s->x.me),
                       place = s->equal && coll_in_place(c) ? own : block_whole(c->out);
    uint64_t began = s->x.at;

    if (s->x.direct_bytes != 0) {
        s->tiled = gather_scatter_tiled_ranks(&s->x, c->in, s->equal);
        serve(s, PUBLISH);
    }
    serve(s, SEND);
    block_move(s->x.m, &place, &own);
    if (s->x.direct_bytes != 0)
        serve(s, FINISH);
    for (int k = 1; k < s->x.ranks && k <= PREFETCH_RINGS; k++) {
        int rank = gather_scatter_next(&s->x, k);
        gather_scatter_prefetch(&s->x, gather_scatter_cell(&s->x, c->root, rank, s->x.op + 1),
                                block_of(s, rank).bytes, k == 1 ? began : s->x.at);
    }
}

static void receive(const struct scattering *s)
{
    int root = s->x.c->root;
    mem_flag *cell = cell_for(s, s->x.me);
    const struct block place = block_whole(s->x.c->out);

    if (place.bytes == 0) {
        gather_scatter_acknowledge(&s->x, root, s->x.op, UINT32_MAX);
        return;
    }
    if (s->x.direct_bytes != 0 && gather_scatter_await_direct(&s->x, cell) &&
        gather_scatter_pull(&s->x, root, cell, &place))
        return;
    gather_scatter_receive(&s->x, root, cell, place);
}

static void scatter(struct mem *m, const struct coll *c, bool equal)
{
    bool root = mem_rank(m) == c->root;
    struct scattering s = { .equal = equal };

    gather_scatter_begin(&s.x, m, c, mem_size(m), root ? mem_size(m) : mem_rank(m));
    if (root)
        send_all(&s);
    else
        receive(&s);
    gather_scatter_end(&s.x);
}

static void scatter_windows(struct mem *m, const struct coll *c)
{
    scatter(m, c, true);
}

static void scatterv_windows(struct mem *m, const struct coll *c)
{
    scatter(m, c, false);
}

static size_t lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param;
    return gather_scatter_lines_bytes(ranks, ranks, window_bytes);
}

static const struct alg_family family = {
    .params = gather_scatter_params,
    .window_bytes = gather_scatter_window_bytes,
    .lines_bytes = lines_bytes,
    .walk_bytes = TILES_WALK,
};

ALG_DEFINE(scatter, windows) = {
    GATHER_SCATTER_ALG(
        scatter,
        "the root passes the blocks in tiles through its window, or the kernel copies the blocks"),
};

ALG_DEFINE(scatterv, windows) = {
    GATHER_SCATTER_ALG(
        scatterv,
        "the root passes the blocks, of any sizes, in tiles, or the kernel copies the blocks"),
};
