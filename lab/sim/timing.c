/* SPDX-License-Identifier: BSD-3-Clause */
/* timing.c - the clock as a model of time for the checker, and what a run with it tells. */
#include "lab/sim/timing.h"
#include "coll/coll.h"
#include "lab/sim/mem_ops.h"

#include <math.h>

/* ---- the life of a run ---- */

static void begin(struct sim *s)
{
    for (int r = 0; r < sim_ranks(s); r++)
        hud_clock_ready(&s->ranks[r], s->clock->rank[r].now_ns);
}

/* ---- calls ---- */

/* Returns the time of the call besides its memory accesses. */
static double front_ns(const struct mem *m)
{
    const struct machine_call *call = &m->s->clock->machine->call;
    const struct sim_rank *r = m->self;
    double ns = call->enter_ns + call->host_ns;
    bool data = false;

    for (int i = 0; i < r->views_count; i++)
        data = data || r->views[i].bytes != 0;
    if (coll_has(hud_coll_kind(m->alg->coll), COLL_REDUCES))
        ns += call->reduce_ns;
    return data ? ns + call->data_ns : ns;
}

static void enter(struct mem *m)
{
    hud_mem_ops_views(m);
    hud_clock_pause(m);
    timed(m->self)->now_ns += front_ns(m);
}

static void met(struct sim_rank *r, const struct sim_rank *last)
{
    hud_clock_ready(r, timed(last)->now_ns);
}

/* Leaves the meeting out of the trace, since it takes no time of the ranks. */
static void meet(struct sim_rank *r)
{
    timed(r)->step.what = NULL;
}

/* ---- messages ---- */

/* Sends a message to the network.  Its rank continues at once. */
static void send(struct mem *m, const struct sim_rank *to, size_t bytes, struct sim_passage *p)
{
    const struct sim_timed *own = timed(m->self);
    struct ports_message times =
        hud_ports_send(m->s->clock->ports, own->node, timed(to)->node, bytes, own->now_ns);

    *p = (struct sim_passage){ own->now_ns, times.left_ns, times.arrives_ns };
}

static void left(struct mem *m, const struct sim_passage *p)
{
    hud_clock_until(m->self, fmax(timed(m->self)->now_ns, p->left_ns));
}

/* Waits for a message, whose bytes are then in the receiver's caches. */
static void arrived(struct mem *m, const struct sim_passage *p, const struct sim_event *by,
                    const void *to, size_t bytes)
{
    struct sim_timed *own = timed(m->self);

    if (p->arrives_ns > own->now_ns)
        hud_clock_until(m->self, p->arrives_ns);
    if (p->arrives_ns > own->step.begin_ns) {
        own->step.ready_ns = own->step.turn_ns = own->now_ns;
        own->step.by = by->rank;
        own->step.by_file = by->file;
        own->step.by_line = by->line;
        own->step.by_ns = p->sent_ns;
    }
    hud_sim_wrote(m, to, bytes);
    hud_clock_pause(m);
}

static void wake(struct sim_rank *r, const struct sim_passage *p)
{
    hud_clock_ready(r, p->arrives_ns);
}

const struct sim_time hud_timing = {
    .create = hud_clock_create,
    .destroy = hud_clock_free,
    .begin = begin,
    .next = hud_clock_next,
    .step = hud_clock_step,
    .end = hud_clock_end,
    .enter = enter,
    .met = met,
    .meet = meet,
    .entry = hud_clock_entry,
    .post = hud_clock_post,
    .add = hud_clock_add,
    .added = hud_clock_added,
    .await = hud_clock_await,
    .peek = hud_clock_peek,
    .forget = hud_clock_forget,
    .wake_waiting = hud_clock_wake_waiting,
    .load = hud_clock_load,
    .store = hud_clock_store,
    .mem_op = hud_mem_op,
    .send = send,
    .left = left,
    .arrived = arrived,
    .wake = wake,
};

/* ---- what a run tells ---- */

double hud_sim_now(const struct mem *m)
{
    return m->s->clock ? timed(m->self)->now_ns : 0;
}

void hud_sim_spend(struct mem *m, double ns)
{
    hud_sched_event(m, "computes", "call", (int)m->calls);
    hud_clock_pause(m);
    timed(m->self)->now_ns += ns;
}

void hud_sim_trace(struct sim *s, bool on)
{
    hud_trace_restart(&s->clock->trace, on);
    for (int i = 0; i < s->clock->parts; i++) {
        hud_links_forget(s->clock->part[i].links);
        hud_copies_forget(s->clock->part[i].copies);
    }
}

unsigned long hud_sim_lines(const struct sim *s, int class)
{
    unsigned long lines = 0;

    for (int i = 0; i < s->clock->parts; i++)
        lines += hud_links_lines(s->clock->part[i].links, class);
    return lines;
}

const struct sim_trace *hud_sim_steps(const struct sim *s)
{
    return s->clock ? &s->clock->trace : NULL;
}
