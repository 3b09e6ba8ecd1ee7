/* SPDX-License-Identifier: BSD-3-Clause */
/* carry.c - converts operands to addresses; bytes in the lines of flags are handled separately. */
#include "sim/carry.h"
#include "sim/grow.h"

#include <math.h>

struct operand {
    const struct mem_span *span;
    struct sim_spot spot; /* of shared memory */
    size_t beside;        /* of its first bytes: they are next to flags */
};

static struct operand operand_of(struct mem *m, const struct mem_span *span, size_t bytes)
{
    struct operand o = { .span = span };

    if (!span->shared)
        return o;
    o.spot = hud_sim_spot(m, span->shared, bytes);
    while (o.beside < bytes && o.spot.owner->arena[(o.spot.at + o.beside) / HUD_LINE])
        o.beside = (o.spot.at + o.beside) / HUD_LINE * HUD_LINE + HUD_LINE - o.spot.at;
    o.beside = o.beside < bytes ? o.beside : bytes;
    return o;
}

/* Where byte `done` of it lies, 0: in its own cache. */
static uintptr_t address(const struct operand *o, size_t done)
{
    const struct hud_view *view = o->span->view;

    if (o->span->shared)
        return done < o->beside ? 0 : (uintptr_t)o->span->shared + done;
    return view->pack || view->unpack ? 0 : (uintptr_t)view->base + o->span->offset_bytes + done;
}

/* What is in its own cache concerns nobody else. */
static bool alone(const struct copies_call *call)
{
    uintptr_t any = 0;

    for (int i = 0; i < call->froms; i++)
        any |= call->from[i];
    for (int i = 0; i < call->tos; i++)
        any |= call->to[i];
    return any == 0;
}

static void copy(struct mem *m, const struct copies_call *call)
{
    struct sim_rank *r = m->self;
    struct sim_part *p = clock_part(r);

    if (alone(call)) {
        r->now_ns += hud_copies_alone(p->copies, r->core, call);
        return;
    }
    hud_clock_until(r, r->now_ns);
    hud_copies_begin(p->copies, r->core, call, r->now_ns);
    p->next_ns = hud_copies_next(p->copies);
    hud_sched_block(r);
}

/* Bytes [done, done + bytes) of all operands. */
static void carry_part(struct mem *m, enum copies_kind kind, const struct operand *to, int tos,
                       const struct operand *from, int froms, size_t done, size_t bytes)
{
    struct copies_call call = {
        .kind = kind, .froms = froms, .tos = tos, .bytes = bytes, .process = m->self->process
    };

    if (bytes == 0)
        return;
    for (int i = 0; i < froms; i++)
        call.from[i] = address(&from[i], done);
    for (int i = 0; i < tos; i++)
        call.to[i] = address(&to[i], done);
    copy(m, &call);
}

void hud_carry(struct mem *m, enum copies_kind kind, const struct mem_span *to, int tos,
               const struct mem_span *from, int froms, size_t bytes)
{
    struct operand out[COPIES_TO], in[MEM_SOURCES];
    size_t beside = 0;

    if (kind != COPIES_CLAIM)
        m->self->moved_bytes += (size_t)(tos + froms) * bytes;
    if (!m->s->clock || bytes == 0)
        return;
    m->self->step.bytes = bytes;
    for (int i = 0; i < froms; i++) {
        in[i] = operand_of(m, &from[i], bytes);
        beside = in[i].beside > beside ? in[i].beside : beside;
        if (in[i].beside != 0)
            hud_clock_load(m, &in[i].spot, in[i].beside);
    }
    for (int i = 0; i < tos; i++) {
        out[i] = operand_of(m, &to[i], bytes);
        beside = out[i].beside > beside ? out[i].beside : beside;
    }
    carry_part(m, kind, out, tos, in, froms, 0, beside);
    for (int i = 0; i < tos; i++)
        if (out[i].beside != 0)
            (kind == COPIES_CLAIM ? hud_clock_claim : hud_clock_store)(m, &out[i].spot,
                                                                       out[i].beside);
    carry_part(m, kind, out, tos, in, froms, beside, bytes - beside);
    hud_clock_pause(m);
}

enum copies_kind hud_carry_out(const struct mem *m, const struct mem_span *to, size_t message_bytes)
{
    const struct sim_machine *machine = m->s->clock ? m->s->clock->machine : NULL;

    if (!machine || machine->copy.past_gbps <= 0 || to->shared || to->view->unpack)
        return COPIES_COPY;
    return (double)message_bytes > machine->caches.shared_bytes / 2 / m->team->size ? COPIES_PAST
                                                                                    : COPIES_COPY;
}

enum copies_kind hud_carry_move(const struct mem *m, const struct mem_span *to, size_t bytes)
{
    const struct sim_machine *machine = m->s->clock ? m->s->clock->machine : NULL;

    if (!machine || machine->copy.past_gbps <= 0 || (!to->shared && to->view->unpack))
        return COPIES_COPY;
    return (double)bytes >= machine->caches.private_bytes ? COPIES_PAST : COPIES_COPY;
}

void hud_carry_views(struct mem *m)
{
    struct sim_rank *r = m->self;
    const struct sim_machine *machine = m->s->clock->machine;

    for (int i = 0; i < r->views_count; i++) {
        const struct hud_view *v = &r->views[i];
        if (v->base && v->bytes != 0 && !v->pack && !v->unpack)
            hud_copies_home(clock_part(r)->copies, (uintptr_t)v->base, v->bytes,
                            machine->node[r->core]);
    }
}

void hud_sim_wrote(struct mem *m, const void *at, size_t bytes)
{
    if (m->s->clock && bytes != 0)
        hud_copies_touch(clock_part(m->self)->copies, m->self->core, (uintptr_t)at, bytes);
}

/* Of the first node. */
int hud_sim_resources(const struct sim *s)
{
    return s->clock ? hud_copies_ways(s->clock->part->copies)->resources : 0;
}

struct sim_traffic hud_sim_traffic(const struct sim *s, int resource)
{
    const struct sim_part *p = s->clock->part;
    const struct sim_ways *w = hud_copies_ways(p->copies);
    struct sim_traffic t = { .gbps = hud_ways_gbps(w, resource),
                             .bytes = hud_copies_carried(p->copies, resource) };

    hud_ways_name(w, resource, t.name);
    if (resource < hud_links_count(p->links))
        t.bytes += hud_links_get(p->links, resource)->bytes;
    return t;
}

/* ---- what moves bytes ---- */

static void step(struct sim *s, struct sim_part *p)
{
    double now_ns = hud_copies_next(p->copies);
    int core = hud_copies_step(p->copies);

    if (core >= 0)
        hud_clock_ready(&s->ranks[p->rank_on[core]], now_ns);
    p->next_ns = hud_copies_next(p->copies);
}

void hud_carry_create(struct sim *s, struct sim_clock *c)
{
    const struct sim_machine *m = c->machine;
    size_t bytes = s->options.arena_bytes;

    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        p->copies = hud_copies_create(m, p->links);
        p->rank_on = hud_must(calloc((size_t)m->cores, sizeof *p->rank_on));
        p->next_ns = INFINITY;
    }
    for (int r = 0; r < sim_ranks(s); r++) {
        int core = s->options.core[r];
        struct sim_part *p = &c->part[c->parts > 1 ? s->options.node_of[r] : 0];
        p->rank_on[core] = r;
        hud_copies_home(p->copies, (uintptr_t)s->shown + (size_t)r * bytes, bytes,
                        hud_clock_node(s, core));
    }
    c->run = step;
}

void hud_carry_free(struct sim_clock *c)
{
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        hud_copies_free(p->copies);
        free(p->rank_on);
    }
}
