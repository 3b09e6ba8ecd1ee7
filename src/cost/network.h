/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * network.h - collectives between nodes: the tree and the segment of a broadcast, the rings of
 * other collectives, and which calls fall back to the MPI.
 *
 * Source  Paper 04 (lab/cost/hockney.h).  Its model has a single number for a latency and for the
 *         cost of a message at its sender.  Here there are three numbers, since messages of a
 *         pipeline overlap (Alexandrov et al. 1995, LogGP).  With send = overhead = alpha the
 *         formulas are the paper's.
 *
 * A message of m bytes arrives alpha + m beta after it was sent.  A node that sends a message to
 * each of several nodes starts a message every send + m beta.  A node of a pipeline, which also
 * receives and serves its ranks, starts a message every overhead + m beta.  Messages in opposite
 * directions do not delay each other.  With s bytes in a segment of a message of m bytes:
 *
 *   T = s beta + h (alpha + s beta) + e (send + s beta)
 *       + (ceil(m/s) - 1) w (overhead + s beta)
 *   best s = sqrt(m w overhead / ((1 + h + e - w) beta))
 *
 *   tree of N nodes       h, messages one below the other   e, sent before them    w, most children
 *   chain                 N - 1                             0                      1
 *   k-ary                 its depth d                       d (k - 1)              k
 *   k-nomial              ceil(log_k N)                     h (k - 2)            those of the root
 *
 * e is an upper bound, as in the paper.  The first s beta stands for the copies into and out of
 * shared memory, which are not in the paper: without it, two nodes would have one segment and no
 * pipeline.  Times are in ns.
 */
#ifndef HUD_COST_NETWORK_H
#define HUD_COST_NETWORK_H

#include "shape/shape.h"

#include <stdbool.h>
#include <stddef.h>

/* Minimum bytes of a segment, so that the overhead of each message is small. */
enum { COST_NETWORK_MIN_BYTES = 4 << 10 };

struct cost_network {
    double alpha_ns;    /* latency of a message; 0: the network is unknown */
    double beta_ns;     /* time per byte */
    double overhead_ns; /* time of each further message, when several are in flight */
    double send_ns;     /* time to start a message */
};

/* The values of paper 04's Gigabit Ethernet, used if nothing is known. */
extern const struct cost_network hud_cost_network_usual;

/* Reports whether all values are finite and consistent: alpha > 0, the others not negative; send at
 * most overhead, overhead at most alpha. */
bool hud_cost_network_valid(const struct cost_network *c);

/* Returns ceil(log_k p), exactly. */
int hud_cost_log(int ranks, int degree);

enum cost_spread_kind { COST_SPREAD_KARY, COST_SPREAD_KNOMIAL }; /* k-ary with k = 1 is a chain */

extern const char *const hud_cost_spread_kinds[]; /* "k-ary", "k-nomial" */

struct cost_spread {
    enum cost_spread_kind kind;
    int degree;           /* k */
    double segment_bytes; /* s */
};

/* Returns T, for nodes >= 2 and bytes > 0. */
double hud_cost_spread_ns(const struct cost_network *c, int nodes, double bytes,
                          const struct cost_spread *spread);

/* Returns the best s of a tree, between `min` and `max`, or the whole message if it is shorter than
 * `min`. */
double hud_cost_spread_segment(const struct cost_network *c, int nodes, double bytes,
                               const struct cost_spread *spread, double min, double max);

/* Returns the fastest tree with its best segment.  Compares a chain, k-ary and k-nomial trees with
 * small k, and a tree with all other nodes below the root. */
struct cost_spread hud_cost_spread_choose(const struct cost_network *c, int nodes, double bytes,
                                          double min, double max);

/* Returns the tree as a tree of shape.h.  hud_cost_spread_fragment() returns the bytes of fragments
 * of about equal size, the last of which ends the call. */
enum shape_kind hud_cost_spread_shape(const struct cost_spread *spread);
long hud_cost_spread_fragment(size_t bytes, const struct cost_spread *spread);

/*
 * Returns the number of rings of a collective of `bytes` bytes in all, of which chunk_bytes are in
 * flight at a time (src/alg/rings/rings.h).  A message should have 8 KB, so that its overhead is
 * small.  Returns 0 if messages would be shorter than 2 KB: other algorithms then need fewer
 * messages.
 */
int hud_cost_rings(size_t bytes, int nodes, size_t chunk_bytes);

/*
 * Returns the time of an MPI which sends whole messages, with one rank on each node: the faster of
 * a binomial tree and of a scatter followed by an allgather (van de Geijn).  Open MPI and MPICH do
 * no better.
 */
double hud_cost_mpi_broadcast_ns(const struct cost_network *c, int nodes, double bytes);

/* Bytes of a set of cells of the ring of nodes.  A set has a cell for each node and COST_RING_MORE
 * further cells. */
enum { COST_RING_BYTES = 128 << 10, COST_RING_MORE = 3 };

/*
 * Reports whether, with one rank on each node, a collective of `bytes` bytes in all fills the
 * network by going round the ring (src/alg/rings/ring.h).  No other algorithm is then faster.  A
 * node has two messages in flight, so the transfer of each must hide alpha of the other.  The first
 * and the last messages must be a small part of all.  The network must be much slower than memory,
 * through which huddle passes the bytes.  Shorter calls have other algorithms.  How much longer and
 * slower is assumed, not measured.
 */
bool hud_cost_ring_fills(const struct cost_network *c, int nodes, double bytes);

/* Reports whether, with one rank on each node, the broadcast is a pipeline, and clearly faster than
 * hud_cost_mpi_broadcast_ns(). */
bool hud_cost_spread_gains(const struct cost_network *c, int nodes, double bytes,
                           const struct cost_spread *spread);

#endif
