/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - short reduce of a span.  The exchange between nodes is in binomial.h.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (binomial trees), between nodes.
 * Shape     One rank of each node, its *gate*, combines the contributions of its node: the head, or
 *           the root on its own node.  Sums go up a binomial tree of nodes to the root's node.
 * Cost      One message of n bytes out of each node but the root's.
 * Returned  lines of contributions, by the gate (mem_reduce_as).
 * Accepts   n <= NODES_SUM_BYTES, operations that commute: nodes need not be ranges of ranks.
 *
 * Line            written by   read by          meaning of value k
 *   contributed   its owner    the gate         the owner's buffer has its contribution to call k,
 *                                               and it has copied out the result of earlier calls
 *   reduced       the gate     its node         the gate has read the contributions to call k
 *
 * Edges     R1 -> A1   a contribution, to the gate; a result copied out, before the next is written
 *           R2 -> A2   contributions read, before the next are written
 * Deadlock  A gate waits for its node, then for messages.  The other ranks wait until their gate
 *           has read their contributions, which it does before it waits for messages.
 * Safety    A sum is written after A1 of all ranks, which have copied out the result of an earlier
 *           allreduce.  Contributions are written after A2 of the call before.
 */
#include "alg/nodes/binomial.h"

/* Combines the contributions of a node, which only the gate reads, into the gate's sum. */
static void combine_node(struct mem *m, const struct coll *c)
{
    const struct mem_span sum = { .shared = nodes_buffer(m, c, mem_rank(m), NODES_SUM) };
    struct mem_span from[MEM_SOURCES] = { { .view = c->in } };
    int count = 1, me = mem_rank(m);

    for (int r = 0; r < mem_size(m); r++)
        if (r != me)
            mem_await(m, &nodes_lines_of(m, r)->contributed, c->op); /* A1 */
    for (int r = 0; r < mem_size(m); r++) {
        if (r == me)
            continue;
        from[count++] = (struct mem_span){ .shared = nodes_buffer(m, c, r, NODES_GIVEN) };
        if (count < MEM_SOURCES)
            continue;
        mem_reduce_last(m, c->reduction, &sum, NULL, from, count, c->bytes);
        from[0] = sum;
        count = 1;
    }
    if (count > 1 || mem_size(m) == 1)
        mem_reduce_last(m, c->reduction, &sum, NULL, from, count, c->bytes);
}

static void contribute(struct mem *m, const struct coll *c, int gate)
{
    int rank = mem_rank(m);

    mem_in_all(m, nodes_buffer(m, c, rank, NODES_GIVEN), c->in, 0, c->bytes);
    mem_post(m, &nodes_lines_of(m, rank)->contributed, c->op); /* R1 */
    mem_await(m, &nodes_lines_of(m, gate)->reduced, c->op);    /* A2 */
}

static void combined(struct mem *m, const struct coll *c)
{
    if (mem_size(m) > 1)
        mem_post(m, &nodes_lines_of(m, mem_rank(m))->reduced, c->op); /* R2 */
}

static void reduce_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int gate = map->local_of[nodes_gate(c, map->node)];

    if (mem_rank(m) != gate) {
        contribute(m, c, gate);
        return;
    }
    combine_node(m, c);
    combined(m, c);
    if (binomial_run(m, c))
        mem_out(m, c->out, nodes_buffer(m, c, gate, NODES_SUM), 0, c->bytes);
}

ALG_DEFINE(reduce,
           nodes) = { .coll = "reduce",
                      .name = "nodes",
                      .doc = "each node reduces; a binomial tree combines the nodes' results",
                      .source = "Thakur, Rabenseifner, Gropp 2005",
                      .family = &HUD_BACKEND(nodes_family),
                      .accepts = nodes_is_short,
                      .run = reduce_run };
