/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_choose.c - by the network: the tree of nodes and the fragments of a broadcast, and which
 * calls fall back to the MPI, unless HUDDLE_NODES is on.
 *
 * All ranks know the same network, so all decide alike.
 *
 * With several ranks on a node huddle sends one message where an MPI may send one for each rank.
 * With one rank on each node nothing is gained within: a barrier, a short sum, or a broadcast in
 * one piece needs as many messages as the MPI's own.  A broadcast is then handled where a pipeline
 * is clearly faster by the model, and a large allreduce, reduce_scatter or allgather where the
 * transfer of its bytes takes most of its time.  HUDDLE_REDUCE_ORDER=fixed: no reduce or
 * allreduce falls back.
 *
 * Nothing falls back if ranks share processors.  The model knows only the network, but an MPI that
 * polls keeps the processors from the ranks for which it waits.  The first call decides about a
 * reduction for the whole run, since the MPI's own reduction is not tried (span_candidates.c).
 */
#include "alg/rings/ring_steps.h"
#include "core/span/span.h"

#include <string.h>

/* Returns the tree of the settings as a tree of the model. */
static struct cost_spread forced(enum shape_kind tree, long degree, int nodes)
{
    int widest = nodes > 2 ? nodes : 2; /* more would make no difference */
    int k = degree < widest ? (int)degree : widest;

    switch (tree) {
    case SHAPE_FLAT:
        return (struct cost_spread){ COST_SPREAD_KNOMIAL, widest, 0 };
    case SHAPE_CHAIN:
        return (struct cost_spread){ COST_SPREAD_KARY, 1, 0 };
    case SHAPE_KNOMIAL:
        return (struct cost_spread){ COST_SPREAD_KNOMIAL, k > 2 ? k : 2, 0 };
    default:
        return (struct cost_spread){ COST_SPREAD_KARY, k, 0 };
    }
}

_Static_assert((int)NODES_FRAGMENT_MIN == (int)COST_NETWORK_MIN_BYTES, "the model's is this one");
_Static_assert((int)RINGS_SET_BYTES == (int)COST_RING_BYTES, "and this");
_Static_assert((int)RING_MORE == (int)COST_RING_MORE, "and this");

static long given_or(long given, long setting)
{
    return given != SPAN_AUTO ? given : setting;
}

static struct span_route find(const struct span *span, size_t bytes, const long *given)
{
    const struct config *config = &span->whole->context->config;
    const struct cost_network *c = &span->network;
    long tree = given[NODES_TREE] != SPAN_AUTO ? TREE_FIRST + given[NODES_TREE]
                                               : config->number[SET_NODES_TREE],
         degree = given_or(given[NODES_DEGREE], config->number[SET_NODES_DEGREE]);
    int nodes = span->map.nodes;
    bool whole = config->number[SET_NODES_FRAGMENT] >= 0 || given[NODES_FRAGMENT] != SPAN_AUTO;
    double size = (double)bytes,
           max = (double)given_or(given[NODES_FRAGMENT], (long)span->buffer_bytes),
           min = whole ? max : NODES_FRAGMENT_MIN;
    struct cost_spread spread;

    if (tree == TREE_AUTO) {
        spread = hud_cost_spread_choose(c, nodes, size, min, max);
    } else {
        spread = forced((enum shape_kind)(tree - TREE_FIRST), degree, nodes);
        spread.segment_bytes = hud_cost_spread_segment(c, nodes, size, &spread, min, max);
    }
    return (struct span_route){ .bytes = bytes,
                                .tree = tree == TREE_AUTO ? hud_cost_spread_shape(&spread)
                                                          : (enum shape_kind)(tree - TREE_FIRST),
                                .degree = spread.degree,
                                .fragment_bytes = hud_cost_spread_fragment(bytes, &spread),
                                .gains = hud_cost_spread_gains(c, nodes, size, &spread) };
}

const struct span_route *hud_span_route(struct span *span, size_t bytes, const long *given)
{
    if (span->route.bytes != bytes ||
        memcmp(span->route.given, given, sizeof span->route.given) != 0) {
        span->route = find(span, bytes, given);
        memcpy(span->route.given, given, sizeof span->route.given);
    }
    return &span->route;
}

/* Returns whether a call goes round a ring of nodes. */
static bool fills_network(const struct span *span, enum coll_kind kind, const struct coll *call)
{
    double blocks = coll_has((int)kind, COLL_BLOCKS) ? span->map.ranks : 1;

    return !span->assumed &&
           hud_cost_ring_fills(&span->network, span->map.nodes, (double)call->bytes * blocks);
}

static const struct cost_spread chain = { .kind = COST_SPREAD_KARY, .degree = 1 };

/* Returns the bytes of a piece in a chain of nodes. */
size_t hud_span_piece(const struct span *span, size_t bytes)
{
    double size = bytes == 0 ? 1 : (double)bytes;

    return (size_t)hud_cost_spread_segment(&span->network, span->map.nodes, size, &chain,
                                           NODES_FRAGMENT_MIN, (double)span->buffer_bytes);
}

static bool chain_gains(const struct span *span, size_t bytes)
{
    struct cost_spread spread = chain;
    int nodes = span->map.nodes;

    spread.segment_bytes = (double)hud_span_piece(span, bytes);
    return hud_cost_spread_ns(&span->network, nodes, (double)bytes, &spread) <=
           hud_cost_mpi_broadcast_ns(&span->network, nodes, (double)bytes);
}

bool hud_span_gains(struct span *span, enum coll_kind kind, const struct coll *call,
                    const struct alg *alg)
{
    bool rings = alg && alg->family == &hud_shm_rings_family;

    if (span->whole->context->config.number[SET_NODES] == NODES_ON ||
        (call->reduction && hud_span_is_fixed(span)))
        return true;
    if (span->oversubscribed)
        return true;
    if (rings && span_has_chain(kind) && !chain_gains(span, call->bytes))
        return false;
    if (span->map.ranks > span->map.nodes)
        return true;
    if (span_has_route(kind))
        return hud_span_route(span, call->bytes, hud_span_by_model.param)->gains;
    return rings && !span_has_chain(kind) && fills_network(span, kind, call);
}

bool hud_span_is_fixed(const struct span *span)
{
    return span->whole->context->config.number[SET_REDUCE_ORDER] == ORDER_FIXED;
}

bool hud_span_in_order(const struct span *span, const struct coll *call)
{
    return call->reduction && (!call->reduction->commutative || hud_span_is_fixed(span));
}
