/* SPDX-License-Identifier: BSD-3-Clause */
/* hockney.c - see hockney.h. */
#include "lab/cost/hockney.h"

#include "cost/network.h"

#include <math.h>
#include <stddef.h>

const char *const hud_cost_trees[COST_TREES + 1] = { "linear",           "k-ary",
                                                     "k-nomial",         "chain",
                                                     "binary pipelined", "binomial pipelined",
                                                     "binomial printed", NULL };

static double steps_linear(int ranks, int degree, double segments)
{
    (void)degree, (void)segments;
    return ranks - 1;
}

static double steps_kary(int ranks, int degree, double segments)
{
    (void)segments;
    return degree * hud_cost_log(ranks, degree);
}

static double steps_knomial(int ranks, int degree, double segments)
{
    (void)segments;
    return (degree - 1) * hud_cost_log(ranks, degree);
}

static double steps_chain(int ranks, int degree, double segments)
{
    (void)degree;
    return ranks - 2 + segments;
}

static double steps_binary(int ranks, int degree, double segments)
{
    (void)degree;
    return 2 * (hud_cost_log(ranks, 2) + segments - 1);
}

/* Returns the number of steps: the root's port is busy all the time, and then the last segment goes
 * down. */
static double steps_binomial(int ranks, int degree, double segments)
{
    (void)degree;
    return hud_cost_log(ranks, 2) * segments;
}

static double steps_printed(int ranks, int degree, double segments)
{
    (void)degree;
    return hud_cost_log(ranks, 2) + segments - 1;
}

/* How many messages or segments are sent one after the other. */
static const struct tree {
    double (*steps)(int ranks, int degree, double segments);
    int has_degree, in_segments;
} trees[COST_TREES] = {
    [COST_LINEAR] = { steps_linear, 0, 0 },
    [COST_KARY] = { steps_kary, 1, 0 },
    [COST_KNOMIAL] = { steps_knomial, 1, 0 },
    [COST_CHAIN] = { steps_chain, 0, 1 },
    [COST_BINARY_PIPELINED] = { steps_binary, 0, 1 },
    [COST_BINOMIAL_PIPELINED] = { steps_binomial, 0, 1 },
    [COST_BINOMIAL_PRINTED] = { steps_printed, 0, 1 },
};

double hud_cost_broadcast_ns(const struct cost_hockney *c, const struct cost_broadcast *b)
{
    const struct tree *tree = &trees[b->tree];
    double piece = tree->in_segments && b->segment_bytes > 0
                       ? fmin(b->segment_bytes, b->message_bytes)
                       : b->message_bytes;
    double segments = piece > 0 ? ceil(b->message_bytes / piece) : 1;

    return b->ranks < 2
               ? 0
               : tree->steps(b->ranks, b->degree, segments) * (c->alpha_ns + piece * c->beta_ns);
}

/* Returns the best degree.  Compares k / ln k or (k - 1) / ln k, the number of steps without the
 * factor ln p. */
int hud_cost_broadcast_degree(enum cost_tree tree, int max)
{
    int best = 2;

    if (!trees[tree].has_degree)
        return 0;
    for (int k = 3; k <= max; k++) {
        int sends = tree == COST_KARY ? k : k - 1, min = tree == COST_KARY ? best : best - 1;
        if (sends * log(best) < min * log(k))
            best = k;
    }
    return best;
}

/* Returns the steps until a rank has the message, by going up to the root: the i-th child gets its
 * message i steps after its parent. */
static int kary_steps(int rank, int degree)
{
    int steps = 0;

    for (; rank > 0; rank = (rank - 1) / degree)
        steps += (rank - 1) % degree + 1;
    return steps;
}

/* Returns the steps until a rank has the message.  A rank's parent has the lowest nonzero digit of
 * the rank in base k cleared, and sends to the children of its higher places first. */
static int knomial_steps(int rank, int ranks, int degree)
{
    int steps = 0;

    while (rank > 0) {
        int place = 1;
        while (rank / place % degree == 0)
            place *= degree;
        int parent = rank - rank / place % degree * place;
        steps += rank / place % degree;
        for (int above = place * degree; above < ranks && (parent / above % degree == 0);
             above *= degree)
            for (int digit = 1; digit < degree && parent + digit * above < ranks; digit++)
                steps++;
        rank = parent;
    }
    return steps;
}

int hud_cost_broadcast_steps(enum cost_tree tree, int ranks, int degree)
{
    int max = 0;

    if (tree == COST_LINEAR)
        return ranks > 1 ? ranks - 1 : 0;
    if (tree != COST_KARY && tree != COST_KNOMIAL)
        return 0;
    for (int rank = 1; rank < ranks; rank++) {
        int steps =
            tree == COST_KARY ? kary_steps(rank, degree) : knomial_steps(rank, ranks, degree);
        max = steps > max ? steps : max;
    }
    return max;
}

double hud_cost_broadcast_segment(const struct cost_hockney *c, enum cost_tree tree, int ranks,
                                  double message_bytes)
{
    double hops = tree == COST_CHAIN ? ranks - 2 : log2(ranks) - 1;

    if (!trees[tree].in_segments)
        return 0;
    if (tree == COST_BINOMIAL_PIPELINED || hops <= 0)
        return message_bytes; /* each further segment costs a latency, and nothing overlaps */
    return fmin(message_bytes, fmax(1, sqrt(message_bytes * c->alpha_ns / (hops * c->beta_ns))));
}

double hud_cost_broadcast_min_ns(const struct cost_hockney *c, int ranks, double message_bytes)
{
    return ranks < 2 ? 0 : fmax(hud_cost_log(ranks, 2) * c->alpha_ns, message_bytes * c->beta_ns);
}
