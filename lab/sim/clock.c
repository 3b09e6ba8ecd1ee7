/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - chooses the rank that runs, and times the calls of mem.h on flags and words.  A call
 * that must wait for a line lets earlier calls of other ranks go first. */
#include "check/grow.h"
#include "lab/sim/mem_ops.h"

#include <math.h>

/* ---- which rank runs ---- */

static struct sim_time_entry entry_of(struct sim_rank *r)
{
    return (struct sim_time_entry){ timed(r)->now_ns, hud_sim_random(r->s, UINT64_MAX), r->number };
}

/* Advances the clock to this time, and first lets due lines cross links. */
static void reach(struct sim_rank *r, double ns)
{
    r->s->clock->now_ns = ns;
    hud_transfers_until(clock_part(r)->transfers, ns);
}

/* Returns the node whose copies have the earliest next event. */
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
            hud_transfers_until(c->part[i].transfers, INFINITY);
        return NULL;
    }
    struct sim_rank *next = &s->ranks[hud_time_queue_take(&c->queue).who];
    reach(next, timed(next)->now_ns);
    return next;
}

void hud_clock_until(struct sim_rank *r, double ns)
{
    struct sim_clock *c = r->s->clock;

    timed(r)->now_ns = ns;
    if ((c->queue.count == 0 || c->queue.entry[0].ns > ns) && first_part(c)->next_ns > ns) {
        reach(r, ns);
        return;
    }
    hud_time_queue_add(&c->queue, entry_of(r));
    r->s->current = NULL;
    hud_fiber_suspend(&r->fiber);
}

void hud_clock_end(struct sim_rank *r)
{
    timed(r)->step.end_ns = timed(r)->now_ns;
    if (timed(r)->step.what)
        hud_trace_note(&r->s->clock->trace, r->number, &timed(r)->step);
    timed(r)->step.what = NULL;
}

void hud_clock_step(struct sim_rank *r)
{
    hud_clock_end(r);
    hud_clock_until(r, timed(r)->now_ns);
    timed(r)->step = (struct sim_step){
        .what = r->now.what, .file = r->now.file, .line = r->now.line, .by = -1
    };
    timed(r)->step.begin_ns = timed(r)->step.ready_ns = timed(r)->step.turn_ns = timed(r)->now_ns;
}

void hud_clock_ready(struct sim_rank *r, double ns)
{
    r->state = SIM_READY;
    timed(r)->now_ns = ns;
    hud_time_queue_add(&r->s->clock->queue, entry_of(r));
}

/* ---- lines ---- */

int hud_clock_node(const struct sim *s, int core)
{
    const struct sim_timing *timing = &s->clock->timing;

    return timing->machine->node[timing->together ? timing->core[0] : core];
}

static struct sim_line *line_at(struct sim *s, const struct sim_rank *owner, size_t at)
{
    struct sim_clock *c = s->clock;
    size_t index = at / (size_t)c->machine->lines.size_bytes;
    struct sim_line **line = &c->line[owner->number][index];

    if (!*line) {
        int node = hud_clock_node(s, timed(owner)->core);
        *line = hud_must(malloc(sizeof **line));
        **line = hud_line_first(timed(owner)->core, node);
        /* arenas do not share an alignment, so the arena of another core begins with another
         * agent */
        (*line)->agent =
            hud_links_agent(clock_part(owner)->links, node, index + (size_t)timed(owner)->core);
    }
    return *line;
}

/* Waits until the rank's use of a line begins, and lets the line cross links. */
static void cross(struct sim_rank *r, struct sim_line *line, struct sim_fetch *f)
{
    struct sim_part *p = clock_part(r);
    double begin_ns;

    while (begin_ns = hud_lines_begin(p->lines, line, timed(r)->core, f),
           begin_ns > timed(r)->now_ns)
        hud_clock_until(r, begin_ns);
    double delay_ns = hud_transfers_delay(p->links, timed(r)->core, f, timed(r)->now_ns);
    if (delay_ns < 0)
        hud_sim_fail(r->s,
                     "simulated time runs back: a line comes to rank %d at %g ns, and links were "
                     "crossed later; it %s at %s:%d\n",
                     r->number, timed(r)->now_ns, r->now.what, r->now.file, r->now.line);
    if (delay_ns > 0)
        hud_lines_delay(p->lines, line, timed(r)->core, f, delay_ns);
    hud_lines_close(p->lines, line, timed(r)->core, f);
}

/* Returns the index of the newest post that is visible now. */
static int newest(const struct sim_rank *r, const struct sim_flag *flag)
{
    int post = flag->count - 1;

    while (post > 0 && flag->posts[post].visible_ns > timed(r)->now_ns)
        post--;
    return post;
}

void hud_clock_forget(struct sim_rank *r, struct sim_flag *flag)
{
    hud_flag_forget(flag, newest(r, flag));
}

/* Lets ranks with earlier times run before the next line of a call that uses several lines. */
static void in_turn(struct sim_rank *r)
{
    if (timed(r)->now_ns > r->s->clock->now_ns)
        hud_clock_until(r, timed(r)->now_ns);
}

/* Loads a line.  The rank sees the flag as it is when the load begins, so older posts are removed.
 * `flag` is NULL for plain words. */
static void load(struct sim_rank *r, struct sim_line *line, struct sim_flag *flag)
{
    in_turn(r);
    struct sim_fetch f =
        hud_lines_load(clock_part(r)->lines, line, timed(r)->core, timed(r)->now_ns);
    cross(r, line, &f);
    if (flag)
        hud_clock_forget(r, flag);
    timed(r)->step.turn_ns = timed(r)->now_ns;
    timed(r)->now_ns = f.end_ns;
}

/* Lets a line cross links without making the rank wait. */
static void cross_unawaited(struct sim_rank *r, struct sim_line *line, const struct sim_fetch *f)
{
    const struct sim_clock *c = r->s->clock;
    struct sim_transfers *transfers = clock_part(r)->transfers;

    if (f->from < 0 && f->agent < 0 && f->begin_ns <= c->now_ns) {
        hud_lines_close(clock_part(r)->lines, line, timed(r)->core, f);
        return;
    }
    hud_transfers_add(transfers, line, timed(r)->core, f, c->now_ns);
    hud_transfers_until(transfers, c->now_ns);
}

/* Loads a line on which the rank will wait for a change.  The load takes no time, since the wait
 * does. */
static void load_awaited_line(struct sim_rank *r, struct sim_line *line, double ns)
{
    struct sim_lines *lines = clock_part(r)->lines;
    struct sim_fetch f = hud_lines_load(lines, line, timed(r)->core, ns);

    cross_unawaited(r, line, &f);
    hud_lines_pause(lines, timed(r)->core);
}

static void enter(struct sim_rank *r)
{
    double free_ns;

    while (free_ns = hud_lines_entry_ns(clock_part(r)->lines, timed(r)->core),
           free_ns > timed(r)->now_ns) {
        hud_clock_until(r, free_ns);
        timed(r)->step.turn_ns = free_ns;
    }
}

static void store(struct sim_rank *r, struct sim_line *line)
{
    enter(r);
    in_turn(r);
    struct sim_fetch f =
        hud_lines_store(clock_part(r)->lines, line, timed(r)->core, timed(r)->now_ns);
    cross_unawaited(r, line, &f);
    timed(r)->now_ns += r->s->clock->machine->lines.post_ns;
}

/* ---- flags ---- */

/* Returns the index of the first post of at least this value, or -1 if there is none yet. */
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
        load_awaited_line(r, line_at(r->s, spot->owner, spot->at), timed(r)->now_ns);
        hud_sched_wait(r, flag, spot, min);
    } else {
        hud_clock_until(r, flag->posts[post].visible_ns);
    }
    const struct sim_post *p = &flag->posts[first_of(flag, min)];
    timed(r)->step.ready_ns = timed(r)->now_ns;
    timed(r)->step.by = p->by.rank;
    timed(r)->step.by_file = p->by.file;
    timed(r)->step.by_line = p->by.line;
    timed(r)->step.by_ns = p->at_ns;
    hud_lines_pause(clock_part(r)->lines, timed(r)->core);
}

void hud_clock_await(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot,
                     uint64_t min)
{
    struct sim_rank *r = m->self;
    int post = first_of(flag, min);
    bool waits = post < 0 || flag->posts[post].visible_ns > timed(r)->now_ns;

    if (waits)
        wait_for(r, flag, spot, min);
    load(r, line_at(r->s, spot->owner, spot->at), flag);
    if (waits)
        hud_clock_pause(m);
}

/* Returns the time before which peeks at the flag cannot see a change. */
static double unchanged_until(const struct sim_rank *r, const struct sim_flag *flag)
{
    const struct sim_clock *c = r->s->clock;
    double visible = flag_newest(flag)->visible_ns, next = first_part(c)->next_ns;

    if (c->queue.count != 0)
        next = fmin(next, c->queue.entry[0].ns);
    return visible > timed(r)->now_ns ? fmin(next, visible) : next;
}

void hud_clock_peek(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot)
{
    struct sim_rank *r = m->self;

    load(r, line_at(m->s, spot->owner, spot->at), flag);
    double until = unchanged_until(r, flag);
    if (hud_sched_polls(r) && until > timed(r)->now_ns && until < INFINITY)
        timed(r)->now_ns = until;
}

void hud_clock_entry(struct mem *m)
{
    enter(m->self);
}

void hud_clock_post(struct mem *m, const struct sim_spot *spot, struct sim_post *p)
{
    struct sim_line *line = line_at(m->s, spot->owner, spot->at);

    if (m->alg->sends)
        timed(m->self)->now_ns += m->s->clock->machine->call.message_ns / 2;
    p->at_ns = timed(m->self)->now_ns;
    store(m->self, line);
    p->visible_ns = line->visible_ns;
    hud_clock_pause(m);
}

void hud_clock_add(struct mem *m, const struct sim_spot *spot, struct sim_post *p)
{
    struct sim_rank *r = m->self;
    struct sim_fetch *f = &timed(r)->adding;

    *f = hud_lines_add(clock_part(r)->lines, line_at(m->s, spot->owner, spot->at), timed(r)->core,
                       timed(r)->now_ns);
    p->at_ns = timed(r)->now_ns;
    p->visible_ns = f->end_ns;
    hud_clock_pause(m);
}

void hud_clock_added(struct mem *m, const struct sim_spot *spot)
{
    struct sim_rank *r = m->self;
    struct sim_fetch *f = &timed(r)->adding;

    cross(r, line_at(m->s, spot->owner, spot->at), f);
    timed(r)->step.turn_ns = timed(r)->now_ns;
    timed(r)->now_ns = f->end_ns;
}

/* Lets the ranks fetch this line again that wait for its flags other than `own`. */
static void look_again(const struct sim_rank *owner, size_t at, struct sim_flag *own, double ns)
{
    size_t size = (size_t)owner->s->clock->machine->lines.size_bytes;

    for (struct sim_flag *f = owner->arena[at / HUD_LINE]; f; f = f->next)
        for (struct sim_rank *r = f->waiting; r; r = r->next_waiting)
            if (f != own && f->at / size == at / size)
                load_awaited_line(r, line_at(owner->s, owner, at), ns);
}

void hud_clock_wake_waiting(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot)
{
    const struct sim_post *p = flag_newest(flag);

    for (struct sim_rank **at = &flag->waiting; *at;) {
        struct sim_rank *r = *at;
        if ((int64_t)(p->value - r->wait_min) < 0) {
            load_awaited_line(r, line_at(s, spot->owner, spot->at), p->visible_ns);
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
        struct sim_fetch f =
            hud_lines_claim(lines, line, timed(m->self)->core, timed(m->self)->now_ns);
        cross_unawaited(m->self, line, &f);
        look_again(spot->owner, at, NULL, timed(m->self)->now_ns);
    }
}

void hud_clock_pause(struct mem *m)
{
    hud_lines_pause(clock_part(m->self)->lines, timed(m->self)->core);
}
