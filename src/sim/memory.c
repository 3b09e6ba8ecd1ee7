/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - the calls of mem.h: each lets others run first, then does its work at once, then shows
 * the checker what it touched.
 *
 * A flag's own eight bytes count as read by every use of the flag; so a plain access to them, or a
 * lease, races with an unordered use.
 */
#include "sim/carry.h"
#include "sim/grow.h"
#include "sim/messages.h"

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

/* ---- bytes ---- */

/* The line before the team's window is the handover's. */
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
           line = own->user != 0 ? sizeof(mem_flag) : 0; /* before the team's window */

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

/* An algorithm does not find bytes of its window again at its next call: others work there, too. */
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

/* Plain bytes must not be a flag's. */
static void touch_plain(struct mem *m, const struct sim_spot *spot, size_t bytes,
                        sim_access *access)
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
    touch_plain(m, &spot, sizeof v, hud_bytes_read);
    if (m->s->clock)
        hud_clock_load(m, &spot, sizeof v);
    memcpy(&v, spot.twin, sizeof v);
    return v;
}

void hud_sim_put(struct mem *m, uint64_t *word, uint64_t v)
{
    hud_sim_event(m, "writes");
    struct sim_spot spot = hud_sim_spot(m, word, sizeof v);
    touch_plain(m, &spot, sizeof v, hud_bytes_write);
    memcpy(spot.twin, &v, sizeof v);
    if (m->s->clock)
        hud_clock_store(m, &spot, sizeof v);
}

/* A copy between shared memory and a view, or shared memory, in its time. */
static void carry(struct mem *m, enum copies_kind kind, const struct mem_span to,
                  const struct mem_span from, size_t bytes)
{
    hud_carry(m, kind, &to, 1, &from, 1, bytes);
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
    hud_carry(m, COPIES_CLAIM, &lines, 1, NULL, 0, bytes);
}

size_t hud_sim_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                  size_t max_bytes)
{
    size_t taken = max_bytes;

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
        taken = from->pack(from, spot.twin, offset_bytes, max_bytes);
    else
        memcpy(spot.twin, (const char *)from->base + offset_bytes, max_bytes);
    hud_sim_use(m, from, offset_bytes, taken, hud_bytes_read);
    touch_plain(m, &spot, taken, hud_bytes_write);
    carry(m, COPIES_COPY, shared_span(dst), view_span(from, offset_bytes), taken);
    return taken;
}

static void copy_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                     size_t bytes)
{
    const struct mem_span out = view_span(to, offset_bytes);
    size_t room = offset_bytes < to->bytes ? to->bytes - offset_bytes : 0;

    if (bytes > room) {
        m->truncated = true;
        bytes = room;
    }
    if (bytes == 0)
        return;
    struct sim_spot spot = hud_sim_spot(m, src, bytes);
    touch_plain(m, &spot, bytes, hud_bytes_read);
    hud_sim_use(m, to, offset_bytes, bytes, hud_bytes_write);
    if (to->unpack)
        to->unpack(to, spot.twin, offset_bytes, bytes);
    else
        memcpy((char *)to->base + offset_bytes, spot.twin, bytes);
    carry(m, hud_carry_out(m, &out, to->bytes), out, shared_span(src), bytes);
}

void hud_sim_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                 size_t bytes, bool last)
{
    hud_sim_event(m, "copies out");
    copy_out(m, to, src, offset_bytes, bytes);
    hud_sim_end_read(m, src, bytes, last);
}

void hud_sim_copy(struct mem *m, void *dst, const void *src, size_t bytes)
{
    hud_sim_event(m, "copies");
    if (bytes == 0)
        return;
    struct sim_spot to = hud_sim_spot(m, dst, bytes), from = hud_sim_spot(m, src, bytes);
    touch_plain(m, &from, bytes, hud_bytes_read);
    touch_plain(m, &to, bytes, hud_bytes_write);
    memmove(to.twin, from.twin, bytes);
    carry(m, COPIES_COPY, shared_span(dst), shared_span(src), bytes);
}

void *hud_sim_touch(struct mem *m, const void *shared, size_t bytes, sim_access *access)
{
    struct sim_spot spot = hud_sim_spot(m, shared, bytes);

    touch_plain(m, &spot, bytes, access);
    return spot.twin;
}

/*
 * Giving back takes no simulated time, and the lines stay where they are.  A modelled machine has
 * one price for a line that another core has (copies.h), whether that core has read or written it.
 * So the reader would lose as much time as the owner saves, or more.  A rank that compares the two
 * (mem/lines.c) does not give back there.
 */
void hud_sim_end_read(struct mem *m, const void *at, size_t bytes, bool last)
{
    if (bytes == 0 || !(last || hud_sim_mutates(m) & SIM_GIVE_BACK))
        return;
    m->self->now.what = "gives back";
    (void)hud_sim_touch(m, at, bytes, hud_bytes_write);
}

void hud_sim_refuse(struct mem *m, struct net *n, uint64_t theirs, uint64_t own)
{
    (void)n;
    hud_sim_fail(m->s, "a message of %llu bytes, where rank %d expects %llu, at %s:%d\n",
                 (unsigned long long)theirs, m->self->number, (unsigned long long)own,
                 m->self->now.file, m->self->now.line);
}
