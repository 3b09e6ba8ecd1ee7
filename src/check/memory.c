/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - the calls of mem.h.  Each lets other ranks run first, then does its work at once, then
 * reports its accesses to the checker.
 *
 * A flag's own eight bytes count as read by every use of the flag.  So a plain access to them, or a
 * lease, races with an unordered use.
 */
#include "check/grow.h"
#include "check/time.h"

#include <string.h>

/* ---- data ---- */

int hud_sim_rank(const struct mem *m)
{
    return m->rank;
}

int hud_sim_size(const struct mem *m)
{
    return m->team->size;
}

void *hud_sim_slot(struct mem *m, int rank)
{
    const struct sim_team *t = m->team;

    if (rank < 0 || rank >= t->size)
        hud_sim_fail(
            m->s, "no such rank: rank %d asks for the slot of rank %d, after its call at %s:%d\n",
            m->rank, rank, m->self->now.file, m->self->now.line);
    size_t arena = (size_t)t->mem[rank].self->home->number * m->s->options.arena_bytes;
    return m->s->shown + arena + t->offset_bytes + m->place.slot_offset;
}

void *hud_sim_window(struct mem *m, int rank)
{
    return (char *)hud_sim_slot(m, rank) - m->place.slot_offset + m->place.window_offset;
}

uint64_t hud_sim_get(struct mem *m, const uint64_t *word)
{
    uint64_t v;

    hud_sim_event(m, "reads");
    struct sim_spot spot = hud_sim_spot(m, word, sizeof v);
    hud_sim_touch_at(m, &spot, sizeof v, hud_bytes_read);
    if (m->s->clock)
        sim_time(m->s)->load(m, &spot, sizeof v);
    memcpy(&v, spot.twin, sizeof v);
    return v;
}

void hud_sim_put(struct mem *m, uint64_t *word, uint64_t v)
{
    hud_sim_event(m, "writes");
    struct sim_spot spot = hud_sim_spot(m, word, sizeof v);
    hud_sim_touch_at(m, &spot, sizeof v, hud_bytes_write);
    memcpy(spot.twin, &v, sizeof v);
    if (m->s->clock)
        sim_time(m->s)->store(m, &spot, sizeof v);
}

/* Runs a copy between two spans, in simulated time. */
static void move_bytes(struct mem *m, enum sim_mem_op_kind kind, const struct mem_span to,
                       const struct mem_span from, size_t bytes)
{
    hud_sim_mem_op(m, &(struct sim_mem_op){ kind, &to, &from, 1, 1, bytes, NULL });
}

static struct mem_span shared_span(const void *shared)
{
    return (struct mem_span){ .shared = (void *)(uintptr_t)shared };
}

static struct mem_span view_span(const struct hud_view *view, size_t offset_bytes)
{
    return (struct mem_span){ .view = view, .offset_bytes = offset_bytes };
}

void hud_sim_claim(struct mem *m, const void *at, size_t bytes)
{
    const struct mem_span lines = shared_span(at);

    if (!m->s->clock || bytes == 0)
        return;
    hud_sim_event(m, "claims");
    hud_sim_spot(m, at, bytes);
    hud_sim_mem_op(m, &(struct sim_mem_op){ SIM_CLAIM, &lines, NULL, 1, 0, bytes, NULL });
}

size_t hud_sim_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                  size_t max_bytes)
{
    size_t copied = max_bytes;

    hud_sim_event(m, "copies in");
    if (max_bytes == 0)
        return 0;
    struct sim_spot spot = hud_sim_spot(m, dst, max_bytes);
    if (offset_bytes + max_bytes > from->bytes)
        hud_sim_fail(m->s,
                     "past the end of the view: rank %d copies in at %s:%d bytes %zu..%zu of %zu\n",
                     m->rank, m->self->now.file, m->self->now.line, offset_bytes,
                     offset_bytes + max_bytes - 1, from->bytes);
    if (from->pack)
        copied = from->pack(from, spot.twin, offset_bytes, max_bytes);
    else
        memcpy(spot.twin, (const char *)from->base + offset_bytes, max_bytes);
    hud_sim_use(m, from, offset_bytes, copied, hud_bytes_read);
    hud_sim_touch_at(m, &spot, copied, hud_bytes_write);
    move_bytes(m, SIM_COPY, shared_span(dst), view_span(from, offset_bytes), copied);
    return copied;
}

static void copy_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                     size_t bytes)
{
    size_t room = offset_bytes < to->bytes ? to->bytes - offset_bytes : 0;

    if (bytes > room) {
        m->truncated = true;
        bytes = room;
    }
    if (bytes == 0)
        return;
    struct sim_spot spot = hud_sim_spot(m, src, bytes);
    hud_sim_touch_at(m, &spot, bytes, hud_bytes_read);
    hud_sim_use(m, to, offset_bytes, bytes, hud_bytes_write);
    if (to->unpack)
        to->unpack(to, spot.twin, offset_bytes, bytes);
    else
        memcpy((char *)to->base + offset_bytes, spot.twin, bytes);
    move_bytes(m, SIM_OUT, view_span(to, offset_bytes), shared_span(src), bytes);
}

void hud_sim_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                 size_t bytes, bool last)
{
    hud_sim_event(m, "copies out");
    copy_out(m, to, src, offset_bytes, bytes);
    hud_sim_end_read(m, src, bytes, last);
}

void hud_sim_copy(struct mem *m, void *dst, const void *src, size_t bytes, bool last)
{
    hud_sim_event(m, "copies");
    if (bytes == 0)
        return;
    struct sim_spot to = hud_sim_spot(m, dst, bytes), from = hud_sim_spot(m, src, bytes);
    hud_sim_touch_at(m, &from, bytes, hud_bytes_read);
    hud_sim_touch_at(m, &to, bytes, hud_bytes_write);
    memmove(to.twin, from.twin, bytes);
    move_bytes(m, SIM_COPY, shared_span(dst), shared_span(src), bytes);
    hud_sim_end_read(m, src, bytes, last);
}

void hud_sim_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own)
{
    (void)n;
    hud_sim_fail(m->s, "a message of %llu bytes, where rank %d expects %llu, at %s:%d\n",
                 (unsigned long long)theirs, m->self->number, (unsigned long long)own,
                 m->self->now.file, m->self->now.line);
}
