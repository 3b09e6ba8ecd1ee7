/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - teams, leases, and the guarantees of a collective. */
#include "check/grow.h"
#include "check/time.h"
#include "coll/coll.h"

#include <string.h>

struct sim_team *hud_sim_team_create(struct sim *s, int size, const int *members,
                                     size_t offset_bytes, size_t bytes)
{
    struct sim_team *t = hud_must(calloc(1, sizeof *t));

    *t = (struct sim_team){
        .s = s, .next = s->teams, .size = size, .offset_bytes = offset_bytes, .bytes = bytes
    };
    s->teams = t;
    t->joined = hud_order_create(sim_ranks(s));
    t->gathered = hud_order_create(sim_ranks(s));
    t->mem = hud_must(calloc((size_t)size, sizeof *t->mem));
    for (int r = 0; r < size; r++)
        t->mem[r] = (struct mem){ .s = s,
                                  .team = t,
                                  .self = &s->ranks[members[r]],
                                  .rank = r,
                                  .place = { .slot_bytes = bytes } };
    return t;
}

struct mem *hud_sim_team_mem(struct sim_team *t, int rank)
{
    return &t->mem[rank];
}

void hud_sim_region(struct mem *m, size_t offset_bytes, size_t bytes)
{
    m->place = (struct alg_place){ .slot_offset = offset_bytes, .slot_bytes = bytes };
}

/* ---- contracts ---- */

static void note_entry(struct mem *m)
{
    struct sim_team *t = m->team;
    int before = t->entries, size = t->size;

    if (m->calls >= (unsigned long)before) {
        t->entries = (int)m->calls + 1;
        t->entry = hud_grow(t->entry, t->entries * size, &t->entries_room, sizeof *t->entry);
        memset(t->entry + before * size, 0,
               (size_t)((t->entries - before) * size) * sizeof *t->entry);
    }
    t->entry[m->calls * (unsigned long)size + (unsigned long)m->rank] =
        order_time(m->self->clock, m->self->number);
}

/* Fails unless rank `of` has entered this call, and its entry happened before now. */
static void require_entry(struct mem *m, int of)
{
    const struct sim_team *t = m->team;
    int number = t->mem[of].self->number;
    uint32_t entered = t->entry[m->calls * (unsigned long)t->size + (unsigned long)of];

    if (entered == 0)
        hud_sim_fail(m->s,
                     "broken promise: rank %d returns from %s/%s, call %lu, and rank %d has not "
                     "entered it; its last step is at %s:%d\n",
                     m->rank, m->alg->coll, m->alg->name, m->calls, of, m->self->now.file,
                     m->self->now.line);
    if (of != m->rank && order_time(m->self->clock, number) < entered)
        hud_sim_fail(m->s,
                     "broken promise: rank %d returns from %s/%s, call %lu, but no chain of posts "
                     "and awaits connects rank %d's entry\n"
                     "  rank %d's last step is at %s:%d\n  rank %d's is at %s:%d\n",
                     m->rank, m->alg->coll, m->alg->name, m->calls, of, m->rank, m->self->now.file,
                     m->self->now.line, of, t->mem[of].self->now.file, t->mem[of].self->now.line);
}

/* A rank's call of a collective. */
struct contract {
    const struct coll *call;
    int kind;
};

/* Returns the bytes that this rank gets from another rank, or of a reduction's result.  The rank
 * knows no other blocks of a call. */
static size_t block_to_me(const void *host, int from, int to)
{
    const struct contract *of = host;
    const struct coll *c = of->call;

    if (c->block_bytes)
        return c->block_bytes[to];
    return coll_from_root(hud_collectives[of->kind].flags) ? c->out->bytes : c->out[from].bytes;
}

static void check_contract(struct mem *m, const struct coll *c)
{
    int kind = hud_coll_kind(m->alg->coll);
    const struct contract of = { c, kind };
    const struct coll_args args = { .bytes = c->bytes,
                                    .ranks = m->team->size,
                                    .root = c->root,
                                    .block = block_to_me,
                                    .host = &of };

    if (kind < 0)
        hud_sim_fail(m->s, "no collective is named %s: add a row to src/coll/coll.def\n",
                     m->alg->coll);
    for (int r = 0; r < m->team->size; r++)
        if (hud_collectives[kind].meaning->needs(&args, r, m->rank))
            require_entry(m, r);
}

/* Returns the handle on the ranks to which the guarantee applies: on a span, all of its ranks. */
static struct mem *all_of(struct mem *m)
{
    return m->team->whole ? &m->team->whole->mem[m->self->number] : m;
}

int hud_sim_call(struct mem *m, const struct alg *a, const struct coll *c)
{
    struct coll call = *c;
    struct mem *all = all_of(m);

    call.alg = a;
    m->alg = all->alg = a;
    m->truncated = false;
    m->place = *c->place;
    hud_sched_event(m, "enters", "call", (int)m->calls);
    hud_sim_views(all, c);
    if (m->s->clock)
        sim_time(m->s)->enter(m);
    hud_sim_own(m, "owns its buffer before it enters");
    note_entry(all);
    alg_run_of(a, c->place)(m, &call);
    if (m->s->clock)
        sim_time(m->s)->end(m->self);
    check_contract(all, c);
    hud_sim_own(m, "owns its buffer after it returns");
    all->calls++;
    if (all != m)
        m->calls++;
    m->alg = all->alg = NULL;
    hud_sim_region(m, 0, m->team->bytes);
    return m->truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}

/* ---- leases ---- */

/* Wakes the members, of which `last` is the last that has arrived. */
static void wake_met(struct sim_team *t, const struct sim_rank *last)
{
    t->arrived = 0;
    t->meetings++;
    hud_sched_moved(t->s);
    for (int r = 0; r < t->size; r++)
        if (t->mem[r].self->in == &t->mem[r] && t->mem[r].self->state == SIM_BLOCKED) {
            t->mem[r].self->state = SIM_READY;
            if (t->s->clock)
                sim_time(t->s)->met(t->mem[r].self, last);
        }
}

/* Waits until all members have arrived.  Returns whether this rank was the last. */
static bool meet(struct mem *m)
{
    struct sim_team *t = m->team;
    unsigned long round = t->meetings;
    bool last = ++t->arrived == t->size;

    if (last)
        wake_met(t, m->self);
    while (t->meetings == round)
        hud_sched_block(m->self);
    if (m->s->clock)
        sim_time(m->s)->meet(m->self);
    return last;
}

void hud_sim_meet(struct mem *m)
{
    hud_sched_event(m, "meets", "call", (int)m->calls);
    meet(m);
}

void hud_sim_gather(struct mem *m)
{
    struct sim_team *t = m->team;

    hud_sched_event(m, "gathers", "call", (int)m->calls);
    hud_order_join(t->joined, m->self->clock);
    sim_tick(m->self);
    if (meet(m)) /* no other rank continues before this rank's next call */
        hud_order_join(t->gathered, t->joined);
    hud_order_join(m->self->clock, t->gathered);
}

void hud_sim_lease(struct mem *m)
{
    struct sim_rank *r = m->self, *home = r->home;
    size_t first = m->team->offset_bytes, end = first + m->team->bytes, at = 0;

    hud_sched_event(m, "zeroes its slice", "lease", 0);
    hud_sim_race(m->s, &r->now, hud_bytes_write(&home->bytes, first, end, &r->now, r->clock, &at),
                 "the arena", home->number, at);
    for (size_t line = first / HUD_LINE; line < end / HUD_LINE; line++) {
        hud_flag_free(home->arena[line]);
        home->arena[line] = NULL;
    }
    memset(m->s->twin + (size_t)home->number * m->s->options.arena_bytes + first, 0, end - first);
}
