/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - spans, and the calls of net.h.
 *
 * A message has two ends, the sending and the receiving end.  They meet in order, for each sender,
 * receiver and tag.  The seed decides how many steps of its receiver a message then takes, and
 * whether its sender completes at once or when the ends have met.  Bytes move when the receiver
 * finds them arrived.  Until then the ends own the bytes: any other use is reported, even by the
 * rank that has started the message.
 *
 * With a model of time a message begins when it is sent, since nodes have room for early messages.
 * The model computes when it leaves and arrives.
 */
#include "check/messages.h"
#include "check/grow.h"
#include "check/time.h"

#include <string.h>

enum { DELAY_MAX = 6 /* steps */ };

struct net {
    struct net_map map;
    struct sim_end **end; /* [messages] by number; NULL if not active */
    int messages;
};

struct sim_span {
    struct sim_span *next;
    struct sim_team *whole;
    struct sim_team **team; /* [nodes] */
    int *node_of, *local_of, *head, *first, *member;
    struct net *net; /* [ranks] */
    int ranks, nodes, rings;
};

/* ---- spans ---- */

static struct sim_team *team_of_node(struct sim *s, struct sim_span *span, int node, size_t bytes)
{
    int *members = hud_must(calloc((size_t)span->ranks, sizeof *members)), size = 0;

    for (int r = 0; r < span->ranks; r++)
        if (span->node_of[r] == node) {
            span->local_of[r] = size;
            span->member[span->first[node] + size] = r;
            members[size++] = r;
        }
    span->head[node] = members[0];
    span->first[node + 1] = span->first[node] + size;
    span->rings = size < span->rings ? size : span->rings;
    struct sim_team *t = hud_sim_team_create(s, size, members, 0, bytes);
    t->whole = span->whole;
    free(members);
    return t;
}

struct sim_span *hud_sim_span_create(struct sim *s, int nodes, const int *node_of, size_t bytes,
                                     int messages)
{
    struct sim_span *span = hud_must(calloc(1, sizeof *span));
    size_t ranks = (size_t)sim_ranks(s);
    int *everyone = hud_must(calloc(ranks, sizeof *everyone));

    span->next = s->spans;
    s->spans = span;
    span->ranks = (int)ranks;
    span->nodes = nodes;
    span->node_of = hud_must(calloc(ranks, sizeof(int)));
    span->local_of = hud_must(calloc(ranks, sizeof(int)));
    span->head = hud_must(calloc((size_t)nodes, sizeof(int)));
    span->first = hud_must(calloc((size_t)nodes + 1, sizeof(int)));
    span->member = hud_must(calloc(ranks, sizeof(int)));
    span->rings = span->ranks;
    span->net = hud_must(calloc(ranks, sizeof *span->net));
    span->team = hud_must(calloc((size_t)nodes, sizeof *span->team));
    memcpy(span->node_of, node_of, ranks * sizeof *node_of);
    for (int r = 0; r < span->ranks; r++)
        everyone[r] = r;
    span->whole = hud_sim_team_create(s, span->ranks, everyone, 0, bytes);
    free(everyone);
    for (int node = 0; node < nodes; node++)
        span->team[node] = team_of_node(s, span, node, bytes);
    for (int r = 0; r < span->ranks; r++)
        span->net[r] =
            (struct net){ .map = { .ranks = span->ranks,
                                   .nodes = nodes,
                                   .node = node_of[r],
                                   .node_of = span->node_of,
                                   .local_of = span->local_of,
                                   .head = span->head,
                                   .rings = span->rings,
                                   .first = span->first,
                                   .member = span->member },
                          .end = hud_must(calloc((size_t)messages, sizeof(struct sim_end *))),
                          .messages = messages };
    return span;
}

struct mem *hud_sim_span_mem(struct sim_span *span, int rank)
{
    return hud_sim_team_mem(span->team[span->node_of[rank]], span->local_of[rank]);
}

struct net *hud_sim_span_net(struct sim_span *span, int rank)
{
    return &span->net[rank];
}

struct mem *hud_sim_span_whole(struct sim_span *span, int rank)
{
    return hud_sim_team_mem(span->whole, rank);
}

static void free_end(struct sim_end *e)
{
    if (e->released)
        hud_order_free(e->released);
    free(e->carried);
    free(e);
}

void hud_messages_free(struct sim *s)
{
    while (s->ends) {
        struct sim_end *e = s->ends;
        s->ends = e->next;
        free_end(e);
    }
    while (s->spans) {
        struct sim_span *span = s->spans;
        s->spans = span->next;
        for (int r = 0; r < span->ranks; r++)
            free(span->net[r].end);
        free(span->node_of);
        free(span->local_of);
        free(span->head);
        free(span->first);
        free(span->member);
        free(span->net);
        free(span->team);
        free(span);
    }
}

/* ---- starting ---- */

/* Returns the first unmet end that belongs to this end, or NULL. */
static struct sim_end *counterpart(struct sim *s, const struct sim_end *of)
{
    for (struct sim_end *e = s->ends; e; e = e->next)
        if (!e->met && e->sends != of->sends && e->from == of->from && e->to == of->to &&
            e->tag == of->tag)
            return e;
    return NULL;
}

static void append(struct sim *s, struct sim_end *e)
{
    struct sim_end **at = &s->ends;

    while (*at)
        at = &(*at)->next;
    *at = e;
}

static void wake(struct sim_end *e)
{
    bool waits = e->waited && e->owner->state == SIM_BLOCKED;

    e->waited = false;
    if (waits && e->owner->s->clock)
        sim_time(e->owner->s)->wake(e->owner, &e->met->passage);
    else if (waits)
        e->owner->state = SIM_READY;
}

static void meet(struct sim *s, struct sim_end *a, struct sim_end *b)
{
    a->met = b;
    b->met = a;
    if (a->bytes != b->bytes)
        hud_sim_fail(s, "ends differ: %zu bytes at %s:%d, %zu at %s:%d\n", a->bytes, a->by.file,
                     a->by.line, b->bytes, b->by.file, b->by.line);
    wake(a);
    wake(b);
}

static struct sim_end *start(struct mem *m, struct net *n, int id, int other, bool sends,
                             unsigned tag, const void *at, size_t bytes)
{
    struct sim *s = m->s;
    int self = m->self->number;

    if (id < 0 || id >= n->messages || n->end[id])
        hud_sim_fail(s, "message %d is not free: rank %d at %s:%d\n", id, self, m->self->now.file,
                     m->self->now.line);
    struct sim_end *e = hud_must(calloc(1, sizeof *e));
    *e = (struct sim_end){ .owner = m->self,
                           .from = sends ? self : other,
                           .to = sends ? other : self,
                           .tag = tag,
                           .sends = sends,
                           .eager = sends && (s->clock || hud_sim_random(s, 1) == 0),
                           .bytes = bytes,
                           .delay = s->clock ? 0 : hud_sim_random(s, DELAY_MAX),
                           .by = m->self->now };
    if (bytes != 0) {
        hud_sim_touch(m, at, bytes, sends ? hud_bytes_read : hud_bytes_write);
        e->spot = hud_sim_spot(m, at, bytes);
    }
    n->end[id] = e;
    return e;
}

void hud_sim_send(struct mem *m, struct net *n, int id, int rank, unsigned tag, const void *from,
                  size_t bytes)
{
    hud_sim_event(m, "sends");
    struct sim_end *e = start(m, n, id, rank, true, tag, from, bytes);
    if (!(hud_sim_mutates(m) & SIM_DROP_RELEASE))
        e->released = hud_order_copy(m->self->clock);
    if (m->s->clock)
        sim_time(m->s)->send(m, &m->s->ranks[e->to], bytes, &e->passage);
    sim_tick(m->self);
    hud_sched_moved(m->s);
    m->s->posts++;
    struct sim_end *other = counterpart(m->s, e);
    append(m->s, e);
    if (other)
        meet(m->s, e, other);
}

void hud_sim_receive(struct mem *m, struct net *n, int id, int rank, unsigned tag, void *to,
                     size_t bytes)
{
    hud_sim_event(m, "receives");
    struct sim_end *e = start(m, n, id, rank, false, tag, to, bytes);
    if (bytes != 0)
        memset(e->spot.twin, 0xA5, bytes); /* makes reads before the arrival wrong */
    hud_sched_moved(m->s);
    struct sim_end *other = counterpart(m->s, e);
    append(m->s, e);
    if (other)
        meet(m->s, e, other);
}

/* ---- completion ---- */

static void drop(struct sim *s, struct sim_end *e)
{
    struct sim_end **at = &s->ends;

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    free_end(e);
}

static struct sim_end *active(struct mem *m, const struct net *n, int id)
{
    if (id < 0 || id >= n->messages || !n->end[id])
        hud_sim_fail(m->s, "no message %d: rank %d %s at %s:%d\n", id, m->self->number,
                     m->self->now.what, m->self->now.file, m->self->now.line);
    return n->end[id];
}

static void until_met(struct mem *m, struct sim_end *e)
{
    while (!e->met) {
        e->waited = true;
        hud_sched_block(m->self);
    }
}

/* Completes a send.  The end keeps a copy of the bytes until the receiver has them. */
void hud_sim_sent(struct mem *m, struct net *n, int id)
{
    hud_sim_event(m, "completes");
    struct sim_end *e = active(m, n, id);

    if (!e->eager)
        until_met(m, e);
    if (m->s->clock)
        sim_time(m->s)->left(m, &e->passage);
    n->end[id] = NULL;
    if (e->received) {
        drop(m->s, e);
        return;
    }
    e->carried = hud_must(malloc(e->bytes + 1));
    memcpy(e->carried, e->bytes != 0 ? e->spot.twin : "", e->bytes);
}

static void take(struct mem *m, struct sim_end *e)
{
    struct sim_end *from = e->met;
    const unsigned char *data = from->carried ? from->carried : (unsigned char *)from->spot.twin;

    if (e->bytes != 0)
        memcpy(e->spot.twin, data, e->bytes);
    if (from->released && !(hud_sim_mutates(m) & SIM_DROP_ACQUIRE))
        hud_order_join(m->self->clock, from->released);
    if (e->bytes != 0)
        hud_sim_access(m, &e->spot, e->bytes, hud_bytes_write);
    from->received = true;
    if (from->carried)
        drop(m->s, from);
}

/* Advances the receiver to the time at which its message arrives. */
static void come(struct mem *m, const struct sim_end *e)
{
    const void *to = e->bytes != 0 ? m->s->shown + (e->spot.twin - m->s->twin) : NULL;

    sim_time(m->s)->arrived(m, &e->met->passage, &e->met->by, to, e->bytes);
}

void hud_sim_arrived(struct mem *m, struct net *n, int id)
{
    hud_sim_event(m, "awaits a message");
    struct sim_end *e = active(m, n, id);

    until_met(m, e);
    if (m->s->clock)
        come(m, e);
    for (; e->delay != 0; e->delay--)
        hud_sched_event(m, e->by.what, m->self->now.file, m->self->now.line);
    n->end[id] = NULL;
    take(m, e);
    drop(m->s, e);
}

const struct net_map *hud_sim_map(const struct net *n)
{
    return &n->map;
}
