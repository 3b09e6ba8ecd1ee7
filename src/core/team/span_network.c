/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span_network.c - the numbers of the network (cost/network.h), measured once in a job.
 *
 * Nodes are pairs, all at the same time, as all nodes of a pipeline are busy: node i and node
 * i + N / 2.  The head of the lower one sends, that of the other one sends each message back as
 * soon as it arrives, as a node of a chain passes it on.  A round is a short message, which says
 * what follows, then COUNT messages of one size.  Sizes take turns.  Least times count:
 * other activity can only make a round longer.
 *
 *   one short message         2 alpha
 *   COUNT short ones          2 alpha + (COUNT - 1) overhead
 *   COUNT of b bytes more     the same + (COUNT + 1) b beta
 *   to start COUNT short ones COUNT send
 *
 * Rounds end after BUDGET_NS, so a slow network costs little more than the round that is on its
 * way.  The first one opens connections and does not count.
 */
#include "core/clock.h"
#include "core/config/log.h"
#include "core/team/guard.h"
#include "core/team/round.h"
#include "core/team/span.h"

#include <math.h>

enum {
    COUNT = NODES_RING, /* of messages: nodes.h has room for as many each way */
    ROUNDS = 12,        /* of each size */
    LONG_MAX_BYTES = 16 << 10,
    BUDGET_NS = 20 * 1000 * 1000
};

/* Of a wait for one message: the other head may have failed. */
static const int64_t max_wait_ns = INT64_C(10000000000);

/* What a short message says. */
enum order { ORDER_END, ORDER_SHORT, ORDER_LONG };

struct echo {
    struct span *span;
    struct mem mem;
    int other;
    char *buffer;      /* in its window: of what is sent; behind it, of COUNT that are received */
    size_t long_bytes; /* of each */
    double one_ns, send_ns, least_ns[ORDER_LONG + 1]; /* so far */
};

static char *into(const struct echo *t, int i)
{
    return t->buffer + (size_t)(1 + i) * t->long_bytes;
}

/* One there, and back. */
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

/* COUNT there, and back; send_ns: of starting one. */
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

/* Its COUNT receives are there before the order is answered. */
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

/*
 * Half of alpha is the least overhead that is believed: a node of a pipeline also wakes up, copies
 * and serves its ranks.  On 16 nodes that share CPUs, 64 KB down a chain took 5.9 ms in segments of
 * 1 KB, as the overhead alone gives them, and 4.1 ms in those of 2 KB.
 */
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

/* What the head of a lower node finds; others find nothing.  False: a message failed. */
static bool measure(struct span *span, struct cost_network *network)
{
    const struct net_map *map = &span->map;
    int half = map->nodes / 2, pair = map->node % half; /* there are two nodes at least */
    int rank = span->whole->rank, first = map->head[pair], last = map->head[pair + half];
    size_t room = nodes_window_bytes(span->buffer_bytes) / (COUNT + 1) / HUD_LINE * HUD_LINE;
    struct echo t = { .span = span,
                      .mem = span->node.mem,
                      .other = rank == first ? last : first,
                      .long_bytes = room < LONG_MAX_BYTES ? room : LONG_MAX_BYTES };

    if (map->node >= 2 * half || (rank != first && rank != last))
        return true;
    t.mem.window_offset = span->place[SPAN_NODES].window_offset;
    t.buffer = mem_window(&t.mem, span->node.rank);
    span->net.kind = HUD_MESSAGE_NETWORK;
    span->net.max_wait_ns = max_wait_ns;
    bool failed = hud_guard_call(rank == first ? ask : answer, &t) != 0;
    span->net.kind = HUD_MESSAGE_CALL;
    span->net.max_wait_ns = 0;
    if (failed)
        hud_net_end(&span->net);
    span->net.sent_messages = span->net.sent_bytes = 0; /* of no call */
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

/* The mean of what ranks know, by their replies: alike on all ranks.  False: none knows. */
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
        "a message between nodes takes %.0f ns and %.0f ps per byte, one more %.0f ns, of which "
        "its start takes %.0f ns",
        network->alpha_ns, 1e3 * network->beta_ns, network->overhead_ns, network->send_ns);
    pthread_mutex_lock(&c->lock);
    c->network = *network;
    pthread_mutex_unlock(&c->lock);
}

/*
 * What is measured goes into the second round, made again; where a message failed, all ranks do
 * without the span, and its slices stay leased.  A set-up by a request does not measure: it goes on
 * only when the program calls, so times would say nothing.  All ranks do alike, since MPI lets no
 * blocking collective meet a request.
 */
bool hud_span_learn(struct hud_team *team, struct strand *strand, const struct reply *own,
                    struct reply *reply)
{
    struct span *span = team->span;
    struct reply mine = *own;
    bool is_known = hud_span_known(reply, team->size, &span->network);

    if (!is_known && !strand) {
        if (!measure(span, &mine.network))
            mine.reason = REASON_EXCHANGE;
        bool failed = !hud_round_gather(team, NULL, &mine, sizeof mine, reply);
        for (int r = 0; !failed && r < team->size; r++)
            failed = reply[r].reason != REASON_NONE;
        if (failed) {
            span->node.state = TEAM_BROKEN;
            return false;
        }
        is_known = hud_span_known(reply, team->size, &span->network);
    }
    if (is_known)
        keep(team->context, &span->network);
    else
        span->network = hud_cost_network_usual;
    span->assumed = !is_known;
    return true;
}
