/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sums.c - short reductions of a span: allreduce, reduce_scatter, reduce.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (recursive doubling; binomial trees), between nodes.
 * Shape     One rank of each node, its *gate*, combines the contributions of its node: the head, or
 *           in a reduce the root on its own node.
 *           allreduce, reduce_scatter: heads combine their sums by recursive doubling, each head's
 *           result goes to its node, whole or in blocks.  Of N nodes, with P the largest power of
 *           two that is not larger, the first 2 (N - P) are pairs: the lower one gives its sum to
 *           the upper one, and gets the result.
 *           reduce: sums go up a binomial tree of nodes to the root's.
 * Cost      floor(log2 N) messages of n bytes for each node, 1 or 2 more in a pair.  reduce: one
 *           message out of each node.
 * Accepts   n <= NODES_SUM_BYTES, operations that commute: nodes need not be ranges of ranks.
 *
 * Line            written by   read by          meaning of value k
 *   contributed   its owner    the gate         the owner's buffer has its contribution to call k,
 *                                               and it has copied out the result of earlier calls
 *   reduced       the gate     its node         the gate has read the contributions to call k; not
 *                                               in a reduce: its buffer has the result
 *
 * Edges     R1 -> A1   a contribution, to the gate; a result copied out, before the next is written
 *           R3 -> A3   a sum, to another node
 *           R2 -> A2   the result, to the ranks of the node; contributions read, before the next
 * Deadlock  As of a barrier: a gate waits for its node, then for messages, in rounds, or of nodes
 *           below it in a tree.
 * Safety    The result's buffer is written after A1 of all ranks, which have copied out the result
 *           before.  Contributions are written after A2 of the call before.  A gate has no
 *           contribution in its buffer, so a message may come there.  What is sent is combined
 *           further after net_sent.  Both of two heads combine the sum of the lower nodes with that
 *           of the upper ones, so all get the same bits.
 */
#include "alg/nodes/nodes.h"

enum { IN, AFTER, OUT }; /* messages */

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* Behind the ring: a rank's contribution; a gate's sum; what comes from another node. */
enum buffer { GIVEN, SUM, COMING };

static void *buffer(struct mem *m, const struct coll *c, int rank, enum buffer which)
{
    char *window = mem_window(m, rank);
    size_t ring_bytes = nodes_window_bytes((size_t)c->param[NODES_BUFFER]) - 3 * NODES_SUM_BYTES;

    return window + ring_bytes + (size_t)which * NODES_SUM_BYTES;
}

/* A gate: into its sum. */
static void combine_node(struct mem *m, const struct coll *c)
{
    const struct mem_span sum = { .shared = buffer(m, c, mem_rank(m), SUM) };
    struct mem_span from[MEM_SOURCES] = { { .view = c->in } };
    int count = 1, me = mem_rank(m);

    for (int r = 0; r < mem_size(m); r++)
        if (r != me)
            mem_await(m, &lines(m, r)->contributed, c->op); /* A1 */
    for (int r = 0; r < mem_size(m); r++) {
        if (r == me)
            continue;
        from[count++] = (struct mem_span){ .shared = buffer(m, c, r, GIVEN) };
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
    const void *sum = buffer(m, c, mem_rank(m), SUM);

    net_send(m, c->net, OUT, to, tag, sum, c->bytes); /* R3 */
}

static void expect(struct mem *m, const struct coll *c, int from, enum net_tag tag, int id,
                   enum buffer which)
{
    net_receive(m, c->net, id, from, tag, buffer(m, c, mem_rank(m), which), c->bytes);
}

/* lower: what has come is of lower nodes than the sum. */
static void combine_coming(struct mem *m, const struct coll *c, enum buffer which, bool lower)
{
    int me = mem_rank(m);
    const struct mem_span sum = { .shared = buffer(m, c, me, SUM) },
                          coming = { .shared = buffer(m, c, me, which) };
    const struct mem_span from[] = { lower ? coming : sum, lower ? sum : coming };

    mem_reduce(m, c->reduction, &sum, NULL, from, 2, c->bytes);
}

/* ---- allreduce, reduce_scatter ---- */

/* Between heads, by their nodes. */
static void give_node(struct mem *m, const struct coll *c, int node)
{
    give(m, c, net_map(c->net)->head[node], NET_ALLREDUCE);
}

static void expect_node(struct mem *m, const struct coll *c, int node, enum buffer which)
{
    expect(m, c, net_map(c->net)->head[node], NET_ALLREDUCE, IN, which);
}

/* Among P heads; self: this one's number among them. */
static void double_up(struct mem *m, const struct coll *c, int self, int power, int pairs)
{
    for (int k = 1; k < power; k *= 2) {
        int other = self ^ k, node = other < pairs ? 2 * other + 1 : other + pairs;
        expect_node(m, c, node, COMING);
        give_node(m, c, node);
        net_arrived(m, c->net, IN); /* A3 */
        net_sent(m, c->net, OUT);
        combine_coming(m, c, COMING, other < self);
    }
}

static void combine_nodes(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int power = 1, node = map->node;

    while (2 * power <= map->nodes)
        power *= 2;
    int pairs = map->nodes - power;
    bool paired = node < 2 * pairs;
    if (paired && node % 2 == 0) {
        give_node(m, c, node + 1);
        net_sent(m, c->net, OUT);
        expect_node(m, c, node + 1, SUM);
        net_arrived(m, c->net, IN); /* A3 */
        return;
    }
    if (paired) {
        expect_node(m, c, node - 1, COMING);
        net_arrived(m, c->net, IN); /* A3 */
        combine_coming(m, c, COMING, true);
    }
    double_up(m, c, paired ? node / 2 : node - pairs, power, pairs);
    if (paired) {
        give_node(m, c, node - 1);
        net_sent(m, c->net, OUT);
    }
}

static void contribute(struct mem *m, const struct coll *c, int gate)
{
    int rank = mem_rank(m);

    mem_in_all(m, buffer(m, c, rank, GIVEN), c->in, 0, c->bytes);
    mem_post(m, &lines(m, rank)->contributed, c->op); /* R1 */
    mem_await(m, &lines(m, gate)->reduced, c->op);    /* A2 */
}

static void combined(struct mem *m, const struct coll *c)
{
    if (mem_size(m) > 1)
        mem_post(m, &lines(m, mem_rank(m))->reduced, c->op); /* R2 */
}

/* The head's sum is the result. */
static void combine_all(struct mem *m, const struct coll *c)
{
    if (mem_rank(m) != 0) {
        contribute(m, c, 0);
        return;
    }
    combine_node(m, c);
    combine_nodes(m, c);
    combined(m, c);
}

static void allreduce_run(struct mem *m, const struct coll *c)
{
    combine_all(m, c);
    mem_out(m, c->out, buffer(m, c, 0, SUM), 0, c->bytes);
}

static void reduce_scatter_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int rank = net_member(map, map->node, mem_rank(m));
    size_t begin = 0;

    for (int r = 0; r < rank; r++)
        begin += c->block_bytes[r];
    combine_all(m, c);
    mem_out(m, c->out, (const char *)buffer(m, c, 0, SUM) + begin, 0, c->block_bytes[rank]);
}

static bool is_short(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= NODES_SUM_BYTES;
}

ALG_DEFINE(allreduce, nodes) = { .coll = "allreduce",
                                 .name = "nodes",
                                 .doc = "sums of nodes, combined by recursive doubling",
                                 .source = "Thakur, Rabenseifner, Gropp 2005",
                                 .family = &HUD_BACKEND(nodes_family),
                                 .accepts = is_short,
                                 .run = allreduce_run };

ALG_DEFINE(reduce_scatter, nodes) = { .coll = "reduce_scatter",
                                      .name = "nodes",
                                      .doc = "sums of nodes, combined by recursive doubling",
                                      .source = "Thakur, Rabenseifner, Gropp 2005",
                                      .family = &HUD_BACKEND(nodes_family),
                                      .accepts = is_short,
                                      .run = reduce_scatter_run };

/* ---- reduce ---- */

static int gate_of(const struct coll *c, int node)
{
    const struct net_map *map = net_map(c->net);

    return node == map->node_of[c->root] ? c->root : map->head[node];
}

/* Two messages may be on their way, to buffers in turn.  The nearest children come first: they have
 * fewest nodes below them. */
static void combine_children(struct mem *m, const struct coll *c, const struct shape_tree *tree)
{
    static const enum buffer into[] = { COMING, GIVEN };
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
        mem_out(m, c->out, buffer(m, c, gate, SUM), 0, c->bytes);
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
