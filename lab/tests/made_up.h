/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up.h - a machine with round numbers, so that simulated times can be computed by hand.
 *
 * Sockets have two dies each. A die is a NUMA node. Cores are numbered consecutively. Times in ns
 * by class (own, numa, socket, machine): transfer - 10 20 40, gap - 1 2 4, serve - 3 5 7, home - -
 * 8 16. A line from memory takes as long as a line from a core there. A hit takes .5, a store .25,
 * an addition 2. No mesh limits; 64 bytes per line.
 *
 * A byte takes, in ns: .05 in its own cache; from another core's cache .1 in the die, .2 in the
 * socket and .4 in the machine; .08 from the die's shared cache; .25 from local memory, .5 from
 * memory in the socket and 1 in the machine. A sum of n bytes takes .04 n. The kernel copies at 8
 * GB/s, and a call takes 100 ns. A core's cache has 64 KB. A die's cache has 1 MB at 40 GB/s, and
 * its memory has 12 GB/s.
 */
#ifndef HUD_MADE_UP_H
#define HUD_MADE_UP_H

#include "check/sim.h"
#include "lab/sim/machine.h"

enum { MADE_UP_NUMA = 1, MADE_UP_SOCKET, MADE_UP_MACHINE };

/* Makes a machine with two dies per socket. */
struct sim_machine *made_up_machine(int sockets, int cores_of_die);
void made_up_free(struct sim_machine *m);

/* Creates ranks in simulated time, bound to the machine's first cores, and a team of all of them
 * whose lease is the whole arena. */
struct sim *made_up_sim(const struct sim_machine *m, int ranks, size_t arena_bytes, uint64_t seed,
                        struct sim_team **team);

/* Finds an algorithm. Fails if there is none. */
const struct alg *made_up_alg(const char *coll, const char *name);

/* Fails with both numbers and the line if they differ by more than a millionth. */
#define assert_near(is, wanted) made_up_near(is, wanted, __LINE__)
void made_up_near(double is, double wanted, int line);

#endif
