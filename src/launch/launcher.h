/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - the launcher in a command, and whether its job may have several nodes. */
#ifndef HUD_LAUNCH_LAUNCHER_H
#define HUD_LAUNCH_LAUNCHER_H

#include <stdbool.h>

enum kind { UNKNOWN, OPENMPI_4, OPENMPI_5, HYDRA, SRUN };

/* Returns the first word of the command that names a launcher of ranks, or NULL if there is
 * none. */
char **hud_launch_launcher(char **command);

/* Returns the kind of a launcher, by its name, the file that a link leads to, and the programs in
 * the same folder.  Runs nothing. */
enum kind hud_launch_kind(const char *launcher);

/* Returns the path of a command, or NULL if there is none. */
char *hud_launch_find(const char *command);

/* Returns the last part of a path. */
const char *hud_launch_base(const char *path);

/* Returns the launcher's own words, for free(): all words up to the first program, and after each
 * ':' up to the next program.  A possible value of an option is no program. */
char **hud_launch_own_words(char **launcher);

/* Returns the first word that is in `wanted`, with or without =VALUE, or NULL if there is none. */
const char *hud_launch_word(char **words, const char *const *wanted);

/* Returns whether the job may have several nodes.  `words` begins with a launcher, or with another
 * program, whose short options have other meanings. */
bool hud_launch_may_have_nodes(char **words, bool is_launcher);

#endif
