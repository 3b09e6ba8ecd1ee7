/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.c - chooses how long copies into and out of shared memory treat the cache lines, from
 * measured times.
 *
 * When a rank writes a line that another core has read, the line must be taken back first.  That
 * takes 7 ns a line if the two cores share a cache, and 27 ns if they do not.  If the reader has
 * also written to the line, it takes 1 ns and 3 ns, because only one core holds the line.
 * Non-temporal stores take 2 to 4 ns wherever the line is, but then the reader fetches the line
 * from memory.  Neither pays between two threads of one core.  So each rank chooses a way (lines.h)
 * for its own lines, and measures times to choose: the topology does not tell, and a virtual
 * machine may move a processor at any time.
 *
 * Source    this project; the figures are from an AMD EPYC (Zen 4).
 * Shape     Each rank chooses for its own lines, separately for each cell: each slot of the plan,
 *           so that algorithms of a family share a cell.  It publishes the way, and readers follow.
 *           The cost of a way is the time per KB that the rank's copies in took, plus the time per
 *           KB that its readers' copies out took, which the readers publish.  Now and then the rank
 *           tries another way.  A trial counts only copies into lines that were written in that way
 *           before, so it starts once the ring of the algorithm has come round.  Reductions count
 *           only where there are no copies, and packing only where there is neither.  A reduction
 *           reads and writes in the same time, so each of its times also has the other's trial.
 *           Only copies of about the same size are compared, separately for writes and for reads.
 *           Where an algorithm writes to another rank's lines, the owner's way applies and nothing
 *           is measured, because the readers' times belong to the owner.
 * Cost      Two readings of the clock, with all stores completed, for SAMPLE of SAMPLE + PAUSE
 *           copies.
 *           After the first trial of each way, the next trials wait until the time lost by trials
 *           is at most 1 / BUDGET of the time of all copies.  No trial begins in calls in which
 *           algorithms are compared (core/plan/learner.h).
 * Moves     The times belong to the distance of the ranks, which may change (lines_places.c).
 * Order     None.  A way that is seen late costs time, and nothing else.
 */
#include "mem/lines_costs.h"

enum {
    BUDGET = 32,    /* trials may lose 1 / BUDGET of the time of all copies */
    SPACE = 16,     /* the next trial begins after SPACE times as many copies as the last trial
                       took */
    FAR_TURN = 512, /* copies after which a ring counts as having come round */
    DEAREST = 16    /* limit of the loss of a trial, as a multiple of the cost of the best way; a
                       larger loss was an interruption, and later trials need not wait for it */
};

/* ---- the choice ---- */

/* Publishes the way that this rank's readers use from now on. */
static void publish(const struct mem *m, unsigned cell, unsigned word)
{
    atomic_store_explicit(&lines_of(m, m->rank)->way[cell], word, memory_order_relaxed);
}

/* Returns what is known of the present place. */
static struct lines_known *known_here(struct lines_cell *c)
{
    return &c->known[c->places.now];
}

static void go(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way)
{
    publish(m, cell, way);
    c->first = NULL;
    c->since = 0;
    c->round = false;
}

/* Keeps the best way of a cell as the way with which other cells, and later teams, start. */
static void found(const struct mem *m, unsigned char best)
{
    m->team->way = best;
    if (m->policy->usual_way)
        atomic_store_explicit(m->policy->usual_way, best ^ LINES_RETURNED, memory_order_relaxed);
}

/* Returns the next allowed way.  A team that measures times begins with RETURNED, and NONTEMPORAL
 * follows: where cores share no cache, no other way can be much better. */
static unsigned way_after(unsigned way, unsigned allowed)
{
    do
        way = (way + LINES_WAYS - 1) % LINES_WAYS;
    while (!(allowed >> way & 1));
    return way;
}

/* Reports whether to wait for the readers' time of `way`: the first time, or because they know the
 * time of the way in use.  The rank would otherwise choose by its own time alone. */
static bool awaits_readers(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way)
{
    const struct lines_known *known = known_here(c);

    return c->since < FAR_TURN + SAMPLE && known_out(m, cell, way, 1u << way) == 0 &&
           (way == known->best || known->out[known->best] != 0);
}

/* Continues with the cheapest way, after a complete measurement. */
static void conclude(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way,
                     size_t bytes)
{
    struct lines_known *known = known_here(c);
    bool trial = way != known->best;

    update_out(m, cell, known, way);
    if (trial) {
        int64_t cost, more = extra_cost(known, way, known->best, &cost);
        more = more < DEAREST * cost ? more : DEAREST * cost;
        c->lost += more > 0 ? more * (int64_t)(bytes >> 10) * c->since : 0;
        c->rest = c->ins + (uint64_t)SPACE * c->since;
    }
    known->best = (unsigned char)cheapest(known);
    if (trial)
        found(m, known->best);
    if (way != known->best)
        go(m, cell, c, known->best);
}

/* Reports whether each allowed way has been tried. */
static bool has_tried_all(const struct mem *m, const struct lines_known *known)
{
    for (unsigned way = 0; way < LINES_WAYS; way++)
        if (m->policy->ways >> way & 1 && known->in[way] == 0)
            return false;
    return true;
}

bool hud_lines_settled(const struct mem *m, unsigned cell)
{
    struct lines_cell *c = &m->team->cell[cell];
    const struct lines_known *known = known_here(c);
    unsigned way = atomic_load_explicit(&lines_of(m, m->rank)->way[cell], memory_order_relaxed);

    return c->ins == 0 || (way % LINES_WAYS == known->best && has_tried_all(m, known));
}

/* Starts a trial of another way if one is due.  The first trials follow each other at once.  First
 * trials after a change of sizes wait until the earlier losses are compensated. */
static void consider(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way)
{
    const struct lines_known *known = known_here(c);
    bool first = !has_tried_all(m, known),
         waits = first ? c->forgot && c->lost > 0 : c->ins < c->rest || c->lost > 0;

    if (way != known->best || known->in[way] == 0 || waits || m->team->keeps_ways)
        return;
    c->next = (unsigned char)way_after(c->next, m->policy->ways);
    if (c->next == way)
        c->next = (unsigned char)way_after(c->next, m->policy->ways);
    if (c->next != way)
        go(m, cell, c, c->next);
}

/* ---- copies ---- */

/* Reports whether the ring had come round since this way began, before a write to `dst`.  From then
 * on, readers read only lines written in this way, however far behind they are.  Readers already
 * time the write that completes the round, to have as many times as this rank. */
static bool comes_round(const struct mem *m, unsigned cell, unsigned way, const char *dst,
                        size_t bytes)
{
    struct lines_cell *c = &m->team->cell[cell];
    bool round = c->round;

    if (!c->first)
        c->first = dst;
    else if (!round && (c->since >= FAR_TURN || (dst <= c->first && c->first < dst + bytes))) {
        c->round = true;
        publish(m, cell, way | LINES_ROUND);
    }
    c->since++;
    return round;
}

/* Starts a cell at its first write with the way that another cell of the team has found best. */
static void follow(const struct mem *m, unsigned cell, struct lines_cell *c)
{
    struct lines_known *known = known_here(c);

    if (m->team->way != known->best) {
        known->best = m->team->way;
        publish(m, cell, known->best);
    }
}

/* Begins samples from copy number `due` on. */
static void sample_from(struct lines_cell *c, uint64_t due)
{
    for (unsigned way = 0; way < LINES_WAYS; way++)
        c->in[way] = (struct lines_sample){ .due = due };
}

/* Forgets the times of writes, in all places. */
static void forget_writes(const struct mem *m, unsigned cell, struct lines_cell *c)
{
    unsigned char best = known_here(c)->best;

    for (int place = 0; place < LINES_PLACES; place++)
        c->known[place] = (struct lines_known){ .number = c->known[place].number, .best = best };
    sample_from(c, 0);
    c->forgot = c->ins > 0;
    go(m, cell, c, best);
}

/* Withdraws the times that readers have published in another place. */
static void withdraw(const struct mem *m, unsigned cell)
{
    for (int r = 0; r < m->size; r++)
        for (unsigned way = 0; way < LINES_WAYS; way++)
            atomic_store_explicit(&lines_of(m, r)->out[cell][way], 0, memory_order_relaxed);
}

/* Switches to the times and the way of another place.  In a place that is new to the cell, the
 * times of the former place are a first guess, and each way may be tried again at once, whatever
 * trials have cost.  In a known place, the next sample waits until readers have measured, too. */
static void move(const struct mem *m, unsigned cell, struct lines_cell *c)
{
    struct lines_known *known = known_here(c);
    unsigned number = c->places.number[c->places.now];
    bool is_new = known->number != number;

    if (is_new) {
        *known = c->known[c->places.now ^ 1];
        known->number = number;
        c->rest = c->ins;
        c->lost = 0;
    }
    withdraw(m, cell);
    sample_from(c, is_new ? 0 : c->ins + PAUSE);
    found(m, known->best);
    go(m, cell, c, known->best);
}

struct lines_use hud_lines_begin_write(const struct mem *m, const void *shared, size_t bytes,
                                       enum lines_work work)
{
    struct lines_use use = { .cell = m->cell };
    struct lines_cell *c = &m->team->cell[use.cell];
    bool anew = false;

    if (!is_own(m, shared)) {
        use.way = hud_lines_way(m, shared) % LINES_WAYS;
        return use;
    }
    if (c->ins == 0)
        follow(m, use.cell, c);
    use.counted = m->policy->learns && counts(&c->writes, work, bytes, &anew);
    if (anew)
        forget_writes(m, use.cell, c);
    if (use.counted && hud_lines_places_watch(&c->places, &lines_of(m, m->rank)->way[use.cell]))
        move(m, use.cell, c);
    use.way = atomic_load_explicit(&lines_of(m, m->rank)->way[use.cell], memory_order_relaxed) %
              LINES_WAYS;
    if (!use.counted)
        return use;
    bool round = comes_round(m, use.cell, use.way, shared, bytes);
    c->ins++;
    use.timed = round && c->ins >= c->in[use.way].due;
    use.begin = use.timed ? hud_lines_ticks() : 0;
    return use;
}

/* Reports whether to discard a time because it differs much from the known time: ranks may have
 * moved.  The next five hops tell, before the next sample is complete.  The time of this sample
 * counts for the right place. */
static bool is_doubtful(struct lines_cell *c, uint32_t known, uint32_t seen)
{
    c->doubt = !c->doubt && differs(known, seen);
    if (c->doubt) {
        sample_from(c, c->ins);
        c->places.hurry = true;
        c->places.hops = 0;
    }
    return c->doubt;
}

void hud_lines_end_write(const struct mem *m, const struct lines_use *use, size_t bytes)
{
    struct lines_cell *c = &m->team->cell[use->cell];

    if (!use->counted)
        return;
    struct lines_known *known = known_here(c);
    if (c->lost > 0)
        c->lost -= (int64_t)((uint64_t)known->in[known->best] * (bytes >> 10) / BUDGET);
    if (!use->timed) {
        if (c->round)
            consider(m, use->cell, c, use->way);
        return;
    }
    uint32_t seen =
        sample_add(&c->in[use->way], ticks_a_kb(hud_lines_ticks() - use->begin, bytes), c->ins);
    if (seen == 0)
        return;
    if (is_doubtful(c, known->in[use->way], seen))
        return;
    known->in[use->way] = merge(known->in[use->way], seen);
    if (awaits_readers(m, use->cell, c, use->way))
        c->in[use->way].due = c->ins;
    else
        conclude(m, use->cell, c, use->way, bytes);
}

/* ---- a team ---- */

/* Returns the way with which a team begins: the best way of an earlier team of this rank, or
 * RETURNED in the first team.  RETURNED pays only between some cores, and only times can tell, so a
 * team without a clock begins with the first allowed way. */
static unsigned first_way(const struct mem_policy *policy)
{
    unsigned usual = LINES_RETURNED;

    if (policy->usual_way)
        usual ^= atomic_load_explicit(policy->usual_way, memory_order_relaxed);
    unsigned way = policy->learns && policy->ways >> usual & 1 ? usual : 0;

    while (!(policy->ways >> way & 1))
        way++;
    return way;
}

void hud_lines_start(const struct mem *m)
{
    unsigned way = first_way(m->policy);

    m->team->way = (unsigned char)way;
    for (unsigned cell = 0; cell < LINES_CELLS; cell++) {
        struct lines_cell *c = &m->team->cell[cell];
        *c = (struct lines_cell){ .next = (unsigned char)way, .reader = (m->rank + 1) % m->size };
        c->known[0].best = (unsigned char)way;
        for (int w = 0; w < LINES_WAYS; w++)
            c->out[w].due = FRESH;
        atomic_store_explicit(&lines_of(m, m->rank)->way[cell], way, memory_order_relaxed);
    }
}
