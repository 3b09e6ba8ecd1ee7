/* SPDX-License-Identifier: BSD-3-Clause */
/* direct.h - copies directly between the memories of two ranks, by the kernel or through a mapping
 * (direct.c). */
#ifndef HUD_MEM_DIRECT_H
#define HUD_MEM_DIRECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem;

/*
 * Ends single copies into and out of a member's memory when the member's call fails.  Its buffers
 * are then the user's again, and a member that is late must not touch them.  There is one such
 * record in each member's slice, written by the owner of the slice.
 */
struct mem_reach {
    _Alignas(HUD_LINE) _Atomic uint64_t
        writes; /* 1 + the rank whose memory the owner writes to now, or 0 */
    _Alignas(HUD_LINE) _Atomic uint64_t
        closed;             /* nonzero: no rank may read or write the owner's memory any more */
    _Atomic uint64_t proof; /* written by any member, and read back through the owner's process */
};

/* A member's process, from or to which the kernel copies. */
struct mem_peer {
    int pid;           /* number in this process's PID namespace */
    uint64_t arena;    /* address where that process maps its own arena */
    int64_t proven_ns; /* time of the last proof that the process maps the memory; 0: none */
};

/* Copies bytes from or to another rank's memory, and returns how many have moved.  The result is
 * smaller than `bytes` if the copy was refused or the memory was closed (direct.c).  hud_mem_read()
 * uses the kernel without checking the process. */
size_t hud_mem_read(int pid, uint64_t from, void *to, size_t bytes);
size_t hud_mem_pull(struct mem *m, int rank, uint64_t from, void *to, size_t bytes);
size_t hud_mem_push(struct mem *m, int rank, uint64_t to, const void *from, size_t bytes);

/* Closes this rank's memory, and returns when no member writes into it any more.  ended() tells
 * whether a member's process has ended. */
void hud_mem_close(struct mem *m, bool (*ended)(void *arg, int rank), void *arg);

#endif
