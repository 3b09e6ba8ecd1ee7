/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter.c - large reduce_scatter of a span: the first steps of the ring (ring.h), with
 * the blocks of ranks (blocks.h).
 *
 * Accepts   Operations that commute, if a cell has room for an element of each rank that a ring
 *           serves.
 *
 * All contributions go through the window, as `out` may be the beginning of `in`: a chunk only
 * overwrites bytes that it or an earlier chunk has copied in.  The result has a cell of its own,
 * since contributions are written before A1.
 */
#include "alg/rings/blocks.h"

static int ring_of(const struct ring *x, int local)
{
    return local % x->rings;
}

/* Returns the bytes of the pieces that the ring serves for the ranks of a node with numbers before
 * `end`. */
static size_t pieces_before_rank(const struct ring *x, size_t chunk, int ring, int node, int end)
{
    size_t bytes = 0;

    for (int local = ring; local < end; local += x->rings)
        bytes += blocks_piece(x, chunk, x->c->block_bytes[net_member(x->map, node, local)]);
    return bytes;
}

static size_t block_bytes(const struct ring *x, size_t chunk, int ring, int node)
{
    return pieces_before_rank(x, chunk, ring, node, net_members(x->map, node));
}

static void contribute(const struct ring *x, size_t chunk)
{
    const size_t *blocks = x->c->block_bytes;
    size_t begin = 0;

    for (int r = 0; r < x->map->ranks; begin += blocks[r++]) {
        int node = x->map->node_of[r], local = x->map->local_of[r], ring = ring_of(x, local);
        size_t bytes = blocks_piece(x, chunk, blocks[r]);
        if (bytes != 0)
            mem_in_all(x->m,
                       ring_cell(x, mem_rank(x->m), chunk, ring, node) +
                           pieces_before_rank(x, chunk, ring, node, local),
                       x->c->in, begin + chunk * x->piece_bytes, bytes);
    }
}

static void reduce(const struct ring *x, size_t chunk, int node, void *come)
{
    int me = mem_rank(x->m), ring = x->ring;
    const struct mem_span own = { .shared = ring_cell(x, me, chunk, ring, node) };
    const struct mem_span result = { .shared = ring_more(x, me, chunk, RING_RESULT) };
    struct sources all;

    sources_begin(&all, x->m, x->c, &own, block_bytes(x, chunk, ring, node));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = come });
    sources_add(&all, own);
    for (int r = 0; r < mem_size(x->m); r++)
        if (r != me)
            sources_add(&all, (struct mem_span){ .shared = ring_cell(x, r, chunk, ring, node) });
    sources_reduce_as(&all, node == x->map->node ? &result : &own, NULL, true);
}

/* Copies this rank's piece of the result out.  No other rank reads the piece. */
static void copy_out(const struct ring *x, size_t chunk)
{
    int me = mem_rank(x->m), ring = ring_of(x, me), node = x->map->node;
    size_t bytes = blocks_piece(x, chunk, x->c->block_bytes[net_member(x->map, node, me)]);

    if (bytes != 0)
        mem_out_last(x->m, x->c->out,
                     ring_more(x, ring, chunk, RING_RESULT) +
                         pieces_before_rank(x, chunk, ring, node, me),
                     chunk * x->piece_bytes, bytes);
}

static const struct ring_plan plan = { .reduces = true,
                                       .bytes = block_bytes,
                                       .contribute = contribute,
                                       .reduce = reduce,
                                       .copy_out = copy_out };

static size_t longest(const struct coll *c, int ranks)
{
    size_t max = 0;

    for (int r = 0; r < ranks; r++)
        max = c->block_bytes[r] > max ? c->block_bytes[r] : max;
    return max;
}

static void reduce_scatter_rings(struct mem *m, const struct coll *c)
{
    struct ring x = ring_of_call(m, c, &plan, NET_REDUCE_SCATTER_RINGS);

    blocks_cut(&x, longest(c, x.map->ranks), cut_unit(c));
    ring_run(&x);
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes != 0 && blocks_room(c, cut_unit(c)) != 0 &&
           longest(c, ranks) / BLOCKS_UNEQUAL <= c->bytes / (size_t)ranks;
}

ALG_DEFINE(reduce_scatter, rings) = {
    RING_ALG(reduce_scatter, "partial results along rings of nodes"),
    .accepts = accepts,
};
