/* SPDX-License-Identifier: BSD-3-Clause */
/* posts.c - the calls of mem.h on flags: which post a reader sees, what it orders, which ranks
 * wake, and, with a clock, when. */
#include "check/time.h"

#include <string.h>

/* ---- flags ---- */

/* Returns the flag at address `f`, a mem_flag or mem_cell of `bytes` bytes. */
static struct sim_flag *flag_at(struct mem *m, const void *f, size_t bytes, struct sim_spot *spot)
{
    const struct sim_event *now = &m->self->now;

    *spot = hud_sim_spot(m, f, bytes);
    if (bytes == sizeof(mem_flag) && spot->at % HUD_LINE != 0)
        hud_sim_fail(m->s, "a flag that does not begin a line: rank %d %s at %s:%d\n", now->rank,
                     now->what, now->file, now->line);
    hud_sim_access(m, spot, sizeof(uint64_t), hud_bytes_read);
    struct sim_flag **flag = &spot->owner->arena[spot->at / HUD_LINE];
    while (*flag && (*flag)->at != spot->at)
        flag = &(*flag)->next;
    if (!*flag)
        *flag = hud_flag_create(sim_ranks(m->s), m->s->clock, spot->at);
    return *flag;
}

/* Records that the rank has seen a post, and acquires its released clock.  Returns its value. */
static uint64_t see(struct mem *m, struct sim_flag *flag, int post)
{
    struct sim_rank *r = m->self;
    const struct sim_post *p = &flag->posts[post];

    if (flag->seen)
        flag->seen[r->number] = post;
    if (p->by.rank >= 0 && p->by.rank != r->number && p->hops >= r->hops)
        r->hops = p->hops + 1;
    if (!(hud_sim_mutates(m) & SIM_DROP_ACQUIRE) && p->released)
        hud_order_join(r->clock, p->released);
    return p->value;
}

static void publish(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot,
                    const struct sim_post *p)
{
    if (m->s->clock)
        sim_time(m->s)->forget(m->self, flag);
    hud_flag_post(flag, p);
    m->s->posts++;
    sim_tick(m->self);
    hud_sched_moved(m->s);
    if (m->s->clock)
        sim_time(m->s)->wake_waiting(m->s, flag, spot);
    else
        hud_sched_wake(flag, p->value);
}

static void check_write(struct mem *m, const struct sim_flag *flag, const struct sim_spot *spot,
                        uint64_t v, bool add)
{
    const struct sim_post *last = flag_newest(flag);
    const struct sim_event *now = &m->self->now;

    if (!(add && last->add) && !order_before(&last->by, m->self->number, m->self->clock))
        hud_sim_race(m->s, now, &last->by, "a flag in the arena", spot->owner->number, spot->at);
    if ((int64_t)(v - last->value) <= 0)
        hud_sim_fail(m->s,
                     "a flag must grow: rank %d %s %llu at %s:%d over %llu by rank %d at %s:%d\n",
                     now->rank, now->what, (unsigned long long)v, now->file, now->line,
                     (unsigned long long)last->value, last->by.rank,
                     last->by.file ? last->by.file : "its lease", last->by.line);
}

static void post(struct mem *m, const void *f, size_t bytes, uint64_t v)
{
    struct sim_spot spot;

    hud_sim_event(m, "posts");
    if (m->s->clock)
        sim_time(m->s)->entry(m);
    struct sim_flag *flag = flag_at(m, f, bytes, &spot);
    check_write(m, flag, &spot, v, false);
    struct sim_post p = {
        .value = v, .by = m->self->now, .released = m->self->clock, .hops = m->self->hops
    };
    if (hud_sim_mutates(m) & SIM_DROP_RELEASE)
        p.released = NULL;
    if (m->s->clock)
        sim_time(m->s)->post(m, &spot, &p);
    publish(m, flag, &spot, &p);
}

void hud_sim_post(struct mem *m, mem_flag *f, uint64_t v)
{
    post(m, f, sizeof *f, v);
}

void hud_sim_post_cell(struct mem *m, mem_cell *c, uint64_t v)
{
    post(m, c, sizeof *c, v);
}

/* Adds to a flag.  The released clock includes the clocks released by earlier values, as in C11's
 * release sequences. */
uint64_t hud_sim_add(struct mem *m, mem_flag *f, uint64_t v)
{
    struct sim_spot spot;

    hud_sim_event(m, "adds");
    struct sim_flag *flag = flag_at(m, f, sizeof *f, &spot);
    uint64_t sum = flag_newest(flag)->value + v;
    check_write(m, flag, &spot, sum, true);
    const struct sim_order *before = flag_newest(flag)->released;
    bool releases = !(hud_sim_mutates(m) & SIM_DROP_RELEASE);
    see(m, flag, flag->count - 1);
    struct sim_post p = { .value = sum,
                          .by = m->self->now,
                          .add = true,
                          .released = releases ? m->self->clock : flag_newest(flag)->released,
                          .hops = m->self->hops };
    if (m->s->clock)
        sim_time(m->s)->add(m, &spot, &p);
    publish(m, flag, &spot, &p);
    if (releases && before)
        hud_order_join(flag_newest(flag)->released, before);
    if (m->s->clock)
        sim_time(m->s)->added(m, &spot);
    return sum;
}

uint64_t hud_sim_peek(struct mem *m, mem_flag *f)
{
    struct sim_spot spot;

    hud_sim_event(m, "peeks");
    struct sim_flag *flag = flag_at(m, f, sizeof *f, &spot);
    if (m->s->clock) {
        sim_time(m->s)->peek(m, flag, &spot);
        return see(m, flag, 0);
    }
    int newest = flag->count - 1, oldest = hud_flag_oldest(flag, m->self->number, m->self->clock);
    if (hud_sched_polls(m->self))
        oldest = newest;
    return see(m, flag, oldest + (int)hud_sim_random(m->s, (uint64_t)(newest - oldest)));
}

/* Waits for a value.  Relies on the oldest sufficient post, since the order of newer posts is not
 * guaranteed. */
static uint64_t await(struct mem *m, const void *f, size_t bytes, uint64_t min)
{
    struct sim_rank *r = m->self;
    struct sim_spot spot;

    hud_sim_event(m, "awaits");
    struct sim_flag *flag = flag_at(m, f, bytes, &spot);
    if (m->s->clock) {
        sim_time(m->s)->await(m, flag, &spot, min);
        return see(m, flag, 0);
    }
    if ((int64_t)(flag_newest(flag)->value - min) < 0)
        hud_sched_wait(r, flag, &spot, min);
    int post = hud_flag_oldest(flag, r->number, r->clock);
    while ((int64_t)(flag->posts[post].value - min) < 0)
        post++;
    return see(m, flag, post);
}

uint64_t hud_sim_await(struct mem *m, mem_flag *f, uint64_t min)
{
    return await(m, f, sizeof *f, min);
}

uint64_t hud_sim_await_cell(struct mem *m, mem_cell *c, uint64_t min)
{
    return await(m, c, sizeof *c, min);
}
