/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.c - copies that tell the caches more than memcpy does: one whose destination does not go
 * into them, and one whose source leaves those of other processors.
 *
 * memcpy decides by the length of one call, which in a pipeline is a fragment's, so it never does
 * this for a message of many of them.  A store that misses reads the line first: one that streams
 * does not, and leaves the caches to the ring that the next fragment comes through.
 *
 * Broadcasts with HUDDLE_STREAM=0 and 1: docs/evidence/copies.csv.
 */
#include "mem/mem.h"

#if defined(__x86_64__)
#include <emmintrin.h>

enum { VECTOR = sizeof(__m128i), BLOCK = 4 * VECTOR };

void hud_mem_stream(void *dst, const void *src, size_t bytes)
{
    char *to = dst;
    const char *from = src;
    size_t head = (0 - (uintptr_t)dst) % BLOCK;

    head = head < bytes ? head : bytes;
    memcpy(to, from, head);
    for (; bytes - head >= BLOCK; head += BLOCK) {
        const __m128i *in = (const __m128i *)(const void *)(from + head);
        __m128i *out = (__m128i *)(void *)(to + head);
        __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    memcpy(to + head, from + head, bytes - head);
    _mm_sfence(); /* no release orders these stores */
}
#else
void hud_mem_stream(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}
#endif

/* A prefetch for writing a kilobyte ahead: the line leaves the caches of all other readers. */
void hud_mem_take(void *dst, const void *src, size_t bytes)
{
    enum { AHEAD = 1024, LINE = 64 };
    char *to = dst;
    const char *from = src;

    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < AHEAD ? bytes - at : AHEAD;
        for (size_t next = at + AHEAD; next < at + 2 * AHEAD && next < bytes; next += LINE)
            mem_prefetch_write(from + next);
        memcpy(to + at, from + at, n);
    }
}
