/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence.h - which ranks of the job use huddle on this node, without a message.  It is used where
 * the host cannot tell (hud_host.present).
 *
 * A rank without huddle (a static binary in an MPMD job, a failed load, another node) would never
 * join a team's set-up, and the others would wait for ever.  So all ranks must have the same answer
 * for each rank.  Each process publishes its presence before its MPI has initialised, in a place
 * where no other user can write or hide it, and MPI_Init synchronises.  A rank that could not
 * publish its presence finds itself absent, as the others do, and calls on its teams fall back to
 * the MPI on all ranks.
 *
 * Two ways, the first that the launcher supports:
 *   presence_lock.c  Hydra: a lock on the socket to the proxy, which only the ranks of the node
 *                    inherit
 *   presence_name.c  elsewhere: a socket with a name that only ranks which know the job's secret
 *                    (HUDDLE_JOB) can compute
 */
#ifndef HUD_PRESENCE_H
#define HUD_PRESENCE_H

#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdint.h>

/* Announces this process.  To be called before MPI_Init is entered; the first call counts.
 * manner: hud_config_manner of the settings.  Ranks of different manners do not set up a team
 * at the same calls: they are announced differently, and are absent to each other. */
HUD_API void hud_presence_announce(unsigned manner);

/* Returns whether hud_presence_announce was called, so that absence means something. */
bool hud_presence_known(void);
/* Returns whether this process is announced with HUDDLE_CHECK, as is then every rank present to
 * it. */
bool hud_presence_checked(void);
/* Returns why no rank can be present here, and how to help, or NULL.  The answer is the same on
 * all ranks that run the same. */
const char *hud_presence_trouble(void);

/* Asks for ranks 0..world_size-1 once and for all (of larger jobs: for the first ones; the others
 * when they are needed).  Call after MPI_Init. */
void hud_presence_find(int world_size);
/* Returns whether the job's rank is a process that announced itself on this node, which may be
 * this process.  Asked once, then remembered. */
bool hud_presence_of(int world_rank);
/* Returns whether the rank announced itself in another manner.  Asked each time, for messages. */
bool hud_presence_unlike(int world_rank);

/* Marks a rank whose presence is published in the host's own way, for a host which must ask a
 * server for each rank.  Uses a name as above, if the job has a secret.  number: number of the
 * job on this host.  May be called again.  A marked rank is present; the host knows of others.  Not
 * thread-safe. */
HUD_API void hud_presence_mark(int world_rank, unsigned manner, uint64_t number);
HUD_API bool hud_presence_marked(int world_rank);

#endif
