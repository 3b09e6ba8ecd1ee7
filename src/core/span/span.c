/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span.c - the set-up of a span, and its end.
 *
 *   round 1   as of any team, among all ranks; ranks of one host and one start of it are a node,
 *             and nodes are numbered by their lowest ranks
 *   between   each rank maps the arenas of its own node, and reserves a slice of fixed size; the
 *             host prepares messages
 *   round 2   (status, offset), among all ranks: one refusal refuses for all
 *
 * What can fail does so before the second round.
 */
#include "core/config/log.h"
#include "core/job/place.h"
#include "core/span/span_learn.h"
#include "core/team/policy.h"
#include "core/team/round.h"
#include "core/watch/check.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"

#include <stdio.h>
#include <stdlib.h>

/* State that only the set-up needs. */
struct parts {
    struct span *span;
    struct fiber_task *task;
    union hello *hello; /* [ranks of the node] */
    struct peer_card *card;
    char **base;
    size_t offset;
    bool allocated; /* all of these */
};

bool hud_span_wanted(const struct hud_team *team)
{
    const struct hud_context *c = team->context;

    return c->config.number[SET_NODES] != NODES_OFF && team->hooks.exchange.messages &&
           !team->plan.single_call.enabled && !hud_checks(c);
}

/* ---- the exchange of the node's team: that of the whole ---- */

static void name_node(void *arg, char *name, size_t bytes)
{
    const struct hud_team *whole = ((struct span *)arg)->whole;
    char of[48];

    hud_longwait_name(whole, of, sizeof of);
    snprintf(name, bytes, "%s on this node", of);
}

static int interrupted(void *arg)
{
    const struct hud_exchange *x = &((struct span *)arg)->whole->hooks.exchange;

    return x->interrupted(x->arg);
}

static void advance_requests(void *arg)
{
    struct hud_context *c = arg;

    hud_call_queues_advance(&c->calls.queues);
}

/* ---- memory ---- */

static void free_span(struct span *span)
{
    if (!span)
        return;
    free(span->node.shm.slices);
    free(span->node.peers.direct);
    free(span->node.peers.mapped);
    free(span->node.peers.process);
    free(span->net.message);
    free(span->learn);
    free(span->arrays);
    free(span);
}

static void lay_out(struct span *span)
{
    const struct hud_context *c = span->whole->context;

    span->buffer_bytes = hud_span_buffer_bytes(c);
    for (int family = 0; family < SPAN_FAMILIES; family++)
        span->place[family] = hud_span_place(c, (enum span_family)family);
    span->node.shm.bytes = hud_span_slice_bytes(c);
    for (int tag = 0; tag < NET_TAGS; tag++)
        span->entry[tag] = (struct plan_entry){ .row = -1, .slot = (int16_t)tag };
}

static void connect_net(struct span *span)
{
    const struct hud_exchange *x = &span->whole->hooks.exchange;
    struct net *n = &span->net;

    n->map = span->map;
    n->host = x->messages;
    n->arg = x->arg;
    n->messages = nodes_messages(span->map.nodes);
    n->meanwhile = advance_requests;
    n->meanwhile_arg = span->whole->context;
    n->leave = hud_guard_leave;
}

static bool allocate(struct hud_team *whole, const union hello *hello, struct parts *p)
{
    struct span *span = p->span = aligned_alloc(_Alignof(struct span), sizeof *span);

    if (!span)
        return false;
    memset(span, 0, sizeof *span);
    span->whole = whole;
    if (!hud_span_map(span, hello))
        return false;
    struct hud_team *node = &span->node;
    size_t ranks = (size_t)node->id.size;
    node->context = whole->context;
    node->hooks.exchange =
        (struct hud_exchange){ .world_rank = whole->hooks.exchange.world_rank,
                               .arg = span,
                               .name = name_node,
                               .interrupted =
                                   whole->hooks.exchange.interrupted ? interrupted : NULL };
    node->shm.slices = calloc(ranks, sizeof *node->shm.slices);
    node->peers.direct = calloc(ranks, sizeof *node->peers.direct);
    node->peers.mapped = calloc(ranks, sizeof *node->peers.mapped);
    node->peers.process = calloc(ranks, sizeof *node->peers.process);
    connect_net(span);
    span->net.message = calloc((size_t)span->net.messages, sizeof *span->net.message);
    lay_out(span);
    p->hello = calloc(ranks, sizeof *p->hello);
    p->card = calloc(ranks, sizeof *p->card);
    p->base = calloc(ranks, sizeof *p->base);
    return node->shm.slices && node->peers.direct && node->peers.mapped && node->peers.process &&
           span->net.message && hud_span_learn_create(span) && p->hello && p->card && p->base;
}

/* ---- between the rounds ---- */

static enum reason reserve(struct parts *p)
{
    struct hud_team *node = &p->span->node;
    struct hud_context *c = node->context;
    const char *why = "";

    pthread_mutex_lock(&c->lock);
    if (c->config.number[SET_PLACEMENT] == SWITCH_OFF)
        hud_arena_aim(&c->memory.arena, p->hello[0].fields.node);
    p->offset = hud_arena_reserve(&c->memory.arena, node->shm.bytes, node->id.size, &why);
    pthread_mutex_unlock(&c->lock);
    if (p->offset == 0)
        hud_log(&c->config, LOG_INFO, "no lease of %zu bytes: %s", node->shm.bytes, why);
    return p->offset != 0 ? REASON_NONE : REASON_LEASE;
}

static enum reason prepare(struct hud_team *whole, const union hello *hello, struct parts *p)
{
    struct hud_context *c = whole->context;
    const struct net_map *map = &p->span->map;

    for (int r = 0; r < whole->id.size; r++)
        if (map->node_of[r] == map->node) {
            p->hello[map->local_of[r]] = hello[r];
            p->card[map->local_of[r]] = hello[r].fields.card;
        }
    int missing = hud_peers_map(&c->memory.peers, &c->memory.arena, p->card, p->span->node.id.size,
                                p->span->node.id.rank, hud_round_pause,
                                &(struct pause){ c, p->task }, p->base);
    if (missing != 0) {
        hud_log(&c->config, LOG_INFO, "the arena of a rank of this node cannot be reached");
        return REASON_REACH;
    }
    return reserve(p);
}

struct opening {
    const struct hud_exchange *exchange;
    void *pending;
    bool started;
    int rc;
};

static bool test_opening(void *arg)
{
    struct opening *o = arg;
    const struct hud_messages *messages = o->exchange->messages;
    int done = 0;

    o->rc = o->started ? messages->opened(o->exchange->arg, &o->pending, &done)
                       : messages->open(o->exchange->arg, &o->pending);
    o->started = true;
    return done || o->rc != 0;
}

/* Opens messages, on all ranks, even on a rank that will refuse.  Returns false if opening
 * failed here. */
static bool open_messages(struct hud_team *whole, struct fiber_task *task)
{
    struct opening o = { .exchange = &whole->hooks.exchange };

    if (!whole->hooks.exchange.messages->open)
        return true;
    hud_round_await(whole->context, task, test_opening, &o);
    return o.rc == 0;
}

/* ---- after the second round ---- */

static void take_up(struct parts *p, const struct reply *reply)
{
    struct span *span = p->span;
    struct hud_team *node = &span->node;

    for (int r = 0; r < span->map.ranks; r++)
        if (span->map.node_of[r] == span->map.node)
            node->shm.slices[span->map.local_of[r]] =
                p->base[span->map.local_of[r]] + reply[r].offset;
    node->shm.offset = p->offset;
    hud_policy_make(node, p->hello);
    hud_longwait_begin(node, p->card, reply[span->map.head[span->map.node]].offset);
    node->shm.policy.spans_nodes = true;
    hud_policy_take(node);
    node->state.now = TEAM_READY;
    for (int r = 0; r < span->map.ranks; r++)
        span->oversubscribed = span->oversubscribed || reply[r].oversubscribed != 0;
    span->whole->hooks.span = span;
    hud_span_learn_start(span, reply);
}

/* Returns whether this rank's node has more ranks than processors, or all nodes of its kernel. */
static bool is_oversubscribed(const struct hud_team *whole, const union hello *hello,
                              const struct parts *p)
{
    const struct team_id *id = &p->span->node.id;

    return hud_place_oversubscribed(whole->context, p->hello, id->rank, id->size) ||
           hud_place_shares_processors(whole->context, hello, whole->id.rank, whole->id.size);
}

/* Reaches a verdict, alike on all ranks. */
static enum reason verdict(struct hud_team *whole, struct parts *p, const union hello *hello,
                           const struct reply *reply, int *who)
{
    struct hud_context *c = whole->context;
    bool out_of_reach = false;

    for (int r = 0; r < whole->id.size; r++)
        out_of_reach = out_of_reach || reply[r].reason == REASON_REACH;
    if (out_of_reach && p->allocated)
        hud_peers_send_again(&c->memory.peers, p->card, p->span->node.id.size);
    return hud_reply_verdict(reply, hello, whole->id.size, hud_span_slice_bytes(c), who);
}

enum reason hud_span_setup(struct hud_team *team, struct fiber_task *task, const union hello *hello,
                           struct reply *reply, int *who)
{
    struct parts p = { .task = task };
    struct hud_context *c = team->context;
    size_t offered;
    enum reason reason = hud_hello_verdict_nodes(hello, team->id.size, &offered, who);

    if (reason == REASON_NONE && offered < hud_span_slice_bytes(c))
        reason = REASON_LEASE;
    if (reason != REASON_NONE)
        return reason;
    p.allocated = allocate(team, hello, &p);
    struct reply mine = { .reason = p.allocated ? prepare(team, hello, &p) : REASON_PRIVATE };
    if (!open_messages(team, task) && mine.reason == REASON_NONE)
        mine.reason = REASON_EXCHANGE;
    mine.offset = p.offset;
    mine.span_known = p.allocated ? hud_span_learn_hash(p.span) : 0;
    mine.oversubscribed = p.allocated && is_oversubscribed(team, hello, &p);
    pthread_mutex_lock(&c->lock);
    mine.network = c->plan.network;
    pthread_mutex_unlock(&c->lock);
    bool heard = hud_round_gather(team, task, &mine, sizeof mine, reply);
    reason = heard ? verdict(team, &p, hello, reply, who) : REASON_EXCHANGE;
    if (reason == REASON_NONE) {
        take_up(&p, reply);
        if (!hud_span_measure(team, task, &mine, reply)) {
            hud_span_end(team);
            reason = REASON_EXCHANGE;
        }
    } else {
        /* (where the exchange failed here alone, others use the slice: it stays leased) */
        pthread_mutex_lock(&c->lock);
        if (p.offset != 0 && heard)
            hud_arena_cancel(&c->memory.arena, p.offset, 0); /* the slice is still zeros */
        pthread_mutex_unlock(&c->lock);
        free_span(p.span);
    }
    free(p.hello);
    free(p.card);
    free(p.base);
    return reason;
}

/* Ends a span.  The slice stays leased after a call that failed, as messages may still come. */
void hud_span_end(struct hud_team *team)
{
    struct span *span = team->hooks.span;

    if (!span)
        return;
    if (span->node.state.now == TEAM_READY)
        hud_team_leave(&span->node);
    else
        hud_team_mark_left(&span->node);
    team->hooks.span = NULL;
    free_span(span);
}
