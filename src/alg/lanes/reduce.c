/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - large reduce of a span: slices go down chains of nodes, in one pipeline to the root.
 *
 * Source    Paper 04 (the chain, with segments) between nodes; slices that ranks own (slices.c)
 *           within.  Lanes, `contributions` and what orders it: lanes.h.
 * Shape     The message is cut into chunks, a chunk into a piece for each lane.  The lane of a node
 *           combines what comes from the node before with the contributions of its node, and sends
 *           that on.  The chain of reduce/lanes ends at the root's node.  That of reduce/ordered
 *           goes from node 0 to the last one; then from there, without another sum, to the root's
 *           node.
 * Cost      n bytes out of each node and into each node, but for the ends of the chain.
 * Accepts   If a piece has room for an element.  reduce/lanes: operations that commute.
 *           reduce/ordered: nodes that are ranges of ranks.
 *
 * Line              written by   read by      meaning of value k
 *   result          a lane       the node     it has read the contributions to chunk k - 1
 *   returned        a lane of    the root     its piece of the sum of chunk k - 1 is in its window
 *                   the root's node
 *
 * Edges     R2 -> A2   contributions read, before the next are written
 *           R3 -> A3   a piece of a sum, to the next node, or to that of the root
 *           R4 -> A4   a piece of the sum, to the root
 * Deadlock  All go through chunks in order.  A lane starts a receive one chunk before it waits for
 *           it, and that of a sum as soon as its cell is free.  The root's node takes sums `late`
 *           chunks after it has sent what they are made of.  A sum of chunk k waits for nothing
 *           later than chunk k on any node.
 * Safety    1 As lanes.h for contributions, and for buffers of what comes.
 *           2 A sum is sent on from its cell, which serves every second chunk, after net_sent.
 *           3 Cells of sums for the root are DEPTH.  Chunk k's is free when the root has finished
 *             chunk k - DEPTH: it has before it contributes to chunk k - DEPTH + late + 1, which is
 *             at most chunk k - 1.
 *           4 The root writes a piece after all ranks have read their contributions to it, also in
 *             place: its own lane reads before A4, and it has copied the rest before.
 */
#include "alg/lanes/lanes.h"

enum { DEPTH = 8, LATE = DEPTH - 2 };

/* Cells of a rank: contributions and sums of a chunk, twice; what comes, twice; sums for the
 * root. */
struct chain {
    struct lanes_call x;
    int begins, place; /* the first node of the chain; this node's place in it */
    int before, after; /* ranks of this lane there; -1: none */
    int from, to;      /* another node sends the sum, or this one does; -1: it does not */
    bool ends;         /* this node has the root */
    size_t late;
};

static size_t cells(const struct coll *c)
{
    return LANES_SETS * (size_t)lanes_count(c) + LANES_BOTH + DEPTH;
}

/* Largest piece, whole units. */
static size_t piece_room(const struct coll *c)
{
    size_t room = LANES_SETS * (size_t)c->param[LANES_SET] / cells(c) / HUD_LINE * HUD_LINE,
           wanted = cut_round_up((size_t)c->param[LANES_PIECE], cut_unit(c)),
           most = room / cut_unit(c) * cut_unit(c);

    return wanted != 0 && wanted < most ? wanted : most;
}

static char *cell(const struct chain *o, int rank, size_t index)
{
    size_t room = LANES_SETS * (size_t)o->x.c->param[LANES_SET] / cells(o->x.c);

    return (char *)mem_window(o->x.m, rank) + index * (room / HUD_LINE * HUD_LINE);
}

static char *piece_cell(const struct chain *o, int rank, size_t chunk, int lane)
{
    return cell(o, rank, chunk % LANES_SETS * (size_t)o->x.lanes + (size_t)lane);
}

static char *coming_cell(const struct chain *o, size_t chunk)
{
    return cell(o, mem_rank(o->x.m), LANES_SETS * (size_t)o->x.lanes + chunk % LANES_BOTH);
}

static char *sum_cell(const struct chain *o, int lane, size_t chunk)
{
    return cell(o, lane, LANES_SETS * (size_t)o->x.lanes + LANES_BOTH + chunk % DEPTH);
}

static size_t offset_of(const struct chain *o, size_t chunk, int lane)
{
    return (chunk * (size_t)o->x.lanes + (size_t)lane) * o->x.piece_bytes;
}

static size_t bytes_of(const struct chain *o, size_t chunk, int lane)
{
    size_t offset = offset_of(o, chunk, lane);

    return offset < o->x.c->bytes ? pieces_min(o->x.c->bytes - offset, o->x.piece_bytes) : 0;
}

/* ---- messages, none of no bytes ---- */

enum { COMING, GOING = COMING + LANES_BOTH, SUM = GOING + LANES_BOTH };

static enum net_tag tag(const struct chain *o)
{
    return o->x.c->alg->ordered ? NET_REDUCE_ORDERED : NET_REDUCE_LANES;
}

static void start(const struct chain *o, bool sends, int rank, int id, size_t chunk, char *at)
{
    size_t bytes = bytes_of(o, chunk, o->x.lane);

    if (rank < 0 || bytes == 0)
        return;
    if (sends)
        net_send(o->x.m, o->x.c->net, id, rank, tag(o), at, bytes); /* R3 */
    else
        net_receive(o->x.m, o->x.c->net, id, rank, tag(o), at, bytes);
}

static int outgoing(size_t chunk)
{
    return GOING + (int)(chunk % LANES_BOTH);
}

static void complete_send(const struct chain *o, size_t chunk)
{
    if ((o->after >= 0 || o->to >= 0) && bytes_of(o, chunk, o->x.lane) != 0)
        net_sent(o->x.m, o->x.c->net, outgoing(chunk));
}

static void expect(const struct chain *o, size_t chunk)
{
    if (chunk < o->x.chunks)
        start(o, false, o->before, COMING + (int)(chunk % LANES_BOTH), chunk,
              coming_cell(o, chunk));
}

static void expect_sum(const struct chain *o, size_t chunk)
{
    if (chunk < o->x.chunks)
        start(o, false, o->from, SUM + (int)(chunk % DEPTH), chunk, sum_cell(o, o->x.lane, chunk));
}

static bool arrived(const struct chain *o, int rank, int id, size_t chunk)
{
    if (rank < 0 || bytes_of(o, chunk, o->x.lane) == 0)
        return false;
    net_arrived(o->x.m, o->x.c->net, id); /* A3 */
    return true;
}

/* ---- a lane ---- */

static void combine(const struct chain *o, size_t chunk, bool come, char *to)
{
    const struct lanes_call *x = &o->x;
    const struct mem_span sum = { .shared = to };
    int me = mem_rank(x->m);
    struct sources all;

    sources_begin(&all, x->m, x->c, &sum, bytes_of(o, chunk, x->lane));
    if (come)
        sources_add(&all, (struct mem_span){ .shared = coming_cell(o, chunk) });
    for (int r = 0; r < mem_size(x->m); r++)
        sources_add(&all, r == me
                              ? (struct mem_span){ .view = x->c->in,
                                                   .offset_bytes = offset_of(o, chunk, x->lane) }
                              : (struct mem_span){ .shared = piece_cell(o, r, chunk, x->lane) });
    sources_reduce(&all, &sum, NULL);
}

static void forward(const struct chain *o, size_t chunk)
{
    const struct lanes_call *x = &o->x;
    bool is_result = o->ends && o->from < 0;
    char *to =
        is_result ? sum_cell(o, x->lane, chunk) : piece_cell(o, mem_rank(x->m), chunk, x->lane);

    lanes_await_node(x, x->before + chunk + 1);
    expect(o, chunk + 1);
    expect_sum(o, chunk + 1);
    bool come = arrived(o, o->before, COMING + (int)(chunk % LANES_BOTH), chunk);
    if (chunk >= LANES_BOTH)
        complete_send(o, chunk - LANES_BOTH);
    if (bytes_of(o, chunk, x->lane) != 0)
        combine(o, chunk, come, to);
    mem_post(x->m, &x->own->result, x->before + chunk + 1); /* R2 */
    start(o, true, o->after >= 0 ? o->after : o->to, outgoing(chunk), chunk, to);
}

/* A lane of the root's node: its piece of the sum is there. */
static void give_sum(const struct chain *o, size_t chunk)
{
    arrived(o, o->from, SUM + (int)(chunk % DEPTH), chunk);
    mem_post(o->x.m, &o->x.own->returned, o->x.before + chunk + 1); /* R4 */
}

/* ---- all ranks ---- */

/* All lanes have read the contributions to that chunk. */
static void await_read(const struct lanes_call *x, uint64_t value)
{
    for (int lane = 0; lane < x->lanes; lane++)
        if (lane != x->lane)
            mem_await(x->m, &lanes_of(x->m, lane)->result, value); /* A2 */
}

static void contribute(const struct chain *o, size_t chunk)
{
    const struct lanes_call *x = &o->x;
    int me = mem_rank(x->m);

    if (chunk >= LANES_SETS)
        await_read(x, x->before + chunk + 1 - LANES_SETS);
    for (int lane = 0; lane < x->lanes; lane++)
        if (lane != x->lane && bytes_of(o, chunk, lane) != 0)
            mem_in_all(x->m, piece_cell(o, me, chunk, lane), x->c->in, offset_of(o, chunk, lane),
                       bytes_of(o, chunk, lane));
    lanes_contributed(x, x->before + chunk + 1);
}

static void take_sums(const struct chain *o, size_t chunk)
{
    const struct lanes_call *x = &o->x;

    for (int lane = 0; lane < x->lanes; lane++) {
        if (lane != x->lane)
            mem_await(x->m, &lanes_of(x->m, lane)->returned, x->before + chunk + 1); /* A4 */
        if (bytes_of(o, chunk, lane) != 0)
            mem_out(x->m, x->c->out, sum_cell(o, lane, chunk), offset_of(o, chunk, lane),
                    bytes_of(o, chunk, lane));
    }
}

static void run(struct chain *o)
{
    struct lanes_call *x = &o->x;
    bool is_root = net_member(x->map, x->map->node, mem_rank(x->m)) == x->c->root;

    lanes_await_node(x, x->before);
    if (x->lane >= 0) {
        expect(o, 0);
        expect_sum(o, 0);
    }
    for (size_t k = 0; k < x->chunks + o->late; k++) {
        if (k < x->chunks)
            contribute(o, k);
        if (k < x->chunks && x->lane >= 0)
            forward(o, k);
        if (k >= o->late && o->ends && x->lane >= 0)
            give_sum(o, k - o->late);
        if (k >= o->late && is_root)
            take_sums(o, k - o->late);
    }
    for (size_t k = x->chunks < LANES_BOTH ? 0 : x->chunks - LANES_BOTH;
         x->lane >= 0 && k < x->chunks; k++)
        complete_send(o, k);
}

/* Where this node is in the chain. */
static void link(struct chain *o)
{
    struct lanes_call *x = &o->x;
    const struct net_map *map = x->map;
    int root_node = map->node_of[x->c->root], nodes = map->nodes,
        ends = (o->begins + nodes - 1) % nodes;

    o->place = (map->node - o->begins + nodes) % nodes;
    o->ends = map->node == root_node;
    o->before = o->after = o->from = o->to = -1;
    o->late = o->ends && ends != root_node ? LATE : 0;
    if (x->lane < 0)
        return;
    if (o->place > 0)
        o->before = net_member(map, (map->node + nodes - 1) % nodes, x->lane);
    if (o->place < nodes - 1)
        o->after = net_member(map, (map->node + 1) % nodes, x->lane);
    if (map->node == ends && !o->ends)
        o->to = net_member(map, root_node, x->lane);
    if (o->ends && ends != root_node)
        o->from = net_member(map, ends, x->lane);
}

static void reduce_lanes(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct chain o = { .x = { .m = m, .c = c, .map = map, .lanes = lanes_count(c) },
                       .begins = c->alg->ordered ? 0 : (map->node_of[c->root] + 1) % map->nodes };
    struct lanes_call *x = &o.x;
    size_t chunk_bytes = (size_t)x->lanes * piece_room(c);

    x->own = lanes_of(m, mem_rank(m));
    x->before = mem_get(m, &x->own->chunks);
    x->lane = mem_rank(m) < x->lanes ? mem_rank(m) : -1;
    x->piece_bytes = piece_room(c);
    x->chunks = (c->bytes + chunk_bytes - 1) / chunk_bytes;
    link(&o);
    run(&o);
    mem_put(m, &x->own->chunks, x->before + x->chunks + 1);
    lanes_contributed(x, x->before + x->chunks + 1);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return piece_room(c) != 0;
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
