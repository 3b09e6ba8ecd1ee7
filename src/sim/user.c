/* SPDX-License-Identifier: BSD-3-Clause */
/* user.c - buffers of the ranks' users: whose a view is, what its owner's calls mean for it, and single copies between two of them. */
#include "sim/world.h"

#include <string.h>

static bool holds(const struct sim_rank *r, const struct hud_view *view)
{
    uintptr_t base = (uintptr_t)r->buf.base, at = (uintptr_t)view->base;

    return base != 0 && at >= base && (at == base || (at < base + r->buf.bytes && !view->pack));
}

static void use(struct mem *m, struct sim_rank *owner, const struct hud_view *view, size_t offset_bytes, size_t bytes, sim_access *access)
{
    const struct sim_event *now = &m->self->now;
    size_t at = 0, first = (size_t)((uintptr_t)view->base - (uintptr_t)owner->buf.base) + offset_bytes;

    hud_sim_race(m->s, now, access(&owner->user, first, first + bytes, now, m->self->clock, &at), "the user buffer", owner->number, at);
}

void hud_sim_use(struct mem *m, const struct hud_view *view, size_t offset_bytes, size_t bytes, sim_access *access)
{
    struct sim *s = m->s;
    struct sim_rank *owner = m->self;
    const struct sim_event *now = &m->self->now;

    for (int r = 0; r < sim_ranks(s) && !holds(owner, view); r++)
        owner = &s->ranks[r];
    if (!holds(owner, view))
        hud_sim_fail(s, "no user's buffer: rank %d %s at %s:%d\n", now->rank, now->what, now->file, now->line);
    use(m, owner, view, offset_bytes, bytes, access);
}

void hud_sim_own(struct mem *m, const char *what)
{
    struct sim_rank *r = m->self;
    size_t at = 0;

    r->now = sim_event_of(r, what, "call", (int)m->calls);
    hud_sim_race(m->s, &r->now, hud_bytes_read(&r->user, 0, SIZE_MAX, &r->now, r->clock, &at), "the user buffer", r->number, at);
    hud_sim_race(m->s, &r->now, hud_bytes_write(&r->user, 0, SIZE_MAX, &r->now, r->clock, &at), "the user buffer", r->number, at);
}

/* ---- single copy ---- */

uint64_t hud_sim_expose(struct mem *m, const struct hud_view *view)
{
    (void)m;
    return view->pack ? 0 : (uint64_t)(uintptr_t)view->base;
}

/* The rank of the team that has exposed a view which holds these bytes. */
static struct sim_rank *exposer(struct mem *m, int rank, uint64_t exposed, size_t end)
{
    struct sim_rank *owner = m->team->mem[rank].self;
    const struct hud_view *view = &owner->buf;
    const struct sim_event *now = &m->self->now;

    if (view->pack || exposed == 0 || (uint64_t)(uintptr_t)view->base != exposed || end > view->bytes)
        hud_sim_fail(m->s, "nothing exposed: rank %d %s at %s:%d bytes up to %zu of rank %d, whose view is %s and holds %zu\n", now->rank,
                     now->what, now->file, now->line, end, rank, view->pack ? "packed" : "contiguous", view->bytes);
    return owner;
}

/* Now and then the kernel refuses, at any byte. */
static size_t let_pass(struct mem *m, size_t bytes)
{
    enum { REFUSES = 16 };

    return hud_sim_random(m->s, REFUSES - 1) == 0 ? hud_sim_random(m->s, bytes - 1) : bytes;
}

static size_t move(struct mem *m, struct sim_rank *to, struct sim_rank *from, size_t offset_bytes, size_t bytes)
{
    size_t moved = bytes == 0 ? 0 : let_pass(m, bytes);

    use(m, from, &from->buf, offset_bytes, moved, hud_bytes_read);
    use(m, to, &to->buf, offset_bytes, moved, hud_bytes_write);
    memcpy((char *)to->buf.base + offset_bytes, (const char *)from->buf.base + offset_bytes, moved);
    return moved;
}

/* Only the buffer of the rank's own call is moved. */
static void check_own(struct mem *m, const struct hud_view *view)
{
    const struct sim_event *now = &m->self->now;

    if (view->pack || view->base != m->self->buf.base)
        hud_sim_fail(m->s, "no view of its call: rank %d %s at %s:%d\n", now->rank, now->what, now->file, now->line);
}

size_t hud_sim_pull(struct mem *m, const struct hud_view *to, int rank, uint64_t exposed, size_t offset_bytes, size_t bytes)
{
    size_t room = offset_bytes < to->bytes ? to->bytes - offset_bytes : 0, fits = bytes < room ? bytes : room;

    hud_sim_event(m, "pulls");
    check_own(m, to);
    m->truncated = m->truncated || bytes > room;
    size_t moved = move(m, m->self, exposer(m, rank, exposed, offset_bytes + bytes), offset_bytes, fits);
    return moved == fits ? bytes : moved;
}

size_t hud_sim_push(struct mem *m, const struct hud_view *from, int rank, uint64_t exposed, size_t offset_bytes, size_t bytes)
{
    hud_sim_event(m, "pushes");
    if (bytes == 0)
        return 0;
    check_own(m, from);
    return move(m, exposer(m, rank, exposed, offset_bytes + bytes), m->self, offset_bytes, bytes);
}
