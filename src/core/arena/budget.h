/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - how much memory an arena may have, and whether that much can be committed now without
 * waking the OOM killer. */
#ifndef HUD_BUDGET_H
#define HUD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

enum { BUDGET_MAX = 10 << 20 }; /* bytes of a rank's arena by default, paper 01: <= 10 MB */

/* 1 % of the memory the job may use / max(cores, ranks on the node), at most BUDGET_MAX, in whole
 * pages. */
size_t hud_budget_default(int local_ranks);
/* The same of a machine with so much memory and so many cores. */
size_t hud_budget_of(size_t whole_bytes, int cores, int local_ranks);

/* Bytes of memory this process's cgroups (all ancestors, v1 and v2) and the machine still allow;
 * page cache that can be dropped counts as free. */
size_t hud_budget_left(void);
/* What of them leases may take: the last bytes are for the MPI and the program, which are killed
 * where they find none. */
size_t hud_budget_room(void);

/*
 * Whether RLIMIT_AS leaves address space for so many mappings of an arena, and enough for
 * the MPI besides, which may end or hang where it has none.
 */
bool hud_budget_has_space(size_t arena_bytes, int mappings);

/* Whether RLIMIT_NOFILE allows BUDGET_DESCRIPTORS: an MPI that may have hardly any of them needs
 * all. */
bool hud_budget_has_descriptors(void);
enum { BUDGET_DESCRIPTORS = 64 };

#endif
