/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - large allgather and allgatherv of a span: the last steps of the ring (ring.h),
 * with the blocks of ranks (blocks.h).
 *
 * The member of a ring copies its own piece into its cell, together with the pieces that ranks
 * without a ring have put into their windows.
 */
#include "alg/rings/blocks.h"

/* Returns the bytes of a rank's block.  place_of() returns a position in the block in `out`. */
static size_t rank_bytes(const struct coll *c, bool parts, int rank)
{
    return parts ? c->out[rank].bytes : c->bytes;
}

static struct mem_span place_of(const struct ring *x, int rank, size_t offset)
{
    const struct coll *c = x->c;

    if (x->parts)
        return (struct mem_span){ .view = &c->out[rank], .offset_bytes = offset };
    return (struct mem_span){ .view = c->out, .offset_bytes = (size_t)rank * c->bytes + offset };
}

static size_t piece_of(const struct ring *x, size_t chunk, int node, int local)
{
    return blocks_piece(x, chunk, rank_bytes(x->c, x->parts, net_member(x->map, node, local)));
}

static size_t block_bytes(const struct ring *x, size_t chunk, int ring, int node)
{
    size_t bytes = 0;

    for (int local = ring; local < net_members(x->map, node); local += x->rings)
        bytes += piece_of(x, chunk, node, local);
    return bytes;
}

/* Copies this rank's piece from the user's buffer. */
static void bring(const struct ring *x, size_t chunk, void *to)
{
    int rank = net_member(x->map, x->map->node, mem_rank(x->m));
    bool in_place = !x->parts && coll_in_place(x->c);
    const struct mem_span in = { .view = x->c->in, .offset_bytes = chunk * x->piece_bytes },
                          from = in_place ? place_of(x, rank, in.offset_bytes) : in;

    mem_in_all(x->m, to, from.view, from.offset_bytes,
               piece_of(x, chunk, x->map->node, mem_rank(x->m)));
}

static char *brought(const struct ring *x, int rank, size_t chunk)
{
    return ring_cell(x, rank, chunk, 0, 0);
}

static void contribute(const struct ring *x, size_t chunk)
{
    if (x->ring < 0)
        bring(x, chunk, brought(x, mem_rank(x->m), chunk));
}

/* Puts the pieces of the ring's block for this node together.  No other rank reads the pieces that
 * ranks without a ring have brought. */
static void begin(const struct ring *x, size_t chunk)
{
    int node = x->map->node;
    char *to = ring_cell(x, mem_rank(x->m), chunk, x->ring, node);

    bring(x, chunk, to);
    for (int local = x->ring; local < mem_size(x->m); local += x->rings) {
        size_t bytes = piece_of(x, chunk, node, local);
        if (local != x->ring && bytes != 0)
            mem_copy_last(x->m, to, brought(x, local, chunk), bytes);
        to += bytes;
    }
}

static void copy_block(const struct ring *x, size_t chunk, int ring, int node)
{
    const char *from = ring_cell(x, ring, chunk, ring, node);

    for (int local = ring; local < net_members(x->map, node); local += x->rings) {
        size_t bytes = piece_of(x, chunk, node, local);
        const struct mem_span to =
            place_of(x, net_member(x->map, node, local), chunk * x->piece_bytes);
        if (bytes != 0)
            mem_out(x->m, to.view, from, to.offset_bytes, bytes);
        from += bytes;
    }
}

static void copy_out(const struct ring *x, size_t chunk)
{
    for (int ring = 0; ring < x->rings; ring++)
        for (int node = 0; node < x->nodes; node++)
            copy_block(x, chunk, ring, node);
}

static const struct ring_plan plan = { .gathers = true,
                                       .bytes = block_bytes,
                                       .contribute = contribute,
                                       .begin = begin,
                                       .copy_out = copy_out };

static size_t longest(const struct coll *c, bool parts, int ranks)
{
    size_t max = 0;

    for (int r = 0; r < ranks; r++)
        max = rank_bytes(c, parts, r) > max ? rank_bytes(c, parts, r) : max;
    return max;
}

static void run(struct mem *m, const struct coll *c, bool parts)
{
    struct ring x = ring_of_call(m, c, &plan, parts ? NET_ALLGATHERV_RINGS : NET_ALLGATHER_RINGS);

    x.parts = parts;
    blocks_cut(&x, longest(c, parts, x.map->ranks), HUD_LINE);
    ring_run(&x);
}

/* ---- allgather ---- */

static void allgather_rings(struct mem *m, const struct coll *c)
{
    run(m, c, false);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return blocks_room(c, HUD_LINE) != 0;
}

ALG_DEFINE(allgather, rings) = { RING_ALG(allgather, "blocks along rings of nodes"),
                                 .accepts = accepts };

/* ---- allgatherv ---- */

static void allgatherv_rings(struct mem *m, const struct coll *c)
{
    run(m, c, true);
}

static bool accepts_parts(const struct coll *c, int ranks)
{
    return accepts(c, ranks) &&
           longest(c, true, ranks) / BLOCKS_UNEQUAL <= c->bytes / (size_t)ranks;
}

ALG_DEFINE(allgatherv, rings) = { RING_ALG(allgatherv, "blocks along rings of nodes"),
                                  .accepts = accepts_parts };
