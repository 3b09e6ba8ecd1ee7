/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - large allreduce of a span (ring.h): all steps.
 *
 * Shape     The message is cut into chunks, a chunk into a slice for each ring, a slice into a
 *           block for each node.
 * Cost      2 n (N - 1) / N bytes out of and into each node.
 * Accepts   Operations that commute, if a cell has room for an element.
 *
 * The member of a ring reads its own contribution in the user's buffer.  This also works in place:
 * only a chunk itself reads the bytes that it writes.
 */
#include "alg/rings/ring.h"

static size_t offset_of(const struct ring *x, size_t chunk, int ring, int node)
{
    size_t index = (chunk * (size_t)x->rings + (size_t)ring) * (size_t)x->nodes + (size_t)node;

    return index * x->piece_bytes;
}

static size_t block_bytes(const struct ring *x, size_t chunk, int ring, int node)
{
    size_t offset = offset_of(x, chunk, ring, node);

    return offset < x->c->bytes ? pieces_min(x->c->bytes - offset, x->piece_bytes) : 0;
}

static void contribute(const struct ring *x, size_t chunk)
{
    int me = mem_rank(x->m);

    for (int ring = 0; ring < x->rings; ring++)
        for (int node = 0; ring != x->ring && node < x->nodes; node++)
            mem_in_all(x->m, ring_cell(x, me, chunk, ring, node), x->c->in,
                       offset_of(x, chunk, ring, node), block_bytes(x, chunk, ring, node));
}

static void reduce(const struct ring *x, size_t chunk, int node, void *come)
{
    int me = mem_rank(x->m), ring = x->ring;
    const struct mem_span sum = { .shared = ring_cell(x, me, chunk, ring, node) };
    struct sources all;

    sources_begin(&all, x->m, x->c, &sum, block_bytes(x, chunk, ring, node));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = come });
    sources_add(&all, (struct mem_span){ .view = x->c->in,
                                         .offset_bytes = offset_of(x, chunk, ring, node) });
    for (int r = 0; r < mem_size(x->m); r++)
        if (r != me)
            sources_add(&all, (struct mem_span){ .shared = ring_cell(x, r, chunk, ring, node) });
    sources_reduce_as(&all, &sum, NULL, true);
}

static void copy_out(const struct ring *x, size_t chunk)
{
    for (int ring = 0; ring < x->rings; ring++)
        for (int node = 0; node < x->nodes; node++)
            if (block_bytes(x, chunk, ring, node) != 0)
                mem_out(x->m, x->c->out, ring_cell(x, ring, chunk, ring, node),
                        offset_of(x, chunk, ring, node), block_bytes(x, chunk, ring, node));
}

static const struct ring_plan plan = { .reduces = true,
                                       .gathers = true,
                                       .bytes = block_bytes,
                                       .contribute = contribute,
                                       .reduce = reduce,
                                       .copy_out = copy_out };

static size_t largest_block(const struct coll *c)
{
    return ring_room(c) / cut_unit(c) * cut_unit(c);
}

static void allreduce_rings(struct mem *m, const struct coll *c)
{
    struct ring x = ring_of_call(m, c, &plan, NET_ALLREDUCE_RINGS);
    size_t blocks = (size_t)x.rings * (size_t)x.nodes, largest = blocks * largest_block(c);

    x.cell_bytes = ring_room(c);
    x.chunks = (c->bytes + largest - 1) / largest;
    blocks *= x.chunks;
    x.piece_bytes = cut_round_up((c->bytes + blocks - 1) / blocks, cut_unit(c));
    ring_run(&x);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes != 0 && largest_block(c) != 0;
}

ALG_DEFINE(allreduce, rings) = { RING_ALG(allreduce, "partial results along rings of nodes"),
                                 .accepts = accepts };
