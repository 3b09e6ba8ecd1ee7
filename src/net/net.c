/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.c - messages of the host, one test at a time.
 *
 * A wait looks at its message again and again, as an MPI's own wait does: the look moves the MPI's
 * messages.  In between go the requests of the context.  Where ranks outnumber processors, a rank
 * yields after each look, since those that it shares memory with may need the processor.  Elsewhere
 * it yields now and then: what moves its messages may be another process of this machine.
 */
#include "net/net.h"

#include <sched.h>

/* Turns of a wait, from one question of the time, one yield, to the next. */
enum { TURNS_PER_TIME = 64, TURNS_PER_YIELD = 8 };

void hud_net_start(struct net *n, int id, bool sends, int rank, enum net_tag tag, void *at,
                   size_t bytes)
{
    struct net_message *message = &n->message[id];
    int failed = sends ? n->host->send(n->arg, rank, (int)tag, at, bytes, &message->pending)
                       : n->host->receive(n->arg, rank, (int)tag, at, bytes, &message->pending);

    message->active = failed == 0;
    if (failed != 0)
        n->leave(HUD_ERR_FAILED);
}

/* True: it is complete. */
static bool test(struct net *n, struct net_message *message)
{
    int done = 0, failed = n->host->test(n->arg, &message->pending, &done);

    if (done || failed != 0)
        message->active = false;
    if (failed != 0)
        n->leave(HUD_ERR_FAILED);
    return done != 0;
}

static void ask_host(struct net *n, int64_t *due_ns)
{
    int64_t now = hud_mem_now_ns();

    if (*due_ns == 0)
        *due_ns = now + MEM_WATCH_NS;
    if (now < *due_ns)
        return;
    *due_ns = now + MEM_WATCH_NS;
    if (n->interrupted && n->interrupted(n->interrupted_arg))
        n->leave(HUD_ERR_FAILED);
}

void hud_net_wait(struct mem *m, struct net *n, int id)
{
    struct net_message *message = &n->message[id];
    int64_t due_ns = 0;

    for (unsigned turns = 1; message->active && !test(n, message); turns++) {
        n->meanwhile(n->meanwhile_arg);
        if (m->policy->polls == 0 || turns % TURNS_PER_YIELD == 0)
            sched_yield();
        if (turns % TURNS_PER_TIME == 0)
            ask_host(n, &due_ns);
    }
}

void hud_net_cancel(struct net *n)
{
    for (int id = 0; id < n->messages; id++)
        if (n->message[id].active) {
            n->host->cancel(n->arg, &n->message[id].pending);
            n->message[id].active = false;
        }
}
