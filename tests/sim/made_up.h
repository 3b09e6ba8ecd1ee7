/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up.h - a machine of round numbers, so that simulated times can be computed by hand.
 *
 * Sockets have two dies each.  A die is a NUMA node.  Cores are numbered consecutively.  Times in
 * ns by class (own, numa, socket, machine): transfer - 10 20 40, gap - 1 2 4, serve - 3 5 7, home -
 * - 8
 * 16.  A line from memory takes as long as from a core there; a hit .5, a store .25, an addition 2.
 * No mesh limits; 64 bytes per line.
 *
 * A byte takes, in ns: in its own cache .05; from another core's cache in the die .1, in the socket
 * .2, in the machine .4; from the die's shared cache .08; from local memory .25, in the socket .5,
 * in the machine 1.  A sum of n bytes takes .04 n.  The kernel copies at 8 GB/s, and a call takes
 * 100. A core's cache has 64 KB; a die's has 1 MB at 40 GB/s, and its memory has 12 GB/s.
 */
#ifndef HUD_MADE_UP_H
#define HUD_MADE_UP_H

#include "sim/machine.h"

enum { MADE_UP_NUMA = 1, MADE_UP_SOCKET, MADE_UP_MACHINE };

/* Two dies per socket. */
struct sim_machine *made_up_machine(int sockets, int cores_of_die);
void made_up_free(struct sim_machine *m);

#endif
