/* SPDX-License-Identifier: BSD-3-Clause */
/* direct.h - copies straight from one rank's memory to another's, by the kernel or through a
 * mapping (direct.c). */
#ifndef HUD_MEM_DIRECT_H
#define HUD_MEM_DIRECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem;

/*
 * Ends single copies into and out of a member's memory when its call fails: then its buffers are
 * the user's again, and a member that is late must not touch them.  In each member's slice, written
 * by its owner.
 */
struct mem_reach {
    _Alignas(HUD_LINE) _Atomic uint64_t
        writes; /* 1 + the rank whose memory the owner writes to now; 0: none */
    _Alignas(HUD_LINE) _Atomic uint64_t
        closed;             /* nonzero: nobody may read or write the owner's memory any more */
    _Atomic uint64_t proof; /* written by any member, and read back through the owner's process */
};

/* A member's process, which the kernel copies from or to. */
struct mem_peer {
    int pid;           /* in this process's PID namespace */
    uint64_t arena;    /* where that process maps its own arena */
    int64_t proven_ns; /* when it last had that memory there; 0: not yet */
};

/* Bytes moved from or to another rank's memory; fewer than asked: refused, or closed (direct.c).
 * The first asks the kernel only. */
size_t hud_mem_read(int pid, uint64_t from, void *to, size_t bytes);
size_t hud_mem_pull(struct mem *m, int rank, uint64_t from, void *to, size_t bytes);
size_t hud_mem_push(struct mem *m, int rank, uint64_t to, const void *from, size_t bytes);

/* Closes this rank's memory, and returns when no member writes into it.  ended: that member's
 * process has ended. */
void hud_mem_close(struct mem *m, bool (*ended)(void *arg, int rank), void *arg);

#endif
