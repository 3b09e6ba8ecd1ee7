/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reductions over spans in pieces.  Packed views go through the stack.  A second
 * destination is copied from the first while the first is still in the L1 cache.  Sources that are
 * returned (lines.h) are also still in the L1 cache.
 *
 * A long result is written to shared memory as copies are (lines.h).  Unlike in copy.c, a result is
 * never written to a view with non-temporal stores, because that takes longer
 * (lab/evidence/copies.csv).
 */
#include "mem/mem.h"

/* Returns the address of the bytes [done, done + bytes) of a span, which are packed into scratch if
 * necessary. */
static const void *read_at(const struct mem_span *span, size_t done, size_t bytes, char *scratch)
{
    if (!mem_span_packed(span))
        return mem_span_at(span) + done;
    for (size_t n = 0; n < bytes;)
        n += span->view->pack(span->view, scratch + n, span->offset_bytes + done + n, bytes - n);
    return scratch;
}

/* How a long reduction treats the lines of its sources, and of the shared memory that it writes. */
struct manner {
    struct lines_use read, write;
    bool reads, writes; /* a read of other ranks' lines is timed; shared memory is written */
    size_t read_bytes;  /* bytes read in the lines of all other ranks */
    bool returned[MEM_SOURCES], any_returned, nontemporal;
};

/* Decides how to treat each source, as its owner wishes.  A time of reading belongs to a single
 * way, and is taken only if all owners wish the same and nothing is packed.  The time covers the
 * bytes of all owners.  Each owner uses the resulting time per KB as its own. */
static void decide(struct manner *how, const struct mem *m, const struct mem_span *to,
                   const struct mem_span *also, const struct mem_span *from, int count,
                   size_t bytes, bool packed, bool last)
{
    const struct mem_span *written = to->shared ? to : also && also->shared ? also : NULL;
    const void *source = NULL;
    bool alike = true;
    unsigned first = 0;

    how->nontemporal = how->any_returned = false;
    how->read_bytes = 0;
    how->writes = written != NULL;
    if (how->writes)
        how->write = hud_lines_begin_write(m, written->shared, bytes, LINES_REDUCTION);
    if (how->writes)
        how->nontemporal = (how->write.way & LINES_NONTEMPORAL) != 0;
    for (int i = 0; i < count; i++) {
        bool mine = !from[i].shared || from[i].shared == to->shared;
        unsigned way = mine ? 0 : hud_lines_way(m, from[i].shared);
        how->returned[i] = last && (way & LINES_RETURNED) != 0;
        how->any_returned = how->any_returned || how->returned[i];
        if (mine)
            continue;
        alike = alike && (!source || way == first);
        first = way;
        source = from[i].shared;
        how->read_bytes += bytes;
    }
    how->reads = source && alike && !packed;
    if (how->reads)
        how->read = hud_lines_begin_read(m, source, how->read_bytes, LINES_REDUCTION);
}

static void finish(const struct manner *how, const struct mem *m, size_t bytes)
{
    if (how->nontemporal)
        hud_mem_stream_end();
    if (how->reads)
        hud_lines_end_read(m, &how->read, how->read_bytes);
    if (how->writes)
        hud_lines_end_write(m, &how->write, bytes);
}

/* Reports whether the result is first computed in a buffer: kernels cannot write to a packed view,
 * and must not write where non-temporal stores are required, as they use ordinary stores. */
static bool made_aside(const struct manner *how, const struct mem_span *to)
{
    return mem_span_packed(to) || (how->nontemporal && to->shared);
}

static void write_at(const struct manner *how, const struct mem_span *span, size_t done,
                     size_t bytes, const void *result)
{
    if (mem_span_packed(span))
        span->view->unpack(span->view, result, span->offset_bytes + done, bytes);
    else if (how->nontemporal && span->shared)
        hud_mem_stream_part(mem_span_at(span) + done, result, bytes);
    else
        memcpy(mem_span_at(span) + done, result, bytes);
}

/* Returns the size of a piece in bytes, so that a piece of all sources stays in the L1 cache. */
static size_t piece_bytes(const struct hud_op *op, int count)
{
    enum { NEAREST = 4 * MEM_PIECE };
    size_t max = NEAREST / (size_t)count < MEM_PIECE ? NEAREST / (size_t)count : MEM_PIECE;

    return max < op->element_bytes ? op->element_bytes
                                   : max / op->element_bytes * op->element_bytes;
}

void hud_mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last)
{
    _Alignas(HUD_LINE) char in[MEM_PIECE], out[MEM_PIECE];
    const void *sources[MEM_SOURCES];
    struct manner how = { .reads = false };
    bool packed = mem_span_packed(to);

    for (int i = 0; i < count; i++)
        packed = packed || mem_span_packed(&from[i]);
    if (bytes >= LINES_MIN)
        decide(&how, m, to, also, from, count, bytes, packed, last);
    bool pieces = packed || also || how.any_returned || made_aside(&how, to);
    size_t max = pieces ? piece_bytes(op, count) : bytes;
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < max ? bytes - done : max;
        for (int i = 0; i < count; i++)
            sources[i] = read_at(&from[i], done, n, in);
        void *result = made_aside(&how, to) ? out : mem_span_at(to) + done;
        op->combine(op, result, sources, count, mem_elements(op, n));
        if (result == out)
            write_at(&how, to, done, n, out);
        if (also)
            write_at(&how, also, done, n, result);
        for (int i = 0; how.any_returned && i < count; i++)
            if (how.returned[i])
                hud_lines_return((char *)from[i].shared + done, n);
    }
    finish(&how, m, bytes);
}
