/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - the team's window: one region of each slice, which all algorithms for large messages
 * use in turn.  So each of them has as much of the lease as if it were alone.
 *
 * Source    this project.
 * Shape     Each rank counts the calls that use the window, and posts the count when it leaves a
 *           call.  An algorithm that follows a different one first waits until all ranks have left
 *           the calls before.  Consecutive calls of the same algorithm do not wait: its own flow
 *           control orders them.
 * Cost      a call: a few loads and stores in a line of its own, which has the count twice, so that
 *           its owner need not peek.  A change of algorithm: p - 1 lines, overlapped, and no rank
 *           continues before the last rank has left the call before.
 *
 * Line                   written by  read by     value k means
 *   before window[r]     r           all others  r has left k calls that use the window
 *     its payload        r           r           (plain) whose window it was in r's last call
 *
 * Edges     R1 -> A1   a rank's last access in a call  happens before  the first access of another
 *                      algorithm's next call
 *
 * Deadlock freedom
 *   1. A rank leaves a call without a wait.  A rank that waits here waits for earlier calls, in
 *      which no rank waits for a later call.
 * Safety
 *   1. All ranks make the same calls in the same order, so they have the same counts and see the
 *      same changes.
 *   2. All accesses of a rank to any window are between the begin and the end of its calls.
 */
#include "alg/alg.h"

static mem_flag *left_of(struct mem *m, int rank)
{
    return (mem_flag *)mem_window(m, rank) - 1;
}

static void await_others(struct mem *m, uint64_t calls)
{
    for (int k = 1; k < mem_size(m); k++) {
        mem_flag *left = left_of(m, (mem_rank(m) + k) % mem_size(m));
        mem_await(m, left, calls); /* A1 */
    }
}

void HUD_BACKEND(window_run)(struct mem *m, const struct coll *c)
{
    mem_flag *mine = left_of(m, mem_rank(m));
    uint64_t *user = &mine->payload[0], *calls = &mine->payload[1], before = mem_get(m, calls),
             me = (uint64_t)c->place->user;

    if (mem_get(m, user) != me) {
        await_others(m, before);
        mem_put(m, user, me);
    }
    c->alg->run(m, c);
    mem_put(m, calls, before + 1);
    mem_post(m, mine, before + 1); /* R1 */
}
