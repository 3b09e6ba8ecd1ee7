/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up.h - a machine of round numbers, so that a simulated time can be worked out by hand.
 *
 * Sockets of two dies each, a die is a NUMA node; cores are numbered along.  By class (own, numa,
 * socket, machine), in ns: transfer - 10 20 40, gap - 1 2 4, serve - 3 5 7, home - - 8 16; a line
 * from memory as from a core there, a hit .5, a store .25, an addition 2.  No mesh limits, 64 bytes
 * a line.
 *
 * A byte takes, in ns: in the own cache .05; from another core's in the die .1, in the socket .2,
 * beyond .4; from the die's shared cache .08; from memory .25 here, .5 in the socket, 1 beyond.  A
 * sum of n takes .04 n.  The kernel copies at 8 GB/s and is called in 100.  A core has 64 KB, a die
 * 1 MB at 40 GB/s and memory at 12.
 */
#ifndef HUD_MADE_UP_H
#define HUD_MADE_UP_H

#include "sim/machine.h"

enum { MADE_UP_NUMA = 1, MADE_UP_SOCKET, MADE_UP_MACHINE };

/* Two dies a socket. */
struct sim_machine *made_up_machine(int sockets, int cores_of_die);
void made_up_free(struct sim_machine *m);

#endif
