/* SPDX-License-Identifier: BSD-3-Clause */
/* span_algorithm.c - the algorithm that makes a call on a span, and its parameters: those of a
 * choice, and others by the settings and the network (span_choose.c). */
#include "alg/aggregated/aggregated.h"
#include "alg/pairwise/pairwise.h"
#include "alg/rings/rings.h"
#include "core/span/span.h"

/* Minimum size of a chain's message; below it, there are fewer rings. */
enum { PIECE_BYTES = 2 << 10 };

#define SPAN_ALG(tag, ID, coll, name) [NET_##tag] = COLL_##ID,
static const enum coll_kind kind_of[NET_TAGS] = {
#include "alg/spans.def"
};
#undef SPAN_ALG

const struct span_choice hud_span_by_model = { .tag = SPAN_MODEL,
                                               .param = { SPAN_AUTO, SPAN_AUTO, SPAN_AUTO } };

/* ---- parameters of the families ---- */

/* Chooses the tree of a message with a route.  Other collectives of the family have one tree. */
static bool choose_tree(struct span *span, enum coll_kind kind, const struct coll *call,
                        const long *given, long *param)
{
    param[NODES_BUFFER] = (long)span->buffer_bytes;
    if (!span_has_route(kind))
        return true;
    const struct span_route *route = hud_span_route(span, call->bytes, given);
    param[NODES_TREE] = route->tree;
    param[NODES_DEGREE] = route->degree;
    param[NODES_FRAGMENT] = route->fragment_bytes;
    return true;
}

static long at_most(long number, const long *given)
{
    return given[RINGS_COUNT] != SPAN_AUTO && given[RINGS_COUNT] < number ? given[RINGS_COUNT]
                                                                          : number;
}

static void choose_chain(struct span *span, const struct coll *call, const long *given, long *param)
{
    size_t piece = hud_span_piece(span, call->bytes);
    long rings = (long)(piece / PIECE_BYTES);

    if (rings < 1)
        rings = 1;
    if (rings > span->map.rings)
        rings = span->map.rings;
    rings = at_most(rings, given);
    param[RINGS_COUNT] = rings;
    param[RINGS_PIECE] = (long)piece / rings;
}

/* Chooses rings.  Returns false for so few bytes that other algorithms, or the MPI's, need
 * fewer messages. */
static bool choose_rings(struct span *span, enum coll_kind kind, const struct coll *call,
                         const long *given, long *param)
{
    size_t ranks = coll_has((int)kind, COLL_BLOCKS) ? (size_t)span->map.ranks : 1;

    param[RINGS_SET] = RINGS_SET_BYTES;
    if (span_has_chain(kind)) {
        choose_chain(span, call, given, param);
        return true;
    }
    param[RINGS_COUNT] =
        at_most(hud_cost_rings(call->bytes * ranks, span->map.nodes, RINGS_SET_BYTES), given);
    return param[RINGS_COUNT] != 0;
}

static bool choose_aggregated(struct span *span, enum coll_kind kind, const struct coll *call,
                              const long *given, long *param)
{
    (void)span, (void)kind, (void)call, (void)given, (void)param;
    return true;
}

static bool choose_pairwise(struct span *span, enum coll_kind kind, const struct coll *call,
                            const long *given, long *param)
{
    (void)span, (void)kind, (void)call, (void)given;
    param[PAIRWISE_FRAGMENT] = PAIRWISE_FRAGMENT_BYTES;
    return true;
}

static const struct {
    const struct alg_family *family;
    bool (*choose)(struct span *span, enum coll_kind kind, const struct coll *call,
                   const long *given, long *param);
} families[SPAN_FAMILIES] = { [SPAN_NODES] = { &hud_shm_nodes_family, choose_tree },
                              [SPAN_RINGS] = { &hud_shm_rings_family, choose_rings },
                              [SPAN_AGGREGATED] = { &hud_shm_aggregated_family, choose_aggregated },
                              [SPAN_PAIRWISE] = { &hud_shm_pairwise_family, choose_pairwise } };

/* ---- the algorithm ---- */

bool hud_span_accepts(struct span *span, enum coll_kind kind, const struct coll *call,
                      const struct span_choice *choice, struct span_run *run)
{
    struct coll asked = *call;
    const struct alg *alg = hud_shm_nodes_algs[choice->tag];
    int family = 0;

    if (kind_of[choice->tag] != kind || alg->baseline)
        return false;
    if (call->reduction && alg->ordered != hud_span_in_order(span, call))
        return false;
    while (families[family].family != alg->family)
        family++;
    run->tag = (enum net_tag)choice->tag;
    run->alg = alg;
    run->place = &span->place[family];
    if (!families[family].choose(span, kind, call, choice->param, run->param))
        return false;
    asked.param = run->param;
    asked.place = run->place;
    asked.net = &span->net;
    return alg_accepts(alg, &asked, span->map.ranks);
}

/* Finds the first algorithm that accepts the call.  Returns false if there is none. */
static bool find_first(struct span *span, enum coll_kind kind, const struct coll *call,
                       struct span_run *run)
{
    struct span_choice first = hud_span_by_model;

    for (first.tag = 0; first.tag < NET_TAGS; first.tag++)
        if (hud_span_accepts(span, kind, call, &first, run))
            return true;
    return false;
}

bool hud_span_find(struct span *span, enum coll_kind kind, const struct coll *call,
                   const struct span_choice *choice, struct span_run *run)
{
    return (choice->tag >= 0 && hud_span_accepts(span, kind, call, choice, run)) ||
           find_first(span, kind, call, run);
}

void hud_span_find_own(struct span *span, enum net_tag tag, const struct coll *call,
                       struct span_run *run)
{
    *run = (struct span_run){ .tag = tag,
                              .alg = hud_shm_nodes_algs[tag],
                              .place = &span->place[SPAN_NODES] };
    choose_tree(span, kind_of[tag], call, hud_span_by_model.param, run->param);
}
