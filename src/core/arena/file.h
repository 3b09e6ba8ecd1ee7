/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h - the anonymous file of an arena, of ordinary or of huge pages.
 *
 * Huge pages come from the system's pool (hugetlb), or the kernel joins ordinary ones (transparent,
 * Linux 6.1).  A file from the pool has all its pages before anybody maps it, so no access can meet
 * a pool that has become empty, which would be a SIGBUS.  Joining moves pages that are there
 * already: it may fail, and then they stay as they are.
 */
#ifndef HUD_FILE_H
#define HUD_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum arena_pages { PAGES_ORDINARY, PAGES_POOL, PAGES_TRANSPARENT, PAGES_KINDS };
extern const char *const hud_file_pages[PAGES_KINDS]; /* words of the kinds */

/* A huge page of 2 MB, which x86-64 and aarch64 have with every size of ordinary pages. */
#define FILE_HUGE ((size_t)2 << 20)

/* Makes a descriptor of `bytes` that can neither shrink nor grow.  Returns -1 on failure. */
int hud_file_make(size_t bytes);

/* Maps `bytes` of it at a multiple of `alignment`.  NULL: no address space. */
void *hud_file_map(int fd, size_t bytes, size_t alignment);

/* Makes such a descriptor of huge pages from the pool, all on a NUMA node (-1: on any).  Returns
 * -1 if the pool has too few. */
int hud_file_make_huge(size_t bytes, int node);

/* Reports whether the full pool has `bytes` bytes for each of `ranks` ranks.  All ranks get the
 * same answer. */
bool hud_file_pool_suffices(size_t bytes, int ranks);

/* Allocates the pages of [from, from + bytes); 0, or -1. */
int hud_file_allocate(int fd, size_t from, size_t bytes);

/* Makes huge pages of ordinary ones of the file that are mapped there: whole ones, aligned. */
bool hud_file_join(void *at, size_t bytes);

/* Returns the bytes of such pages among the `bytes` mapped there, from the kernel. */
size_t hud_file_joined_bytes(const void *at, size_t bytes);

#endif
