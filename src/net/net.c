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

/* True: it has ended, complete or failed. */
static bool has_ended(struct net *n, struct net_message *message, int *failed)
{
    int done = 0;

    *failed = n->host->test(n->arg, &message->pending, &done);
    message->active = !done && *failed == 0;
    return !message->active;
}

/* As a wait of mem.h for those who look at it (mem_policy.watch), but for a message. */
void hud_net_wait(struct mem *m, struct net *n, int id, const char *file, int line)
{
    struct net_message *message = &n->message[id];
    struct mem_wait wait = { .m = m, .file = file, .line = line };
    int failed = 0;

    if (!message->active)
        return;
    hud_mem_wait_begin(&wait);
    while (!has_ended(n, message, &failed)) {
        n->meanwhile(n->meanwhile_arg);
        if (m->policy->polls == 0 || wait.turns % TURNS_PER_YIELD == 0)
            sched_yield();
        if (++wait.turns % TURNS_PER_TIME != 0)
            continue;
        wait.now_ns = hud_mem_now_ns();
        if (wait.now_ns >= wait.due_ns)
            hud_mem_wait_show(&wait, false);
    }
    if (wait.looks != 0)
        hud_mem_wait_show(&wait, true);
    if (failed != 0)
        n->leave(HUD_ERR_FAILED);
}

void hud_net_cancel(struct net *n)
{
    for (int id = 0; id < n->messages; id++)
        if (n->message[id].active) {
            n->host->cancel(n->arg, &n->message[id].pending);
            n->message[id].active = false;
        }
}
