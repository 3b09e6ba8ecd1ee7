/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_memory.c - how long a core waits for a line that is in no cache. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a chain lie farther apart than lines are fetched together. */
enum { CHAIN_BYTES = 8 << 20, APART = 512, NODES = CHAIN_BYTES / APART, STEPS = 2000 };

struct node {
    struct node *next;
    char unused[APART - sizeof(struct node *)];
};

struct chain {
    struct pinned_meeting meeting;
    double ns[PINNED_ROUNDS];
    struct node *nodes;
};

/* One circle through all nodes, in an order that no hardware foresees (Sattolo). */
static void link_nodes(struct node *nodes)
{
    uint64_t drawn = 1;
    int *order = calloc(NODES, sizeof *order);

    for (int i = 0; order && i < NODES; i++)
        order[i] = i;
    for (int i = NODES - 1; order && i > 0; i--) {
        drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int j = (int)((drawn >> 33) % (uint64_t)i), aside = order[i];
        order[i] = order[j];
        order[j] = aside;
    }
    for (int i = 0; i < NODES; i++)
        nodes[order ? order[i] : i].next = &nodes[order ? order[(i + 1) % NODES] : (i + 1) % NODES];
    free(order);
}

static double walk(const struct node *at)
{
    double begin = pinned_ns();

    for (int i = 0; i < STEPS; i++)
        at = at->next; /* the next load needs this one */
    pinned_keep(at);
    return (pinned_ns() - begin) / STEPS;
}

/* Thread 0 walks, the last thread has touched the nodes first. */
static void body_chain(void *arg, int thread)
{
    struct chain *c = arg;
    bool touches = thread == c->meeting.threads - 1;

    if (touches && (c->nodes = (void *)measured_buffer(CHAIN_BYTES)) != NULL)
        link_nodes(c->nodes);
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

int measured_toucher(const struct measured *on, int class)
{
    const struct sim_machine *m = on->m;
    int toucher = class == MACHINE_OWN ? 0 : -1;

    for (int node = m->nodes - 1; node >= 0 && class != MACHINE_OWN; node--)
        toucher = machine_away(m, 0, node) == class ? m->first[node] : toucher;
    return toucher;
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
