/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ports.h - when messages between nodes leave and arrive.  A node has one port for sending and one
 * for receiving.
 *
 * Source  Hockney 1994 (latency, bytes) with the overhead of Alexandrov et al. 1995 (LogGP), as
 *         src/cost/network.h.
 *
 * A message of m bytes keeps each of its two ports busy for message + m / gbps.  The receiving port
 * is busy latency - message later than the sending port.  So a message alone arrives latency +
 * m / gbps after it was sent, and a port passes several messages one after the other, first come
 * first served.
 */
#ifndef HUD_SIM_PORTS_H
#define HUD_SIM_PORTS_H

#include "lab/sim/machine.h"

struct sim_ports;

struct ports_message {
    double left_ns; /* moment at which its sender can reuse the bytes */
    double arrives_ns;
};

struct sim_ports *hud_ports_create(int nodes, const struct machine_network *network);
/* Frees the ports, which may be NULL. */
void hud_ports_free(struct sim_ports *p);
/* Sends a message now.  Calls must be in the order of their times. */
struct ports_message hud_ports_send(struct sim_ports *p, int from, int to, size_t bytes,
                                    double now_ns);

#endif
