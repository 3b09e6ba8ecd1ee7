/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - barrier of a span.
 *
 * Source    Hensgen, Finkel, Manber 1988 (dissemination), between nodes.
 * Shape     The ranks of a node are a tree below its head.  A rank waits for the ranks below it.
 *           The head then exchanges messages with other heads, and each rank releases the ranks
 *           below it.  In round k = 1, 2, 4, ... a head sends to the node k further on, and
 *           receives from the node k before.  If the number of nodes is a power of two, both are
 *           the node whose number differs in bit k, so its answer comes back over the same
 *           connection.
 * Cost      ceil(log2 N) messages of no bytes for each of N nodes; within a node, two line
 *           transfers for each of the ceil(log8 p) levels of its tree.
 *
 * Line          written by   read by          meaning of value k
 *   entered     its owner    the rank above   the owner and all below it have entered call k
 *   released    its owner    those below it   all ranks of the span have entered call k
 *
 * Edges     R1 -> A1   entries, to the rank above
 *           R3 -> A3   the entries that a head knows, to another
 *           R2 -> A2   all entries, to the ranks below
 * Deadlock  A rank waits for entries of the ranks below, and a leaf for nothing.  A head then waits
 *           for messages of heads in a round, whose senders wait only for earlier rounds.  Finally
 *           each rank waits for the rank above.
 * Safety    After round k a head knows the entries of 2k nodes: its own node and the nodes before
 *           it, or the nodes whose numbers differ from its own in the bits up to k.
 *           A source sends at most one message of a call to a node, as k < N differ.  So calls
 *           cannot be confused.
 */
#include "alg/nodes/nodes.h"

static void disseminate(struct mem *m, struct net *n)
{
    enum { IN, OUT };
    const struct net_map *map = net_map(n);
    bool pairs = (map->nodes & (map->nodes - 1)) == 0;

    for (int k = 1; k < map->nodes; k *= 2) {
        int up = pairs ? map->node ^ k : (map->node + k) % map->nodes,
            down = pairs ? up : (map->node - k + map->nodes) % map->nodes, from = map->head[down],
            to = map->head[up];
        net_receive(m, n, IN, from, NET_BARRIER, NULL, 0);
        net_send(m, n, OUT, to, NET_BARRIER, NULL, 0); /* R3 */
        net_arrived(m, n, IN);                         /* A3 */
        net_sent(m, n, OUT);
    }
}

static void barrier_run(struct mem *m, const struct coll *c)
{
    const struct shape_tree tree = nodes_inside(m);
    int me = mem_rank(m), above = hud_shape_parent(&tree, me), below = 0;

    for (int r; (r = hud_shape_child(&tree, me, below)) >= 0; below++)
        mem_await(m, &nodes_lines_of(m, r)->entered, c->op); /* A1 */
    if (above < 0) {
        disseminate(m, c->net);
    } else {
        mem_post(m, &nodes_lines_of(m, me)->entered, c->op);      /* R1 */
        mem_await(m, &nodes_lines_of(m, above)->released, c->op); /* A2 */
    }
    if (below > 0)
        mem_post(m, &nodes_lines_of(m, me)->released, c->op); /* R2 */
}

ALG_DEFINE(barrier, nodes) = {
    .coll = "barrier",
    .name = "nodes",
    .doc = "each node gathers; one rank per node takes part in a dissemination barrier",
    .source = "Hensgen, Finkel, Manber 1988",
    .family = &HUD_BACKEND(nodes_family),
    .run = barrier_run
};
