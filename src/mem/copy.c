/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.c - copies that control the caches more closely than memcpy: copies with non-temporal
 * stores, and copies whose source lines are returned to their owner (lines.h).
 *
 * memcpy chooses its stores by the length of one call.  In a pipeline that length is one fragment,
 * so memcpy never uses non-temporal stores for a message of many fragments.  An ordinary store that
 * misses first reads the line.  A non-temporal store does not, and leaves the caches to the ring
 * through which the next fragment comes.
 *
 * Measurements: broadcasts with HUDDLE_STREAM=0 and 1 in lab/evidence/copies.csv.
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
    _mm_sfence(); /* a release store does not order these stores */
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

/* Packs through the stack, and writes with non-temporal stores. */
static size_t pack_nontemporal(void *dst, const struct hud_view *from, size_t offset_bytes,
                               size_t bytes)
{
    char aside[MEM_PIECE];
    size_t done = 0;

    while (done < bytes) {
        size_t left = bytes - done, max = left < sizeof aside ? left : sizeof aside,
               n = from->pack(from, aside, offset_bytes + done, max);
        hud_mem_stream_part((char *)dst + done, aside, n);
        done += n;
    }
    hud_mem_stream_end();
    return done;
}

/* Implements mem_in() for long fragments. */
size_t hud_mem_in_long(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                       size_t bytes)
{
    const struct lines_use use =
        hud_lines_begin_write(m, dst, bytes, from->pack ? LINES_PACKING : LINES_COPY);
    const char *src = (const char *)from->base + offset_bytes;
    bool nontemporal = (use.way & LINES_NONTEMPORAL) != 0;

    if (from->pack)
        bytes = nontemporal ? pack_nontemporal(dst, from, offset_bytes, bytes)
                            : from->pack(from, dst, offset_bytes, bytes);
    else if (nontemporal)
        hud_mem_stream(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
    hud_lines_end_write(m, &use, bytes);
    return bytes;
}

enum {
    LINE = 64,     /* bytes of the shortest cache line */
    AT_ONCE = 1024 /* bytes that stay in any L1 cache */
};

void hud_lines_return(void *shared, size_t bytes)
{
    volatile char *at = shared, *end = at + bytes;

    for (; at < end; at += LINE - (uintptr_t)at % LINE)
        *at = *at;
}

/* Copies `bytes` bytes and returns the source lines, in pieces that are still in the L1
 * cache. */
static void copy_and_return(void *dst, const void *src, size_t bytes, bool streams)
{
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < AT_ONCE ? bytes - at : AT_ONCE;
        if (streams)
            hud_mem_stream_part((char *)dst + at, (const char *)src + at, n);
        else
            memcpy((char *)dst + at, (const char *)src + at, n);
        hud_lines_return((char *)(uintptr_t)src + at, n);
    }
    if (streams)
        hud_mem_stream_end();
}

/* Copies between windows as the last reader.  The time includes writes to another window, so
 * copies out replace the time, as they replace a reduction's. */
void hud_mem_copy_last(const struct mem *m, void *dst, const void *src, size_t bytes)
{
    const struct lines_use use = hud_lines_begin_read(m, src, bytes, LINES_REDUCTION);

    if (use.way & LINES_RETURNED)
        copy_and_return(dst, src, bytes, false);
    else
        memcpy(dst, src, bytes);
    hud_lines_end_read(m, &use, bytes);
}

/* Implements mem_out() for long fragments.  A packed view cannot be copied in pieces, so its source
 * is returned as a whole. */
void hud_mem_out_long(const struct mem *m, const struct hud_view *to, const void *src,
                      size_t offset_bytes, size_t bytes, bool last)
{
    bool streams = m->policy->stream_bytes != 0 && to->bytes >= m->policy->stream_bytes;
    const struct lines_use use = hud_lines_begin_read(m, src, bytes,
                                                      to->unpack ? LINES_PACKING
                                                      : streams  ? LINES_STREAMED
                                                                 : LINES_COPY);
    bool returns = last && (use.way & LINES_RETURNED) != 0;
    void *dst = (char *)to->base + offset_bytes;

    if (to->unpack) {
        to->unpack(to, src, offset_bytes, bytes);
        if (returns)
            hud_lines_return((void *)(uintptr_t)src, bytes);
    } else if (returns) {
        copy_and_return(dst, src, bytes, streams);
    } else if (streams) {
        hud_mem_stream(dst, src, bytes);
    } else {
        memcpy(dst, src, bytes);
    }
    hud_lines_end_read(m, &use, bytes);
}
