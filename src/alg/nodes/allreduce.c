/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - short allreduce and reduce_scatter of a span.  The exchange between nodes is in
 * doubling.h.
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (recursive doubling), between nodes.
 * Shape     The ranks of a node are a tree below its head.  A rank combines its contribution with
 *           the sums of the ranks below it.  Heads combine their sums by recursive doubling.  The
 *           result goes down, and each rank copies out all of it, or its block.
 * Cost      floor(log2 N) messages of n bytes one after the other for N nodes, and 2 more if N is
 *           not a power of two.
 * Returned  lines of sums, by the rank above (mem_reduce_as).
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
 *           R2 -> A2   the result, to the ranks below; sums read, before the next
 * Deadlock  As in a barrier.
 * Safety    A rank's buffer is written after A1 of all ranks below it, which have copied out the
 *           previous result, and after A2 of the call before: the rank above has read the buffer.
 */
#include "alg/nodes/doubling.h"

/* Combines this rank's contribution with the sums of the ranks below, which no other rank reads.
 * Returns how many are below. */
static int combine_below(struct mem *m, const struct coll *c, const struct shape_tree *tree)
{
    const struct mem_span sum = { .shared = nodes_buffer(m, c, mem_rank(m), NODES_SUM) };
    struct mem_span from[NODES_FAN + 1] = { { .view = c->in } };
    int below = 0;

    for (int r; (r = hud_shape_child(tree, mem_rank(m), below)) >= 0;) {
        mem_await(m, &nodes_lines_of(m, r)->contributed, c->op); /* A1 */
        from[++below] = (struct mem_span){ .shared = nodes_buffer(m, c, r, NODES_SUM) };
    }
    mem_reduce_last(m, c->reduction, &sum, NULL, from, below + 1, c->bytes);
    return below;
}

/* Combines the contributions of all ranks.  Returns the address where this rank can read the
 * result. */
static const char *combine_all(struct mem *m, const struct coll *c)
{
    const struct shape_tree tree = nodes_inside(m);
    int me = mem_rank(m), above = hud_shape_parent(&tree, me), below = combine_below(m, c, &tree);
    void *own = nodes_buffer(m, c, me, NODES_SUM);

    if (above < 0) {
        doubling_run(m, c);
    } else {
        const void *result = nodes_buffer(m, c, above, NODES_SUM);
        mem_post(m, &nodes_lines_of(m, me)->contributed, c->op); /* R1 */
        mem_await(m, &nodes_lines_of(m, above)->reduced, c->op); /* A2 */
        if (below == 0)
            return result;
        mem_copy(m, own, result, c->bytes);
    }
    if (below > 0)
        mem_post(m, &nodes_lines_of(m, me)->reduced, c->op); /* R2 */
    return own;
}

static void allreduce_run(struct mem *m, const struct coll *c)
{
    mem_out(m, c->out, combine_all(m, c), 0, c->bytes);
}

static void reduce_scatter_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int rank = net_member(map, map->node, mem_rank(m));
    size_t begin = 0;

    for (int r = 0; r < rank; r++)
        begin += c->block_bytes[r];
    mem_out(m, c->out, combine_all(m, c) + begin, 0, c->block_bytes[rank]);
}

ALG_DEFINE(allreduce,
           nodes) = { .coll = "allreduce",
                      .name = "nodes",
                      .doc = "each node reduces; recursive doubling combines the nodes' results",
                      .source = "Thakur, Rabenseifner, Gropp 2005",
                      .family = &HUD_BACKEND(nodes_family),
                      .accepts = nodes_is_short,
                      .run = allreduce_run };

ALG_DEFINE(reduce_scatter,
           nodes) = { .coll = "reduce_scatter",
                      .name = "nodes",
                      .doc = "each node reduces; recursive doubling combines the nodes' results",
                      .source = "Thakur, Rabenseifner, Gropp 2005",
                      .family = &HUD_BACKEND(nodes_family),
                      .accepts = nodes_is_short,
                      .run = reduce_scatter_run };
