/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * network.h - collectives between nodes: the tree and the segment of a broadcast, the lanes of
 * other collectives, and which calls fall back to the MPI.
 *
 * Source  Paper 04 (hockney.h).  Its model has one number for a latency and for what a message
 *         costs its sender; here they are three, since messages of a pipeline overlap (Alexandrov
 *         et al. 1995, LogGP).  With send = overhead = alpha the formulas are the paper's.
 *
 * A message of m bytes arrives alpha + m beta after it was sent.  A node that sends one to each of
 * several nodes starts one every send + m beta.  A node of a pipeline, which also receives and
 * serves its ranks, starts one every overhead + m beta.  Messages both ways do not disturb each
 * other.  With s bytes in a segment, of a message of m:
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
 * e is an upper bound, as the paper's.  The first s beta stands for the copies into and out of
 * shared memory, which the paper has not: without it, two nodes would have one segment and no
 * pipeline.  Times are in ns.
 */
#ifndef HUD_COST_NETWORK_H
#define HUD_COST_NETWORK_H

#include "shape/shape.h"

#include <stdbool.h>
#include <stddef.h>

/* A segment has so many bytes at least: what goes with each message is little. */
enum { COST_NETWORK_MIN_BYTES = 4 << 10 };

struct cost_network {
    double alpha_ns;    /* of a message; 0: nothing is known of the network */
    double beta_ns;     /* of a byte */
    double overhead_ns; /* of a message more, of several on their way */
    double send_ns;     /* to start one */
};

/* Of paper 04's Gigabit Ethernet, where nothing is known. */
extern const struct cost_network hud_cost_network_usual;

/* All are there and finite: alpha > 0, the others not negative; send at most overhead, overhead
 * at most alpha. */
bool hud_cost_network_valid(const struct cost_network *c);

enum cost_spread_kind { COST_SPREAD_KARY, COST_SPREAD_KNOMIAL }; /* k-ary with k = 1: a chain */

extern const char *const hud_cost_spread_kinds[]; /* "k-ary", "k-nomial" */

struct cost_spread {
    enum cost_spread_kind kind;
    int degree;           /* k */
    double segment_bytes; /* s */
};

/* T; nodes >= 2, bytes > 0. */
double hud_cost_spread_ns(const struct cost_network *c, int nodes, double bytes,
                          const struct cost_spread *spread);

/* The best s of a tree, between `min` and `max`; all of the message, if it is less than `min`. */
double hud_cost_spread_segment(const struct cost_network *c, int nodes, double bytes,
                               const struct cost_spread *spread, double min, double max);

/* The fastest tree with its best segment: a chain, k-ary or k-nomial with small k, or all others
 * below the root. */
struct cost_spread hud_cost_spread_choose(const struct cost_network *c, int nodes, double bytes,
                                          double min, double max);

/* The same as a tree of shape.h, and as bytes of fragments of about the same size: the last one
 * ends the call. */
enum shape_kind hud_cost_spread_shape(const struct cost_spread *spread);
long hud_cost_spread_fragment(size_t bytes, const struct cost_spread *spread);

/*
 * Lanes of a collective of so many bytes in all, of which chunk_bytes are on their way at a time
 * (src/alg/lanes/lanes.h): a message is to have 8 KB, so that what goes with each is little.  0:
 * messages would be shorter than 2 KB, and others need fewer.
 */
int hud_cost_lanes(size_t bytes, int nodes, size_t chunk_bytes);

/*
 * What an MPI takes that sends whole messages: the faster of a binomial tree and of a scatter
 * followed by an allgather (van de Geijn), which is what Open MPI and MPICH do at best, with one
 * rank on each node.
 */
double hud_cost_mpi_broadcast_ns(const struct cost_network *c, int nodes, double bytes);

/* A set of cells of the ring of nodes has so many bytes in all: a cell for each node and these
 * more. */
enum { COST_RING_BYTES = 128 << 10, COST_RING_MORE = 3 };

/*
 * With one rank on each node: whether a collective of so many bytes in all fills the network when
 * it goes round the ring (src/alg/lanes/ring.h).  No other algorithm is then faster.  A node has
 * two messages on their way, so the transfer of one must hide alpha of the other.  The first and
 * the last messages must be a small part of all.  The network must be much slower than memory,
 * through which huddle passes the bytes.  Shorter calls have other algorithms.  How much longer and
 * slower is assumed, not measured.
 */
bool hud_cost_ring_fills(const struct cost_network *c, int nodes, double bytes);

/* With one rank on each node: it is a pipeline, and clearly faster than that. */
bool hud_cost_spread_gains(const struct cost_network *c, int nodes, double bytes,
                           const struct cost_spread *spread);

#endif
