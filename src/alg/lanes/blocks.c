/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c - collectives of a span where each rank has a block (lanes.h): reduce_scatter makes the
 * first steps of the ring, allgather and allgatherv make the last ones.
 *
 * Shape     Rank number i of a node is served by lane i modulo the number of lanes.  A lane's block
 *           for a node, or of it, has the pieces of those ranks, one behind the other, a piece of
 *           each rank in a chunk.
 * Cost      n (N - 1) / N bytes into each node of n bytes in all; where blocks are equal, as many
 *           out of it.
 * Accepts   Operations that commute, if a cell has room for an element of each of those ranks.
 *           Blocks none of which is longer than UNEQUAL times the mean: cells have room for the
 *           longest.
 *
 * In reduce_scatter all contributions go through the window, as `out` may be the beginning of
 * `in`: a chunk writes what it has copied in, or what an earlier one has.  The result has a cell of
 * its own, since contributions are written before A1.  In an allgather a lane copies its own piece
 * into its cell, and those that others, which are no lanes, have put into their windows.
 */
#include "alg/lanes/lanes.h"

enum { UNEQUAL = 4 };

/* Most ranks of a node that one lane serves. */
static int mates(const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int most = 0, lanes = lanes_count(c);

    for (int node = 0; node < map->nodes; node++)
        most = net_members(map, node) > most ? net_members(map, node) : most;
    return (most + lanes - 1) / lanes;
}

/* Of a rank's block of so many bytes. */
static size_t piece_left(const struct lanes_call *x, size_t chunk, size_t block_bytes)
{
    size_t done = chunk * x->piece_bytes;

    return done < block_bytes ? pieces_min(block_bytes - done, x->piece_bytes) : 0;
}

/* Largest piece, whole units; 0: there is no room. */
static size_t largest_piece(const struct coll *c, size_t unit)
{
    return lanes_room(c) / (size_t)mates(c) / unit * unit;
}

/* For blocks of at most so many bytes. */
static void cut_blocks(struct lanes_call *x, size_t block_bytes, size_t unit)
{
    size_t largest = largest_piece(x->c, unit);

    x->cell_bytes = lanes_room(x->c);
    x->chunks = (block_bytes + largest - 1) / largest;
    x->piece_bytes = cut_round_up((block_bytes + x->chunks - 1) / x->chunks, unit);
}

/* ---- reduce_scatter ---- */

static int lane_of(const struct lanes_call *x, int local)
{
    return local % x->lanes;
}

/* Of ranks of a node with numbers before `end`, those that the lane serves. */
static size_t pieces_before_rank(const struct lanes_call *x, size_t chunk, int lane, int node,
                                 int end)
{
    size_t bytes = 0;

    for (int local = lane; local < end; local += x->lanes)
        bytes += piece_left(x, chunk, x->c->block_bytes[net_member(x->map, node, local)]);
    return bytes;
}

static size_t scatter_block_bytes(const struct lanes_call *x, size_t chunk, int lane, int node)
{
    return pieces_before_rank(x, chunk, lane, node, net_members(x->map, node));
}

static void scatter_contribute(const struct lanes_call *x, size_t chunk)
{
    const size_t *blocks = x->c->block_bytes;
    size_t begin = 0;

    for (int r = 0; r < x->map->ranks; begin += blocks[r++]) {
        int node = x->map->node_of[r], local = x->map->local_of[r], lane = lane_of(x, local);
        size_t bytes = piece_left(x, chunk, blocks[r]);
        if (bytes != 0)
            mem_in_all(x->m,
                       lanes_cell(x, mem_rank(x->m), chunk, lane, node) +
                           pieces_before_rank(x, chunk, lane, node, local),
                       x->c->in, begin + chunk * x->piece_bytes, bytes);
    }
}

static void scatter_reduce(const struct lanes_call *x, size_t chunk, int node, void *come)
{
    int me = mem_rank(x->m), lane = x->lane;
    const struct mem_span own = { .shared = lanes_cell(x, me, chunk, lane, node) };
    const struct mem_span result = { .shared = lanes_more(x, me, chunk, LANES_RESULT) };
    struct sources all;

    sources_begin(&all, x->m, x->c, &own, scatter_block_bytes(x, chunk, lane, node));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = come });
    sources_add(&all, own);
    for (int r = 0; r < mem_size(x->m); r++)
        if (r != me)
            sources_add(&all, (struct mem_span){ .shared = lanes_cell(x, r, chunk, lane, node) });
    sources_reduce(&all, node == x->map->node ? &result : &own, NULL);
}

static void scatter_begin(const struct lanes_call *x, size_t chunk)
{
    int node = lanes_moved(x, 0);

    if (scatter_block_bytes(x, chunk, x->lane, node) != 0)
        scatter_reduce(x, chunk, node, NULL);
}

static void scatter_copy_out(const struct lanes_call *x, size_t chunk)
{
    int me = mem_rank(x->m), lane = lane_of(x, me), node = x->map->node;
    size_t bytes = piece_left(x, chunk, x->c->block_bytes[net_member(x->map, node, me)]);

    if (bytes != 0)
        mem_out(x->m, x->c->out,
                lanes_more(x, lane, chunk, LANES_RESULT) +
                    pieces_before_rank(x, chunk, lane, node, me),
                chunk * x->piece_bytes, bytes);
}

static const struct lanes_plan scatter_plan = { .reduces = true,
                                                .bytes = scatter_block_bytes,
                                                .contribute = scatter_contribute,
                                                .begin = scatter_begin,
                                                .reduce = scatter_reduce,
                                                .copy_out = scatter_copy_out };

static size_t scatter_longest(const struct coll *c, int ranks)
{
    size_t most = 0;

    for (int r = 0; r < ranks; r++)
        most = c->block_bytes[r] > most ? c->block_bytes[r] : most;
    return most;
}

static void reduce_scatter_lanes(struct mem *m, const struct coll *c)
{
    struct lanes_call x = { .m = m,
                            .c = c,
                            .plan = &scatter_plan,
                            .map = net_map(c->net),
                            .tag = NET_REDUCE_SCATTER_LANES,
                            .nodes = net_map(c->net)->nodes,
                            .lanes = lanes_count(c) };

    cut_blocks(&x, scatter_longest(c, x.map->ranks), cut_unit(c));
    lanes_run(&x);
}

static bool scatter_accepts(const struct coll *c, int ranks)
{
    return c->bytes != 0 && largest_piece(c, cut_unit(c)) != 0 &&
           scatter_longest(c, ranks) / UNEQUAL <= c->bytes / (size_t)ranks;
}

ALG_DEFINE(reduce_scatter, lanes) = { .coll = "reduce_scatter",
                                      .name = "lanes",
                                      .doc = "several ranks of each node pass sums round rings",
                                      .source = "Patarasuk, Yuan 2009; slices within a node",
                                      .family = &HUD_BACKEND(lanes_family),
                                      .accepts = scatter_accepts,
                                      .run = reduce_scatter_lanes };

/* ---- allgather, allgatherv ---- */

/* A rank's block, and where it is in `out`. */
static size_t gather_rank_bytes(const struct coll *c, bool parts, int rank)
{
    return parts ? c->out[rank].bytes : c->bytes;
}

static struct mem_span gather_place_of(const struct lanes_call *x, int rank, size_t offset)
{
    const struct coll *c = x->c;

    if (x->parts)
        return (struct mem_span){ .view = &c->out[rank], .offset_bytes = offset };
    return (struct mem_span){ .view = c->out, .offset_bytes = (size_t)rank * c->bytes + offset };
}

static size_t gather_piece_of(const struct lanes_call *x, size_t chunk, int node, int local)
{
    return piece_left(x, chunk, gather_rank_bytes(x->c, x->parts, net_member(x->map, node, local)));
}

static size_t gather_block_bytes(const struct lanes_call *x, size_t chunk, int lane, int node)
{
    size_t bytes = 0;

    for (int local = lane; local < net_members(x->map, node); local += x->lanes)
        bytes += gather_piece_of(x, chunk, node, local);
    return bytes;
}

/* This rank's piece, from where the user has it. */
static void gather_bring(const struct lanes_call *x, size_t chunk, void *to)
{
    int rank = net_member(x->map, x->map->node, mem_rank(x->m));
    bool in_place = !x->parts && coll_in_place(x->c);
    const struct mem_span in = { .view = x->c->in, .offset_bytes = chunk * x->piece_bytes },
                          from = in_place ? gather_place_of(x, rank, in.offset_bytes) : in;

    mem_in_all(x->m, to, from.view, from.offset_bytes,
               gather_piece_of(x, chunk, x->map->node, mem_rank(x->m)));
}

static char *gather_brought(const struct lanes_call *x, int rank, size_t chunk)
{
    return lanes_cell(x, rank, chunk, 0, 0);
}

static void gather_contribute(const struct lanes_call *x, size_t chunk)
{
    if (x->lane < 0)
        gather_bring(x, chunk, gather_brought(x, mem_rank(x->m), chunk));
}

static void gather_begin(const struct lanes_call *x, size_t chunk)
{
    int node = x->map->node;
    char *to = lanes_cell(x, mem_rank(x->m), chunk, x->lane, node);

    gather_bring(x, chunk, to);
    for (int local = x->lane; local < mem_size(x->m); local += x->lanes) {
        size_t bytes = gather_piece_of(x, chunk, node, local);
        if (local != x->lane && bytes != 0)
            mem_copy(x->m, to, gather_brought(x, local, chunk), bytes);
        to += bytes;
    }
}

static void gather_copy_block(const struct lanes_call *x, size_t chunk, int lane, int node)
{
    const char *from = lanes_cell(x, lane, chunk, lane, node);

    for (int local = lane; local < net_members(x->map, node); local += x->lanes) {
        size_t bytes = gather_piece_of(x, chunk, node, local);
        const struct mem_span to =
            gather_place_of(x, net_member(x->map, node, local), chunk * x->piece_bytes);
        if (bytes != 0)
            mem_out(x->m, to.view, from, to.offset_bytes, bytes);
        from += bytes;
    }
}

static void gather_copy_out(const struct lanes_call *x, size_t chunk)
{
    for (int lane = 0; lane < x->lanes; lane++)
        for (int node = 0; node < x->nodes; node++)
            gather_copy_block(x, chunk, lane, node);
}

static const struct lanes_plan gather_plan = { .gathers = true,
                                               .bytes = gather_block_bytes,
                                               .contribute = gather_contribute,
                                               .begin = gather_begin,
                                               .copy_out = gather_copy_out };

static size_t gather_longest(const struct coll *c, bool parts, int ranks)
{
    size_t most = 0;

    for (int r = 0; r < ranks; r++)
        most = gather_rank_bytes(c, parts, r) > most ? gather_rank_bytes(c, parts, r) : most;
    return most;
}

static void gather_run(struct mem *m, const struct coll *c, bool parts)
{
    struct lanes_call x = { .m = m,
                            .c = c,
                            .plan = &gather_plan,
                            .map = net_map(c->net),
                            .tag = parts ? NET_ALLGATHERV_LANES : NET_ALLGATHER_LANES,
                            .nodes = net_map(c->net)->nodes,
                            .lanes = lanes_count(c),
                            .parts = parts };

    cut_blocks(&x, gather_longest(c, parts, x.map->ranks), HUD_LINE);
    lanes_run(&x);
}

static void allgather_lanes(struct mem *m, const struct coll *c)
{
    gather_run(m, c, false);
}

static bool gather_accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return largest_piece(c, HUD_LINE) != 0;
}

ALG_DEFINE(allgather, lanes) = { .coll = "allgather",
                                 .name = "lanes",
                                 .doc = "several ranks of each node pass blocks round rings",
                                 .source = "Patarasuk, Yuan 2009; slices within a node",
                                 .family = &HUD_BACKEND(lanes_family),
                                 .accepts = gather_accepts,
                                 .run = allgather_lanes };

static void allgatherv_lanes(struct mem *m, const struct coll *c)
{
    gather_run(m, c, true);
}

static bool gather_accepts_parts(const struct coll *c, int ranks)
{
    return gather_accepts(c, ranks) &&
           gather_longest(c, true, ranks) / UNEQUAL <= c->bytes / (size_t)ranks;
}

ALG_DEFINE(allgatherv, lanes) = { .coll = "allgatherv",
                                  .name = "lanes",
                                  .doc = "several ranks of each node pass blocks round rings",
                                  .source = "Patarasuk, Yuan 2009; slices within a node",
                                  .family = &HUD_BACKEND(lanes_family),
                                  .accepts = gather_accepts_parts,
                                  .run = allgatherv_lanes };
