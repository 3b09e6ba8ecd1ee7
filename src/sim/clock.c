/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - which rank runs, and the calls of mem.h on flags and words.  A call that must wait for
 * a line lets earlier calls of other ranks go first. */
#include "sim/carry.h"
#include "sim/grow.h"

#include <math.h>

/* ---- which rank runs ---- */

static struct sim_time_entry entry_of(struct sim_rank *r)
{
    return (struct sim_time_entry){ r->now_ns, hud_sim_random(r->s, UINT64_MAX), r->number };
}

/* The rank runs at this time, before which lines cross whose time has come. */
static void reach(struct sim_rank *r, double ns)
{
    r->s->clock->now_ns = ns;
    hud_crossings_until(clock_part(r)->crossings, ns);
}

/* The one whose copies have something to do first. */
static struct sim_part *first_part(const struct sim_clock *c)
{
    struct sim_part *first = c->part;

    for (int i = 1; i < c->parts; i++)
        first = c->part[i].next_ns < first->next_ns ? &c->part[i] : first;
    return first;
}

struct sim_rank *hud_clock_next(struct sim *s)
{
    struct sim_clock *c = s->clock;
    struct sim_part *first;

    while (first = first_part(c),
           first->next_ns < INFINITY &&
               (c->queue.count == 0 || first->next_ns <= c->queue.entry[0].ns))
        c->run(s, first);
    if (c->queue.count == 0) {
        for (int i = 0; i < c->parts; i++)
            hud_crossings_until(c->part[i].crossings, INFINITY);
        return NULL;
    }
    struct sim_rank *next = &s->ranks[hud_time_queue_take(&c->queue).who];
    reach(next, next->now_ns);
    return next;
}

void hud_clock_until(struct sim_rank *r, double ns)
{
    struct sim_clock *c = r->s->clock;

    r->now_ns = ns;
    if ((c->queue.count == 0 || c->queue.entry[0].ns > ns) && first_part(c)->next_ns > ns) {
        reach(r, ns);
        return;
    }
    hud_time_queue_add(&c->queue, entry_of(r));
    r->s->current = NULL;
    hud_fiber_suspend(r->fiber);
}

void hud_clock_end(struct sim_rank *r)
{
    r->step.end_ns = r->now_ns;
    if (r->step.what)
        hud_trace_note(&r->s->clock->trace, r->number, &r->step);
    r->step.what = NULL;
}

void hud_clock_step(struct sim_rank *r)
{
    hud_clock_end(r);
    hud_clock_until(r, r->now_ns);
    r->step = (struct sim_step){
        .what = r->now.what, .file = r->now.file, .line = r->now.line, .by = -1
    };
    r->step.begin_ns = r->step.ready_ns = r->step.turn_ns = r->now_ns;
}

void hud_clock_ready(struct sim_rank *r, double ns)
{
    r->state = SIM_READY;
    r->now_ns = ns;
    hud_time_queue_add(&r->s->clock->queue, entry_of(r));
}

/* ---- lines ---- */

int hud_clock_node(const struct sim *s, int core)
{
    return s->options.machine->node[s->options.together ? s->options.core[0] : core];
}

static struct sim_line *line_at(struct sim *s, const struct sim_rank *owner, size_t at)
{
    struct sim_clock *c = s->clock;
    size_t index = at / (size_t)c->machine->lines.size_bytes;
    struct sim_line **line = &c->line[owner->number][index];

    if (!*line) {
        int node = hud_clock_node(s, owner->core);
        *line = hud_must(malloc(sizeof **line));
        **line = hud_line_first(owner->core, node);
        /* which pages an arena is on is no plan: another core's begins with another agent */
        (*line)->agent =
            hud_links_agent(clock_part(owner)->links, node, index + (size_t)owner->core);
    }
    return *line;
}

/* The rank waits until its use of a line begins, and the line crosses links. */
static void cross(struct sim_rank *r, struct sim_line *line, struct sim_fetch *f)
{
    struct sim_part *p = clock_part(r);
    double begin_ns;

    while (begin_ns = hud_lines_begin(p->lines, line, r->core, f), begin_ns > r->now_ns)
        hud_clock_until(r, begin_ns);
    double delay_ns = hud_crossings_delay(p->links, r->core, f, r->now_ns);
    if (delay_ns < 0)
        hud_sim_fail(r->s,
                     "simulated time runs back: a line comes to rank %d at %g ns, and links were "
                     "crossed later; it %s at %s:%d\n",
                     r->number, r->now_ns, r->now.what, r->now.file, r->now.line);
    if (delay_ns > 0)
        hud_lines_delay(p->lines, line, r->core, f, delay_ns);
    hud_lines_close(p->lines, line, r->core, f);
}

/* The newest post that is visible now. */
static int newest(const struct sim_rank *r, const struct sim_flag *flag)
{
    int post = flag->count - 1;

    while (post > 0 && flag->posts[post].visible_ns > r->now_ns)
        post--;
    return post;
}

void hud_clock_forget(struct sim_rank *r, struct sim_flag *flag)
{
    hud_flag_forget(flag, newest(r, flag));
}

/* Within a call that takes one line after the other, others go first whose time is before that of
 * the next line. */
static void in_turn(struct sim_rank *r)
{
    if (r->now_ns > r->s->clock->now_ns)
        hud_clock_until(r, r->now_ns);
}

/* What a flag is when its turn has come is what the rank sees: its oldest post then, since those
 * before are forgotten.  Plain words: flag is NULL. */
static void load(struct sim_rank *r, struct sim_line *line, struct sim_flag *flag)
{
    in_turn(r);
    struct sim_fetch f = hud_lines_load(clock_part(r)->lines, line, r->core, r->now_ns);
    cross(r, line, &f);
    if (flag)
        hud_clock_forget(r, flag);
    r->step.turn_ns = r->now_ns;
    r->now_ns = f.end_ns;
}

/* The same of a line that the rank does not wait for. */
static void cross_unawaited(struct sim_rank *r, struct sim_line *line, const struct sim_fetch *f)
{
    const struct sim_clock *c = r->s->clock;
    struct sim_crossings *crossings = clock_part(r)->crossings;

    if (f->from < 0 && f->agent < 0 && f->begin_ns <= c->now_ns) {
        hud_lines_close(clock_part(r)->lines, line, r->core, f);
        return;
    }
    hud_crossings_add(crossings, line, r->core, f, c->now_ns);
    hud_crossings_until(crossings, c->now_ns);
}

/* Loads a line that it will wait for to change; the wait, not the load, is what takes time. */
static void look(struct sim_rank *r, struct sim_line *line, double ns)
{
    struct sim_lines *lines = clock_part(r)->lines;
    struct sim_fetch f = hud_lines_load(lines, line, r->core, ns);

    cross_unawaited(r, line, &f);
    hud_lines_pause(lines, r->core);
}

static void enter(struct sim_rank *r)
{
    double free_ns;

    while (free_ns = hud_lines_entry_ns(clock_part(r)->lines, r->core), free_ns > r->now_ns) {
        hud_clock_until(r, free_ns);
        r->step.turn_ns = free_ns;
    }
}

static void store(struct sim_rank *r, struct sim_line *line)
{
    enter(r);
    in_turn(r);
    struct sim_fetch f = hud_lines_store(clock_part(r)->lines, line, r->core, r->now_ns);
    cross_unawaited(r, line, &f);
    r->now_ns += r->s->clock->machine->lines.post_ns;
}

/* ---- flags ---- */

/* The first post that will do; -1: none yet. */
static int first_of(const struct sim_flag *flag, uint64_t min)
{
    int post = flag->count;

    while (post > 0 && (int64_t)(flag->posts[post - 1].value - min) >= 0)
        post--;
    return post < flag->count ? post : -1;
}

static void wait_for(struct sim_rank *r, struct sim_flag *flag, const struct sim_spot *spot,
                     uint64_t min)
{
    int post = first_of(flag, min);

    if (post < 0) {
        look(r, line_at(r->s, spot->owner, spot->at), r->now_ns);
        hud_sched_wait(r, flag, spot, min);
    } else {
        hud_clock_until(r, flag->posts[post].visible_ns);
    }
    const struct sim_post *p = &flag->posts[first_of(flag, min)];
    r->step.ready_ns = r->now_ns;
    r->step.by = p->by.rank;
    r->step.by_file = p->by.file;
    r->step.by_line = p->by.line;
    r->step.by_ns = p->at_ns;
    hud_lines_pause(clock_part(r)->lines, r->core);
}

void hud_clock_await(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot,
                     uint64_t min)
{
    struct sim_rank *r = m->self;
    int post = first_of(flag, min);
    bool waits = post < 0 || flag->posts[post].visible_ns > r->now_ns;

    if (waits)
        wait_for(r, flag, spot, min);
    load(r, line_at(r->s, spot->owner, spot->at), flag);
    if (waits)
        hud_clock_pause(m);
}

/* No peek at the flag will see anything else before this time. */
static double unchanged_until(const struct sim_rank *r, const struct sim_flag *flag)
{
    const struct sim_clock *c = r->s->clock;
    double visible = flag_newest(flag)->visible_ns, next = first_part(c)->next_ns;

    if (c->queue.count != 0)
        next = fmin(next, c->queue.entry[0].ns);
    return visible > r->now_ns ? fmin(next, visible) : next;
}

void hud_clock_peek(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot)
{
    struct sim_rank *r = m->self;

    load(r, line_at(m->s, spot->owner, spot->at), flag);
    double until = unchanged_until(r, flag);
    if (hud_sched_polls(r) && until > r->now_ns && until < INFINITY)
        r->now_ns = until;
}

void hud_clock_entry(struct mem *m)
{
    enter(m->self);
}

void hud_clock_post(struct mem *m, const struct sim_spot *spot, struct sim_post *p)
{
    struct sim_line *line = line_at(m->s, spot->owner, spot->at);

    if (m->alg->sends)
        m->self->now_ns += m->s->clock->machine->call.message_ns / 2;
    p->at_ns = m->self->now_ns;
    store(m->self, line);
    p->visible_ns = line->visible_ns;
    hud_clock_pause(m);
}

struct sim_fetch hud_clock_add(struct mem *m, const struct sim_spot *spot, struct sim_post *p)
{
    struct sim_rank *r = m->self;
    struct sim_fetch f = hud_lines_add(clock_part(r)->lines, line_at(m->s, spot->owner, spot->at),
                                       r->core, r->now_ns);

    p->at_ns = r->now_ns;
    p->visible_ns = f.end_ns;
    hud_clock_pause(m);
    return f;
}

void hud_clock_added(struct mem *m, const struct sim_spot *spot, struct sim_fetch *f)
{
    struct sim_rank *r = m->self;

    cross(r, line_at(m->s, spot->owner, spot->at), f);
    r->step.turn_ns = r->now_ns;
    r->now_ns = f->end_ns;
}

/* Who waits for a cell of this line, except for that one, looks again. */
static void look_again(const struct sim_rank *owner, size_t at, struct sim_flag *own, double ns)
{
    size_t size = (size_t)owner->s->clock->machine->lines.size_bytes;

    for (struct sim_flag *f = owner->arena[at / HUD_LINE]; f; f = f->next)
        for (struct sim_rank *r = f->waiting; r; r = r->next_waiting)
            if (f != own && f->at / size == at / size)
                look(r, line_at(owner->s, owner, at), ns);
}

void hud_clock_tell(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot)
{
    const struct sim_post *p = flag_newest(flag);

    for (struct sim_rank **at = &flag->waiting; *at;) {
        struct sim_rank *r = *at;
        if ((int64_t)(p->value - r->wait_min) < 0) {
            look(r, line_at(s, spot->owner, spot->at), p->visible_ns);
            at = &r->next_waiting;
            continue;
        }
        *at = r->next_waiting;
        hud_clock_ready(r, p->visible_ns);
    }
    look_again(spot->owner, spot->at, flag, p->visible_ns);
}

/* ---- words, claims ---- */

void hud_clock_load(struct mem *m, const struct sim_spot *spot, size_t bytes)
{
    size_t size = (size_t)m->s->clock->machine->lines.size_bytes;

    for (size_t at = spot->at / size * size; at < spot->at + bytes; at += size)
        load(m->self, line_at(m->s, spot->owner, at), NULL);
}

void hud_clock_store(struct mem *m, const struct sim_spot *spot, size_t bytes)
{
    size_t size = (size_t)m->s->clock->machine->lines.size_bytes;

    for (size_t at = spot->at / size * size; at < spot->at + bytes; at += size)
        store(m->self, line_at(m->s, spot->owner, at));
}

void hud_clock_claim(struct mem *m, const struct sim_spot *spot, size_t bytes)
{
    struct sim_lines *lines = clock_part(m->self)->lines;
    size_t size = (size_t)m->s->clock->machine->lines.size_bytes;

    for (size_t at = spot->at / size * size; at < spot->at + bytes; at += size) {
        struct sim_line *line = line_at(m->s, spot->owner, at);
        struct sim_fetch f = hud_lines_claim(lines, line, m->self->core, m->self->now_ns);
        cross_unawaited(m->self, line, &f);
        look_again(spot->owner, at, NULL, m->self->now_ns);
    }
}

void hud_clock_pause(struct mem *m)
{
    hud_lines_pause(clock_part(m->self)->lines, m->self->core);
}
