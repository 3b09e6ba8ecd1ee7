/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_memory.c - how long a core waits for a line that is in no cache. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_BYTES = 8 << 20, NODES = CHAIN_BYTES / MEASURED_APART, STEPS = 2000 };

struct node {
    struct node *next;
    char unused[MEASURED_APART - sizeof(struct node *)];
};

struct chain {
    struct pinned_meeting meeting;
    double ns[PINNED_ROUNDS];
    struct node *nodes;
};

/* In an order that no hardware foresees (Sattolo). */
void measured_link(void *chain, size_t count)
{
    struct node *nodes = chain;
    uint64_t drawn = 1;
    size_t *order = calloc(count, sizeof *order);

    for (size_t i = 0; order && i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; order && i > 0; i--) {
        drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t j = (size_t)(drawn >> 33) % i, aside = order[i];
        order[i] = order[j];
        order[j] = aside;
    }
    for (size_t i = 0; i < count; i++)
        nodes[order ? order[i] : i].next = &nodes[order ? order[(i + 1) % count] : (i + 1) % count];
    free(order);
}

void measured_follow(const void *chain, size_t count)
{
    const struct node *at = chain;

    for (size_t i = 0; i < count; i++)
        at = at->next; /* the next load needs this one */
    pinned_keep(at);
}

static double walk(const struct node *at)
{
    double begin = pinned_ns();

    measured_follow(at, STEPS);
    return (pinned_ns() - begin) / STEPS;
}

/* Thread 0 walks, the last thread has touched the nodes first. */
static void body_chain(void *arg, int thread)
{
    struct chain *c = arg;
    bool touches = thread == c->meeting.threads - 1;

    if (touches && (c->nodes = (void *)measured_buffer(CHAIN_BYTES)) != NULL)
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
