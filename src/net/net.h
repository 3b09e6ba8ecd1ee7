/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - all operations between nodes that an algorithm may use.  This is the contract.
 * net_host.h (messages of the host's MPI) and net_sim.h (fibers under the race checker) implement
 * it; -DHUD_SIM chooses between them.
 *
 * A *span* is a team whose ranks are on several nodes.  Each rank shares memory (mem.h) with the
 * ranks of its own node, and sends messages to any rank of the span.  A rank has two numbers: its
 * number in the span, used here, and its number in the memory of its node, used in mem.h.  The rank
 * with number 0 in the memory of a node is the *head* of the node.
 *
 * Messages.  A message is a run of bytes of shared memory, or empty.  net_send and net_receive
 * start a message and never wait.  The bytes belong to the message until net_sent or net_arrived
 * has returned: no rank writes bytes that are being sent, and no rank reads or writes bytes that
 * are being received.  Every rank numbers its messages itself, and may reuse a number once its
 * message is complete.
 *
 * Matching.  Messages from one rank to another with the same tag arrive in the order in which they
 * were sent, and match receives in the order in which the receives were started.  Both ends give
 * the same number of bytes.  A send may not complete before its receive has been started.
 *
 * Guarantees.  Everything that the sender did before net_send (or saw before it) happened before
 * what the receiver does after net_arrived: sending is a release, arriving is an acquire.  net_sent
 * orders nothing.
 *
 * Waiting (net_sent, net_arrived) advances the host's messages and the requests of the context.  If
 * the host reports that a message cannot arrive any more, the call is left as in a wait of mem.h.
 */
#ifndef HUD_NET_H
#define HUD_NET_H

#include "mem/mem.h"

/* Where the ranks of a span are.  The same on all ranks, except `node`. */
struct net_map {
    int ranks, nodes;
    int node;            /* this rank's node; nodes are numbered in the order of their lowest
                            ranks */
    const int *node_of;  /* [ranks] node of each rank */
    const int *local_of; /* [ranks] number of each rank in the memory of its node */
    const int *head;     /* [nodes] the lowest rank of each node, whose number there is 0 */
    int rings;           /* number of ranks of the smallest node */
    const int *first;    /* [nodes + 1] index in `member` of each node's first rank */
    const int *member;   /* [ranks] node by node, in the order of their numbers in the node */
};

/* Returns the number of ranks of a node. */
static inline int net_members(const struct net_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* Returns the number of ranks of the largest node. */
static inline int net_max_members(const struct net_map *map)
{
    int max = 0;

    for (int node = 0; node < map->nodes; node++)
        max = net_members(map, node) > max ? net_members(map, node) : max;
    return max;
}

/* Returns the rank with number `local` in the memory of a node. */
static inline int net_member(const struct net_map *map, int node, int local)
{
    return map->member[map->first[node] + local];
}

/* Reports whether each node is a range of ranks. */
static inline bool net_in_ranges(const struct net_map *map)
{
    bool ranges = true;

    for (int r = 0; r < map->ranks; r++)
        ranges = ranges && map->member[r] == r;
    return ranges;
}

struct net; /* a rank's handle on its span */

#define NET_FN static inline __attribute__((unused))

NET_FN const struct net_map *net_map(const struct net *n);

/* Starts this rank's message number `id`; numbers begin at 0.  `from` or `to` may be NULL if bytes
 * is 0. */
NET_FN void net_send(struct mem *m, struct net *n, int id, int rank, unsigned tag, const void *from,
                     size_t bytes);
NET_FN void net_receive(struct mem *m, struct net *n, int id, int rank, unsigned tag, void *to,
                        size_t bytes);
/* Returns when the message is complete. */
NET_FN void net_sent(struct mem *m, struct net *n, int id);
NET_FN void net_arrived(struct mem *m, struct net *n, int id);

/* Leaves the call, because a message came from a sender whose call has `theirs` bytes, while this
 * rank's call has `own` bytes. */
NET_FN void net_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own);

#ifdef HUD_SIM
#include "net/net_sim.h"
#else
#include "net/net_host.h"
#endif

#endif
