/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * far.h - which ranks of all nodes use huddle, for teams that span them (hud_host.present_far).
 * They announce themselves before MPI_Init, where HUDDLE_NODES is set, and are looked for once,
 * right after it.
 */
#ifndef HUD_PMPI_FAR_H
#define HUD_PMPI_FAR_H

#include <stdbool.h>

/* Call before MPI_Init is entered; the first call counts.  manner: of its settings
 * (hud_config_manner).  Ranks that differ in it are absent to each other. */
void hud_far_announce(unsigned manner);
/* Call after MPI_Init, while the MPI does not speak with its launcher.  Does nothing where this
 * process was not announced. */
void hud_far_look(int world_size);
/* This process was announced, under a launcher that ranks of all nodes can ask. */
bool hud_far_known(void);
/* hud_host.present_far. */
int hud_far_present(void *arg, int world_rank);

#endif
