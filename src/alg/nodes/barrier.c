/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - barrier of a span.
 *
 * Source    Hensgen, Finkel, Manber 1988 (dissemination), between nodes.
 * Shape     The head waits for the ranks of its node, exchanges messages with other heads, releases
 *           its node.  In round k = 1, 2, 4, ... it sends to the node k further on, and receives
 *           from the one k before.  Where the number of nodes is a power of two, these are the same
 *           one, that whose number differs in the bit k: it answers on the way that it was asked.
 * Cost      ceil(log2 N) messages of no bytes for each node, of N; two line transfers within.
 *
 * Line          written by   read by          meaning of value k
 *   entered     its owner    the head         the owner has entered call k
 *   released    the head     its node         all ranks of the span have entered call k
 *
 * Edges     R1 -> A1   a rank's entry, to its head
 *           R3 -> A3   what a head knows, to another
 *           R2 -> A2   all entries, to the ranks of the node
 * Deadlock  A head waits for its node's entries, which wait for nothing; then for messages of heads
 *           in a round, whose senders wait only for earlier rounds.
 * Safety    After round k a head knows the entries of 2k nodes: its own and those before it, or
 *           those whose numbers differ from its own in the bits up to k.
 *           A source sends one message of a call at most to a node, as k < N differ: calls
 *           cannot be confused.
 */
#include "alg/nodes/nodes.h"

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

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
    if (mem_rank(m) != 0) {
        mem_post(m, &lines(m, mem_rank(m))->entered, c->op); /* R1 */
        mem_await(m, &lines(m, 0)->released, c->op);         /* A2 */
        return;
    }
    for (int r = 1; r < mem_size(m); r++)
        mem_await(m, &lines(m, r)->entered, c->op); /* A1 */
    disseminate(m, c->net);
    if (mem_size(m) > 1)
        mem_post(m, &lines(m, 0)->released, c->op); /* R2 */
}

ALG_DEFINE(barrier, nodes) = { .coll = "barrier",
                               .name = "nodes",
                               .doc = "messages between the heads of nodes: dissemination",
                               .source = "Hensgen, Finkel, Manber 1988",
                               .family = &HUD_BACKEND(nodes_family),
                               .run = barrier_run };
