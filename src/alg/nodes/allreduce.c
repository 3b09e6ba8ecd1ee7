/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - short allreduce of a span.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (recursive doubling), between nodes.
 * Shape     The head combines the contributions of its node, heads combine theirs by recursive
 *           doubling, each head's result goes to its node.  Of N nodes, with P the largest power of
 *           two that is not larger, the first 2 (N - P) are pairs: the lower one gives its sum to
 *           the upper one, and gets the result.
 * Cost      floor(log2 N) messages of n bytes for each node, 1 or 2 more in a pair.
 * Accepts   n <= NODES_SUM_BYTES, operations that commute: nodes need not be ranges of ranks.
 *
 * Line            written by   read by          meaning of value k
 *   contributed   its owner    the head         the owner's buffer has its contribution to call k,
 *                                               and it has copied out the result of earlier calls
 *   reduced       the head     its node         the head's buffer has the result of call k, and it
 *                                               has read the contributions
 *
 * Edges     R1 -> A1   a contribution, to the head; a result copied out, before the next is written
 *           R3 -> A3   a sum, to another node
 *           R2 -> A2   the result, to the ranks of the node; contributions read, before the next
 * Deadlock  As of a barrier: a head waits for its node, then for messages, in rounds.
 * Safety    The result's buffer is written after A1 of all ranks, which have copied out the result
 *           before.  Contributions are written after A2 of the call before.  What is sent is
 *           combined further after net_sent.  Both of two heads combine the sum of the lower
 *           nodes with that of the upper ones, so all get the same bits.
 */
#include "alg/nodes/nodes.h"

enum { IN, OUT }; /* messages */

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* Behind the ring: a rank's contribution; a head's sum; what comes from another node. */
enum buffer { GIVEN, SUM, COMING };

static void *buffer(struct mem *m, const struct coll *c, int rank, enum buffer which)
{
    char *window = mem_window(m, rank);
    size_t ring_bytes = nodes_window_bytes((size_t)c->param[NODES_BUFFER]) - 3 * NODES_SUM_BYTES;

    return window + ring_bytes + (size_t)which * NODES_SUM_BYTES;
}

/* Into the head's sum. */
static void combine_node(struct mem *m, const struct coll *c)
{
    const struct mem_span sum = { .shared = buffer(m, c, 0, SUM) };
    struct mem_span from[MEM_SOURCES] = { { .view = c->in } };
    int count = 1;

    for (int r = 1; r < mem_size(m); r++)
        mem_await(m, &lines(m, r)->contributed, c->op); /* A1 */
    for (int r = 1; r < mem_size(m); r++) {
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
    int rank = mem_rank(m);

    if (rank != 0) {
        mem_in_all(m, buffer(m, c, rank, GIVEN), c->in, 0, c->bytes);
        mem_post(m, &lines(m, rank)->contributed, c->op); /* R1 */
        mem_await(m, &lines(m, 0)->reduced, c->op);       /* A2 */
    } else {
        combine_node(m, c);
        combine_nodes(m, c);
        if (mem_size(m) > 1)
            mem_post(m, &lines(m, 0)->reduced, c->op); /* R2 */
    }
    mem_out(m, c->out, buffer(m, c, 0, SUM), 0, c->bytes);
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
