/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.h - the program bin/huddle: `run` sets the environment and becomes the user's command.  It
 * does so without Python, whose start would take longer than many jobs do.  All other commands are
 * the Python CLI's.
 */
#ifndef HUD_LAUNCH_H
#define HUD_LAUNCH_H

/* huddle run, its words after "run"; NULL ends them.  Returns the exit status if it does not become
 * the command. */
int hud_launch_run(char **words);

/* Becomes the Python CLI with these words.  Returns only if it cannot; a line says why. */
int hud_launch_cli(char **words);

/* An absolute path in the build tree or the installation that this program is part of; of a folder
 * that CMake knows as an absolute one, that.  Lives as long as the process. */
const char *hud_launch_path(const char *folder, const char *file);

/* A new folder for the files of a job's ranks. */
const char *hud_launch_folder(void);

/* Runs the command in a child, which becomes it, and prints its statistics; removes the folder.
 * file: NULL, or where they go as JSON.  Returns the command's exit status. */
int hud_launch_watch(int (*become)(void *arg), void *arg, const char *folder, const char *file,
                     char **command);

/* "huddle: ..." on standard error.  Returns the status. */
int hud_launch_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
