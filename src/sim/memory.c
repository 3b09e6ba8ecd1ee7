/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - the calls of mem.h: each lets others run first, then does its work at once, then shows the checker what it touched.
 *
 * A flag's own eight bytes count as read by every use of the flag; so a plain access to them, or a lease, races with an unordered use.
 */
#include "sim/grow.h"
#include "sim/world.h"

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

static const char *file_end(const char *path, size_t length)
{
    size_t whole = strlen(path);

    return whole > length ? path + whole - length : path;
}

/* What the mutation drops of the current call. */
static int dropped(struct mem *m)
{
    const struct sim_options *o = &m->s->options;
    const struct sim_event *now = &m->self->now;

    if (!o->mutate_file || now->line != o->mutate_line || strcmp(file_end(now->file, strlen(o->mutate_file)), o->mutate_file) != 0)
        return 0;
    m->s->mutated++;
    return o->mutate;
}

/* ---- bytes ---- */

struct spot {
    struct sim_rank *owner;
    size_t at; /* in its arena */
    char *twin;
};

static struct spot spot_of(struct mem *m, const void *p, size_t bytes)
{
    struct sim *s = m->s;
    const struct sim_event *now = &m->self->now;
    size_t at = (size_t)((uintptr_t)p - (uintptr_t)s->shown), arena = at / s->options.arena_bytes;
    size_t first = m->team->offset_bytes + m->region_offset_bytes;

    if (arena >= (size_t)sim_ranks(s))
        hud_sim_fail(s, "not shared memory: rank %d %s at %s:%d, address %p\n", now->rank, now->what, now->file, now->line, p);
    size_t within = at % s->options.arena_bytes;
    if (within < first || within + bytes > first + m->region_bytes)
        hud_sim_fail(s, "outside its region of %zu bytes: rank %d %s at %s:%d, bytes %td..%td of rank %zu's\n", m->region_bytes, now->rank,
                     now->what, now->file, now->line, (ptrdiff_t)(within - first), (ptrdiff_t)(within - first + bytes) - 1, arena);
    return (struct spot){ &s->ranks[arena], within, s->twin + at };
}

static void touch(struct mem *m, const struct spot *spot, size_t bytes, sim_access *access)
{
    size_t at = 0;
    const struct sim_event *other = access(&spot->owner->bytes, spot->at, spot->at + bytes, &m->self->now, m->self->clock, &at);

    hud_sim_race(m->s, &m->self->now, other, "the arena", spot->owner->number, at);
}

/* Plain bytes must not be a flag's. */
static void touch_plain(struct mem *m, const struct spot *spot, size_t bytes, sim_access *access)
{
    const struct sim_event *now = &m->self->now;

    for (size_t line = spot->at / HUD_LINE; bytes != 0 && line <= (spot->at + bytes - 1) / HUD_LINE; line++)
        if (spot->owner->arena[line] && spot->at < line * HUD_LINE + sizeof(uint64_t) && spot->at + bytes > line * HUD_LINE)
            hud_sim_fail(m->s, "plain access to a flag: rank %d %s at %s:%d the bytes of the flag at %zu of rank %d's arena\n", now->rank,
                         now->what, now->file, now->line, line * HUD_LINE, spot->owner->number);
    touch(m, spot, bytes, access);
}

/* ---- flags ---- */

static struct sim_flag *flag_at(struct mem *m, const mem_flag *f, struct spot *spot)
{
    const struct sim_event *now = &m->self->now;

    *spot = spot_of(m, f, sizeof *f);
    if (spot->at % HUD_LINE != 0)
        hud_sim_fail(m->s, "a flag that does not begin a line: rank %d %s at %s:%d\n", now->rank, now->what, now->file, now->line);
    touch(m, spot, sizeof(uint64_t), hud_bytes_read);
    struct sim_flag **flag = &spot->owner->arena[spot->at / HUD_LINE];
    if (!*flag)
        *flag = hud_flag_create(sim_ranks(m->s));
    return *flag;
}

/* The rank has seen a post and goes on with what it released. */
static uint64_t see(struct mem *m, struct sim_flag *flag, int post)
{
    struct sim_rank *r = m->self;
    const struct sim_post *p = &flag->posts[post];

    flag->seen[r->number] = post;
    if (p->by.rank >= 0 && p->by.rank != r->number && p->hops >= r->hops)
        r->hops = p->hops + 1;
    if (!(dropped(m) & SIM_DROP_ACQUIRE) && p->released)
        order_join(r->clock, p->released, sim_ranks(m->s));
    return p->value;
}

static void publish(struct mem *m, struct sim_flag *flag, const struct sim_post *p)
{
    struct sim *s = m->s;

    hud_flag_post(flag, p, sim_ranks(s));
    s->posts++;
    sim_tick(m->self);
    hud_sched_moved(s);
    for (int i = 0; i < sim_ranks(s); i++) {
        struct sim_rank *r = &s->ranks[i];
        if (r->state == SIM_BLOCKED && r->wait == flag && (int64_t)(p->value - r->wait_least) >= 0)
            r->state = SIM_READY;
    }
}

static void check_write(struct mem *m, const struct sim_flag *flag, const struct spot *spot, uint64_t v, bool add)
{
    const struct sim_post *last = flag_newest(flag);
    const struct sim_event *now = &m->self->now;

    if (!(add && last->add) && !order_before(&last->by, m->self->number, m->self->clock))
        hud_sim_race(m->s, now, &last->by, "a flag in the arena", spot->owner->number, spot->at);
    if ((int64_t)(v - last->value) <= 0)
        hud_sim_fail(m->s, "a flag must grow: rank %d %s %llu at %s:%d over %llu by rank %d at %s:%d\n", now->rank, now->what,
                     (unsigned long long)v, now->file, now->line, (unsigned long long)last->value, last->by.rank,
                     last->by.file ? last->by.file : "its lease", last->by.line);
}

void hud_sim_post(struct mem *m, mem_flag *f, uint64_t v)
{
    struct spot spot;

    hud_sim_event(m, "posts");
    struct sim_flag *flag = flag_at(m, f, &spot);
    check_write(m, flag, &spot, v, false);
    struct sim_post p = { .value = v, .by = m->self->now, .released = m->self->clock, .hops = m->self->hops };
    if (dropped(m) & SIM_DROP_RELEASE)
        p.released = NULL;
    publish(m, flag, &p);
}

/* The released clock carries what the values before it released, as C11's release sequences do. */
uint64_t hud_sim_add(struct mem *m, mem_flag *f, uint64_t v)
{
    struct spot spot;

    hud_sim_event(m, "adds");
    struct sim_flag *flag = flag_at(m, f, &spot);
    uint64_t sum = flag_newest(flag)->value + v;
    check_write(m, flag, &spot, sum, true);
    uint32_t *before = flag_newest(flag)->released;
    bool releases = !(dropped(m) & SIM_DROP_RELEASE);
    see(m, flag, flag->count - 1);
    struct sim_post p = {
        .value = sum, .by = m->self->now, .add = true, .released = releases ? m->self->clock : before, .hops = m->self->hops
    };
    publish(m, flag, &p);
    if (releases && before)
        order_join(flag_newest(flag)->released, before, sim_ranks(m->s));
    return sum;
}

uint64_t hud_sim_peek(struct mem *m, mem_flag *f)
{
    struct spot spot;

    hud_sim_event(m, "peeks");
    struct sim_flag *flag = flag_at(m, f, &spot);
    int newest = flag->count - 1, oldest = hud_flag_oldest(flag, m->self->number, m->self->clock);
    if (m->self->polls++ >= SIM_PATIENCE)
        oldest = newest;
    return see(m, flag, oldest + (int)hud_sim_random(m->s, (uint64_t)(newest - oldest)));
}

/* Rests on the oldest post that will do: what a newer one would order as well is not promised. */
uint64_t hud_sim_await(struct mem *m, mem_flag *f, uint64_t least)
{
    struct sim_rank *r = m->self;
    struct spot spot;

    hud_sim_event(m, "awaits");
    struct sim_flag *flag = flag_at(m, f, &spot);
    if ((int64_t)(flag_newest(flag)->value - least) < 0) {
        r->wait = flag;
        r->wait_arena = spot.owner->number;
        r->wait_offset_bytes = spot.at;
        r->wait_least = least;
        hud_sched_block(r);
        r->wait = NULL;
    }
    int post = hud_flag_oldest(flag, r->number, r->clock);
    while ((int64_t)(flag->posts[post].value - least) < 0)
        post++;
    return see(m, flag, post);
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
        hud_sim_fail(m->s, "no such rank: rank %d asks for the slot of rank %d, after its call at %s:%d\n", m->rank, rank,
                     m->self->now.file, m->self->now.line);
    size_t arena = (size_t)t->mem[rank].self->number * m->s->options.arena_bytes;
    return m->s->shown + arena + t->offset_bytes + m->region_offset_bytes;
}

uint64_t hud_sim_get(struct mem *m, const uint64_t *word)
{
    uint64_t v;

    hud_sim_event(m, "reads");
    struct spot spot = spot_of(m, word, sizeof v);
    touch_plain(m, &spot, sizeof v, hud_bytes_read);
    memcpy(&v, spot.twin, sizeof v);
    return v;
}

void hud_sim_put(struct mem *m, uint64_t *word, uint64_t v)
{
    hud_sim_event(m, "writes");
    struct spot spot = spot_of(m, word, sizeof v);
    touch_plain(m, &spot, sizeof v, hud_bytes_write);
    memcpy(spot.twin, &v, sizeof v);
}

size_t hud_sim_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes, size_t most_bytes)
{
    size_t taken = most_bytes;

    hud_sim_event(m, "copies in");
    if (most_bytes == 0)
        return 0;
    struct spot spot = spot_of(m, dst, most_bytes);
    if (offset_bytes + most_bytes > from->bytes)
        hud_sim_fail(m->s, "past the end of the view: rank %d copies in at %s:%d bytes %zu..%zu of %zu\n", m->rank, m->self->now.file,
                     m->self->now.line, offset_bytes, offset_bytes + most_bytes - 1, from->bytes);
    if (from->pack)
        taken = from->pack(from, spot.twin, offset_bytes, most_bytes);
    else
        memcpy(spot.twin, (const char *)from->base + offset_bytes, most_bytes);
    hud_sim_use(m, from, offset_bytes, taken, hud_bytes_read);
    touch_plain(m, &spot, taken, hud_bytes_write);
    return taken;
}

void hud_sim_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes, size_t bytes)
{
    size_t room = offset_bytes < to->bytes ? to->bytes - offset_bytes : 0;

    hud_sim_event(m, "copies out");
    if (bytes > room) {
        m->truncated = true;
        bytes = room;
    }
    if (bytes == 0)
        return;
    struct spot spot = spot_of(m, src, bytes);
    touch_plain(m, &spot, bytes, hud_bytes_read);
    hud_sim_use(m, to, offset_bytes, bytes, hud_bytes_write);
    if (to->unpack)
        to->unpack(to, spot.twin, offset_bytes, bytes);
    else
        memcpy((char *)to->base + offset_bytes, spot.twin, bytes);
}

void hud_sim_copy(struct mem *m, void *dst, const void *src, size_t bytes)
{
    hud_sim_event(m, "copies");
    if (bytes == 0)
        return;
    struct spot to = spot_of(m, dst, bytes), from = spot_of(m, src, bytes);
    touch_plain(m, &from, bytes, hud_bytes_read);
    touch_plain(m, &to, bytes, hud_bytes_write);
    memmove(to.twin, from.twin, bytes);
}

void *hud_sim_touch(struct mem *m, const void *shared, size_t bytes, sim_access *access)
{
    struct spot spot = spot_of(m, shared, bytes);

    touch_plain(m, &spot, bytes, access);
    return spot.twin;
}
