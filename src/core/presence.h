/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence.h - which ranks of the job use huddle on this node, known without a message.
 *
 * A rank without huddle (a static binary in an MPMD job, a failed load, another node) would never join a team's set-up, and the
 * others would wait for ever.  So each process binds, before its MPI has initialised, an abstract datagram socket named after job and rank
 * (nothing in the file system; gone with the process); a team is set up only if all its members' sockets are there.  MPI_Init synchronises, so
 * the answer is the same on all ranks. 
 */
#ifndef HUD_PRESENCE_H
#define HUD_PRESENCE_H

#include "huddle/huddle.h"

#include <stdbool.h>

/*
 * Announce this process.  Call before MPI_Init is entered (a constructor, a component's open); once per process.
 * The job's name and the rank come from the launcher's environment: PMIX_NAMESPACE + PMIX_RANK, else HUDDLE_JOB + PMI_RANK, else
 * SLURM_JOB_ID.SLURM_STEP_ID + SLURM_PROCID.  Without them nothing is announced, and hud_presence_known() is false.
 */
HUD_API void hud_presence_announce(void);

/* The launcher said which job this is, so that absence means something. */
bool hud_presence_known(void);
/* The job's rank is a process that announced itself on this node.  Cached when true. */
bool hud_presence_of(int world_rank);

#endif
