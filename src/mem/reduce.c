/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - a reduction over spans: straight from memory to memory where all lies in one run, by pieces through the stack where a view is packed.
 *
 * The second destination is copied from the first piece by piece, so that what is read for it still lies in the nearest cache.
 */
#include "mem/mem.h"

enum { PIECE = 4096 }; /* bytes at most, whole elements; one element is not larger (HUD_ELEMENT_MOST) */

static bool packed(const struct mem_span *span)
{
    return span && !span->shared && (span->view->pack || span->view->unpack);
}

/* Bytes [done, done + bytes) of a span, packed into scratch if need be. */
static const void *read_at(const struct mem_span *span, size_t done, size_t bytes, char *scratch)
{
    if (!packed(span))
        return mem_span_at(span) + done;
    for (size_t taken = 0; taken < bytes;)
        taken += span->view->pack(span->view, scratch + taken, span->offset_bytes + done + taken, bytes - taken);
    return scratch;
}

static void write_at(const struct mem_span *span, size_t done, size_t bytes, const void *result)
{
    if (packed(span))
        span->view->unpack(span->view, result, span->offset_bytes + done, bytes);
    else
        memmove(mem_span_at(span) + done, result, bytes);
}

void hud_mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to, const struct mem_span *also,
                    const struct mem_span *from, int count, size_t bytes)
{
    _Alignas(HUD_LINE) char in[PIECE], out[PIECE];
    const void *sources[MEM_SOURCES];
    bool pieces = also || packed(to);
    size_t element = op->element_bytes;

    (void)m;
    for (int i = 0; i < count; i++)
        pieces = pieces || packed(&from[i]);
    size_t most = pieces ? PIECE / element * element : bytes;
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < most ? bytes - done : most;
        for (int i = 0; i < count; i++)
            sources[i] = read_at(&from[i], done, n, in);
        void *result = packed(to) ? out : mem_span_at(to) + done;
        op->combine(op, result, sources, count, n / element);
        if (result == out)
            write_at(to, done, n, out);
        if (also)
            write_at(also, done, n, result);
    }
}
