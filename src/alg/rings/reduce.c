/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - large reduce of a span: slices go down chains of nodes, in a single pipeline to the
 * root.
 *
 * Source    Paper 04 (the chain, with segments) between nodes (chain.h); slices that ranks own
 *           (slices.h) within a node.  Rings, `contributions` and its ordering are described in
 *           rings.h.
 * Shape     The member of a ring on a node combines the message from the previous node with the
 * contributions
 *           of its own node, and sends the sum on.
 * Accepts   If a piece has room for an element.  reduce/rings: operations that commute.
 *           reduce/ordered: nodes that are ranges of ranks.
 *
 * Line              written by   read by      meaning of value k
 *   result          a member     the node     it has read the contributions to chunk k - 1
 *   returned        a member of  the root     its piece of the sum of chunk k - 1 is in its window
 *                   the root's node
 *
 * Edges     R2 -> A2   contributions read, before the next are written
 *           R4 -> A4   a piece of the sum, to the root
 * Deadlock  All go through chunks in order.  The member of a ring starts a receive one chunk before
 * it waits for
 *           it, and of a sum as soon as its cell is free.  The root's node receives sums `late`
 *           chunks after it has sent its part of them.  A sum of chunk k waits for nothing
 *           later than chunk k on any node.
 * Safety    1 A rank writes contributions to chunk k after A2 of chunk k - 2 from all rings.
 *           2 Cells of sums for the root are CHAIN_DEPTH.  Chunk k's is free when the root has
 *             finished chunk k - CHAIN_DEPTH: it has before it contributes to chunk
 *             k - CHAIN_DEPTH + late + 1, which is at most chunk k - 1.
 *           3 The root writes a piece after all ranks have read their contributions to it, also in
 *             place: its own ring reads before A4, and it has copied the rest before.
 */
#include "alg/rings/chain.h"

/* ---- a member of a ring ---- */

static void combine(const struct chain *o, size_t chunk, bool come, char *to)
{
    const struct mem_span sum = { .shared = to };
    int me = mem_rank(o->m);
    struct sources all;

    sources_begin(&all, o->m, o->c, &sum, chain_bytes(o, chunk, o->ring));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = chain_coming_cell(o, chunk) });
    for (int r = 0; r < mem_size(o->m); r++)
        sources_add(
            &all, r == me ? (struct mem_span){ .view = o->c->in,
                                               .offset_bytes = chain_offset(o, chunk, o->ring) }
                          : (struct mem_span){ .shared = chain_piece_cell(o, r, chunk, o->ring) });
    sources_reduce_as(&all, &sum, NULL, true);
}

static void forward(const struct chain *o, size_t chunk)
{
    bool is_result = o->ends && o->from < 0;
    char *to = is_result ? chain_sum_cell(o, o->ring, chunk)
                         : chain_piece_cell(o, mem_rank(o->m), chunk, o->ring);

    rings_await_node(o->m, o->chunks_before + chunk + 1);
    chain_expect(o, chunk + 1);
    chain_expect_sum(o, chunk + 1);
    bool come = chain_await(o, chunk);
    if (chunk >= RINGS_BOTH)
        chain_complete(o, chunk - RINGS_BOTH);
    if (chain_bytes(o, chunk, o->ring) != 0)
        combine(o, chunk, come, to);
    mem_post(o->m, &rings_of(o->m, o->ring)->result, o->chunks_before + chunk + 1); /* R2 */
    chain_send(o, chunk, to);
}

/* Waits for this ring's piece of the sum, on the root's node, and announces it to the root. */
static void give_sum(const struct chain *o, size_t chunk)
{
    chain_await_sum(o, chunk);
    mem_post(o->m, &rings_of(o->m, o->ring)->returned, o->chunks_before + chunk + 1); /* R4 */
}

/* ---- all ranks ---- */

/* Waits until all rings have read the contributions to a chunk. */
static void await_read(const struct chain *o, uint64_t value)
{
    for (int ring = 0; ring < o->rings; ring++)
        if (ring != o->ring)
            mem_await(o->m, &rings_of(o->m, ring)->result, value); /* A2 */
}

static void contribute(const struct chain *o, size_t chunk)
{
    int me = mem_rank(o->m);

    if (chunk >= RINGS_SETS)
        await_read(o, o->chunks_before + chunk + 1 - RINGS_SETS);
    for (int ring = 0; ring < o->rings; ring++)
        if (ring != o->ring && chain_bytes(o, chunk, ring) != 0)
            mem_in_all(o->m, chain_piece_cell(o, me, chunk, ring), o->c->in,
                       chain_offset(o, chunk, ring), chain_bytes(o, chunk, ring));
    rings_contributed(o->m, o->chunks_before + chunk + 1);
}

/* Copies the sums out at the root, which alone reads them. */
static void take_sums(const struct chain *o, size_t chunk)
{
    for (int ring = 0; ring < o->rings; ring++) {
        if (ring != o->ring)
            mem_await(o->m, &rings_of(o->m, ring)->returned, o->chunks_before + chunk + 1); /* A4 */
        if (chain_bytes(o, chunk, ring) != 0)
            mem_out_last(o->m, o->c->out, chain_sum_cell(o, ring, chunk),
                         chain_offset(o, chunk, ring), chain_bytes(o, chunk, ring));
    }
}

static void run(struct chain *o)
{
    bool is_root = net_member(o->map, o->map->node, mem_rank(o->m)) == o->c->root;

    if (o->ring >= 0) {
        chain_expect(o, 0);
        chain_expect_sum(o, 0);
    }
    for (size_t k = 0; k < o->chunks + o->late; k++) {
        if (k < o->chunks)
            contribute(o, k);
        if (k < o->chunks && o->ring >= 0)
            forward(o, k);
        if (k >= o->late && o->ends && o->ring >= 0)
            give_sum(o, k - o->late);
        if (k >= o->late && is_root)
            take_sums(o, k - o->late);
    }
    for (size_t k = o->chunks < RINGS_BOTH ? 0 : o->chunks - RINGS_BOTH;
         o->ring >= 0 && k < o->chunks; k++)
        chain_complete(o, k);
}

static void reduce_rings(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct chain o = { .m = m,
                       .c = c,
                       .map = map,
                       .rings = rings_count(c),
                       .begins = c->alg->ordered ? 0 : (map->node_of[c->root] + 1) % map->nodes,
                       .piece_bytes = chain_room(c) };
    size_t chunk_bytes = (size_t)o.rings * o.piece_bytes;

    o.ring = mem_rank(m) < o.rings ? mem_rank(m) : -1;
    o.chunks = (c->bytes + chunk_bytes - 1) / chunk_bytes;
    chain_link(&o);
    o.chunks_before = rings_begin(m);
    run(&o);
    rings_end(m, o.chunks_before, o.chunks);
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

ALG_DEFINE(reduce, rings) = {
    .coll = "reduce",
    .name = "rings",
    .doc = "several ranks of each node pass partial results along chains of nodes",
    .source = "paper 04, chain; slices within a node",
    .family = &HUD_BACKEND(rings_family),
    .accepts = accepts,
    .run = reduce_rings
};

ALG_DEFINE(reduce, ordered) = {
    .coll = "reduce",
    .name = "ordered",
    .doc = "several ranks of each node pass partial results along chains of nodes, in rank order",
    .source = "paper 04, chain; slices within a node",
    .ordered = true,
    .family = &HUD_BACKEND(rings_family),
    .accepts = accepts_in_order,
    .run = reduce_rings
};
