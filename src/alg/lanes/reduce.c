/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - large reduce of a span: slices go down chains of nodes, in one pipeline to the root.
 *
 * Source    Paper 04 (the chain, with segments) between nodes (chain.h); slices that ranks own
 *           (slices.h) within.  Lanes, `contributions` and what orders it: lanes.h.
 * Shape     The lane of a node combines what comes from the node before with the contributions of
 *           its node, and sends that on.
 * Accepts   If a piece has room for an element.  reduce/lanes: operations that commute.
 *           reduce/ordered: nodes that are ranges of ranks.
 *
 * Line              written by   read by      meaning of value k
 *   result          a lane       the node     it has read the contributions to chunk k - 1
 *   returned        a lane of    the root     its piece of the sum of chunk k - 1 is in its window
 *                   the root's node
 *
 * Edges     R2 -> A2   contributions read, before the next are written
 *           R4 -> A4   a piece of the sum, to the root
 * Deadlock  All go through chunks in order.  A lane starts a receive one chunk before it waits for
 *           it, and that of a sum as soon as its cell is free.  The root's node takes sums `late`
 *           chunks after it has sent what they are made of.  A sum of chunk k waits for nothing
 *           later than chunk k on any node.
 * Safety    1 A rank writes contributions to chunk k after A2 of chunk k - 2 from all lanes.
 *           2 Cells of sums for the root are CHAIN_DEPTH.  Chunk k's is free when the root has
 *             finished chunk k - CHAIN_DEPTH: it has before it contributes to chunk
 *             k - CHAIN_DEPTH + late + 1, which is at most chunk k - 1.
 *           3 The root writes a piece after all ranks have read their contributions to it, also in
 *             place: its own lane reads before A4, and it has copied the rest before.
 */
#include "alg/lanes/chain.h"

/* ---- a lane ---- */

static void combine(const struct chain *o, size_t chunk, bool come, char *to)
{
    const struct mem_span sum = { .shared = to };
    int me = mem_rank(o->m);
    struct sources all;

    sources_begin(&all, o->m, o->c, &sum, chain_bytes(o, chunk, o->lane));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = chain_coming_cell(o, chunk) });
    for (int r = 0; r < mem_size(o->m); r++)
        sources_add(
            &all, r == me ? (struct mem_span){ .view = o->c->in,
                                               .offset_bytes = chain_offset(o, chunk, o->lane) }
                          : (struct mem_span){ .shared = chain_piece_cell(o, r, chunk, o->lane) });
    sources_reduce(&all, &sum, NULL);
}

static void forward(const struct chain *o, size_t chunk)
{
    bool is_result = o->ends && o->from < 0;
    char *to = is_result ? chain_sum_cell(o, o->lane, chunk)
                         : chain_piece_cell(o, mem_rank(o->m), chunk, o->lane);

    lanes_await_node(o->m, o->chunks_before + chunk + 1);
    chain_expect(o, chunk + 1);
    chain_expect_sum(o, chunk + 1);
    bool come = chain_await(o, chunk);
    if (chunk >= LANES_BOTH)
        chain_complete(o, chunk - LANES_BOTH);
    if (chain_bytes(o, chunk, o->lane) != 0)
        combine(o, chunk, come, to);
    mem_post(o->m, &lanes_of(o->m, o->lane)->result, o->chunks_before + chunk + 1); /* R2 */
    chain_send(o, chunk, to);
}

/* A lane of the root's node: its piece of the sum is there. */
static void give_sum(const struct chain *o, size_t chunk)
{
    chain_await_sum(o, chunk);
    mem_post(o->m, &lanes_of(o->m, o->lane)->returned, o->chunks_before + chunk + 1); /* R4 */
}

/* ---- all ranks ---- */

/* All lanes have read the contributions to that chunk. */
static void await_read(const struct chain *o, uint64_t value)
{
    for (int lane = 0; lane < o->lanes; lane++)
        if (lane != o->lane)
            mem_await(o->m, &lanes_of(o->m, lane)->result, value); /* A2 */
}

static void contribute(const struct chain *o, size_t chunk)
{
    int me = mem_rank(o->m);

    if (chunk >= LANES_SETS)
        await_read(o, o->chunks_before + chunk + 1 - LANES_SETS);
    for (int lane = 0; lane < o->lanes; lane++)
        if (lane != o->lane && chain_bytes(o, chunk, lane) != 0)
            mem_in_all(o->m, chain_piece_cell(o, me, chunk, lane), o->c->in,
                       chain_offset(o, chunk, lane), chain_bytes(o, chunk, lane));
    lanes_contributed(o->m, o->chunks_before + chunk + 1);
}

static void take_sums(const struct chain *o, size_t chunk)
{
    for (int lane = 0; lane < o->lanes; lane++) {
        if (lane != o->lane)
            mem_await(o->m, &lanes_of(o->m, lane)->returned, o->chunks_before + chunk + 1); /* A4 */
        if (chain_bytes(o, chunk, lane) != 0)
            mem_out(o->m, o->c->out, chain_sum_cell(o, lane, chunk), chain_offset(o, chunk, lane),
                    chain_bytes(o, chunk, lane));
    }
}

static void run(struct chain *o)
{
    bool is_root = net_member(o->map, o->map->node, mem_rank(o->m)) == o->c->root;

    if (o->lane >= 0) {
        chain_expect(o, 0);
        chain_expect_sum(o, 0);
    }
    for (size_t k = 0; k < o->chunks + o->late; k++) {
        if (k < o->chunks)
            contribute(o, k);
        if (k < o->chunks && o->lane >= 0)
            forward(o, k);
        if (k >= o->late && o->ends && o->lane >= 0)
            give_sum(o, k - o->late);
        if (k >= o->late && is_root)
            take_sums(o, k - o->late);
    }
    for (size_t k = o->chunks < LANES_BOTH ? 0 : o->chunks - LANES_BOTH;
         o->lane >= 0 && k < o->chunks; k++)
        chain_complete(o, k);
}

static void reduce_lanes(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct chain o = { .m = m,
                       .c = c,
                       .map = map,
                       .lanes = lanes_count(c),
                       .begins = c->alg->ordered ? 0 : (map->node_of[c->root] + 1) % map->nodes,
                       .piece_bytes = chain_room(c) };
    size_t chunk_bytes = (size_t)o.lanes * o.piece_bytes;

    o.lane = mem_rank(m) < o.lanes ? mem_rank(m) : -1;
    o.chunks = (c->bytes + chunk_bytes - 1) / chunk_bytes;
    chain_link(&o);
    o.chunks_before = lanes_begin(m);
    run(&o);
    lanes_end(m, o.chunks_before, o.chunks);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return chain_room(c) != 0;
}

static bool accepts_in_order(const struct coll *c, int ranks)
{
    return accepts(c, ranks) && net_in_ranges(net_map(c->net));
}

ALG_DEFINE(reduce, lanes) = { .coll = "reduce",
                              .name = "lanes",
                              .doc = "several ranks of each node pass sums down chains of nodes",
                              .source = "paper 04, chain; slices within a node",
                              .family = &HUD_BACKEND(lanes_family),
                              .accepts = accepts,
                              .run = reduce_lanes };

ALG_DEFINE(reduce, ordered) = { .coll = "reduce",
                                .name = "ordered",
                                .doc = "the same, from rank 0 on",
                                .source = "paper 04, chain; slices within a node",
                                .ordered = true,
                                .family = &HUD_BACKEND(lanes_family),
                                .accepts = accepts_in_order,
                                .run = reduce_lanes };
