/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - what huddle run is asked to do. */
#ifndef HUD_LAUNCH_OPTIONS_H
#define HUD_LAUNCH_OPTIONS_H

#include <stdbool.h>

#define USAGE "huddle run [--explain] [--set NAME=VALUE ...] [--stats[=FILE]] [--] COMMAND..."
enum { BAD_USE = 2 };

struct run {
    bool explain, help, stats;
    bool bad_set;           /* a --set has been refused; the others are looked at all the same */
    const char *stats_file; /* NULL: a table on standard error */
    const char *record;     /* a folder; NULL: nothing is recorded */
    char **variables;       /* [count] NAME=VALUE, as --explain shows them; NULL ends them */
    int count;
};

/* Sets NAME=VALUE, the value in two parts.  A later value of a name replaces an earlier one. */
void hud_launch_add(struct run *run, const char *name, const char *before, const char *value);

/* Takes options up to "--" or the first word that is none, which *words leads to then.  Returns 0
 * or the exit status. */
int hud_launch_options(struct run *run, char ***words);

/* Refuses a file of HUDDLE_STATS that cannot be written.  Returns 0 or the exit status. */
int hud_launch_check_stats(const struct run *run);

/* A relative HUDDLE_TUNING becomes absolute: programs may change their folder before they read it.
 * Returns 0 or the exit status. */
int hud_launch_place_tuning(struct run *run);

/* Prints the options.  Returns the exit status. */
int hud_launch_help(void);

#endif
