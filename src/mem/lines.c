/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.c - long copies into and out of shared memory: what is done with the lines, by what it has
 * taken.
 *
 * A rank that writes a line which another core has read first takes it back.  Where two cores share
 * a cache that takes 7 ns a line, where they do not, 27.  If the reader has written to the line, it
 * takes 1 and 3: then one core alone has it.  Non-temporal stores take 2 to 4 wherever the line is,
 * but then its reader fetches it from memory.  For threads of one core neither pays.  So a rank has
 * a choice of ways (lines.h) for its lines, and takes times to make it: topologies do not tell, and
 * a virtual machine may move a processor at any time.
 *
 * Source    this project; the figures are of an AMD EPYC (Zen 4).
 * Shape     Each rank chooses for its own lines, for each cell: a few algorithms, by the place of
 *           their slots.  It publishes the way, and readers follow.  The cost of a way is what a KB
 *           took the rank to copy in, and what it took readers to copy out, which they publish.
 *           Now and then it tries another way.  A trial counts only copies into lines that were
 *           written in that way before: from when the ring of the algorithm has come round.
 * Cost      two readings of the clock, with all stores done, for LOOK of LOOK + PAUSE copies.  What
 *           trials lose is at most 1 / BUDGET of the time of all copies.
 * Order     None.  A way that is seen late costs time, and nothing else.
 */
#include "mem/mem.h"

enum {
    LOOK = 8,     /* copies of a look; the two longest of them may have been interrupted */
    PAUSE = 256,  /* copies from one look to the next of the same way */
    FRESH = 32,   /* copies out before the first look: they may touch pages for the first time */
    BUDGET = 32,  /* of the time of all copies one part may be lost by trials */
    SPACE = 16,   /* a trial is this many times as long as itself after the one before */
    FAR_TURN = 512, /* copies after which a ring counts as having come round */
    DEAREST = 16, /* times what the best way takes a trial loses at most: what is more was an
                     interruption, for which the trials to come need not wait */
    READERS = 4   /* whose times are read at most */
};

/* ---- looks ---- */

static uint32_t ticks_a_kb(uint64_t ticks, size_t bytes)
{
    uint64_t rate = ticks * 16 * 1024 / bytes + 1;

    return rate < UINT32_MAX / LOOK ? (uint32_t)rate : UINT32_MAX / LOOK;
}

/* Adds a time.  Returns the mean of all but the two longest once the look is complete, else 0. */
static uint32_t look_add(struct lines_look *look, uint32_t ticks, uint64_t copies)
{
    look->sum += ticks;
    if (ticks > look->longest) {
        look->second = look->longest;
        look->longest = ticks;
    } else if (ticks > look->second) {
        look->second = ticks;
    }
    if (++look->count < LOOK)
        return 0;
    uint32_t mean = (look->sum - look->longest - look->second) / (LOOK - 2);
    *look = (struct lines_look){ .due = copies + PAUSE };
    return mean > 0 ? mean : 1;
}

/* What is known after a look: the mean with what was known before, unless that is past. */
static uint32_t merge(uint32_t known, uint32_t seen)
{
    bool past = known == 0 || seen > known + known / 2 || known > seen + seen / 2;

    return past ? seen : known / 2 + seen / 2;
}

/* ---- the choice ---- */

static struct lines_member *lines_of(const struct mem *m, int rank)
{
    return (struct lines_member *)(void *)(m->slices[rank] + m->team->lines);
}

/* Of the running algorithm: those of a family have one slot. */
static unsigned cell_of(const struct mem *m)
{
    return (unsigned)(m->slot_offset / HUD_LINE * 0x9e3779b1u >> 16) % LINES_CELLS;
}

/* What a KB of this rank's lines takes readers; 0: unknown. */
static uint32_t known_out(const struct mem *m, unsigned cell, unsigned way)
{
    uint64_t sum = 0;
    uint32_t count = 0;

    for (int k = 1; k < m->size && k <= READERS; k++) {
        struct lines_member *other = lines_of(m, (m->rank + k) % m->size);
        uint32_t out = atomic_load_explicit(&other->out[cell][way], memory_order_relaxed);
        sum += out;
        count += out != 0;
    }
    return count != 0 ? (uint32_t)(sum / count) : 0;
}

/* How much more the one way costs than the other, in ticks; where readers know only one of them,
 * of this rank's own copies. */
static int64_t dearer(const struct mem *m, unsigned cell, const struct lines_cell *c, unsigned one,
                      unsigned other, int64_t *cost)
{
    uint32_t one_out = known_out(m, cell, one), other_out = known_out(m, cell, other);
    bool both = one_out != 0 && other_out != 0;
    int64_t a = (int64_t)c->known[one] + (both ? one_out : 0),
            b = (int64_t)c->known[other] + (both ? other_out : 0);

    *cost = b;
    return a - b;
}

/* The way that costs least; a change must save a twentieth. */
static unsigned cheapest(const struct mem *m, unsigned cell, const struct lines_cell *c)
{
    unsigned best = c->best;

    for (unsigned way = 0; way < LINES_WAYS; way++) {
        int64_t cost;
        if (way != best && c->known[way] != 0 &&
            20 * dearer(m, cell, c, way, best, &cost) < -cost)
            best = way;
    }
    return best;
}

/* What this rank's readers are to do from now on. */
static void publish(const struct mem *m, unsigned cell, unsigned word)
{
    atomic_store_explicit(&lines_of(m, m->rank)->way[cell], word, memory_order_relaxed);
}

static void go(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way)
{
    publish(m, cell, way);
    c->first = NULL;
    c->since = 0;
    c->round = false;
}

/* The next of the ways that are allowed after this one. */
static unsigned way_after(unsigned way, unsigned allowed)
{
    do
        way = (way + 1) % LINES_WAYS;
    while (!(allowed >> way & 1));
    return way;
}

/* A look of copies in is complete: the rank goes on with the cheapest way. */
static void conclude(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way,
                     size_t bytes)
{
    bool trial = way != c->best;

    if (trial) {
        int64_t cost, more = dearer(m, cell, c, way, c->best, &cost);
        more = more < DEAREST * cost ? more : DEAREST * cost;
        c->lost += more > 0 ? more * (int64_t)(bytes >> 10) * c->since : 0;
        c->rest = c->ins + (uint64_t)SPACE * c->since;
    }
    c->best = (unsigned char)cheapest(m, cell, c);
    if (way != c->best)
        go(m, cell, c, c->best);
}

/* Begins a trial if it is time. */
static void consider(const struct mem *m, unsigned cell, struct lines_cell *c, unsigned way)
{
    if (way != c->best || c->known[way] == 0 || c->ins < c->rest || c->lost > 0)
        return;
    c->next = (unsigned char)way_after(c->next, m->policy->ways);
    if (c->next == way)
        c->next = (unsigned char)way_after(c->next, m->policy->ways);
    if (c->next != way)
        go(m, cell, c, c->next);
}

/* ---- copies ---- */

/* Whether the ring had come round since this way began, before a copy to there.  From then on
 * readers read what was written in this way, however far they are behind.  They take the time of
 * the copy with which it comes round, too, so that they have as many times as this rank. */
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

unsigned hud_lines_own(const struct mem *m)
{
    return atomic_load_explicit(&lines_of(m, m->rank)->way[cell_of(m)], memory_order_relaxed);
}

/* Adds the time of a copy in that began then. */
static void learn_in(const struct mem *m, unsigned cell, unsigned way, uint64_t begin, size_t bytes)
{
    struct lines_cell *c = &m->team->cell[cell];
    uint32_t seen = look_add(&c->in[way], ticks_a_kb(hud_lines_ticks() - begin, bytes), c->ins);

    if (seen == 0)
        return;
    c->known[way] = merge(c->known[way], seen);
    conclude(m, cell, c, way, bytes);
}

void hud_mem_in_long(struct mem *m, void *dst, const void *src, size_t bytes)
{
    unsigned cell = cell_of(m);
    struct lines_cell *c = &m->team->cell[cell];
    unsigned way =
        atomic_load_explicit(&lines_of(m, m->rank)->way[cell], memory_order_relaxed) % LINES_WAYS;
    bool round = m->policy->learns && comes_round(m, cell, way, dst, bytes);

    c->ins++;
    bool timed = round && c->ins >= c->in[way].due;
    uint64_t begin = timed ? hud_lines_ticks() : 0;
    if (way & LINES_PAST)
        hud_mem_stream(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
    if (c->lost > 0)
        c->lost -= (int64_t)(c->known[c->best] * (bytes >> 10) / BUDGET);
    if (timed)
        learn_in(m, cell, way, begin, bytes);
    else if (round)
        consider(m, cell, c, way);
}

/* ---- readers ---- */

/* Whose slice it is in; -1: nobody's. */
static int owner_of(const struct mem *m, const void *shared)
{
    struct mem_team *t = m->team;

    for (int k = 0, r = t->read; k < m->size; k++, r = r + 1 < m->size ? r + 1 : 0)
        if ((uintptr_t)shared - (uintptr_t)m->slices[r] < t->slice_bytes)
            return t->read = r;
    return -1;
}

struct hud_lines_read hud_lines_begin_read(const struct mem *m, const void *shared)
{
    int owner = owner_of(m, shared);
    struct hud_lines_read read = { .cell = cell_of(m) };
    struct lines_cell *c = &m->team->cell[read.cell];

    if (owner < 0)
        return read;
    unsigned word = atomic_load_explicit(&lines_of(m, owner)->way[read.cell], memory_order_relaxed);
    read.way = word % LINES_WAYS;
    read.timed = m->policy->learns && owner != m->rank && ++c->outs >= c->out[read.way].due &&
                 (word & LINES_ROUND) != 0;
    read.begin = read.timed ? hud_lines_ticks() : 0;
    return read;
}

void hud_lines_end_read(const struct mem *m, const struct hud_lines_read *read, size_t bytes)
{
    if (!read->timed)
        return;
    struct lines_cell *c = &m->team->cell[read->cell];
    _Atomic uint32_t *out = &lines_of(m, m->rank)->out[read->cell][read->way];
    uint32_t seen =
        look_add(&c->out[read->way], ticks_a_kb(hud_lines_ticks() - read->begin, bytes), c->outs);
    if (seen != 0)
        atomic_store_explicit(
            out, merge(atomic_load_explicit(out, memory_order_relaxed), seen),
            memory_order_relaxed);
}

/* ---- a team ---- */

void hud_lines_start(const struct mem *m)
{
    unsigned ways = m->policy->ways, way = ways >> LINES_BACK & 1 ? LINES_BACK : 0;

    while (!(ways >> way & 1))
        way++;
    for (unsigned cell = 0; cell < LINES_CELLS; cell++) {
        struct lines_cell *c = &m->team->cell[cell];
        *c = (struct lines_cell){ .best = (unsigned char)way };
        for (int w = 0; w < LINES_WAYS; w++)
            c->out[w].due = FRESH;
        atomic_store_explicit(&lines_of(m, m->rank)->way[cell], way, memory_order_relaxed);
    }
}
