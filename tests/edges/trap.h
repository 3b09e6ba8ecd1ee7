/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trap.h - counts how often a process comes to each place of the source that posts or waits, and
 * ends the process at a chosen one.
 *
 * The library calls hud_mem_edge at each such place if it was built with HUD_EDGE_TRAPS.
 */
#ifndef HUD_TESTS_TRAP_H
#define HUD_TESTS_TRAP_H

#include <stddef.h>

/* "FILE:LINE:N": SIGKILL at the N-th time, after a call of `before`.  NULL: never. */
void trap_arm(const char *place, void (*before)(void));

/* A line "RANK FILE LINE TIMES" for each place so far is appended to the file. */
void trap_record(const char *path, int rank);

/* Where in an algorithm this process was last, "FILE:LINE"; ":0": nowhere so far. */
void trap_latest(char *text, size_t bytes);

/* A place; the tests have some of their own. */
void hud_mem_edge(const char *file, int line);

#endif
