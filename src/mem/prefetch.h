/* SPDX-License-Identifier: BSD-3-Clause */
/* prefetch.h - implements the prefetch hints on real processors, for mem_shm.h.  Included only by
 * mem.h. */
#ifndef HUD_PREFETCH_H
#define HUD_PREFETCH_H

enum { PREFETCH_STEP = 64 }; /* bytes: the shortest line */

/*
 * Parameters of mem_prefetch_next().
 *   AHEAD_TRIES  awaits before the first check of a next flag
 *   AHEAD_TRUST  prefetches until the next check; a prime, so that all posters are checked in turn
 *   AHEAD_PAUSE  calls, per rank, without prefetch after a first check that found nothing
 *   AHEAD_REST   the same after a later check, per rank except two
 * After a later check with a single poster, the prefetch is tried again at once, because these
 * prefetches may have caught up with the poster.  With several posters, another poster would be
 * checked then, hence the rest.
 */
enum { AHEAD_TRIES = 4, AHEAD_TRUST = 17, AHEAD_PAUSE = 64, AHEAD_REST = 32 };

/* Prefetches a line for writing.  The builtin is a prefetch for reading if the compiler may not
 * assume that the processor has the instruction. */
static inline void mem_prefetch_write(const char *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

MEM_FN void mem_prefetch_own(struct mem *m, const void *at, size_t bytes)
{
    if (bytes > m->policy->prefetch_bytes)
        return;
    for (size_t i = 0; i < bytes; i += PREFETCH_STEP)
        mem_prefetch_write((const char *)at + i);
}

MEM_FN void mem_prefetch_message(struct mem *m, const void *at, size_t bytes)
{
    if (bytes >= m->policy->message_bytes)
        mem_prefetch_own(m, at, bytes);
}

static inline bool mem_is_posted(mem_flag *f, uint64_t min)
{
    return (int64_t)(atomic_load_explicit(&f->value, memory_order_relaxed) - min) >= 0;
}

MEM_FN void mem_prefetch_next(struct mem *m, mem_flag *f, uint64_t min, mem_flag *next,
                              uint64_t next_min, size_t bytes)
{
    int *ahead = &m->team->ahead;

    if (bytes > m->policy->prefetch_bytes)
        return;
    if (!mem_is_posted(f, min)) {
        *ahead = *ahead < 0 ? *ahead : 0;
        return;
    }
    if (++*ahead <= AHEAD_TRIES)
        return;
    for (size_t i = 0; i < bytes; i += PREFETCH_STEP)
        __builtin_prefetch((const char *)next + i);
    bool first = *ahead == AHEAD_TRIES + 1;
    if (!first && *ahead != AHEAD_TRIES + 1 + AHEAD_TRUST)
        return;
    *ahead = mem_is_posted(next, next_min) ? AHEAD_TRIES + 1
             : first                       ? -AHEAD_PAUSE * m->size
                                           : -AHEAD_REST * (m->size - 2);
}

#endif
