/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports.c - each port has an ordered list of the times in which it is busy.  A message gets the
 * first gap that is long enough.  So a message may arrive before a message that was sent earlier,
 * if its sender's port was free.
 */
#include "lab/sim/ports.h"
#include "check/grow.h"

#include <stdlib.h>
#include <string.h>

struct busy {
    double begin_ns, end_ns;
};

struct port {
    struct busy *busy;
    int count, room;
};

struct sim_ports {
    struct machine_network network;
    struct port *out, *in; /* [nodes] */
    int nodes;
};

struct sim_ports *hud_ports_create(int nodes, const struct machine_network *network)
{
    struct sim_ports *p = hud_must(calloc(1, sizeof *p));

    *p = (struct sim_ports){ .network = *network,
                             .out = hud_must(calloc((size_t)nodes, sizeof *p->out)),
                             .in = hud_must(calloc((size_t)nodes, sizeof *p->in)),
                             .nodes = nodes };
    return p;
}

void hud_ports_free(struct sim_ports *p)
{
    for (int i = 0; p && i < p->nodes; i++) {
        free(p->out[i].busy);
        free(p->in[i].busy);
    }
    if (p) {
        free(p->out);
        free(p->in);
    }
    free(p);
}

/* Removes times that end before now, for which no message can ask. */
static void forget(struct port *port, double now_ns)
{
    int past = 0;

    while (past < port->count && port->busy[past].end_ns <= now_ns)
        past++;
    if (past == 0)
        return; /* there may be no array yet */
    port->count -= past;
    memmove(port->busy, port->busy + past, (size_t)port->count * sizeof *port->busy);
}

/* Finds the first time, from ready_ns on, at which the port is free for length_ns, and makes it
 * busy.  Returns the time. */
static double take(struct port *port, double ready_ns, double length_ns)
{
    double begin_ns = ready_ns;
    int at = 0;

    while (at < port->count && port->busy[at].begin_ns < begin_ns + length_ns) {
        if (port->busy[at].end_ns > begin_ns)
            begin_ns = port->busy[at].end_ns;
        at++;
    }
    port->busy = hud_grow(port->busy, port->count + 1, &port->room, sizeof *port->busy);
    memmove(port->busy + at + 1, port->busy + at, (size_t)(port->count - at) * sizeof *port->busy);
    port->busy[at] = (struct busy){ begin_ns, begin_ns + length_ns };
    port->count++;
    return begin_ns;
}

struct ports_message hud_ports_send(struct sim_ports *p, int from, int to, size_t bytes,
                                    double now_ns)
{
    const struct machine_network *n = &p->network;
    double length_ns = n->message_ns + (n->gbps > 0 ? (double)bytes / n->gbps : 0),
           way_ns = n->latency_ns - n->message_ns;

    forget(&p->out[from], now_ns);
    forget(&p->in[to], now_ns);
    double left_ns = take(&p->out[from], now_ns, length_ns),
           came_ns = take(&p->in[to], left_ns + way_ns, length_ns);
    return (struct ports_message){ left_ns + length_ns, came_ns + length_ns };
}
