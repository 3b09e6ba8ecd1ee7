/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - a reduction over spans by pieces: where a view is packed, through the stack; where
 * there is a second destination, so that it is copied from the first while that still lies in the
 * nearest cache; where sources are given back (lines.h), so that they still lie there.
 *
 * A long result is not written with non-temporal stores, as copy.c does: it takes longer
 * (docs/evidence/copies.csv).
 */
#include "mem/mem.h"

/* Bytes [done, done + bytes) of a span, packed into scratch if need be. */
static const void *read_at(struct mem *m, const struct mem_span *span, size_t done, size_t bytes,
                           char *scratch)
{
    if (!mem_span_packed(span))
        return mem_span_at(span) + done;
    mem_in_all(m, scratch, span->view, span->offset_bytes + done, bytes);
    return scratch;
}

static void write_at(const struct mem_span *span, size_t done, size_t bytes, const void *result)
{
    if (mem_span_packed(span))
        span->view->unpack(span->view, result, span->offset_bytes + done, bytes);
    else
        memcpy(mem_span_at(span) + done, result, bytes);
}

/* Any source that is another rank's: shared, and not the result so far. */
static const void *shared_source(const struct mem_span *to, const struct mem_span *from, int count)
{
    for (int i = count - 1; i >= 0; i--)
        if (from[i].shared && from[i].shared != to->shared)
            return from[i].shared;
    return NULL;
}

void hud_mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last)
{
    _Alignas(HUD_LINE) char in[MEM_PIECE], out[MEM_PIECE];
    const void *sources[MEM_SOURCES], *shared = shared_source(to, from, count);
    struct hud_lines_read read = { .timed = false };

    if (shared && bytes >= LINES_MIN)
        read = hud_lines_begin_read(m, shared);
    bool back = last && (read.way & LINES_BACK) != 0, pieces = back || also || mem_span_packed(to);
    for (int i = 0; i < count; i++)
        pieces = pieces || mem_span_packed(&from[i]);
    size_t max = !pieces ? bytes : MEM_PIECE / op->element_bytes * op->element_bytes;
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < max ? bytes - done : max;
        for (int i = 0; i < count; i++)
            sources[i] = read_at(m, &from[i], done, n, in);
        void *result = mem_span_packed(to) ? out : mem_span_at(to) + done;
        op->combine(op, result, sources, count, mem_elements(op, n));
        if (result == out)
            write_at(to, done, n, out);
        if (also)
            write_at(also, done, n, result);
        for (int i = 0; back && i < count; i++)
            if (from[i].shared && from[i].shared != to->shared)
                hud_lines_give_back((char *)from[i].shared + done, n);
    }
    hud_lines_end_read(m, &read, bytes);
}
