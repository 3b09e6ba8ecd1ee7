/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.h - the settings: one table (config.def, and one row per parameter of each algorithm) gives the environment variables HUDDLE_*,
 * Open MPI's MCA parameters coll_huddle_*, the CLI's help and the reference page.
 */
#ifndef HUD_CONFIG_H
#define HUD_CONFIG_H

#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdint.h>

/* One row, for whoever lists settings.  All strings live as long as the process. */
struct setting {
    const char *name;                     /* "HUDDLE_MEMORY" */
    const char *mca;                      /* "memory": the MCA parameter is coll_huddle_memory */
    const char *preset, *unit, *accepted; /* default, "B" or "", what is accepted in words */
    const char *doc;
};

/* The rows; *count of them.  Fixed for the life of the process. */
HUD_API const struct setting *hud_settings(int *count);

#endif
