/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h - how long copies treat the cache lines of shared memory (lines.c).  Included only by
 * mem_shm.h. */
#ifndef HUD_LINES_H
#define HUD_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How a rank's lines are treated, a set of bits.
 *   NONTEMPORAL  the rank writes them with non-temporal stores
 *   RETURNED     their last reader returns them: it writes to them, so that only its core holds
 *                them
 * With neither bit, the rank uses ordinary stores and readers only read.
 */
enum { LINES_NONTEMPORAL = 1, LINES_RETURNED = 2, LINES_WAYS = 4 };

/* Flag of a published way: all lines of the rank have been written in this way, so that the times
 * of copies out of them belong to this way. */
enum { LINES_ROUND = LINES_WAYS };

enum {
    LINES_PARTS = 256, /* fractions of a tick, because the clocks of some processors are slow */
    LINES_MIN = 4096,  /* bytes from which a copy is long */
    LINES_CELLS = 40,  /* entries, one for each slot of a plan */
    LINES_PLACES = 2,  /* places of the ranks, with times for each */
    LINES_HOPS = 5     /* measurements by which a rank notices that ranks have moved */
};

/* What a member publishes in its slice.  Times are ticks per KB, in units of 1/LINES_PARTS. */
struct lines_member {
    /* The way of treating the member's lines, with or without LINES_ROUND. */
    _Alignas(HUD_LINE) _Atomic uint32_t way[LINES_CELLS];
    /* The time of the member's copies out of lines of each way.  0 if unknown. */
    _Alignas(HUD_LINE) _Atomic uint32_t out[LINES_CELLS][LINES_WAYS];
};

/* A measurement: several copies in a row that are timed. */
struct lines_sample {
    uint32_t sum, longest, second; /* ticks */
    unsigned count;
    uint64_t due; /* number of the copy from which the next measurement begins */
};

/* The work of a long read or write.  Only times of the last kind that a cell has seen are counted,
 * because a reduction also takes time for its arithmetic, and packing may take any time.  A
 * streamed copy writes to a view with non-temporal stores.  Such copies replace other work as
 * copies do, and are compared only with each other. */
enum lines_work { LINES_NOTHING, LINES_PACKING, LINES_REDUCTION, LINES_COPY, LINES_STREAMED };

/* The reads, or writes, that are compared with each other: of the same work and of about the same
 * size. */
struct lines_kind {
    enum lines_work work;
    unsigned size;   /* class of size, different for streamed copies */
    unsigned others; /* reads or writes of other classes, less those of this class */
};

/* The times of each way while the ranks are in a place, in ticks per KB.  0 if unknown. */
struct lines_known {
    uint32_t in[LINES_WAYS];  /* times of this rank's copies in */
    uint32_t out[LINES_WAYS]; /* times of its readers' copies out */
    unsigned number;          /* the place's number (struct lines_places) */
    unsigned char best;       /* the way in use, except for trials */
};

/*
 * The distance of a cell's readers: the time in which this rank takes back a line that others have
 * read.  Two places are remembered, because a virtual machine may move a processor back and forth.
 */
struct lines_places {
    uint32_t hop[LINES_HOPS]; /* the last times, in ticks, plus 1 */
    unsigned hops;            /* number of times in hop[] */
    bool hurry;               /* measure a hop at each long write, until hop[] is full */
    unsigned writes;          /* number of long writes since the last time */
    unsigned since;           /* number of long writes since the last change of places */
    unsigned rest;            /* a change is ignored within so many long writes of the last one */
    uint32_t typical[LINES_PLACES]; /* time in each place; 0: no such place yet */
    unsigned number[LINES_PLACES];  /* a new place gets a new number */
    unsigned numbers;               /* number of places so far */
    unsigned char now;              /* index of the present place */
};

/* What a rank knows about a cell, in its own memory. */
struct lines_cell {
    struct lines_sample in[LINES_WAYS], out[LINES_WAYS];
    struct lines_places places;
    struct lines_known known[LINES_PLACES]; /* one per place */
    uint64_t ins, outs;                     /* number of copies so far */
    const char *first;        /* destination of the first copy in with the present way */
    unsigned since;           /* number of copies in since then */
    int reader;               /* a rank that has read the lines */
    struct lines_kind writes; /* copies in whose times count */
    struct lines_kind reads;  /* reads of other ranks' lines whose times count */
    bool forgot;              /* times of another class of sizes have been forgotten */
    bool doubt;               /* the last sample has been discarded */
    bool round;               /* a later copy has written to the same destination again */
    unsigned char next;       /* the way of the last trial */
    int64_t lost;             /* ticks lost by trials, less a part of the time of all copies */
    uint64_t rest;            /* number of the copy in from which a way may be tried */
};

struct mem;

/* A long read or write of shared memory: how the lines are treated, whether the use counts, and
 * whether its time is taken. */
struct lines_use {
    unsigned cell, way;
    bool counted, timed;
    uint64_t begin;
};

/* Begins a read of `bytes` bytes of shared memory. */
struct lines_use hud_lines_begin_read(const struct mem *m, const void *shared, size_t bytes,
                                      enum lines_work work);
/* Ends a read of `bytes` bytes. */
void hud_lines_end_read(const struct mem *m, const struct lines_use *use, size_t bytes);

/* Begins a write of `bytes` bytes of shared memory.  Only writes of this rank's own lines count.  A
 * write of another rank's lines treats them as their owner wishes. */
struct lines_use hud_lines_begin_write(const struct mem *m, const void *shared, size_t bytes,
                                       enum lines_work work);
/* Ends a write of `bytes` bytes. */
void hud_lines_end_write(const struct mem *m, const struct lines_use *use, size_t bytes);

/* Returns the way of the rank that owns these bytes, with or without LINES_ROUND.  Returns 0 if
 * this rank or no rank is the owner. */
unsigned hud_lines_way(const struct mem *m, const void *shared);

/* Writes a byte in each line of 64 bytes, with the value that the byte already has. */
void hud_lines_return(void *shared, size_t bytes);

/* Returns the processor's clock, after all stores have completed.  Returns 0 if the processor has
 * no clock (ticks.c). */
uint64_t hud_lines_ticks(void);

/* Returns by how many ticks two times of the same event may always differ: a short time, and a tick
 * because the clock may be slow (ticks.c). */
uint32_t hud_lines_noise(void);

/* Stores to a word that other cores have read, and returns the duration of the store in ticks, or 0
 * if the processor has no clock (ticks.c). */
uint64_t hud_lines_hop(_Atomic uint32_t *word);

/* Counts a long write of this rank, and measures a hop after PLACES_PAUSE of them.  Returns true if
 * ranks have moved, and sets places->now (lines_places.c). */
bool hud_lines_places_watch(struct lines_places *places, _Atomic uint32_t *word);

/* Returns whether this rank has tried each allowed way for its lines of a cell, and now uses the
 * best, or has written none of these lines. */
bool hud_lines_settled(const struct mem *m, unsigned cell);

/* Initialises the state of a team, on each rank, before the first call. */
void hud_lines_start(const struct mem *m);

#endif
