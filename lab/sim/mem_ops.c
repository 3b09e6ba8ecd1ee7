/* SPDX-License-Identifier: BSD-3-Clause */
/* mem_ops.c - converts operands to addresses.  Handles bytes in the lines of flags separately. */
#include "lab/sim/mem_ops.h"
#include "check/grow.h"

#include <math.h>

struct operand {
    const struct mem_span *span;
    struct sim_spot spot; /* the place of shared memory */
    size_t flag_bytes;    /* number of the first bytes, which share lines with flags */
};

static struct operand operand_of(struct mem *m, const struct mem_span *span, size_t bytes)
{
    struct operand o = { .span = span };

    if (!span->shared)
        return o;
    o.spot = hud_sim_spot(m, span->shared, bytes);
    while (o.flag_bytes < bytes && o.spot.owner->arena[(o.spot.at + o.flag_bytes) / HUD_LINE])
        o.flag_bytes = (o.spot.at + o.flag_bytes) / HUD_LINE * HUD_LINE + HUD_LINE - o.spot.at;
    o.flag_bytes = o.flag_bytes < bytes ? o.flag_bytes : bytes;
    return o;
}

/* Returns the address of byte `done` of an operand, or 0 for a byte in the core's own cache. */
static uintptr_t address(const struct operand *o, size_t done)
{
    const struct hud_view *view = o->span->view;

    if (o->span->shared)
        return done < o->flag_bytes ? 0 : (uintptr_t)o->span->shared + done;
    return view->pack || view->unpack ? 0 : (uintptr_t)view->base + o->span->offset_bytes + done;
}

/* Reports whether all operands are in the core's own cache, so that no other core is affected. */
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
        timed(r)->now_ns += hud_copies_alone(p->copies, timed(r)->core, call);
        return;
    }
    hud_clock_until(r, timed(r)->now_ns);
    hud_copies_begin(p->copies, timed(r)->core, call, timed(r)->now_ns);
    p->next_ns = hud_copies_next(p->copies);
    hud_sched_block(r);
}

struct carried {
    enum copies_kind kind;
    int process; /* COPIES_KERNEL: the core of the other rank */
    struct operand to[COPIES_TO], from[MEM_SOURCES];
    int tos, froms;
};

/* Runs bytes [done, done + bytes) of all operands. */
static void carry_part(struct mem *m, const struct carried *w, size_t done, size_t bytes)
{
    struct copies_call call = {
        .kind = w->kind, .froms = w->froms, .tos = w->tos, .bytes = bytes, .process = w->process
    };

    if (bytes == 0)
        return;
    for (int i = 0; i < w->froms; i++)
        call.from[i] = address(&w->from[i], done);
    for (int i = 0; i < w->tos; i++)
        call.to[i] = address(&w->to[i], done);
    copy(m, &call);
}

/*
 * Returns how mem_out copies a part of a message, and how mem_move copies: with non-temporal stores
 * if the message is too long for the caches (src/core/team/policy.c) and the machine has them.
 */
static enum copies_kind streams(const struct mem *m, const struct mem_span *to, bool is_long)
{
    const struct sim_machine *machine = m->s->clock->machine;
    bool can = machine->copy.nontemporal_gbps > 0 && (to->shared || !to->view->unpack);

    return can && is_long ? COPIES_NONTEMPORAL : COPIES_COPY;
}

static enum copies_kind kind_of(const struct mem *m, const struct sim_mem_op *c)
{
    static const enum copies_kind kinds[] = { [SIM_COPY] = COPIES_COPY,
                                              [SIM_CLAIM] = COPIES_CLAIM,
                                              [SIM_REDUCE] = COPIES_REDUCE,
                                              [SIM_KERNEL] = COPIES_KERNEL };
    const struct machine_caches *caches = &m->s->clock->machine->caches;

    if (c->kind == SIM_OUT)
        return streams(m, c->to,
                       (double)c->to->view->bytes > caches->shared_bytes / 2 / m->team->size);
    if (c->kind == SIM_MOVE)
        return streams(m, c->to, (double)c->bytes >= caches->private_bytes);
    return kinds[c->kind];
}

/* Reports whether the rank returns lines after a read: the lines of a long copy (LINES_MIN in
 * mem/lines.h), if the owner gains more than the rank loses. */
static bool returns(const struct mem *m, const struct operand *lines, size_t bytes)
{
    const struct sim_rank *owner = lines->spot.owner;

    return bytes >= 4096 && owner != m->self &&
           hud_copies_returns(clock_part(m->self)->copies, timed(m->self)->core, timed(owner)->core,
                              address(lines, lines->flag_bytes), bytes - lines->flag_bytes);
}

static void end_read(struct mem *m, const struct sim_mem_op *c)
{
    struct carried w = { .kind = COPIES_RETURN, .tos = 1 };

    w.to[0] = operand_of(m, &c->to[0], c->bytes);
    if (!returns(m, &w.to[0], c->bytes))
        return;
    carry_part(m, &w, w.to[0].flag_bytes, c->bytes - w.to[0].flag_bytes);
}

void hud_mem_op(struct mem *m, const struct sim_mem_op *c)
{
    if (c->kind == SIM_RETURN) {
        end_read(m, c);
        return;
    }
    struct carried w = { .kind = kind_of(m, c),
                         .process = c->other ? timed(c->other)->core : 0,
                         .tos = c->tos,
                         .froms = c->froms };
    size_t flag_bytes = 0;

    timed(m->self)->step.bytes = c->bytes;
    for (int i = 0; i < c->froms; i++) {
        w.from[i] = operand_of(m, &c->from[i], c->bytes);
        flag_bytes = w.from[i].flag_bytes > flag_bytes ? w.from[i].flag_bytes : flag_bytes;
        if (w.from[i].flag_bytes != 0)
            hud_clock_load(m, &w.from[i].spot, w.from[i].flag_bytes);
    }
    for (int i = 0; i < c->tos; i++) {
        w.to[i] = operand_of(m, &c->to[i], c->bytes);
        flag_bytes = w.to[i].flag_bytes > flag_bytes ? w.to[i].flag_bytes : flag_bytes;
    }
    carry_part(m, &w, 0, flag_bytes);
    for (int i = 0; i < c->tos; i++)
        if (w.to[i].flag_bytes != 0)
            (w.kind == COPIES_CLAIM ? hud_clock_claim : hud_clock_store)(m, &w.to[i].spot,
                                                                         w.to[i].flag_bytes);
    carry_part(m, &w, flag_bytes, c->bytes - flag_bytes);
    hud_clock_pause(m);
}

void hud_mem_ops_views(struct mem *m)
{
    struct sim_rank *r = m->self;
    const struct sim_machine *machine = m->s->clock->machine;

    for (int i = 0; i < r->views_count; i++) {
        const struct hud_view *v = &r->views[i];
        if (v->base && v->bytes != 0 && !v->pack && !v->unpack)
            hud_copies_home(clock_part(r)->copies, (uintptr_t)v->base, v->bytes,
                            machine->node[timed(r)->core]);
    }
}

void hud_sim_wrote(struct mem *m, const void *at, size_t bytes)
{
    if (m->s->clock && bytes != 0)
        hud_copies_touch(clock_part(m->self)->copies, timed(m->self)->core, (uintptr_t)at, bytes);
}

/* Returns the resources of the first node, like hud_sim_traffic. */
int hud_sim_resources(const struct sim *s)
{
    return s->clock ? hud_copies_rates(s->clock->part->copies)->resources : 0;
}

struct sim_traffic hud_sim_traffic(const struct sim *s, int resource)
{
    const struct sim_part *p = s->clock->part;
    const struct sim_rates *w = hud_copies_rates(p->copies);
    struct sim_traffic t = { .gbps = hud_rates_gbps(w, resource),
                             .bytes = hud_copies_carried(p->copies, resource) };

    hud_rates_name(w, resource, t.name);
    if (resource < hud_links_count(p->links))
        t.bytes += hud_links_get(p->links, resource)->bytes;
    return t;
}

/* ---- the engine that moves bytes ---- */

static void step(struct sim *s, struct sim_part *p)
{
    double now_ns = hud_copies_next(p->copies);
    int core = hud_copies_step(p->copies);

    if (core >= 0)
        hud_clock_ready(&s->ranks[p->rank_on[core]], now_ns);
    p->next_ns = hud_copies_next(p->copies);
}

void hud_mem_ops_create(struct sim *s, struct sim_clock *c)
{
    const struct sim_machine *m = c->machine;
    size_t bytes = s->options.arena_bytes;

    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        p->copies = hud_copies_create(m, p->links);
        p->rank_on = hud_must(calloc((size_t)m->cores, sizeof *p->rank_on));
        p->next_ns = INFINITY;
    }
    for (int r = 0; r < sim_ranks(s); r++) {
        int core = c->rank[r].core;
        struct sim_part *p = &c->part[c->rank[r].node];
        p->rank_on[core] = r;
        hud_copies_home(p->copies, (uintptr_t)s->shown + (size_t)r * bytes, bytes,
                        hud_clock_node(s, core));
    }
    c->run = step;
}

void hud_mem_ops_free(struct sim_clock *c)
{
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        hud_copies_free(p->copies);
        free(p->rank_on);
    }
}
