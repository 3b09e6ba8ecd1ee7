/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trap.h - counts how often a process reaches each place in the source that posts or waits, and
 * kills the process at a chosen place.
 *
 * The library calls hud_mem_edge at each such place if it was built with HUD_EDGE_TRAPS.
 */
#ifndef HUD_TESTS_TRAP_H
#define HUD_TESTS_TRAP_H

#include <stddef.h>

/* Arms the trap at `place`, "FILE:LINE:N". When that place is reached for the N-th time, `before`
 * is called and the process gets SIGKILL. NULL disarms the trap. */
void trap_arm(const char *place, void (*before)(void));

/* Appends a line "RANK FILE LINE TIMES" to the file for each place reached so far. */
void trap_record(const char *path, int rank);

/* Writes the place in an algorithm last reached by this process, as "FILE:LINE". Writes ":0" if no
 * place was reached. */
void trap_latest(char *text, size_t bytes);

/* Counts a visit to a place. The tests add places of their own. */
void hud_mem_edge(const char *file, int line);

#endif
