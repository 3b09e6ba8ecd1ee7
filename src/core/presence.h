/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence.h - which ranks of the job use huddle on this node, known without a message.
 *
 * A rank without huddle (a static binary in an MPMD job, a failed load, another node) would never join a team's set-up, and the
 * others would wait for ever.  So each process binds, before its MPI has initialised, an abstract datagram socket named after job and rank
 * (nothing in the file system; gone with the process); a team is set up only if all its members' sockets are there, the own one too.  MPI_Init
 * synchronises, so the answer is the same on all ranks: it rests on names that no two launches share, and on nothing that this process could run out of.
 */
#ifndef HUD_PRESENCE_H
#define HUD_PRESENCE_H

#include "huddle/huddle.h"

#include <stdbool.h>

/* Which launchers serve an MPI: a job may run inside another one's, and finds that one's variables in its environment too. */
enum hud_launchers {
    HUD_LAUNCHERS_PMIX, /* Open MPI: PMIx, else Slurm */
    HUD_LAUNCHERS_HYDRA /* the MPICH family: Hydra, else PMIx, else Slurm, else PMI_RANK under 'huddle run' */
};

/*
 * Announce this process.  Call before MPI_Init is entered (a constructor, a component's open); the first call counts.
 * Without a launcher's variables nothing is announced, and hud_presence_known() is false.
 * checked: HUDDLE_CHECK is on, however it was set (hud_config_checks).  With it, and without it, ranks do not set up a team at the same calls: so
 * they are announced under different names, and are absent to each other.
 */
HUD_API void hud_presence_announce(enum hud_launchers launchers, bool checked);

/* This process is announced as one with HUDDLE_CHECK, as are then all that are present to it. */
bool hud_presence_checked(void);

/* The launcher said which job this is, so that absence means something. */
bool hud_presence_known(void);
/* Asks for ranks 0..world_size-1 once and for all (of larger jobs: for the first ones; the others when they are needed).  Call after MPI_Init. */
void hud_presence_look(int world_size);
/* The job's rank is a process that announced itself on this node.  Asked once, then remembered. */
bool hud_presence_of(int world_rank);
/* This process is announced, as that rank. */
bool hud_presence_is(int world_rank);

#endif
