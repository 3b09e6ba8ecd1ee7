/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.c - memory of a device as a hud_view.  Local to each rank, so that ranks with device buffers
 * and ranks with host buffers can take part in the same collective.
 *
 * The runtime copies runs of an element, several at a time.  Bytes between them are never written.
 * If a copy fails, the call continues so that no rank waits for this rank: the missing data is sent
 * as zeros, and the call returns an error in the end.
 */
#include "host/device/device.h"

#include <string.h>

enum { COPIES = 64 };

/* Pending copies, all in the same place. */
struct batch {
    struct hud_device_view *view;
    struct hud_device_place place;
    bool to_device;
    size_t count;
    struct hud_device_copy copies[COPIES];
};

/* ---- which memory ---------------------------------------------------------------------------- */

static bool is_same(const struct hud_device_place *a, const struct hud_device_place *b)
{
    return a->runtime == b->runtime && a->context == b->context && a->device == b->device &&
           a->managed == b->managed;
}

bool hud_device_view_ask(struct hud_device_view *view, const struct hud_device_span *span)
{
    struct hud_device_place other;

    if (!hud_device_present())
        return false;
    view->failed = false;
    view->mixed = span->absolute;
    if (span->absolute)
        return true;
    bool here = hud_device_ask(span->first, &view->place);
    if (span->last == span->first)
        return here;
    bool there = hud_device_ask(span->last, &other);
    view->mixed = here != there || (here && !is_same(&view->place, &other));
    return here || there;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void flush(struct batch *b)
{
    if (b->count > 0 && !b->view->failed &&
        !hud_device_copy(&b->place, b->copies, b->count, b->to_device))
        b->view->failed = true;
    b->count = 0;
}

/* Returns true if the run continues a plane of rows.  Then a single call copies many runs of a few
 * bytes. */
static bool add_row(struct hud_device_copy *last, const char *memory, const char *host,
                    size_t bytes)
{
    ptrdiff_t stride = memory - last->device;

    if (last->rows > 1)
        stride -= (ptrdiff_t)(last->rows - 1) * last->stride;
    if (bytes != last->bytes || host != last->host + last->rows * bytes ||
        (last->rows > 1 && stride != last->stride))
        return false;
    last->stride = stride;
    last->rows++;
    return true;
}

static void add(struct batch *b, char *memory, char *host, size_t bytes)
{
    struct hud_device_place place = b->view->place;

    if (b->view->mixed)
        hud_device_ask(memory, &place);
    bool same = b->count > 0 && is_same(&place, &b->place);
    if (same && add_row(&b->copies[b->count - 1], memory, host, bytes))
        return;
    if (b->count == COPIES || !same)
        flush(b);
    b->place = place;
    b->copies[b->count++] = (struct hud_device_copy){ memory, host, bytes, 1, 0 };
}

/* Adds the memory of packed bytes [offset, offset + bytes). */
static void add_runs(struct batch *b, char *host, size_t offset, size_t bytes)
{
    const struct hud_device_view *v = b->view;
    size_t element = offset / v->runs->bytes, inside = offset % v->runs->bytes;
    const struct hud_run *run = hud_runs_find(v->runs, inside),
                         *end = v->runs->run + v->runs->count;

    for (size_t done = 0, n; done < bytes; done += n, inside += n) {
        size_t left = run->from + run->bytes - inside;
        n = left < bytes - done ? left : bytes - done;
        add(b, v->first + (ptrdiff_t)element * v->extent + run->at + (inside - run->from),
            host + done, n);
        if (n == left && ++run == end) {
            run = v->runs->run;
            element++;
            inside -= v->runs->bytes;
        }
    }
}

static void copy(struct hud_device_view *view, char *host, size_t offset, size_t bytes,
                 bool to_device)
{
    struct batch b;

    if (bytes == 0)
        return;
    b.view = view;
    b.to_device = to_device;
    b.count = 0;
    if (view->runs)
        add_runs(&b, host, offset, bytes);
    else
        add(&b, view->first + offset, host, bytes);
    flush(&b);
}

size_t hud_device_pack(struct hud_device_view *view, void *dst, size_t offset, size_t bytes)
{
    copy(view, dst, offset, bytes, false);
    if (view->failed)
        memset(dst, 0, bytes);
    return bytes;
}

void hud_device_unpack(struct hud_device_view *view, const void *src, size_t offset, size_t bytes)
{
    copy(view, (char *)(uintptr_t)src, offset, bytes, true);
}
