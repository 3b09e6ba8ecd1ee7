/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * user_buffers.c - the owner of a view, the effect of calls on views, and single copies between two
 * ranks.
 *
 * A rank's buffers are identified by address.  Packed views, which only their owner can access, are
 * not checked byte by byte: a rank does not race with itself.
 */
#include "check/grow.h"
#include "check/time.h"
#include "coll/coll.h"

#include <string.h>

/* Sets the views of the rank's next call. */
void hud_sim_views(struct mem *m, const struct coll *c)
{
    struct sim_rank *r = m->self;
    int kind = hud_coll_kind(m->alg->coll), ranks = m->team->size,
        ins = coll_in_each(kind, c->root, m->rank) ? ranks : 1,
        outs = coll_out_each(kind, c->root, m->rank) ? ranks : 1;

    r->views = hud_grow(r->views, ins + outs, &r->views_room, sizeof *r->views);
    r->views_count = 0;
    for (int i = 0; c->in && i < ins; i++)
        r->views[r->views_count++] = c->in[i];
    for (int i = 0; c->out && i < outs; i++)
        r->views[r->views_count++] = c->out[i];
}

/* Returns the view of a rank's call that contains these bytes, or NULL if there is none. */
static const struct hud_view *holder(const struct sim_rank *r, const void *base,
                                     size_t offset_bytes, size_t bytes)
{
    for (int i = 0; i < r->views_count; i++) {
        const struct hud_view *v = &r->views[i];
        if (v->base && v->base == base && offset_bytes + bytes <= v->bytes)
            return v;
    }
    return NULL;
}

static void use(struct mem *m, struct sim_rank *owner, const void *at, size_t bytes,
                sim_access *access)
{
    const struct sim_event *now = &m->self->now;
    size_t first = (size_t)(uintptr_t)at, where = 0;

    hud_sim_race(m->s, now, access(&owner->user, first, first + bytes, now, m->self->clock, &where),
                 "the user buffer", owner->number, where);
}

void hud_sim_use(struct mem *m, const struct hud_view *view, size_t offset_bytes, size_t bytes,
                 sim_access *access)
{
    const struct sim_event *now = &m->self->now;

    if (!holder(m->self, view->base, offset_bytes, bytes))
        hud_sim_fail(m->s, "no view of its call: rank %d %s at %s:%d bytes %zu..%zu\n", now->rank,
                     now->what, now->file, now->line, offset_bytes, offset_bytes + bytes);
    if (!view->pack)
        use(m, m->self, (const char *)view->base + offset_bytes, bytes, access);
}

void hud_sim_own(struct mem *m, const char *what)
{
    struct sim_rank *r = m->self;
    size_t at = 0;

    r->now = sim_event_of(r, what, "call", (int)m->calls);
    hud_sim_race(m->s, &r->now, hud_bytes_read(&r->user, 0, SIZE_MAX, &r->now, r->clock, &at),
                 "the user buffer", r->number, at);
    hud_sim_race(m->s, &r->now, hud_bytes_write(&r->user, 0, SIZE_MAX, &r->now, r->clock, &at),
                 "the user buffer", r->number, at);
}

/* ---- single copy ---- */

uint64_t hud_sim_expose(struct mem *m, const struct hud_view *view)
{
    (void)m;
    return view->pack ? 0 : (uint64_t)(uintptr_t)view->base;
}

/* Returns the address of bytes that a rank of the team has exposed, and fails if no view has
 * them. */
static char *exposed_at(struct mem *m, int rank, uint64_t exposed, size_t offset_bytes,
                        size_t bytes)
{
    const struct sim_rank *owner = m->team->mem[rank].self;
    const struct hud_view *view =
        exposed == 0 ? NULL : holder(owner, (const void *)(uintptr_t)exposed, offset_bytes, bytes);
    const struct sim_event *now = &m->self->now;

    if (!view || view->pack)
        hud_sim_fail(m->s,
                     "nothing exposed: rank %d %s at %s:%d bytes up to %zu of rank %d, who has no "
                     "such view\n",
                     now->rank, now->what, now->file, now->line, offset_bytes + bytes, rank);
    return (char *)(uintptr_t)exposed + offset_bytes;
}

/* Returns the number of bytes copied by the simulated kernel, which sometimes refuses at any byte,
 * but never with a clock. */
static size_t let_pass(struct mem *m, size_t bytes)
{
    enum { REFUSES = 16 };

    if (bytes == 0 || m->s->clock)
        return bytes;
    return hud_sim_random(m->s, REFUSES - 1) == 0 ? hud_sim_random(m->s, bytes - 1) : bytes;
}

/* Records the use of this rank's end of a single copy.  Returns its address. */
static char *own_end(struct mem *m, const struct mem_span *span, size_t bytes, sim_access *access)
{
    const struct sim_event *now = &m->self->now;

    if (span->shared)
        return hud_sim_touch(m, span->shared, bytes, access);
    if (span->view->pack)
        hud_sim_fail(m->s, "a packed view: rank %d %s at %s:%d\n", now->rank, now->what, now->file,
                     now->line);
    hud_sim_use(m, span->view, span->offset_bytes, bytes, access);
    return (char *)span->view->base + span->offset_bytes;
}

size_t hud_sim_pull(struct mem *m, const struct mem_span *to, int rank, uint64_t exposed,
                    size_t offset_bytes, size_t bytes)
{
    hud_sim_event(m, "pulls");
    size_t room = to->shared                           ? bytes
                  : to->offset_bytes < to->view->bytes ? to->view->bytes - to->offset_bytes
                                                       : 0;
    size_t fits = bytes < room ? bytes : room, moved = let_pass(m, fits);
    const char *there = exposed_at(m, rank, exposed, offset_bytes, bytes);

    m->truncated = m->truncated || bytes > room;
    if (moved != 0) {
        struct sim_rank *other = m->team->mem[rank].self;
        const struct hud_view theirs = { .base = (char *)(uintptr_t)there };
        const struct mem_span from = { .view = &theirs };
        use(m, other, there, moved, hud_bytes_read);
        memmove(own_end(m, to, moved, hud_bytes_write), there, moved);
        hud_sim_mem_op(m, &(struct sim_mem_op){ SIM_KERNEL, to, &from, 1, 1, moved, other });
    }
    return moved == fits ? bytes : moved;
}

size_t hud_sim_push(struct mem *m, const struct mem_span *from, int rank, uint64_t exposed,
                    size_t offset_bytes, size_t bytes)
{
    hud_sim_event(m, "pushes");
    if (bytes == 0)
        return 0;
    char *there = exposed_at(m, rank, exposed, offset_bytes, bytes);
    size_t moved = let_pass(m, bytes);

    if (moved != 0) {
        struct sim_rank *other = m->team->mem[rank].self;
        const struct hud_view theirs = { .base = there };
        const struct mem_span to = { .view = &theirs };
        const char *here = own_end(m, from, moved, hud_bytes_read);
        use(m, other, there, moved, hud_bytes_write);
        memmove(there, here, moved);
        hud_sim_mem_op(m, &(struct sim_mem_op){ SIM_KERNEL, &to, from, 1, 1, moved, other });
    }
    return moved;
}
