/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h - how long copies treat the lines of shared memory (lines.c). */
#ifndef HUD_LINES_H
#define HUD_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is done with a rank's lines: a set of bits.
 *   PAST  the rank writes them with non-temporal stores
 *   BACK  their last reader gives them back: it leaves them written by itself
 * With neither, the rank uses ordinary stores and readers only read.
 */
enum { LINES_PAST = 1, LINES_BACK = 2, LINES_WAYS = 4 };

/* Of a way that a rank publishes: all its lines have been written in this way, so that times of
 * copies out of them are this way's. */
enum { LINES_ROUND = LINES_WAYS };

enum {
    LINES_PARTS = 256, /* of a tick: clocks of other processors are slower */
    LINES_MIN = 4096,  /* bytes of a long copy */
    LINES_CELLS = 16   /* that algorithms are told apart by */
};

/* Of a member, in its slice.  Ticks of a copy: per KB, in 1/LINES_PARTS. */
struct lines_member {
    _Alignas(128) _Atomic uint32_t way[LINES_CELLS]; /* what is to be done with its lines;
                                                          with LINES_ROUND or without */
    _Alignas(128) _Atomic uint32_t out[LINES_CELLS][LINES_WAYS]; /* ticks of its copies out of
                                                                   lines of each way; 0: unknown */
};

/* Several copies in a row whose times are taken. */
struct lines_look {
    uint32_t sum, longest, second; /* ticks */
    unsigned count;
    uint64_t due; /* the number of the copy from which on the next times are taken */
};

/* Of one rank and one cell, in its own memory. */
struct lines_cell {
    struct lines_look in[LINES_WAYS], out[LINES_WAYS];
    uint32_t known[LINES_WAYS]; /* ticks of copies in; 0: unknown */
    uint64_t ins, outs;         /* copies so far */
    const char *first;          /* where the first copy in of the present way went */
    unsigned since;             /* copies in since then */
    int reader;                 /* a rank that has read its lines */
    bool copies;                /* some of its writes are copies */
    bool round;                 /* one of them has gone there again */
    unsigned char best, next;   /* the way in use but for trials; the next that is tried */
    int64_t lost;               /* ticks by trials, less a part of what all copies took */
    uint64_t rest;              /* the number of the copy in from which on a way may be tried */
};

struct mem;

/* A long read or write of shared memory: what is done with the lines, and whether its time is
 * taken. */
struct lines_use {
    unsigned cell, way;
    bool timed;
    uint64_t begin;
};

/* Begins a read of shared memory.  plain: it takes the time of a copy, and nothing else. */
struct lines_use hud_lines_begin_read(const struct mem *m, const void *shared, bool plain);
/* Ends that read, of `bytes` bytes. */
void hud_lines_end_read(const struct mem *m, const struct lines_use *use, size_t bytes);

/* Begins a write of `bytes` bytes of this rank's own lines.  copies: it is a copy, not a reduction,
 * whose time counts only where no copies write. */
struct lines_use hud_lines_begin_write(const struct mem *m, const void *shared, size_t bytes,
                                       bool copies);
/* Ends that write. */
void hud_lines_end_write(const struct mem *m, const struct lines_use *use, size_t bytes);

/* Returns what is done with the lines of the rank that owns these bytes; 0 where it is this one, or
 * none. */
unsigned hud_lines_way(const struct mem *m, const void *shared);

/* Writes one of these bytes in each line of 64 bytes, with the value that it has. */
void hud_lines_give_back(void *shared, size_t bytes);

/* Reads the processor's clock, with all stores done; 0 where there is none (ticks.c). */
uint64_t hud_lines_ticks(void);

/* Begins a team, on each rank, before its first call. */
void hud_lines_start(const struct mem *m);

#endif
