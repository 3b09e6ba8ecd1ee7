/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the options of huddle run. */
#ifndef HUD_LAUNCH_OPTIONS_H
#define HUD_LAUNCH_OPTIONS_H

#include <stdbool.h>

enum { BAD_USE = 2 };

struct run {
    bool explain, help, stats;
    bool bad_set;           /* a --set has been refused; the other options are still checked */
    const char *stats_file; /* NULL: print a table on standard error */
    const char *record;     /* a folder; NULL: record nothing */
    bool is_rank;           /* a launcher has started this process, and the command starts none */
    char **variables;       /* [count] NAME=VALUE, as --explain prints them; NULL-terminated */
    int count;
    const char *handed;  /* how the launcher gets the variables to all nodes; NULL: not known */
    const char *missing; /* why ranks may run without huddle; NULL: no reason is known */
};

/* Sets the variable NAME=VALUE; the value has two parts.  A later value of a name replaces an
 * earlier value. */
void hud_launch_add(struct run *run, const char *name, const char *before, const char *value);

/* Returns the value that hud_launch_add has set, or NULL. */
const char *hud_launch_value(const struct run *run, const char *name);

/* Reads options up to "--" or the first word that is not an option, and leaves *words there.
 * Returns 0 or the exit status. */
int hud_launch_options(struct run *run, char ***words);

/* Refuses a HUDDLE_STATS file that cannot be written.  Returns 0 or the exit status. */
int hud_launch_check_stats(const struct run *run);

/* Makes relative paths in HUDDLE_TUNING and HUDDLE_WISDOM absolute, because programs may change
 * their folder before they read the files.  Returns 0 or the exit status. */
int hud_launch_place_files(struct run *run);

/* Prints the options.  Returns the exit status. */
int hud_launch_help(void);

#endif
