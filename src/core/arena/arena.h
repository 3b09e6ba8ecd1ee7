/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h - one rank's shared memory: an anonymous memfd with its pages on the rank's own NUMA
 * node, leased in slices.
 *
 * Placement (paper 01, "Segment"; in the paper each process touches its pages first, after
 * switching readahead off): mbind MPOL_PREFERRED, then fallocate by the owner, which is the first
 * touch, then move_pages verifies.  If a node is full, pages go to another one, and a line reports
 * it; no process is killed.
 *
 * The ledger is private to the owner and exact: an extent is free, leased, or left (its team is
 * freed here, but not yet by all members).  The context's lock protects it.
 */
#ifndef HUD_ARENA_H
#define HUD_ARENA_H

#include "core/arena/descriptor.h"
#include "core/arena/file.h"
#include "core/slice/member.h"
#include "core/slice/peer_card.h"
#include "core/slice/stats_block.h"

#include <stddef.h>

enum { ARENA_VERSION = 16 };

/*
 * By the mark another program recognises an arena and knows whether it can read the rest of the
 * head.  Its place and meaning are the same in every version.  The magic is written last.
 */
struct arena_mark {
    char magic[8];               /* ARENA_MAGIC */
    uint64_t layout;             /* hud_arena_layout() of the owner */
    char version[ARENA_VERSION]; /* hud_version() of the owner, ends with a zero byte */
    int32_t pid;                 /* number of the owner in its own PID namespace */
    int32_t world_rank;          /* its host's number; -1: not known yet */
};

#define ARENA_MAGIC "huddle\1" /* eight bytes with its zero byte */

/* The first pages of every arena. */
struct arena_head {
    struct mem_home home;
    struct arena_mark mark;
    unsigned char nonce[ARENA_NONCE]; /* distinguishes this arena from another file with the
                                         same descriptor number */
    mem_counter
        holders; /* contexts of the owner's process that use its mapping; the last unmaps it */
    mem_counter obituary; /* see member.h, as note */
    _Alignas(HUD_LINE) struct stats stats;
    _Alignas(HUD_LINE) struct mem_note note[NOTE_COUNT];
};
_Static_assert(offsetof(struct arena_head, mark) == 128,
               "the mark has the same place in every version");

/* Returns a number for the layout of the head: programs with the same number can read each
 * other's heads. */
uint64_t hud_arena_layout(void);

/* Marks the head as this process's; its rank is not known yet. */
void hud_arena_sign(struct arena_head *head);

struct extent;

struct arena {
    struct arena_head *head;  /* NULL: there is no arena */
    size_t bytes, page_bytes; /* page_bytes: of ordinary pages */
    enum arena_pages pages;
    size_t committed_bytes; /* bytes from the start; pages beyond were never touched */
    struct descriptor file; /* the memfd; checked before each use */
    int node;               /* OS number of the rank's NUMA node; -1: none, pages are on the
                               node of their first touch */
    int aim;                /* the node on which slices are reserved */
    bool aimed;             /* hud_arena_aim was called: free pages may be on any node */
    struct extent *extents;
};

/* Returns the alignment of every arena's address space, for mem_home.  An arena with fewer bytes,
 * because of huge pages, has the same alignment: other members may have ordinary pages. */
size_t hud_arena_alignment(size_t bytes);

/*
 * Makes an arena of `bytes` bytes, whole pages.  The pages are huge if the system has enough of
 * them for `huge_ranks` ranks, and ordinary otherwise, or if `huge_ranks` is 0.  Returns 0, or -1
 * with a static line in *why.
 */
int hud_arena_create(struct arena *a, size_t bytes, int huge_ranks, const char **why);
void hud_arena_destroy(struct arena *a);

/* Drops one hold on a mapping of the owner's process. */
void hud_arena_unmap(struct arena_head *head, size_t bytes);

size_t hud_arena_free_bytes(struct arena *a); /* the largest slice that could be reserved; collects
                                                 what all members have left */

/* Commits the first free bytes in advance, as far as there is memory, so that the first slices cost
 * less. */
void hud_arena_warm(struct arena *a, size_t bytes, int committers);

/* Reserves slices on a node from now on, instead of on the rank's own. */
void hud_arena_aim(struct arena *a, int node);

/*
 * Reserves and commits a slice of zeros.  committers: number of ranks of this node that commit the
 * same size at the same time.  Returns its offset, or 0: no room or no memory; *why says which.
 */
size_t hud_arena_reserve(struct arena *a, size_t bytes, int committers, const char **why);
/* Frees at once the slice of a team that was never set up, of which at most the first used_bytes
 * are not zeros.  Touches no others: they may have no pages yet. */
void hud_arena_cancel(struct arena *a, size_t offset, size_t used_bytes);
/* Leaves the slice of a team, of which the first used_bytes were used, with the head: the slice is
 * free when all `ranks` members have left.  Zeroes only these bytes if all members have used the
 * same number of lines, and otherwise the whole slice. */
void hud_arena_leave(struct arena *a, size_t offset, size_t used_bytes, int ranks);

/* Stores the NUMA node of each page of a slice in nodes[], negative if unknown.  Returns 0, or
 * -1 if the kernel does not report it. */
int hud_arena_pages(const struct arena *a, size_t offset, size_t bytes, int *nodes);

#endif
