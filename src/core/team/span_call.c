/* SPDX-License-Identifier: BSD-3-Clause */
/* span_call.c - a call on a span: whether it takes it, how, and what is counted. */
#include "alg/lanes/lanes.h"
#include "alg/pairs/pairs.h"
#include "alg/parcels/parcels.h"
#include "core/clock.h"
#include "core/config/log.h"
#include "core/team/around.h"
#include "core/team/guard.h"
#include "core/team/longwait.h"
#include "core/team/span.h"

/* A message of a chain has at least so many bytes, or there are fewer lanes.  A rank that only
 * sends looks now and then whether others have ended their calls. */
enum { PIECE_BYTES = 2 << 10, CALLS_PER_LOOK = 16 };

#define SPAN_ALG(tag, ID, coll, name) [NET_##tag] = COLL_##ID,
static const enum coll_kind kind_of[NET_TAGS] = {
#include "alg/spans.def"
};
#undef SPAN_ALG

/* How an algorithm runs a call. */
struct chosen {
    enum net_tag tag;
    const struct alg *alg;
    const struct alg_place *place;
    long param[ALG_PARAMS];
};

/* ---- parameters of the families ---- */

/* Broadcasts alone have a route. */
static bool choose_tree(struct span *span, enum coll_kind kind, const struct coll *call,
                        long *param)
{
    param[NODES_BUFFER] = (long)span->buffer_bytes;
    if (kind != COLL_BCAST)
        return true;
    const struct span_route *route = hud_span_route(span, call->bytes);
    param[NODES_TREE] = route->tree;
    param[NODES_DEGREE] = route->degree;
    param[NODES_FRAGMENT] = route->fragment_bytes;
    return true;
}

static bool choose_chain(struct span *span, const struct coll *call, long *param)
{
    size_t piece = hud_span_piece(span, call->bytes);
    long lanes = (long)(piece / PIECE_BYTES);

    if (lanes < 1)
        lanes = 1;
    if (lanes > span->map.lanes)
        lanes = span->map.lanes;

    param[LANES_COUNT] = lanes;
    param[LANES_PIECE] = (long)piece / lanes;
    return hud_span_is_fixed(span) || hud_span_chain_gains(span, call->bytes, piece);
}

/* False: so little that other algorithms, or the MPI's, need fewer messages. */
static bool choose_lanes(struct span *span, enum coll_kind kind, const struct coll *call,
                         long *param)
{
    size_t ranks = coll_has((int)kind, COLL_BLOCKS) ? (size_t)span->map.ranks : 1;

    param[LANES_SET] = LANES_SET_BYTES;
    if (kind == COLL_REDUCE)
        return choose_chain(span, call, param);
    param[LANES_COUNT] = hud_cost_lanes(call->bytes * ranks, span->map.nodes, LANES_SET_BYTES);
    return param[LANES_COUNT] != 0;
}

static bool choose_parcels(struct span *span, enum coll_kind kind, const struct coll *call,
                           long *param)
{
    (void)span, (void)kind, (void)call, (void)param;
    return true;
}

static bool choose_pairs(struct span *span, enum coll_kind kind, const struct coll *call,
                         long *param)
{
    (void)span, (void)kind, (void)call;
    param[PAIRS_FRAGMENT] = PAIRS_FRAGMENT_BYTES;
    return true;
}

static const struct {
    const struct alg_family *family;
    bool (*choose)(struct span *span, enum coll_kind kind, const struct coll *call, long *param);
} families[SPAN_FAMILIES] = { [SPAN_NODES] = { &hud_shm_nodes_family, choose_tree },
                              [SPAN_LANES] = { &hud_shm_lanes_family, choose_lanes },
                              [SPAN_PARCELS] = { &hud_shm_parcels_family, choose_parcels },
                              [SPAN_PAIRS] = { &hud_shm_pairs_family, choose_pairs } };

/* ---- the choice ---- */

static bool accepts(struct span *span, enum coll_kind kind, const struct coll *call,
                    enum net_tag tag, struct chosen *chosen)
{
    struct coll asked = *call;
    const struct alg *alg = hud_shm_nodes_algs[tag];
    int family = 0;

    if (kind_of[tag] != kind || alg->baseline)
        return false;
    if (call->reduction && alg->ordered != hud_span_in_order(span, call))
        return false;
    while (families[family].family != alg->family)
        family++;
    chosen->tag = tag;
    chosen->alg = alg;
    chosen->place = &span->place[family];
    if (!families[family].choose(span, kind, call, chosen->param))
        return false;
    asked.param = chosen->param;
    asked.place = chosen->place;
    asked.net = &span->net;
    return alg_accepts(alg, &asked, span->map.ranks);
}

/* The first that accepts the call.  False: none. */
static bool choose(struct span *span, enum coll_kind kind, const struct coll *call,
                   struct chosen *chosen)
{
    int tag = 0;

    while (tag < NET_TAGS && !accepts(span, kind, call, (enum net_tag)tag, chosen))
        tag++;
    return tag < NET_TAGS;
}

/* In order an allreduce is a reduce to the last rank, where the chain ends, and a broadcast
 * from there. */
static bool is_double(const struct span *span, enum coll_kind kind, const struct coll *call)
{
    return kind == COLL_ALLREDUCE && hud_span_in_order(span, call);
}

static struct coll half_of(const struct span *span, const struct coll *call)
{
    struct coll half = *call;

    half.root = span->map.ranks - 1;
    return half;
}

bool hud_span_takes(const struct hud_team *team, enum coll_kind kind, const struct coll *call)
{
    struct span *span = team->span;
    const struct config *config = &team->context->config;
    struct chosen chosen;

    if (hud_config_forced(config, (int)kind) == FORCED_MPI ||
        (call->reduction && call->reduction->element_bytes > HUD_ELEMENT_MAX))
        return false;
    if (!is_double(span, kind, call))
        return choose(span, kind, call, &chosen) && hud_span_gains(span, kind, call, chosen.alg);
    struct coll half = half_of(span, call);
    bool reduces =
        hud_span_gains(span, kind, call, NULL) && choose(span, COLL_REDUCE, &half, &chosen);
    half.reduction = NULL;
    return reduces && choose(span, COLL_BCAST, &half, &chosen);
}

static void count(struct hud_team *team, enum coll_kind kind, uint64_t start_ns)
{
    struct hud_context *c = team->context;
    struct net *n = &team->span->net;
    struct stats *stats = context_stats(c);
    bool threads = c->host.threads != 0;

    mem_count(&stats->messages, n->sent_messages, threads);
    mem_count(&stats->message_bytes, n->sent_bytes, threads);
    n->sent_messages = n->sent_bytes = 0;
    if (c->timed)
        mem_count(&stats->coll[kind].ns, clock_ns() - start_ns, threads);
}

static bool others_gave_up(const struct hud_team *node)
{
    bool gave_up = false;

    for (int r = 0; r < node->size; r++)
        gave_up = gave_up || mem_count_observe(&team_member(node, r)->gave_up) != 0;
    return gave_up;
}

static void say_end(struct hud_team *team)
{
    struct span *span = team->span;
    char name[64];

    if (!hud_longwait_says(&span->node))
        return;
    hud_longwait_name(team, name, sizeof name);
    hud_log(&team->context->config, LOG_ERROR,
            "rank %d of %s (%d ranks on %d nodes) cannot go on with its calls: %s; those of other "
            "ranks between these nodes fail, too",
            team->rank, name, team->size, span->map.nodes, hud_error_string(span->ended));
}

/* The first of its node tells other nodes, if none of them has. */
int hud_span_give_up(struct hud_team *team, int status)
{
    struct span *span = team->span;
    bool first = !span->net.gave_up && !others_gave_up(&span->node);

    if (span->ended != HUD_OK)
        return span->ended;
    span->ended = status;
    team->reason = REASON_BROKEN;
    hud_net_end(&span->net);
    hud_around_give_up(&span->node, status);
    if (first) {
        hud_net_tell(&span->net, status);
        say_end(team);
    }
    return status;
}

/* HUD_OK, or the status with which calls have ended. */
static int look_for_end(struct hud_team *team)
{
    struct span *span = team->span;
    int status = HUD_OK;

    if (span->ended == HUD_OK && span->calls % CALLS_PER_LOOK == 0)
        status = hud_net_ended(&span->net);
    return status != HUD_OK ? hud_span_give_up(team, status) : span->ended;
}

static int run(struct hud_team *team, enum coll_kind kind, const struct coll *call, uint64_t shape,
               bool *truncated)
{
    struct span *span = team->span;
    struct hud_team *node = &span->node;
    struct member_state *mine = node->mine;
    struct chosen chosen;
    struct coll own = *call;
    struct mem mem = node->mem;

    choose(span, kind, call, &chosen);
    enum net_tag tag = chosen.tag;
    member_count(mine, (int)tag, mem_count_read(&mine->calls[tag]) + 1, shape);
    own.op = ++span->calls;
    own.param = chosen.param;
    own.place = chosen.place;
    mem.slot_offset = chosen.place->slot_offset;
    mem.window_offset = chosen.place->window_offset;
    own.net = &span->net;
    own.alg = chosen.alg;
    node->entry = &span->entry[tag];
    node->call = &own;
    int status = hud_guard_run(own.alg->run, &mem, &own);
    *truncated = *truncated || mem.truncated;
    return status;
}

int hud_span_run(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                 uint64_t shape)
{
    uint64_t start_ns = team->context->timed ? clock_ns() : 0;
    struct coll half = half_of(team->span, call);
    bool truncated = false, twice = is_double(team->span, kind, call);
    int status = look_for_end(team);

    around_count(team, kind, call->bytes, status == HUD_OK ? REASON_NONE : REASON_BROKEN);
    if (status != HUD_OK)
        return status;
    status = twice ? run(team, COLL_REDUCE, &half, shape, &truncated)
                   : run(team, kind, call, shape, &truncated);
    half.reduction = NULL;
    if (twice && status == 0)
        status = run(team, COLL_BCAST, &half, shape, &truncated);
    count(team, kind, start_ns);
    if (status != 0)
        return hud_span_give_up(team, status);
    return truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}
