/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.c - copies that tell the caches more than memcpy does: one whose destination does not go
 * into them, and one whose source is given back (lines.h).
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

void hud_mem_stream_part(void *dst, const void *src, size_t bytes)
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
}

void hud_mem_stream_end(void)
{
    _mm_sfence(); /* no release orders these stores */
}
#else
void hud_mem_stream_part(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

void hud_mem_stream_end(void)
{
}
#endif

void hud_mem_stream(void *dst, const void *src, size_t bytes)
{
    hud_mem_stream_part(dst, src, bytes);
    hud_mem_stream_end();
}

enum { LINE = 64, AT_ONCE = 1024 }; /* bytes: the shortest line; what stays in any nearest cache */

void hud_lines_give_back(void *shared, size_t bytes)
{
    volatile char *at = shared, *end = at + bytes;

    for (; at < end; at += LINE - (uintptr_t)at % LINE)
        *at = *at;
}

/* Copies what is given back, by pieces that are still in the nearest cache then. */
static void copy_back(void *dst, const void *src, size_t bytes, bool streams)
{
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < AT_ONCE ? bytes - at : AT_ONCE;
        if (streams)
            hud_mem_stream_part((char *)dst + at, (const char *)src + at, n);
        else
            memcpy((char *)dst + at, (const char *)src + at, n);
        hud_lines_give_back((char *)(uintptr_t)src + at, n);
    }
    if (streams)
        hud_mem_stream_end();
}

/* Carries out mem_out of long fragments.  A packed one cannot be cut, so it is given back as a
 * whole. */
void hud_mem_out_long(const struct mem *m, const struct hud_view *to, const void *src,
                      size_t offset_bytes, size_t bytes, bool last)
{
    bool streams = m->policy->stream_bytes != 0 && to->bytes >= m->policy->stream_bytes;
    const struct lines_use use = hud_lines_begin_read(m, src, !to->unpack && !streams);
    bool back = last && (use.way & LINES_BACK) != 0;
    void *dst = (char *)to->base + offset_bytes;

    if (to->unpack) {
        to->unpack(to, src, offset_bytes, bytes);
        if (back)
            hud_lines_give_back((void *)(uintptr_t)src, bytes);
    } else if (back) {
        copy_back(dst, src, bytes, streams);
    } else if (streams) {
        hud_mem_stream(dst, src, bytes);
    } else {
        memcpy(dst, src, bytes);
    }
    hud_lines_end_read(m, &use, bytes);
}
