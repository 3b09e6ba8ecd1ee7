/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - short reduce of a span.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (binomial trees), between nodes.
 * Shape     One rank of each node, its *gate*, combines the contributions of its node: the head, or
 *           the root on its own node.  Sums go up a binomial tree of nodes to the root's.
 * Cost      One message of n bytes out of each node.
 * Accepts   n <= NODES_SUM_BYTES, operations that commute: nodes need not be ranges of ranks.
 *
 * Line            written by   read by          meaning of value k
 *   contributed   its owner    the gate         the owner's buffer has its contribution to call k,
 *                                               and it has copied out the result of earlier calls
 *   reduced       the gate     its node         the gate has read the contributions to call k
 *
 * Edges     R1 -> A1   a contribution, to the gate; a result copied out, before the next is written
 *           R3 -> A3   a sum, to another node
 *           R2 -> A2   contributions read, before the next are written
 * Deadlock  A gate waits for its node, then for messages of nodes below it in the tree.
 * Safety    A sum is written after A1 of all ranks, which have copied out the result of an
 *           allreduce before.  Contributions are written after A2 of the call before.  A gate has
 *           no contribution in its buffer, so a message may come there.
 */
#include "alg/nodes/nodes.h"

enum { IN, AFTER, OUT }; /* messages */

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* A gate: into its sum. */
static void combine_node(struct mem *m, const struct coll *c)
{
    const struct mem_span sum = { .shared = nodes_buffer(m, c, mem_rank(m), NODES_SUM) };
    struct mem_span from[MEM_SOURCES] = { { .view = c->in } };
    int count = 1, me = mem_rank(m);

    for (int r = 0; r < mem_size(m); r++)
        if (r != me)
            mem_await(m, &lines(m, r)->contributed, c->op); /* A1 */
    for (int r = 0; r < mem_size(m); r++) {
        if (r == me)
            continue;
        from[count++] = (struct mem_span){ .shared = nodes_buffer(m, c, r, NODES_GIVEN) };
        if (count < MEM_SOURCES)
            continue;
        mem_reduce(m, c->reduction, &sum, NULL, from, count, c->bytes);
        from[0] = sum;
        count = 1;
    }
    if (count > 1 || mem_size(m) == 1)
        mem_reduce(m, c->reduction, &sum, NULL, from, count, c->bytes);
}

static void give(struct mem *m, const struct coll *c, int to, enum net_tag tag)
{
    const void *sum = nodes_buffer(m, c, mem_rank(m), NODES_SUM);

    net_send(m, c->net, OUT, to, tag, sum, c->bytes); /* R3 */
}

static void expect(struct mem *m, const struct coll *c, int from, enum net_tag tag, int id,
                   enum nodes_buffer which)
{
    net_receive(m, c->net, id, from, tag, nodes_buffer(m, c, mem_rank(m), which), c->bytes);
}

/* lower: what has come is of lower nodes than the sum. */
static void combine_coming(struct mem *m, const struct coll *c, enum nodes_buffer which, bool lower)
{
    int me = mem_rank(m);
    const struct mem_span sum = { .shared = nodes_buffer(m, c, me, NODES_SUM) },
                          coming = { .shared = nodes_buffer(m, c, me, which) };
    const struct mem_span from[] = { lower ? coming : sum, lower ? sum : coming };

    mem_reduce(m, c->reduction, &sum, NULL, from, 2, c->bytes);
}

static void contribute(struct mem *m, const struct coll *c, int gate)
{
    int rank = mem_rank(m);

    mem_in_all(m, nodes_buffer(m, c, rank, NODES_GIVEN), c->in, 0, c->bytes);
    mem_post(m, &lines(m, rank)->contributed, c->op); /* R1 */
    mem_await(m, &lines(m, gate)->reduced, c->op);    /* A2 */
}

static void combined(struct mem *m, const struct coll *c)
{
    if (mem_size(m) > 1)
        mem_post(m, &lines(m, mem_rank(m))->reduced, c->op); /* R2 */
}

static bool is_short(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= NODES_SUM_BYTES;
}

static int gate_of(const struct coll *c, int node)
{
    const struct net_map *map = net_map(c->net);

    return node == map->node_of[c->root] ? c->root : map->head[node];
}

/* Two messages may be on their way, to buffers in turn.  The nearest children come first: they have
 * fewest nodes below them. */
static void combine_children(struct mem *m, const struct coll *c, const struct shape_tree *tree)
{
    static const enum nodes_buffer into[] = { NODES_COMING, NODES_GIVEN };
    static const int ids[] = { IN, AFTER };
    int node = net_map(c->net)->node, children = 0;

    while (hud_shape_child(tree, node, children) >= 0)
        children++;
    for (int i = 0; i <= children; i++) {
        int turn = i % 2;
        if (i < children) {
            int child = hud_shape_child(tree, node, children - 1 - i);
            expect(m, c, gate_of(c, child), NET_REDUCE, ids[turn], into[turn]);
        }
        if (i > 0) {
            net_arrived(m, c->net, ids[1 - turn]); /* A3 */
            combine_coming(m, c, into[1 - turn], false);
        }
    }
}

static void reduce_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    const struct shape_tree tree = {
        .kind = SHAPE_KNOMIAL, .degree = 2, .ranks = map->nodes, .root = map->node_of[c->root]
    };
    int gate = map->local_of[gate_of(c, map->node)], above = hud_shape_parent(&tree, map->node);

    if (mem_rank(m) != gate) {
        contribute(m, c, gate);
        return;
    }
    combine_node(m, c);
    combined(m, c);
    combine_children(m, c, &tree);
    if (above < 0) {
        mem_out(m, c->out, nodes_buffer(m, c, gate, NODES_SUM), 0, c->bytes);
        return;
    }
    give(m, c, gate_of(c, above), NET_REDUCE);
    net_sent(m, c->net, OUT);
}

ALG_DEFINE(reduce, nodes) = { .coll = "reduce",
                              .name = "nodes",
                              .doc = "sums of nodes, combined up a binomial tree",
                              .source = "Thakur, Rabenseifner, Gropp 2005",
                              .family = &HUD_BACKEND(nodes_family),
                              .accepts = is_short,
                              .run = reduce_run };
