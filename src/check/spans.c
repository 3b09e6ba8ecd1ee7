/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spans.c - mem_reduce and mem_move: read all bytes, combine or copy them to a buffer, then write.
 *
 * The requirements of mem.h on a reduction's spans are asserted: real shared memory combines spans
 * in place, piece by piece, with buffers for one packed source and one packed result.
 */
#include "check/grow.h"
#include "check/time.h"

#include <string.h>

static void take_operand(struct mem *m, const struct mem_span *from, void *to, size_t bytes)
{
    const struct hud_view *view = from->view;

    if (from->shared) {
        memcpy(to, hud_sim_touch(m, from->shared, bytes, hud_bytes_read), bytes);
        return;
    }
    hud_sim_use(m, view, from->offset_bytes, bytes, hud_bytes_read);
    if (!view->pack)
        memcpy(to, (const char *)view->base + from->offset_bytes, bytes);
    for (size_t copied = 0; view->pack && copied < bytes;)
        copied +=
            view->pack(view, (char *)to + copied, from->offset_bytes + copied, bytes - copied);
}

static void give_result(struct mem *m, const struct mem_span *to, const void *result, size_t bytes)
{
    const struct hud_view *view = to->view;

    if (to->shared) {
        memcpy(hud_sim_touch(m, to->shared, bytes, hud_bytes_write), result, bytes);
        return;
    }
    hud_sim_use(m, view, to->offset_bytes, bytes, hud_bytes_write);
    if (view->unpack)
        view->unpack(view, result, to->offset_bytes, bytes);
    else
        memcpy((char *)view->base + to->offset_bytes, result, bytes);
}

/* ---- requirements of mem_reduce ---- */

static bool packed(const struct mem_span *span)
{
    return !span->shared && (span->view->pack || span->view->unpack);
}

/* Returns the address of a span.  A packed view counts in its packed bytes, for comparison with
 * other spans of the view. */
static uintptr_t place_of(const struct mem_span *span)
{
    return span->shared ? (uintptr_t)span->shared
                        : (uintptr_t)span->view->base + span->offset_bytes;
}

static bool overlap(const struct mem_span *a, const struct mem_span *b, size_t bytes)
{
    uintptr_t one = place_of(a), other = place_of(b);

    return (one < other ? other - one : one - other) < bytes;
}

/* Reports whether a result overlaps a source without having the same address. */
static bool lies_across(const struct mem_span *to, const struct mem_span *from, int count,
                        size_t bytes)
{
    bool across = false;

    for (int i = 0; to && i < count; i++)
        across = across || (place_of(to) != place_of(&from[i]) && overlap(to, &from[i], bytes));
    return across;
}

static int count_packed(const struct mem_span *spans, int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++)
        sum += packed(&spans[i]);
    return sum;
}

/* Returns the condition that does not hold, or NULL if all hold. */
static const char *broken(const struct hud_op *op, const struct mem_span *to,
                          const struct mem_span *also, const struct mem_span *from, int count,
                          size_t bytes)
{
    if (count < 1 || count > MEM_SOURCES)
        return "too many sources, or none";
    if (bytes % op->element_bytes != 0)
        return "part of an element";
    if (lies_across(to, from, count, bytes) || lies_across(also, from, count, bytes))
        return "a result lies across a source";
    if (also && overlap(to, also, bytes))
        return "two results in one place";
    if (count_packed(from, count) > 1)
        return "two packed sources";
    return also && packed(to) && packed(also) ? "two packed results" : NULL;
}

/* ---- */

void hud_sim_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last)
{
    const void *sources[MEM_SOURCES];

    hud_sim_event(m, "reduces");
    if (bytes == 0)
        return;
    const char *why = broken(op, to, also, from, count, bytes);
    if (why)
        hud_sim_fail(
            m->s, "no reduction: %s: rank %d, %d sources of %zu bytes, elements of %zu, at %s:%d\n",
            why, m->rank, count, bytes, op->element_bytes, m->self->now.file, m->self->now.line);
    char *aside = hud_must(malloc((size_t)(count + 1) * bytes)),
         *result = aside + (size_t)count * bytes;
    for (int i = 0; i < count; i++) {
        take_operand(m, &from[i], aside + (size_t)i * bytes, bytes);
        sources[i] = aside + (size_t)i * bytes;
    }
    op->combine(op, result, sources, count, bytes / op->element_bytes);
    give_result(m, to, result, bytes);
    if (also)
        give_result(m, also, result, bytes);
    free(aside);
    const struct mem_span results[] = { *to, also ? *also : *to };
    hud_sim_mem_op(
        m, &(struct sim_mem_op){ SIM_REDUCE, results, from, also ? 2 : 1, count, bytes, NULL });
    for (int i = 0; i < count; i++)
        if (from[i].shared && from[i].shared != to->shared)
            hud_sim_end_read(m, from[i].shared, bytes, last);
}

void hud_sim_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                  size_t bytes)
{
    size_t room = to->shared                           ? bytes
                  : to->offset_bytes < to->view->bytes ? to->view->bytes - to->offset_bytes
                                                       : 0;

    hud_sim_event(m, "moves");
    m->truncated = m->truncated || bytes > room;
    bytes = bytes < room ? bytes : room;
    if (bytes == 0)
        return;
    char *aside = hud_must(malloc(bytes));
    take_operand(m, from, aside, bytes);
    give_result(m, to, aside, bytes);
    free(aside);
    hud_sim_mem_op(m, &(struct sim_mem_op){ SIM_MOVE, to, from, 1, 1, bytes, NULL });
}
