/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.c - accesses of the calls of mem.h and net.h: where their bytes are, and the checks of
 * each access.
 */
#include "check/messages.h"

#include <string.h>

static struct {
    const char *file;
    int line;
} here;

void hud_sim_at(const char *file, int line)
{
    here.file = file;
    here.line = line;
}

void hud_sim_event(struct mem *m, const char *what)
{
    hud_sched_event(m, what, here.file, here.line);
}

const char *hud_sim_file_end(const char *path, size_t bytes)
{
    size_t whole = strlen(path);

    return whole > bytes ? path + whole - bytes : path;
}

int hud_sim_mutates(struct mem *m)
{
    const struct sim_options *o = &m->s->options;
    const struct sim_event *now = &m->self->now;

    if (!o->mutate_file || now->line != o->mutate_line ||
        strcmp(hud_sim_file_end(now->file, strlen(o->mutate_file)), o->mutate_file) != 0)
        return 0;
    m->s->mutated++;
    return o->mutate;
}

/* Fails unless the access is by the window's handover, which alone may use the line before the
 * window. */
static void check_handover(struct mem *m)
{
    static const char handover[] = "alg/window.c";
    const struct sim_event *now = &m->self->now;

    if (strcmp(hud_sim_file_end(now->file, strlen(handover)), handover) != 0)
        hud_sim_fail(m->s,
                     "the line of the window's handover: rank %d %s at %s:%d, and only %s may\n",
                     now->rank, now->what, now->file, now->line, handover);
}

struct sim_spot hud_sim_spot(struct mem *m, const void *p, size_t bytes)
{
    struct sim *s = m->s;
    const struct sim_event *now = &m->self->now;
    size_t at = (size_t)((uintptr_t)p - (uintptr_t)s->shown), arena = at / s->options.arena_bytes;
    const struct alg_place *own = &m->place;
    size_t first = m->team->offset_bytes + own->slot_offset,
           window = m->team->offset_bytes + own->window_offset,
           line = own->user != 0 ? sizeof(mem_flag) : 0; /* the handover's line before the window */

    if (arena >= (size_t)s->options.ranks)
        hud_sim_fail(s, "not shared memory: rank %d %s at %s:%d, address %p\n", now->rank,
                     now->what, now->file, now->line, p);
    size_t within = at % s->options.arena_bytes;
    bool in_slot = within >= first && within + bytes <= first + own->slot_bytes,
         in_window =
             within + line >= window && within + bytes <= window + mem_lines(own->window_bytes);
    in_window = in_window && own->window_bytes != 0;
    if (!in_slot && !in_window)
        hud_sim_fail(
            s,
            "outside its region of %zu bytes: rank %d %s at %s:%d, bytes %td..%td of rank %zu's\n",
            own->slot_bytes + own->window_bytes, now->rank, now->what, now->file, now->line,
            (ptrdiff_t)(within - first), (ptrdiff_t)(within - first + bytes) - 1, arena);
    if (in_window && within < window)
        check_handover(m);
    return (struct sim_spot){ &s->ranks[arena], within, s->twin + at,
                              in_window && within >= window };
}

void hud_sim_access(struct mem *m, const struct sim_spot *spot, size_t bytes, sim_access *access)
{
    size_t at = 0;
    const struct sim_event *other =
        access(&spot->owner->bytes, spot->at, spot->at + bytes, &m->self->now, m->self->clock, &at);

    hud_sim_race(m->s, &m->self->now, other, "the arena", spot->owner->number, at);
}

/* Fails if a read byte of the window was not written in this call, since other algorithms use the
 * window between calls. */
static void check_stale(struct mem *m, const struct sim_spot *spot, size_t bytes)
{
    const struct sim_event *now = &m->self->now;
    size_t at = 0;
    const struct sim_event *left =
        hud_bytes_stale(&spot->owner->bytes, spot->at, spot->at + bytes, now->call, &at);

    if (left && left->rank < 0)
        hud_sim_fail(m->s,
                     "nobody has written it: rank %d %s at %s:%d, byte %zu of rank %d's arena, in "
                     "its window\n",
                     now->rank, now->what, now->file, now->line, at, spot->owner->number);
    else if (left)
        hud_sim_fail(m->s,
                     "left by an earlier call: rank %d %s at %s:%d, in call %u, byte %zu of rank "
                     "%d's arena, in its window\n"
                     "  rank %d %s at %s:%d, in call %u\n",
                     now->rank, now->what, now->file, now->line, now->call - 1, at,
                     spot->owner->number, left->rank, left->what, left->file, left->line,
                     left->call - 1);
}

void hud_sim_touch_at(struct mem *m, const struct sim_spot *spot, size_t bytes, sim_access *access)
{
    const struct sim_event *now = &m->self->now;

    for (size_t line = spot->at / HUD_LINE; bytes != 0 && line <= (spot->at + bytes - 1) / HUD_LINE;
         line++)
        for (const struct sim_flag *f = spot->owner->arena[line]; f; f = f->next)
            if (spot->at < f->at + sizeof(uint64_t) && spot->at + bytes > f->at)
                hud_sim_fail(m->s,
                             "plain access to a flag: rank %d %s at %s:%d the bytes of the flag at "
                             "%zu of rank %d's arena\n",
                             now->rank, now->what, now->file, now->line, f->at,
                             spot->owner->number);
    if (m->s->ends)
        hud_messages_touch(m, spot, bytes, access);
    hud_sim_access(m, spot, bytes, access);
    if (spot->window && access == hud_bytes_read)
        check_stale(m, spot, bytes);
}

void *hud_sim_touch(struct mem *m, const void *shared, size_t bytes, sim_access *access)
{
    struct sim_spot spot = hud_sim_spot(m, shared, bytes);

    hud_sim_touch_at(m, &spot, bytes, access);
    return spot.twin;
}

void hud_sim_mem_op(struct mem *m, const struct sim_mem_op *c)
{
    if (c->kind != SIM_CLAIM && c->kind != SIM_RETURN)
        m->self->moved_bytes += (size_t)(c->tos + c->froms) * c->bytes;
    if (m->s->clock && c->bytes != 0)
        sim_time(m->s)->mem_op(m, c);
}

/* Records a last reader's write.  A model of time decides whether the rank returns the lines, as
 * ranks do by their clocks (mem/lines.c). */
void hud_sim_end_read(struct mem *m, const void *at, size_t bytes, bool last)
{
    if (bytes == 0 || !(last || hud_sim_mutates(m) & SIM_RETURN_LINES))
        return;
    m->self->now.what = "returns lines";
    (void)hud_sim_touch(m, at, bytes, hud_bytes_write);
    const struct mem_span lines = { .shared = (void *)(uintptr_t)at };
    if (m->s->clock)
        hud_sim_mem_op(m, &(struct sim_mem_op){ SIM_RETURN, &lines, NULL, 1, 0, bytes, NULL });
}
