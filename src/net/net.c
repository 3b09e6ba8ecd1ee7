/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.c - messages of the host: starts them, and tests one until it is complete.
 *
 * A wait tests its message again and again, as an MPI's own wait does.  Each test advances the
 * MPI's messages.  Between tests, the context's requests advance.  If the ranks are oversubscribed,
 * or yields have taken long of late, a rank yields after each test, because the ranks that it
 * shares memory with may need the processor.  Otherwise it yields from time to time, because its
 * messages may be moved by another process of this machine.
 */
#include "net/net.h"

/* Turns between two readings of the clock; turns between two yields; longest time between two
 * readings of the clock. */
enum { TURNS_PER_TIME = 64, TURNS_PER_YIELD = 8, CHECK_NS = 1000000 };

/* Starts a message.  Both ranks of a pair make the same calls in the same order, and start the
 * messages of a call in the same order, so all algorithms share a single kind of message. */
void hud_net_start(struct net *n, int id, bool sends, int rank, void *at, size_t bytes)
{
    struct net_message *message = &n->message[id];
    int failed = sends ? n->host->send(n->arg, rank, (int)n->kind, at, bytes, &message->pending)
                       : n->host->receive(n->arg, rank, (int)n->kind, at, bytes, &message->pending);

    message->bytes = bytes;
    message->receives = !sends;
    message->active = failed == 0;
    if (failed != 0)
        n->leave(HUD_ERR_FAILED);
}

/* Checks a message.  Returns true if the message has ended, complete or failed.  A message that is
 * shorter than expected belongs to a different call (HUD_ERR_UNLIKE). */
static bool has_ended(struct net *n, struct net_message *message, int *status)
{
    size_t bytes = message->bytes;
    int done = 0, failed = n->host->test(n->arg, &message->pending, &done, &bytes);

    message->active = !done && failed == 0;
    if (failed != 0)
        *status = failed == HUD_ERR_TRUNCATE ? HUD_ERR_TRUNCATE : HUD_ERR_FAILED;
    else if (done && message->receives && bytes != message->bytes)
        *status = HUD_ERR_UNLIKE;
    return !message->active;
}

/* Returns the status with which a wait must end, and 0 if the message may still arrive. */
static int find_end(struct net *n, const struct mem_wait *wait)
{
    if (n->max_wait_ns != 0 && wait->now_ns - wait->begin_ns >= n->max_wait_ns)
        return HUD_ERR_FAILED;
    return hud_net_ended(n);
}

/* Waits for a message.  Observers of long waits (mem_policy.watch) see the wait like a wait of
 * mem.h. */
void hud_net_wait(struct mem *m, struct net *n, int id, const char *file, int line)
{
    struct net_message *message = &n->message[id];
    struct mem_wait wait = { .m = m, .file = file, .line = line };
    int status = 0;

    if (!message->active)
        return;
    hud_mem_wait_begin(&wait);
    while (!has_ended(n, message, &status)) {
        n->meanwhile(n->meanwhile_arg);
        bool yields =
            m->policy->polls == 0 || wait.turns % TURNS_PER_YIELD == 0 || hud_mem_cpu_is_shared(m);
        int64_t now_ns = yields ? hud_mem_yield(m, hud_mem_now_ns()) : wait.now_ns;
        if (++wait.turns % TURNS_PER_TIME != 0 && now_ns - wait.now_ns < CHECK_NS)
            continue;
        wait.now_ns = hud_mem_now_ns();
        status = find_end(n, &wait);
        if (status != 0)
            break;
        if (wait.now_ns >= wait.due_ns)
            hud_mem_wait_observe(&wait, false);
    }
    if (wait.observed != 0)
        hud_mem_wait_observe(&wait, true);
    if (status != 0)
        n->leave(status);
}

/* ---- the end of all calls ---- */

/* How long an end message is tested until it is on its way. */
static const int64_t max_end_ns = INT64_C(1000000000);

static void send_end(struct net *n, int rank, int status, int64_t until_ns)
{
    static const char bytes[HUD_ERR_FAILED];
    size_t came;
    void *pending;
    int done = 0;

    if (n->host->send(n->arg, rank, HUD_MESSAGE_END, bytes, (size_t)status, &pending) != 0)
        return;
    while (n->host->test(n->arg, &pending, &done, &came) == 0 && !done)
        if (hud_mem_now_ns() >= until_ns) {
            n->host->cancel(n->arg, &pending);
            return;
        }
}

/* Sends the status to all ranks of other nodes.  The number of bytes of the message is the status.
 * No rank receives the message, so each hud_net_ended() of another node finds it. */
void hud_net_send_end(struct net *n, int status)
{
    int64_t until_ns = hud_mem_now_ns() + max_end_ns;

    for (int rank = 0; rank < n->map.ranks; rank++)
        if (n->map.node_of[rank] != n->map.node)
            send_end(n, rank, status, until_ns);
}

void hud_net_end(struct net *n)
{
    for (int id = 0; id < n->messages; id++)
        if (n->message[id].active) {
            n->host->cancel(n->arg, &n->message[id].pending);
            n->message[id].active = false;
        }
    if (n->host->end)
        n->host->end(n->arg);
}

int hud_net_ended(struct net *n)
{
    size_t bytes = 0;
    int there = 0, failed = n->host->probe(n->arg, HUD_MESSAGE_END, &there, &bytes);

    if (failed != 0 || !there)
        return 0;
    n->gave_up = true;
    return bytes >= HUD_ERR_TRUNCATE && bytes < HUD_ERR_FAILED ? (int)bytes : HUD_ERR_FAILED;
}
