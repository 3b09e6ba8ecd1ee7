/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.h - the program bin/huddle.  `run` sets the environment and becomes the user's command,
 * without Python, whose start would take longer than many jobs.  The Python CLI handles all other
 * commands.
 */
#ifndef HUD_LAUNCH_H
#define HUD_LAUNCH_H

#include <stdbool.h>

/* Carries out `huddle run` with the words after "run", NULL-terminated.  Returns the exit status if
 * the process does not become the command. */
int hud_launch_run(char **words);

/* Becomes the Python CLI with these words.  Returns only on failure, after printing the reason. */
int hud_launch_cli(char **words);

/* Returns whether the Python CLI can start: its interpreter can be run, and has the packages. */
bool hud_launch_has_cli(void);

/* Returns the absolute path of a file in the build tree or the installation of this program.  A
 * folder that CMake knows as absolute is used unchanged.  The path lives as long as the process. */
const char *hud_launch_path(const char *folder, const char *file);

/* Returns the path of the loader. */
const char *hud_launch_loader(void);

/* Makes a new folder for the files of a job's ranks. */
const char *hud_launch_folder(void);

/* Runs become(command) in a child process, and prints its statistics, or writes them as JSON to
 * `file` unless NULL; then removes the folder.  Returns the command's exit status. */
int hud_launch_watch(int (*become)(char **command), const char *folder, const char *file,
                     char **command);

/* Prints "huddle: ..." on standard error.  Returns the status. */
int hud_launch_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns a formatted text, for free().  Exits if there is no memory. */
char *hud_launch_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
