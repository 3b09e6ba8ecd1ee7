/* SPDX-License-Identifier: BSD-3-Clause */
/* span_call.c - a collective of a span's team: decides whether the span handles the call, chooses
 * the algorithm, and counts the call. */
#include "base/clock.h"
#include "core/config/log.h"
#include "core/span/span_learn.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"

/* A rank that only sends checks once in CALLS_PER_CHECK calls whether others have ended their
 * calls. */
enum { CALLS_PER_CHECK = 16 };

/* ---- the choice ---- */

/* Returns whether an allreduce must keep the order: then it is a reduce to the last rank, where
 * the chain ends, and a broadcast from there. */
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

/* Returns whether huddle makes such a call, as long as nothing has been measured. */
static bool gains(struct span *span, enum coll_kind kind, const struct coll *call)
{
    struct span_run run;

    if (!is_double(span, kind, call))
        return hud_span_find(span, kind, call, &hud_span_by_model, &run) &&
               hud_span_gains(span, kind, call, run.alg);
    struct coll half = half_of(span, call);
    bool reduces = hud_span_gains(span, kind, call, NULL) &&
                   hud_span_find(span, COLL_REDUCE, &half, &hud_span_by_model, &run) &&
                   hud_span_gains(span, COLL_REDUCE, &half, run.alg);
    half.reduction = NULL;
    return reduces && hud_span_find(span, COLL_BCAST, &half, &hud_span_by_model, &run);
}

static bool may_handle(const struct hud_team *team, enum coll_kind kind, const struct coll *call)
{
    return hud_config_forced(&team->context->config, (int)kind) != FORCED_MPI &&
           (!call->reduction || call->reduction->element_bytes <= HUD_ELEMENT_MAX);
}

static void count(struct hud_team *team, enum coll_kind kind, uint64_t start_ns)
{
    struct hud_context *c = team->context;
    struct net *n = &team->hooks.span->net;
    struct stats *stats = context_stats(c);
    bool threads = c->host.threads != 0;

    mem_count(&stats->messages, n->sent_messages, threads);
    mem_count(&stats->message_bytes, n->sent_bytes, threads);
    n->sent_messages = n->sent_bytes = 0;
    if (c->count.timed)
        mem_count(&stats->coll[kind].ns, clock_ns() - start_ns, threads);
}

static bool others_gave_up(const struct hud_team *node)
{
    bool gave_up = false;

    for (int r = 0; r < node->id.size; r++)
        gave_up = gave_up || mem_count_observe(&team_member(node, r)->gave_up) != 0;
    return gave_up;
}

static void report_end(struct hud_team *team)
{
    struct span *span = team->hooks.span;
    char name[64];

    if (!hud_longwait_claim_report(&span->node))
        return;
    hud_longwait_name(team, name, sizeof name);
    hud_log(&team->context->config, LOG_ERROR,
            "rank %d of %s (%d ranks on %d nodes) cannot continue its calls: %s; the other ranks' "
            "calls between these nodes fail, too",
            team->id.rank, name, team->id.size, span->map.nodes, hud_error_string(span->ended));
}

/* Gives up.  The first rank of its node to give up sends its end to other nodes, unless one of
 * them has given up. */
int hud_span_give_up(struct hud_team *team, int status)
{
    struct span *span = team->hooks.span;
    bool first = !span->net.gave_up && !others_gave_up(&span->node);

    if (span->ended != HUD_OK)
        return span->ended;
    span->ended = status;
    team->state.reason = REASON_BROKEN;
    hud_net_end(&span->net);
    hud_longwait_abandon(&span->node, status);
    if (first) {
        hud_net_send_end(&span->net, status);
        report_end(team);
    }
    return status;
}

/* Returns HUD_OK, or the status with which calls have ended. */
static int find_end(struct hud_team *team)
{
    struct span *span = team->hooks.span;
    int status = HUD_OK;

    if (span->ended == HUD_OK && span->calls % CALLS_PER_CHECK == 0)
        status = hud_net_ended(&span->net);
    return status != HUD_OK ? hud_span_give_up(team, status) : span->ended;
}

/* Chooses for a call of all ranks.  Sets *choice.  Returns HUD_OK, HUD_PASS if the call falls back,
 * or the status with which calls have ended. */
static int choose(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at,
                  const struct span_choice **choice)
{
    struct span *span = team->hooks.span;
    struct span_run run;

    hud_span_nest(team);
    span->passed = REASON_NONE;
    *choice = &hud_span_by_model;
    if (!may_handle(team, kind, call))
        return HUD_PASS;
    if (span->learn && span->learn->cell_of[at] == 0)
        hud_span_open(team, kind, call, at);
    bool chosen = span->learn && span->learn->cell_of[at] != SPAN_NO_CELL;
    if (!chosen && !gains(span, kind, call))
        return HUD_PASS;
    int status = find_end(team);
    if (!chosen || status != HUD_OK)
        return status;
    status = hud_span_enter(team, at, call, choice);
    if (status != HUD_OK)
        return status;
    bool is_mpi = (*choice)->tag == SPAN_MPI;
    if (is_mpi)
        span->passed = span_tries(span->learn, at, *choice) ? REASON_TRIED : REASON_FASTER;
    return !is_mpi && hud_span_find(span, kind, call, *choice, &run) ? HUD_OK : HUD_PASS;
}

static int make(struct hud_team *team, const struct span_run *run, const struct coll *call,
                uint64_t shape, bool *truncated)
{
    struct span *span = team->hooks.span;
    struct hud_team *node = &span->node;
    struct member_state *mine = node->shm.mine;
    struct coll own = *call;
    struct mem mem = node->shm.mem;

    member_count(mine, (int)run->tag, mem_count_read(&mine->calls[run->tag]) + 1, shape);
    own.op = ++span->calls;
    own.param = run->param;
    own.place = run->place;
    mem.slot_offset = run->place->slot_offset;
    mem.window_offset = run->place->window_offset;
    mem.cell = (unsigned)(run->place - span->place);
    own.net = &span->net;
    own.alg = run->alg;
    node->plan.entry = &span->entry[run->tag];
    node->plan.call = &own;
    int status = hud_guard_run(own.alg->run, &mem, &own);
    *truncated = *truncated || mem.truncated;
    return status;
}

static int find_and_make(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                         const struct span_choice *choice, uint64_t shape, bool *truncated)
{
    struct span_run run;

    hud_span_find(team->hooks.span, kind, call, choice, &run);
    return make(team, &run, call, shape, truncated);
}

int hud_span_call(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                  uint64_t shape, int at)
{
    struct coll half = half_of(team->hooks.span, call);
    bool truncated = false, twice = is_double(team->hooks.span, kind, call);
    const struct span_choice *choice;
    int status = choose(team, kind, call, at, &choice);

    if (status == HUD_PASS)
        return status;
    context_count_call(team->context, kind, call->bytes,
                       status == HUD_OK ? REASON_NONE : REASON_BROKEN);
    if (status != HUD_OK)
        return status;
    uint64_t start_ns = team->context->count.timed ? clock_ns() : 0;
    status = twice ? find_and_make(team, COLL_REDUCE, &half, choice, shape, &truncated)
                   : find_and_make(team, kind, call, choice, shape, &truncated);
    half.reduction = NULL;
    if (twice && status == 0)
        status = find_and_make(team, COLL_BCAST, &half, choice, shape, &truncated);
    hud_span_exit(team);
    count(team, kind, start_ns);
    if (status != 0)
        return hud_span_give_up(team, status);
    return truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}

enum reason hud_span_take_passed(struct span *span)
{
    enum reason passed = span->passed;

    span->passed = REASON_NONE;
    return passed;
}

int hud_span_fail(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at,
                  int status)
{
    const struct span_choice *choice;
    int chosen = choose(team, kind, call, at, &choice);

    return chosen == HUD_OK ? hud_span_give_up(team, status) : chosen;
}

int hud_span_call_own(struct hud_team *team, enum net_tag tag, const struct coll *call)
{
    struct span_run run;
    bool truncated = false;

    hud_span_find_own(team->hooks.span, tag, call, &run);
    int status = make(team, &run, call, member_shape(0, -1, call->bytes), &truncated);
    return status != 0 ? hud_span_give_up(team, status) : HUD_OK;
}
