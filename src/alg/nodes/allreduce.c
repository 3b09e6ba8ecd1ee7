/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - short allreduce of a span.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (recursive doubling), between nodes.
 * Shape     The ranks of a node are a tree below its head.  A rank combines what it has with the
 *           sums of those below it, heads combine theirs by recursive doubling, the result goes
 *           down.  Of N nodes, with P the largest power of
 *           two that is not larger, the first 2 (N - P) are pairs: the lower one gives its sum to
 *           the upper one, and gets the result.
 * Cost      floor(log2 N) messages of n bytes for each node, 1 or 2 more in a pair.
 * Accepts   n <= NODES_SUM_BYTES, operations that commute: nodes need not be ranges of ranks.
 *
 * Line            written by   read by          meaning of value k
 *   contributed   its owner    the rank above   the owner's buffer has the sum of itself and all
 *                                               below it in call k, and it has copied out the
 *                                               result of earlier calls
 *   reduced       its owner    those below it   the owner's buffer has the result of call k, and it
 *                                               has read their sums
 *
 * Edges     R1 -> A1   a sum, to the rank above; a result copied out, before the next is written
 *           R3 -> A3   a sum, to another node
 *           R2 -> A2   the result, to the ranks below; sums read, before the next
 * Deadlock  As of a barrier.
 * Safety    A rank's buffer is written after A1 of all below it, which have copied out the result
 *           before, and after A2 of the call before: the rank above has read it.  What is sent is
 *           combined further after net_sent.  Both of two heads combine the sum of the lower
 *           nodes with that of the upper ones, so all get the same bits.
 */
#include "alg/nodes/nodes.h"

enum { IN, OUT }; /* messages */

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* Behind the ring: a rank's sum, then the result; what comes from another node. */
enum buffer { SUM, COMING };

static void *buffer(struct mem *m, const struct coll *c, int rank, enum buffer which)
{
    char *window = mem_window(m, rank);
    size_t ring_bytes = nodes_window_bytes((size_t)c->param[NODES_BUFFER]) - 2 * NODES_SUM_BYTES;

    return window + ring_bytes + (size_t)which * NODES_SUM_BYTES;
}

/* Into this rank's sum.  Returns how many are below it. */
static int combine_below(struct mem *m, const struct coll *c, const struct shape_tree *tree)
{
    const struct mem_span sum = { .shared = buffer(m, c, mem_rank(m), SUM) };
    struct mem_span from[NODES_FAN + 1] = { { .view = c->in } };
    int below = 0;

    for (int r; (r = hud_shape_child(tree, mem_rank(m), below)) >= 0;) {
        mem_await(m, &lines(m, r)->contributed, c->op); /* A1 */
        from[++below] = (struct mem_span){ .shared = buffer(m, c, r, SUM) };
    }
    mem_reduce(m, c->reduction, &sum, NULL, from, below + 1, c->bytes);
    return below;
}

static void give(struct mem *m, const struct coll *c, int node)
{
    const void *sum = buffer(m, c, 0, SUM);
    int to = net_map(c->net)->head[node];

    net_send(m, c->net, OUT, to, NET_ALLREDUCE, sum, c->bytes); /* R3 */
}

static void expect(struct mem *m, const struct coll *c, int node, enum buffer which)
{
    const struct net_map *map = net_map(c->net);

    net_receive(m, c->net, IN, map->head[node], NET_ALLREDUCE, buffer(m, c, 0, which), c->bytes);
}

/* lower: what has come is of lower nodes than the sum. */
static void combine_coming(struct mem *m, const struct coll *c, bool lower)
{
    const struct mem_span sum = { .shared = buffer(m, c, 0, SUM) },
                          coming = { .shared = buffer(m, c, 0, COMING) };
    const struct mem_span from[] = { lower ? coming : sum, lower ? sum : coming };

    mem_reduce(m, c->reduction, &sum, NULL, from, 2, c->bytes);
}

/* Among P heads; self: this one's number among them. */
static void double_up(struct mem *m, const struct coll *c, int self, int power, int pairs)
{
    for (int k = 1; k < power; k *= 2) {
        int other = self ^ k, node = other < pairs ? 2 * other + 1 : other + pairs;
        expect(m, c, node, COMING);
        give(m, c, node);
        net_arrived(m, c->net, IN); /* A3 */
        net_sent(m, c->net, OUT);
        combine_coming(m, c, other < self);
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
        give(m, c, node + 1);
        net_sent(m, c->net, OUT);
        expect(m, c, node + 1, SUM);
        net_arrived(m, c->net, IN); /* A3 */
        return;
    }
    if (paired) {
        expect(m, c, node - 1, COMING);
        net_arrived(m, c->net, IN); /* A3 */
        combine_coming(m, c, true);
    }
    double_up(m, c, paired ? node / 2 : node - pairs, power, pairs);
    if (paired) {
        give(m, c, node - 1);
        net_sent(m, c->net, OUT);
    }
}

static void allreduce_run(struct mem *m, const struct coll *c)
{
    const struct shape_tree tree = nodes_inside(m);
    int me = mem_rank(m), above = hud_shape_parent(&tree, me), below = combine_below(m, c, &tree);

    if (above < 0) {
        combine_nodes(m, c);
    } else {
        mem_post(m, &lines(m, me)->contributed, c->op); /* R1 */
        mem_await(m, &lines(m, above)->reduced, c->op); /* A2 */
        if (below > 0)
            mem_copy(m, buffer(m, c, me, SUM), buffer(m, c, above, SUM), c->bytes);
    }
    if (below > 0)
        mem_post(m, &lines(m, me)->reduced, c->op); /* R2 */
    mem_out(m, c->out, buffer(m, c, below > 0 || above < 0 ? me : above, SUM), 0, c->bytes);
}

static bool allreduce_accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= NODES_SUM_BYTES;
}

ALG_DEFINE(allreduce, nodes) = { .coll = "allreduce",
                                 .name = "nodes",
                                 .doc = "sums of nodes, combined by recursive doubling",
                                 .source = "Thakur, Rabenseifner, Gropp 2005",
                                 .family = &HUD_BACKEND(nodes_family),
                                 .accepts = allreduce_accepts,
                                 .run = allreduce_run };
