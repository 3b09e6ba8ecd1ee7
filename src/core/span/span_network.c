/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_network.c - measures the numbers of the network (cost/network.h), once in a job.
 *
 * Nodes measure in pairs, node i with node i + N / 2.  All pairs measure at the same time, since
 * all nodes of a pipeline are busy.  The head of the lower node sends.  The other head sends each
 * message back as soon as the message arrives, as a node of a chain passes messages on.  A round is
 * a short message, which announces the size, and then COUNT messages of this size.  The sizes take
 * turns.  The minimum of the times counts, since other activity can only make a round longer.
 *
 *   one short message         2 alpha
 *   COUNT short ones          2 alpha + (COUNT - 1) overhead
 *   COUNT of b bytes more     the same + (COUNT + 1) b beta
 *   to start COUNT short ones COUNT send
 *
 * No round begins after BUDGET_NS, so a slow network costs little more than one round.  The first
 * round opens connections and does not count.
 */
#include "base/clock.h"
#include "core/config/log.h"
#include "core/span/span.h"
#include "core/team/round.h"
#include "core/watch/guard.h"

#include <math.h>

enum {
    COUNT = NODES_RING, /* number of messages; nodes.h has room for as many each way */
    ROUNDS = 12,        /* number of rounds of each size */
    LONG_MAX_BYTES = 16 << 10,
    BUDGET_NS = 20 * 1000 * 1000
};

/* Limit of a wait for one message, since the other head may have failed. */
static const int64_t max_wait_ns = INT64_C(10000000000);

/* The contents of a short message: the size of the messages that follow, or the end. */
enum order { ORDER_END, ORDER_SHORT, ORDER_LONG };

struct echo {
    struct span *span;
    struct mem mem;
    int other;
    char *buffer;      /* the window: a message to send, then space for COUNT received ones */
    size_t long_bytes; /* size of each of these */
    double one_ns, send_ns, least_ns[ORDER_LONG + 1]; /* minimum times so far */
};

static char *into(const struct echo *t, int i)
{
    return t->buffer + (size_t)(1 + i) * t->long_bytes;
}

/* Sends a message there and back. */
static double order(struct echo *t, uint64_t what)
{
    struct net *n = &t->span->net;
    uint64_t start_ns = clock_ns();

    memcpy(t->buffer, &what, sizeof what);
    net_receive(&t->mem, n, 0, t->other, NET_BCAST, into(t, 0), sizeof what);
    net_send(&t->mem, n, COUNT, t->other, NET_BCAST, t->buffer, sizeof what);
    net_arrived(&t->mem, n, 0);
    net_sent(&t->mem, n, COUNT);
    return (double)(clock_ns() - start_ns);
}

/* Sends COUNT messages there and back.  send_ns: the time to start one. */
static double stream(struct echo *t, size_t bytes, double *send_ns)
{
    struct net *n = &t->span->net;
    uint64_t start_ns = clock_ns();

    for (int i = 0; i < COUNT; i++)
        net_receive(&t->mem, n, i, t->other, NET_BCAST, into(t, i), bytes);
    uint64_t sends_ns = clock_ns();
    for (int i = 0; i < COUNT; i++)
        net_send(&t->mem, n, COUNT + i, t->other, NET_BCAST, t->buffer, bytes);
    *send_ns = (double)(clock_ns() - sends_ns) / COUNT;
    for (int i = 0; i < COUNT; i++) {
        net_arrived(&t->mem, n, i);
        net_sent(&t->mem, n, COUNT + i);
    }
    return (double)(clock_ns() - start_ns);
}

static void ask(void *arg)
{
    struct echo *t = arg;
    uint64_t end_ns = clock_ns() + BUDGET_NS;

    t->one_ns = t->send_ns = t->least_ns[ORDER_SHORT] = t->least_ns[ORDER_LONG] = INFINITY;
    for (int i = 0; i < 2 * (ROUNDS + 1); i++) {
        enum order what = i % 2 == 0 ? ORDER_SHORT : ORDER_LONG;
        if (i > 3 && clock_ns() > end_ns)
            break;
        double one_ns = order(t, what);
        double send_ns, all_ns;
        all_ns = stream(t, what == ORDER_LONG ? t->long_bytes : sizeof(uint64_t), &send_ns);
        if (i < 2)
            continue;
        t->one_ns = fmin(t->one_ns, one_ns);
        t->send_ns = fmin(t->send_ns, send_ns);
        t->least_ns[what] = fmin(t->least_ns[what], all_ns);
    }
    order(t, ORDER_END);
}

/* Answers an order, with its COUNT receives started before. */
static void answer(void *arg)
{
    struct echo *t = arg;
    struct net *n = &t->span->net;
    uint64_t what;

    do {
        net_receive(&t->mem, n, 0, t->other, NET_BCAST, t->buffer, sizeof what);
        net_arrived(&t->mem, n, 0);
        memcpy(&what, t->buffer, sizeof what);
        size_t bytes = what == ORDER_LONG ? t->long_bytes : sizeof what;
        int count = what == ORDER_END ? 0 : COUNT;
        for (int i = 0; i < count; i++)
            net_receive(&t->mem, n, i, t->other, NET_BCAST, into(t, i), bytes);
        net_send(&t->mem, n, COUNT, t->other, NET_BCAST, t->buffer, sizeof what);
        net_sent(&t->mem, n, COUNT);
        for (int i = 0; i < count; i++) {
            net_arrived(&t->mem, n, i);
            net_send(&t->mem, n, COUNT + i, t->other, NET_BCAST, into(t, i), bytes);
        }
        for (int i = 0; i < count; i++)
            net_sent(&t->mem, n, COUNT + i);
    } while (what != ORDER_END);
}

/* Solves for the numbers of the network.  The overhead is at least half of alpha: a node of a
 * pipeline also wakes up, copies and serves its ranks, so shorter segments would be too short. */
struct cost_network hud_span_solve(const struct span_times *t)
{
    double alpha = t->one_ns / 2, beta = (t->long_ns - t->short_ns) / ((t->count + 1) * t->bytes),
           overhead = fmax((t->short_ns - t->one_ns) / (t->count - 1), alpha / 2);

    overhead = fmin(overhead, alpha);
    return (struct cost_network){ .alpha_ns = alpha,
                                  .beta_ns = fmax(beta, 0),
                                  .overhead_ns = overhead,
                                  .send_ns = fmin(t->send_ns, overhead) };
}

/* Measures the network, on the head of a lower node; others measure nothing.  Returns false if
 * a message failed. */
static bool measure(struct span *span, struct cost_network *network)
{
    const struct net_map *map = &span->map;
    int half = map->nodes / 2, pair = map->node % half; /* there are two nodes at least */
    int rank = span->whole->id.rank, first = map->head[pair], last = map->head[pair + half];
    size_t room = nodes_window_bytes(span->buffer_bytes) / (COUNT + 1) / HUD_LINE * HUD_LINE;
    struct echo t = { .span = span,
                      .mem = span->node.shm.mem,
                      .other = rank == first ? last : first,
                      .long_bytes = room < LONG_MAX_BYTES ? room : LONG_MAX_BYTES };

    if (map->node >= 2 * half || (rank != first && rank != last))
        return true;
    t.mem.window_offset = span->place[SPAN_NODES].window_offset;
    t.buffer = mem_window(&t.mem, span->node.id.rank);
    span->net.kind = HUD_MESSAGE_NETWORK;
    span->net.max_wait_ns = max_wait_ns;
    bool failed = hud_guard_call(rank == first ? ask : answer, &t) != 0;
    span->net.kind = HUD_MESSAGE_CALL;
    span->net.max_wait_ns = 0;
    if (failed)
        hud_net_end(&span->net);
    span->net.sent_messages = span->net.sent_bytes = 0; /* they belong to no call */
    if (!failed && rank == first)
        *network = hud_span_solve(
            &(struct span_times){ .one_ns = t.one_ns,
                                  .short_ns = t.least_ns[ORDER_SHORT],
                                  .long_ns = t.least_ns[ORDER_LONG],
                                  .send_ns = t.send_ns,
                                  .count = COUNT,
                                  .bytes = (double)(t.long_bytes - sizeof(uint64_t)) });
    return !failed;
}

/* ---- agreement ---- */

/* Averages the ranks' knowledge in their replies, alike on all ranks.  Returns false if none
 * knows. */
bool hud_span_known(const struct reply *reply, int ranks, struct cost_network *network)
{
    struct cost_network sum = { .alpha_ns = 0 };
    int count = 0;

    for (int r = 0; r < ranks; r++)
        if (hud_cost_network_valid(&reply[r].network)) {
            sum.alpha_ns += reply[r].network.alpha_ns;
            sum.beta_ns += reply[r].network.beta_ns;
            sum.overhead_ns += reply[r].network.overhead_ns;
            sum.send_ns += reply[r].network.send_ns;
            count++;
        }
    if (count != 0)
        *network = (struct cost_network){ sum.alpha_ns / count, sum.beta_ns / count,
                                          sum.overhead_ns / count, sum.send_ns / count };
    return count != 0;
}

static void keep(struct hud_context *c, const struct cost_network *network)
{
    hud_log(
        &c->config, LOG_DEBUG,
        "network: a message between nodes takes %.0f ns and %.0f ps per byte; each further message "
        "takes %.0f ns, of which its start takes %.0f ns",
        network->alpha_ns, 1e3 * network->beta_ns, network->overhead_ns, network->send_ns);
    pthread_mutex_lock(&c->lock);
    c->plan.network = *network;
    pthread_mutex_unlock(&c->lock);
}

/* Puts measured times into the second round, made again.  If a message failed, all ranks do
 * without the span, and its slices stay leased.  A set-up by a request does not measure: such a
 * set-up advances only when the program calls, so times would say nothing.  All ranks do alike,
 * since MPI lets no blocking collective meet a request. */
bool hud_span_measure(struct hud_team *team, struct fiber_task *task, const struct reply *own,
                      struct reply *reply)
{
    struct span *span = team->hooks.span;
    struct reply mine = *own;
    bool is_known = hud_span_known(reply, team->id.size, &span->network);

    if (!is_known && !task) {
        if (!measure(span, &mine.network))
            mine.reason = REASON_EXCHANGE;
        bool failed = !hud_round_gather(team, NULL, &mine, sizeof mine, reply);
        for (int r = 0; !failed && r < team->id.size; r++)
            failed = reply[r].reason != REASON_NONE;
        if (failed) {
            span->node.state.now = TEAM_BROKEN;
            return false;
        }
        is_known = hud_span_known(reply, team->id.size, &span->network);
    }
    if (is_known)
        keep(team->context, &span->network);
    else
        span->network = hud_cost_network_usual;
    span->assumed = !is_known;
    return true;
}
