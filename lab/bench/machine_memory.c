/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_memory.c - how long a core waits for a line that is in no cache. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_BYTES = 8 << 20, NODES = CHAIN_BYTES / MEASURED_APART, STEPS = 2000 };

struct chain {
    struct pinned_meeting meeting;
    double ns[PINNED_ROUNDS];
    void *nodes;
};

static double walk(const void *at)
{
    double begin = pinned_ns();

    measured_follow(at, STEPS);
    return (pinned_ns() - begin) / STEPS;
}

/* Follows the chain in thread 0, after the last thread has touched the nodes first. */
static void body_chain(void *arg, int thread)
{
    struct chain *c = arg;
    bool touches = thread == c->meeting.threads - 1;

    if (touches && (c->nodes = measured_buffer(CHAIN_BYTES)) != NULL)
        measured_link(c->nodes, NODES);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        if (touches && c->nodes)
            pinned_flush(c->nodes, CHAIN_BYTES);
        pinned_meet(&c->meeting);
        if (thread == 0 && c->nodes)
            c->ns[r] = walk(c->nodes);
        pinned_meet(&c->meeting);
    }
    if (touches)
        free(c->nodes);
}

double measure_latency(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int toucher = measured_toucher(on, class);
    struct chain c = { .meeting.threads = toucher > 0 ? 2 : 1 };
    const int cpus[2] = { on->os[0], on->os[toucher > 0 ? toucher : 0] };

    snprintf(note, MACHINE_NOTE,
             "measured: loads that depend on each other, of lines that lie in no cache");
    return toucher >= 0 && pinned_run(cpus, c.meeting.threads, body_chain, &c) == 0
               ? pinned_median(c.ns, PINNED_ROUNDS)
               : -1;
}
