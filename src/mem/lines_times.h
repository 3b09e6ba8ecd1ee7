/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_times.h - what lines.c and lines_read.c share: what members publish, which reads and writes
 * count, and the mean of their times. */
#ifndef HUD_LINES_TIMES_H
#define HUD_LINES_TIMES_H

#include "mem/mem.h"

enum {
    FRESH = 32,  /* copies out before the first measurement, as they may touch pages for the
                    first time */
    SAMPLE = 8,  /* copies measured in a row; the two longest are ignored, as they may have
                       been interrupted */
    PAUSE = 256, /* copies between two measurements of the same way */
    OTHERS = 512 /* copies of another class of sizes after which that class counts instead */
};

static inline struct lines_member *lines_of(const struct mem *m, int rank)
{
    return (struct lines_member *)(void *)(m->slices[rank] + m->team->lines);
}

static inline bool is_own(const struct mem *m, const void *shared)
{
    return (uintptr_t)shared - (uintptr_t)m->slices[m->rank] < m->team->slice_bytes;
}

static inline uint32_t ticks_a_kb(uint64_t ticks, size_t bytes)
{
    uint64_t rate = ticks * LINES_PARTS * 1024 / bytes + 1;

    return rate < UINT32_MAX / SAMPLE ? (uint32_t)rate : UINT32_MAX / SAMPLE;
}

/* Adds a time.  Returns the mean of all times but the two longest once SAMPLE of them are complete,
 * and 0 before. */
static inline uint32_t sample_add(struct lines_sample *sample, uint32_t ticks, uint64_t copies)
{
    sample->sum += ticks;
    if (ticks > sample->longest) {
        sample->second = sample->longest;
        sample->longest = ticks;
    } else if (ticks > sample->second) {
        sample->second = ticks;
    }
    if (++sample->count < SAMPLE)
        return 0;
    uint32_t mean = (sample->sum - sample->longest - sample->second) / (SAMPLE - 2);
    *sample = (struct lines_sample){ .due = copies + PAUSE };
    return mean > 0 ? mean : 1;
}

/* Reports whether a new time differs from the known time by more than half. */
static inline bool differs(uint32_t known, uint32_t seen)
{
    return known != 0 && (seen > known + known / 2 || known > seen + seen / 2);
}

/* Averages a new time with the known time.  Returns only the new time if the two differ much, as
 * the machine has then changed. */
static inline uint32_t merge(uint32_t known, uint32_t seen)
{
    bool old = known == 0 || differs(known, seen);

    return old ? seen : (uint32_t)(((uint64_t)known + seen) / 2);
}

/* Returns the class of a size.  The time per KB depends on the size, and on the stores of the
 * reader, so times of different classes are not compared. */
static inline unsigned size_class(enum lines_work work, size_t bytes)
{
    return (unsigned)(63 - __builtin_clzll(bytes)) / 2 * 2 + (work == LINES_STREAMED);
}

/* Reports whether a time of this work and size counts.  Copies replace reductions at once.  A class
 * of sizes replaces another once it has been used OTHERS times more often.  Then `*anew` is set,
 * because known times are of the former kind. */
static inline bool counts(struct lines_kind *kind, enum lines_work work, size_t bytes, bool *anew)
{
    unsigned size = size_class(work, bytes);

    work = work == LINES_STREAMED ? LINES_COPY : work;
    if (work < kind->work)
        return false;
    *anew = work > kind->work || (size != kind->size && ++kind->others >= OTHERS);
    if (*anew)
        *kind = (struct lines_kind){ .work = work, .size = size };
    else if (size == kind->size && kind->others > 0)
        kind->others--;
    return size == kind->size;
}

#endif
