/* SPDX-License-Identifier: BSD-3-Clause */
/* span_call.c - a call on a span: whether it takes it, how, and what is counted. */
#include "alg/lanes/lanes.h"
#include "core/clock.h"
#include "core/team/around.h"
#include "core/team/guard.h"
#include "core/team/span.h"

static const enum coll_kind kind_of[NET_TAGS] = { [NET_BARRIER] = COLL_BARRIER,
                                                  [NET_BCAST] = COLL_BCAST,
                                                  [NET_ALLREDUCE] = COLL_ALLREDUCE,
                                                  [NET_ALLREDUCE_LANES] = COLL_ALLREDUCE,
                                                  [NET_REDUCE_SCATTER] = COLL_REDUCE_SCATTER,
                                                  [NET_ALLGATHER] = COLL_ALLGATHER,
                                                  [NET_ALLGATHERV] = COLL_ALLGATHERV };

/* False: so little that other algorithms, or the MPI's, need fewer messages. */
static bool choose_lanes(const struct span *span, enum coll_kind kind, const struct coll *call,
                         long *param)
{
    size_t ranks = coll_has((int)kind, COLL_BLOCKS) ? (size_t)span->map.ranks : 1;

    param[LANES_SET] = LANES_SET_BYTES;
    param[LANES_COUNT] = hud_cost_lanes(call->bytes * ranks, span->map.nodes, LANES_SET_BYTES);
    return param[LANES_COUNT] != 0;
}

static void choose_tree(struct span *span, const struct coll *call, long *param)
{
    const struct span_route *route = hud_span_route(span, call->bytes);

    param[NODES_BUFFER] = (long)span->buffer_bytes;
    param[NODES_TREE] = route->tree;
    param[NODES_DEGREE] = route->degree;
    param[NODES_FRAGMENT] = route->fragment_bytes;
}

/* How an algorithm runs a call. */
struct chosen {
    enum net_tag tag;
    const struct alg *alg;
    const struct alg_place *place;
    long param[ALG_PARAMS];
};

static bool accepts(struct span *span, enum coll_kind kind, const struct coll *call,
                    enum net_tag tag, struct chosen *chosen)
{
    struct coll asked = *call;
    const struct alg *alg = hud_shm_nodes_algs[tag];
    bool lanes = alg->family == &hud_shm_lanes_family;

    if (kind_of[tag] != kind)
        return false;
    chosen->tag = tag;
    chosen->alg = alg;
    chosen->place = &span->place[lanes ? SPAN_LANES : SPAN_NODES];
    if (!lanes)
        choose_tree(span, call, chosen->param);
    else if (!choose_lanes(span, kind, call, chosen->param))
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

bool hud_span_takes(const struct hud_team *team, enum coll_kind kind, const struct coll *call)
{
    struct span *span = team->span;
    const struct config *config = &team->context->config;
    const struct hud_op *op = call->reduction;
    struct chosen chosen;

    if (span->node.state != TEAM_READY || hud_config_forced(config, (int)kind) == -2)
        return false;
    if (op && (!op->commutative || config->number[SET_REDUCE_ORDER] == ORDER_FIXED ||
               op->element_bytes > HUD_ELEMENT_MAX))
        return false;
    return hud_span_gains(span, kind, call->bytes) && choose(span, kind, call, &chosen);
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

/* The team is the host's from now on. */
static int give_up(struct hud_team *team, int status)
{
    hud_net_cancel(&team->span->net);
    hud_around_give_up(&team->span->node, status);
    team->reason = REASON_BROKEN;
    return status;
}

int hud_span_run(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                 uint64_t shape)
{
    struct span *span = team->span;
    struct hud_team *node = &span->node;
    struct member_state *mine = node->mine;
    uint64_t start_ns = team->context->timed ? clock_ns() : 0;
    struct chosen chosen;
    struct coll own = *call;
    struct mem mem = node->mem;

    choose(span, kind, call, &chosen);
    enum net_tag tag = chosen.tag;
    uint64_t made = mem_count_read(&mine->calls[tag]) + 1;
    mem_count_put(&mine->bytes[tag][made % MEMBER_BYTES], shape);
    mem_count_put(&mine->calls[tag], made);
    own.op = ++span->calls;
    own.param = chosen.param;
    own.place = chosen.place;
    mem.slot_offset = chosen.place->slot_offset;
    mem.window_offset = chosen.place->window_offset;
    own.net = &span->net;
    own.alg = chosen.alg;
    node->entry = &span->entry[tag];
    node->call = &own;
    around_count(team, kind, call->bytes, REASON_NONE);
    int status = hud_guard_run(own.alg->run, &mem, &own);
    count(team, kind, start_ns);
    if (status != 0)
        return give_up(team, status);
    return mem.truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}
