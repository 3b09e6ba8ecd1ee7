/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_kvs.h - the ranks of all nodes that use huddle, for teams that span nodes
 * (hud_host.present_far).  Unless HUDDLE_NODES is off, each rank announces itself before MPI_Init,
 * and all ranks are looked up once, right after MPI_Init.
 */
#ifndef HUD_PMPI_PMI_KVS_H
#define HUD_PMPI_PMI_KVS_H

#include <stdbool.h>

/* Announces this rank.  Must be called before MPI_Init is entered; only the first call counts.
 * manner: result of hud_config_manner.  Ranks with different manners are absent to each other. */
void hud_pmi_kvs_announce(unsigned manner);
/* Looks up all ranks.  Must be called after MPI_Init, while the MPI does not communicate with its
 * launcher.  Does nothing if this process was not announced. */
void hud_pmi_kvs_look_up(int world_size);
/* Returns whether this process was announced, under a launcher that ranks of all nodes can ask. */
bool hud_pmi_kvs_announced(void);
/* Implements hud_host.present_far. */
int hud_pmi_kvs_present(void *arg, int world_rank);

#endif
