/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - how much memory an arena may have, and whether that much can be committed now without
 * waking the OOM killer. */
#ifndef HUD_BUDGET_H
#define HUD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

enum { BUDGET_MAX = 10 << 20 }; /* bytes of a rank's arena by default, paper 01: <= 10 MB */

/* Returns 1 % of the memory the job may use / max(processors, ranks on the node), at most
 * BUDGET_MAX, in whole pages. */
size_t hud_budget_default(int local_ranks);
/* Returns the same for a machine with so much memory and so many processors. */
size_t hud_budget_of(size_t whole_bytes, int processors, int local_ranks);

/* Returns the bytes of memory that this process's cgroups (all ancestors, v1 and v2) and the
 * machine still allow; page cache counts as free if droppable. */
size_t hud_budget_left(void);
/* Returns the part of these bytes for leases: the last bytes are reserved for the MPI and the
 * program, which are killed without memory. */
size_t hud_budget_room(void);

/* Returns whether RLIMIT_AS leaves address space for so many mappings of an arena, and enough
 * for the MPI, which may end or hang otherwise. */
bool hud_budget_has_space(size_t arena_bytes, int mappings);

/* Returns whether RLIMIT_NOFILE allows BUDGET_DESCRIPTORS: with fewer, the MPI needs all of
 * them. */
bool hud_budget_has_descriptors(void);
enum { BUDGET_DESCRIPTORS = 64 };

#endif
