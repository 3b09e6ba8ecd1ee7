/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - everything an algorithm may do between nodes.  This is the contract; net_host.h (messages
 * of the host's MPI) and net_sim.h (fibers under the race checker) implement it, chosen by
 * -DHUD_SIM.
 *
 * A *span* is a team whose ranks are on several nodes.  Each rank shares memory (mem.h) with those
 * of its own node, and sends messages to any rank of the span.  Ranks are named in two ways: by
 * their number in the span, here; by their number in the memory of their node, in mem.h.  The
 * rank that is number 0 there is the *head* of the node.
 *
 * Messages.  A message is a run of bytes of shared memory, or none.  net_send and net_receive start
 * one; they never wait.  What they describe belongs to the message until net_sent, net_arrived has
 * returned: nobody writes what is being sent, nobody reads or writes what is being received.  Every
 * rank numbers its messages itself, and may use a number again once its message is complete.
 *
 * Matching.  Messages from one rank to another with the same tag arrive in the order in which they
 * were sent, and are taken in the order in which the receives were started.  Both ends name the
 * same number of bytes.  A send may be complete only when its receive has been started.
 *
 * Guarantees.  Everything that the sender did before net_send (or saw before it) happened before
 * what the receiver does after net_arrived: sending is a release, arriving an acquire.  net_sent
 * orders nothing.
 *
 * Waiting (net_sent, net_arrived) moves the host's messages and the requests of the context.  Where
 * the host says that a message cannot arrive any more, the call is left as in a wait of mem.h.
 */
#ifndef HUD_NET_H
#define HUD_NET_H

#include "mem/mem.h"

/* Algorithms that send messages, each in a space of its own, by their collectives. */
enum net_tag {
    NET_BARRIER,
    NET_BCAST,
    NET_BCAST_SCATTER,
    NET_REDUCE,
    NET_REDUCE_LANES,
    NET_REDUCE_ORDERED,
    NET_ALLREDUCE,
    NET_ALLREDUCE_LANES,
    NET_REDUCE_SCATTER,
    NET_REDUCE_SCATTER_LANES,
    NET_ALLGATHER,
    NET_ALLGATHER_LANES,
    NET_ALLGATHERV,
    NET_ALLGATHERV_LANES,
    NET_ALLTOALL,
    NET_ALLTOALL_PAIRS,
    NET_ALLTOALLV,
    NET_GATHER,
    NET_GATHER_PAIRS,
    NET_GATHERV,
    NET_SCATTER,
    NET_SCATTER_PAIRS,
    NET_SCATTERV,
    NET_TAGS
};

/* Where the ranks of a span are; the same on all of them but for `node`. */
struct net_map {
    int ranks, nodes;
    int node;            /* this rank's; nodes are numbered by their lowest ranks */
    const int *node_of;  /* [ranks] */
    const int *local_of; /* [ranks] each one's number in the memory of its node */
    const int *head;     /* [nodes] the lowest rank of each: its number is 0 */
    int lanes;           /* ranks of the smallest node */
    const int *first;    /* [nodes + 1] where each one's ranks begin in */
    const int *member;   /* [ranks] node by node, in the order of their numbers there */
};

/* Ranks of a node. */
static inline int net_members(const struct net_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* Ranks of the node that has the most. */
static inline int net_max_members(const struct net_map *map)
{
    int max = 0;

    for (int node = 0; node < map->nodes; node++)
        max = net_members(map, node) > max ? net_members(map, node) : max;
    return max;
}

/* The rank of a node that has that number there. */
static inline int net_member(const struct net_map *map, int node, int local)
{
    return map->member[map->first[node] + local];
}

/* Each node is a range of ranks. */
static inline bool net_in_ranges(const struct net_map *map)
{
    bool ranges = true;

    for (int r = 0; r < map->ranks; r++)
        ranges = ranges && map->member[r] == r;
    return ranges;
}

struct net; /* one rank's handle on its span */

#define NET_FN static inline __attribute__((unused))

NET_FN const struct net_map *net_map(const struct net *n);

/* Message number `id` of this rank, from 0 on.  bytes 0: `from`, `to` may be NULL. */
NET_FN void net_send(struct mem *m, struct net *n, int id, int rank, enum net_tag tag,
                     const void *from, size_t bytes);
NET_FN void net_receive(struct mem *m, struct net *n, int id, int rank, enum net_tag tag, void *to,
                        size_t bytes);
/* Return when the message is complete. */
NET_FN void net_sent(struct mem *m, struct net *n, int id);
NET_FN void net_arrived(struct mem *m, struct net *n, int id);

/* What has come is of a sender that makes the call with `theirs` bytes, and this rank with `own`:
 * leaves the call. */
NET_FN void net_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own);

#ifdef HUD_SIM
#include "net/net_sim.h"
#else
#include "net/net_host.h"
#endif

#endif
