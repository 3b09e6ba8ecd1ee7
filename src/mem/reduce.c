/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - a reduction over spans by pieces: where a view is packed, through the stack; where
 * there is a second destination, so that it is copied from the first while that still lies in the
 * nearest cache; where sources are given back (lines.h), so that they still lie there.
 *
 * A long result is written to shared memory as copies are (lines.h), but to a view never with
 * non-temporal stores, as copy.c does: that takes longer (docs/evidence/copies.csv).
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

/* What a long reduction does with lines: of its sources, and of shared memory that it writes. */
struct manner {
    struct hud_lines_read read;
    bool back, past;
};

/* Any source that is another rank's: shared, and not the result so far. */
static const void *shared_source(const struct mem_span *to, const struct mem_span *from, int count)
{
    for (int i = count - 1; i >= 0; i--)
        if (from[i].shared && from[i].shared != to->shared)
            return from[i].shared;
    return NULL;
}

static struct manner manner_of(const struct mem *m, const struct mem_span *to,
                               const struct mem_span *also, const void *source, bool last)
{
    struct manner how = { .back = false };

    if (source)
        how.read = hud_lines_begin_read(m, source);
    how.back = last && (how.read.way & LINES_BACK) != 0;
    how.past = (to->shared || (also && also->shared)) && (hud_lines_own(m) & LINES_PAST) != 0;
    return how;
}

/* Kernels use ordinary stores: where they must not, or cannot, write, the result is made aside. */
static bool made_aside(const struct manner *how, const struct mem_span *to)
{
    return mem_span_packed(to) || (how->past && to->shared);
}

static void write_at(const struct manner *how, const struct mem_span *span, size_t done,
                     size_t bytes, const void *result)
{
    if (mem_span_packed(span))
        span->view->unpack(span->view, result, span->offset_bytes + done, bytes);
    else if (how->past && span->shared)
        hud_mem_stream_part(mem_span_at(span) + done, result, bytes);
    else
        memcpy(mem_span_at(span) + done, result, bytes);
}

/* Bytes of a piece: all where nothing wants less. */
static size_t piece_bytes(const struct manner *how, const struct hud_op *op,
                          const struct mem_span *to, const struct mem_span *also,
                          const struct mem_span *from, int count, size_t bytes)
{
    bool pieces = how->back || also || made_aside(how, to);

    for (int i = 0; i < count; i++)
        pieces = pieces || mem_span_packed(&from[i]);
    return pieces ? MEM_PIECE / op->element_bytes * op->element_bytes : bytes;
}

void hud_mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last)
{
    _Alignas(HUD_LINE) char in[MEM_PIECE], out[MEM_PIECE];
    const void *sources[MEM_SOURCES];
    struct manner how = { .back = false };

    if (bytes >= LINES_MIN)
        how = manner_of(m, to, also, shared_source(to, from, count), last);
    size_t max = piece_bytes(&how, op, to, also, from, count, bytes);
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < max ? bytes - done : max;
        for (int i = 0; i < count; i++)
            sources[i] = read_at(m, &from[i], done, n, in);
        void *result = made_aside(&how, to) ? out : mem_span_at(to) + done;
        op->combine(op, result, sources, count, mem_elements(op, n));
        if (result == out)
            write_at(&how, to, done, n, out);
        if (also)
            write_at(&how, also, done, n, result);
        for (int i = 0; how.back && i < count; i++)
            if (from[i].shared && from[i].shared != to->shared)
                hud_lines_give_back((char *)from[i].shared + done, n);
    }
    if (how.past)
        hud_mem_stream_end();
    hud_lines_end_read(m, &how.read, bytes);
}
