/* SPDX-License-Identifier: BSD-3-Clause */
/* prefetch.h - hints to real processors.  Included only by mem_shm.h. */
#ifndef HUD_PREFETCH_H
#define HUD_PREFETCH_H

enum { PREFETCH_STEP = 64 }; /* bytes: the shortest line */

/* The builtin means a read where the compiler may not assume the instruction. */
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
    enum { TRIES = 4, PAUSE = 64 }; /* awaits */
    int *ahead = &m->team->ahead;

    if (bytes > m->policy->prefetch_bytes)
        return;
    if (!mem_is_posted(f, min)) {
        *ahead = *ahead < 0 ? *ahead : 0;
    } else if (*ahead < TRIES) {
        (*ahead)++;
    } else {
        for (size_t i = 0; i < bytes; i += PREFETCH_STEP)
            __builtin_prefetch((const char *)next + i);
        if (*ahead == TRIES)
            *ahead = mem_is_posted(next, next_min) ? TRIES + 1 : -PAUSE;
    }
}

#endif
