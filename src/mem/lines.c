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
 *           Where no copy writes such lines, reductions do, and their times count.  Packed views
 *           are not timed.
 * Cost      two readings of the clock, with all stores done, for LOOK of LOOK + PAUSE copies.
 *           After the first trial of each way the next ones wait until what trials have lost is
 *           at most 1 / BUDGET of the time of all copies.
 * Order     None.  A way that is seen late costs time, and nothing else.
 */
#include "mem/mem.h"

enum {
    LOOK = 8,       /* copies of a look; the two longest of them may have been interrupted */
    PAUSE = 256,    /* copies from one look to the next of the same way */
    FRESH = 32,     /* copies out before the first look: they may touch pages for the first time */
    BUDGET = 32,    /* of the time of all copies one part may be lost by trials */
    SPACE = 16,     /* a trial is this many times as long as itself after the one before */
    FAR_TURN = 512, /* copies after which a ring counts as having come round */
    DEAREST = 16,   /* times what the best way takes a trial loses at most: what is more was an
                     interruption, for which the trials to come need not wait */
    READERS = 4     /* whose times are read at most */
};

/* ---- looks ---- */

static uint32_t ticks_a_kb(uint64_t ticks, size_t bytes)
{
    uint64_t rate = ticks * LINES_PARTS * 1024 / bytes + 1;

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

/* Merges what a look has seen with what was known, unless the machine has changed since. */
static uint32_t merge(uint32_t known, uint32_t seen)
{
    bool old = known == 0 || seen > known + known / 2 || known > seen + seen / 2;

    return old ? seen : (uint32_t)(((uint64_t)known + seen) / 2);
}

/* ---- the choice ---- */

static struct lines_member *lines_of(const struct mem *m, int rank)
{
    return (struct lines_member *)(void *)(m->slices[rank] + m->team->lines);
}

/* Returns the cell of the running algorithm: those of a family have one slot. */
static unsigned cell_of(const struct mem *m)
{
    return (unsigned)(m->slot_offset / HUD_LINE * 0x9e3779b1u >> 16) % LINES_CELLS;
}

/* Returns what a KB of this rank's lines takes readers; 0: unknown.  A call with a root may have
 * one reader among many ranks, so the look begins with the reader that was found last. */
static uint32_t known_out(const struct mem *m, unsigned cell, unsigned way)
{
    int *reader = &m->team->cell[cell].reader, first = *reader;
    uint64_t sum = 0;
    uint32_t count = 0;

    for (int k = 0; k < m->size && (count == 0 || k < READERS); k++) {
        int r = (first + k) % m->size;
        uint32_t out = r == m->rank ? 0
                                    : atomic_load_explicit(&lines_of(m, r)->out[cell][way],
                                                           memory_order_relaxed);
        if (out != 0 && count++ == 0)
            *reader = r;
        sum += out;
    }
    return count != 0 ? (uint32_t)(sum / count) : 0;
}

/* Returns how much more the one way costs than the other, in ticks.  Where readers know only one of
 * the two, this rank's own copies decide. */
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

/* Returns the way that costs least; a change must save a twentieth. */
static unsigned cheapest(const struct mem *m, unsigned cell, const struct lines_cell *c)
{
    unsigned best = c->best;

    for (unsigned way = 0; way < LINES_WAYS; way++) {
        int64_t cost;
        if (way != best && c->known[way] != 0 && 20 * dearer(m, cell, c, way, best, &cost) < -cost)
            best = way;
    }
    return best;
}

/* Tells this rank's readers what to do from now on. */
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

/* Returns the next of the ways that are allowed after this one. */
static unsigned way_after(unsigned way, unsigned allowed)
{
    do
        way = (way + 1) % LINES_WAYS;
    while (!(allowed >> way & 1));
    return way;
}

/* Goes on with the cheapest way, after a complete look. */
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

/* Tells whether the ring had come round since this way began, before a write to there.  From then
 * on readers read what was written in this way, however far they are behind.  They take the time of
 * the write with which it comes round, too, so that they have as many times as this rank. */
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

struct lines_use hud_lines_begin_write(const struct mem *m, const void *shared, size_t bytes,
                                       bool copies)
{
    struct lines_use use = { .cell = cell_of(m) };
    struct lines_cell *c = &m->team->cell[use.cell];

    use.way = atomic_load_explicit(&lines_of(m, m->rank)->way[use.cell], memory_order_relaxed) %
              LINES_WAYS;
    c->copies = c->copies || copies;
    if (copies != c->copies)
        return use;
    bool round = m->policy->learns && comes_round(m, use.cell, use.way, shared, bytes);
    c->ins++;
    use.timed = round && c->ins >= c->in[use.way].due;
    use.begin = use.timed ? hud_lines_ticks() : 0;
    return use;
}

void hud_lines_end_write(const struct mem *m, const struct lines_use *use, size_t bytes)
{
    struct lines_cell *c = &m->team->cell[use->cell];

    if (c->lost > 0)
        c->lost -= (int64_t)((uint64_t)c->known[c->best] * (bytes >> 10) / BUDGET);
    if (!use->timed) {
        if (c->round)
            consider(m, use->cell, c, use->way);
        return;
    }
    uint32_t seen =
        look_add(&c->in[use->way], ticks_a_kb(hud_lines_ticks() - use->begin, bytes), c->ins);
    if (seen == 0)
        return;
    c->known[use->way] = merge(c->known[use->way], seen);
    conclude(m, use->cell, c, use->way, bytes);
}

void hud_mem_in_long(struct mem *m, void *dst, const void *src, size_t bytes)
{
    const struct lines_use use = hud_lines_begin_write(m, dst, bytes, true);

    if (use.way & LINES_PAST)
        hud_mem_stream(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
    hud_lines_end_write(m, &use, bytes);
}

/* ---- readers ---- */

/* Returns the rank in whose slice it is; -1: in nobody's. */
static int owner_of(const struct mem *m, const void *shared)
{
    struct mem_team *t = m->team;

    for (int k = 0, r = t->read; k < m->size; k++, r = r + 1 < m->size ? r + 1 : 0)
        if ((uintptr_t)shared - (uintptr_t)m->slices[r] < t->slice_bytes)
            return t->read = r;
    return -1;
}

/* Returns the word that the owner has published; 0 where that is this rank, or none. */
static unsigned word_of(const struct mem *m, unsigned cell, const void *shared)
{
    int owner = owner_of(m, shared);

    return owner < 0 || owner == m->rank
               ? 0
               : atomic_load_explicit(&lines_of(m, owner)->way[cell], memory_order_relaxed);
}

unsigned hud_lines_way(const struct mem *m, const void *shared)
{
    return word_of(m, cell_of(m), shared) % LINES_WAYS;
}

struct lines_use hud_lines_begin_read(const struct mem *m, const void *shared, bool plain)
{
    struct lines_use use = { .cell = cell_of(m) };
    struct lines_cell *c = &m->team->cell[use.cell];
    unsigned word = word_of(m, use.cell, shared);

    use.way = word % LINES_WAYS;
    use.timed =
        m->policy->learns && plain && ++c->outs >= c->out[use.way].due && (word & LINES_ROUND) != 0;
    use.begin = use.timed ? hud_lines_ticks() : 0;
    return use;
}

void hud_lines_end_read(const struct mem *m, const struct lines_use *use, size_t bytes)
{
    if (!use->timed)
        return;
    struct lines_cell *c = &m->team->cell[use->cell];
    _Atomic uint32_t *out = &lines_of(m, m->rank)->out[use->cell][use->way];
    uint32_t seen =
        look_add(&c->out[use->way], ticks_a_kb(hud_lines_ticks() - use->begin, bytes), c->outs);
    if (seen != 0)
        atomic_store_explicit(out, merge(atomic_load_explicit(out, memory_order_relaxed), seen),
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
        *c = (struct lines_cell){ .best = (unsigned char)way,
                                  .next = LINES_WAYS - 1,
                                  .reader = (m->rank + 1) % m->size };
        for (int w = 0; w < LINES_WAYS; w++)
            c->out[w].due = FRESH;
        atomic_store_explicit(&lines_of(m, m->rank)->way[cell], way, memory_order_relaxed);
    }
}
