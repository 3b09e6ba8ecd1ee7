/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports.h - when messages between nodes leave and arrive.  A node has one port for what it sends,
 * and one for what it receives.
 *
 * Source  Hockney 1994 (latency, bytes) with the overhead of Alexandrov et al. 1995 (LogGP), as
 *         src/cost/network.h.
 *
 * A message of m bytes keeps each of its two ports busy for message + m / gbps, the receiving one
 * latency - message later than the sending one.  So a message alone arrives latency + m / gbps
 * after it was sent, and a port passes several one after the other, those that come first first.
 */
#ifndef HUD_SIM_PORTS_H
#define HUD_SIM_PORTS_H

#include "sim/machine.h"

struct sim_ports;

struct ports_message {
    double left_ns; /* its sender has the bytes back */
    double arrives_ns;
};

struct sim_ports *hud_ports_create(int nodes, const struct machine_network *network);
void hud_ports_free(struct sim_ports *p); /* NULL is allowed */
/* Sent at this time; those that were sent before have come here before. */
struct ports_message hud_ports_send(struct sim_ports *p, int from, int to, size_t bytes,
                                    double now_ns);

#endif
