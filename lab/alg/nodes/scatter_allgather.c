/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter_allgather.c - bcast/scatter_allgather, baseline: the gates of the nodes scatter a round
 * and gather it again; then the ranks of each node copy it out.
 *
 * Source    Paper 02 (Zhang, Meng, Huo), 4.2: "between nodes the leaders use scatter-allgather; on
 *           a node the leader first copies the data to shared memory, then the others copy them".
 *           As in MVAPICH: pieces go down a binomial tree, then round a ring (Thakur, Rabenseifner,
 *           Gropp 2005).  Our addition: a message that does not fit into the window is sent in
 *           rounds.
 * Shape     N nodes; the root's node is number 0.  A round has N pieces.  A gate receives the
 *           pieces of its subtree of nodes, sends their parts on, and passes pieces round the ring
 *           in N - 1 steps.  As in MVAPICH, the root's gate receives again the pieces that it has.
 *           Nothing overlaps.
 * Cost      (N - 1) / N n bytes into each node and out of it round the ring, and as many out of the
 *           root's down the tree; log2 N + N - 1 messages one after the other in each round; then
 *           one copy out for each rank.
 * Accepts   fewer than 2^24 rounds, because rounds are numbered.
 *
 * The ring of buffers is a single region here, and `ready` and `copied` count rounds (buffers.h).
 *
 * Edges     R3 -> A3   pieces of a subtree, to its first node; a piece, to the next of the ring
 * Deadlock  In a step of the ring each gate starts its receive, then sends, then waits: for the
 *           gate before it to make the same step, and for the gate after it to start its receive.
 *           Before the ring, a gate waits for its parent in the tree, for its children to start
 *           their receives, and for the ranks of its node to copy out the previous round.
 * Safety    1 Pieces come round the ring after the messages down the tree are complete, which were
 *           sent from the same bytes.
 *           2 Between two gates the message down the tree is sent first, and its receive is started
 *           first.
 *           3 A round is written after A2 of all ranks for the previous round.  All messages of the
 *           previous round are complete by then.
 */
#include "alg/nodes/buffers.h"
#include "lab/alg/rounds.h"

enum {
    SCATTER_IN,
    RING_IN,
    RING_OUT,
    SCATTER_OUT
}; /* numbers of messages; the messages to children come last */

/* A round on a gate. */
struct round {
    struct mem *m;
    const struct coll *c;
    char *at;     /* address of the round's bytes */
    size_t bytes; /* bytes of all pieces, one for each node */
    int nodes, number;
};

/* Returns the offset in the round at which a piece begins. */
static size_t begin_of(const struct round *r, int piece)
{
    size_t begin = rounds_segment_of(r->bytes, r->nodes, HUD_LINE, piece).first_bytes;

    return begin < r->bytes ? begin : r->bytes;
}

/* Returns the gate of a node, whose number is counted from the root's node on. */
static int gate_of(const struct round *r, int number)
{
    int root = net_map(r->c->net)->node_of[r->c->root];

    return nodes_gate(r->c, (root + number) % r->nodes);
}

static void send(const struct round *r, int id, int to, int piece, int end)
{
    size_t begin = begin_of(r, piece), bytes = begin_of(r, end) - begin;
    int rank = gate_of(r, to);

    net_send(r->m, r->c->net, id, rank, NET_BCAST_SCATTER, r->at + begin, bytes); /* R3 */
}

static void expect(const struct round *r, int id, int from, int piece, int end)
{
    size_t begin = begin_of(r, piece), bytes = begin_of(r, end) - begin;

    net_receive(r->m, r->c->net, id, gate_of(r, from), NET_BCAST_SCATTER, r->at + begin, bytes);
}

static void arrived(const struct round *r, int id)
{
    net_arrived(r->m, r->c->net, id); /* A3 */
}

/* Returns the end of a node's subtree, which has as many nodes as the value of the lowest bit of
 * the node's number. */
static int subtree_end(const struct round *r, int number)
{
    int end = number + (number & -number);

    return end < r->nodes ? end : r->nodes;
}

static void scatter(const struct round *r)
{
    const struct shape_tree tree = { .kind = SHAPE_KNOMIAL, .degree = 2, .ranks = r->nodes };
    int me = r->number, child, children = 0;

    if (me > 0) {
        expect(r, SCATTER_IN, hud_shape_parent(&tree, me), me, subtree_end(r, me));
        arrived(r, SCATTER_IN);
    }
    while ((child = hud_shape_child(&tree, me, children)) >= 0)
        send(r, SCATTER_OUT + children++, child, child, subtree_end(r, child));
    while (children > 0)
        net_sent(r->m, r->c->net, SCATTER_OUT + --children);
}

static void allgather(const struct round *r)
{
    int n = r->nodes, me = r->number;

    for (int step = 0; step < n - 1; step++) {
        int out = (me + n - step) % n, in = (me + n - step - 1) % n;
        expect(r, RING_IN, (me + n - 1) % n, in, in + 1);
        send(r, RING_OUT, (me + 1) % n, out, out + 1);
        arrived(r, RING_IN);
        net_sent(r->m, r->c->net, RING_OUT);
    }
}

static void gate_round(const struct round *r, size_t offset, uint64_t value)
{
    const struct coll *c = r->c;
    bool is_root = r->number == 0;

    for (uint64_t buffer = 0; buffer < NODES_RING; buffer++)
        buffers_claim(r->m, buffer, value);
    if (is_root)
        mem_in_all(r->m, r->at, c->out, offset, r->bytes);
    scatter(r);
    allgather(r);
    buffers_post_ready(r->m, value);
    if (!is_root)
        mem_out(r->m, c->out, r->at, offset, r->bytes);
}

static size_t region_bytes(const struct coll *c)
{
    return NODES_RING * mem_lines((size_t)c->param[NODES_BUFFER]);
}

static void bcast_scatter_allgather(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int gate = map->local_of[nodes_gate(c, map->node)],
        number = (map->node + map->nodes - map->node_of[c->root]) % map->nodes;
    uint64_t value = c->op << BUFFERS_FRAGMENT_BITS;
    char *at = buffers_at(m, c, gate, 0);

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        bytes = rounds_next(c->bytes - done, region_bytes(c));
        value++;
        if (mem_rank(m) == gate) {
            const struct round r = { m, c, at, bytes, map->nodes, number };
            gate_round(&r, done, value);
        } else {
            buffers_take_from(m, c, gate, NULL, at, done, bytes, value);
        }
    }
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes / region_bytes(c) < ((size_t)1 << BUFFERS_FRAGMENT_BITS) - 1;
}

ALG_DEFINE(bcast, scatter_allgather) = {
    .coll = "bcast",
    .name = "scatter_allgather",
    .doc = "baseline: scatter to the nodes and allgather between them; ranks copy from their "
           "node's buffers",
    .source = "paper 02, Broadcast: MVAPICH 1.1 between nodes",
    .baseline = true,
    .family = &HUD_BACKEND(nodes_family),
    .accepts = accepts,
    .run = bcast_scatter_allgather,
};
