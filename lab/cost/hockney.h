/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hockney.h - broadcasts by send and receive in the Hockney model: paper 04 (Kurnosov, Analysis and
 * optimization of pipelined broadcast algorithms).
 *
 * A message of m bytes takes alpha + m beta between any two of p ranks, in both directions at once.
 * Each rank has one port.  Times are of the slowest rank, in ns.  k is the degree of a tree, s the
 * bytes of a segment.  Sums of logarithms are the paper's upper bounds.
 *
 *   linear               (p - 1) (alpha + m beta)
 *   k-ary tree           k ceil(log_k p) (alpha + m beta)
 *                        best k = 3 (e)
 *   k-nomial tree        (k - 1) ceil(log_k p) (alpha + m beta)
 *                        best k = 2
 *   chain                (p - 2 + ceil(m/s)) (alpha + s beta)
 *                        best s = sqrt(m alpha / ((p - 2) beta))
 *   binary, pipelined    2 (ceil(log2 p) + ceil(m/s) - 1) (alpha + s beta)
 *                        best s = sqrt(m alpha / ((log2 p - 1) beta))
 *   binomial, pipelined  (ceil(log2 p) + ceil(m/s) - 1) (alpha + s beta), as published
 *
 * The paper has two errors.  A pipelined binomial tree cannot be as fast as published: the root
 * sends each segment ceil(log2 p) times through its one port, so it takes at least ceil(log2 p)
 * ceil(m/s) steps, as COST_BINOMIAL_PIPELINED gives.  The lower bound is the maximum of its two
 * terms, not their minimum.
 */
#ifndef HUD_COST_HOCKNEY_H
#define HUD_COST_HOCKNEY_H

struct cost_hockney {
    double alpha_ns; /* time per message, of any length */
    double beta_ns;  /* time per byte */
};

enum cost_tree {
    COST_LINEAR,
    COST_KARY,
    COST_KNOMIAL,
    COST_CHAIN,
    COST_BINARY_PIPELINED,
    COST_BINOMIAL_PIPELINED,
    COST_BINOMIAL_PRINTED, /* the paper's published form, for comparison */
    COST_TREES
};

extern const char *const hud_cost_trees[COST_TREES + 1]; /* "linear", "k-ary", ...; terminated by
                                                            NULL */

struct cost_broadcast {
    enum cost_tree tree;
    int ranks, degree; /* k: of COST_KARY and COST_KNOMIAL, >= 2 */
    double message_bytes,
        segment_bytes; /* s: of pipelined trees and the chain; 0: the whole message */
};

double hud_cost_broadcast_ns(const struct cost_hockney *c, const struct cost_broadcast *b);

/* Returns the best k of a large tree, by trying 2 to `max` with log_k p not rounded up.  The
 * ceiling changes the best k of some p (128 ranks: 14, 15, 16 steps for k = 2, 3, 4).  Returns 0 if
 * the tree has no degree. */
int hud_cost_broadcast_degree(enum cost_tree tree, int max);

/*
 * Returns how many messages are sent one after the other until the last rank has its message.  The
 * result is exact, where the formulas are bounds, for a linear tree, a complete k-ary tree (its
 * levels filled from the left) and a k-nomial tree, whose ranks send to the largest subtree first.
 * Returns 0 for other trees.
 */
int hud_cost_broadcast_steps(enum cost_tree tree, int ranks, int degree);

/* Returns the best s by the formula, between 1 byte and the message, and 0 if the tree has no
 * segments. */
double hud_cost_broadcast_segment(const struct cost_hockney *c, enum cost_tree tree, int ranks,
                                  double message_bytes);

/* Returns the lower bound max(ceil(log2 p) alpha, m beta). */
double hud_cost_broadcast_min_ns(const struct cost_hockney *c, int ranks, double message_bytes);

#endif
