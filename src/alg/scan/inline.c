/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inline.c - a rank's contribution is behind one flag, its first bytes in the flag's own line, and
 * the ranks above read it there: scan/inline, exscan/inline, of all ranks below; scan/segments,
 * exscan/segments, of those in their own segment, and one sum of each segment before it.
 *
 * Source    this project, after allreduce/inline; the ring of lines and its recycling by halves as
 *           in reduce/inline, after paper 01's sets (q = 2).
 * Shape     p ranks, n bytes.  inline: rank r reads the contributions of ranks 0 ... r - 1.
 *           segments: s consecutive ranks are a segment.  The last rank of each publishes the sum
 *           of its segment, instead of its contribution, without a wait for the segments before.
 * Cost      ns; l one line transfer, g one more overlapped line, o a copy or reduction of n bytes
 *           in the nearest cache, t per byte copied, of what does not fit a line
 *             inline     T = l + (p - 2) g + p o + p n t
 *             segments   T = 2 l + (s - 2 + p / s) g + (s + p / s) (o + n t)
 *           traffic: n bytes written; p n or (s + p / s) n read
 * Accepts   n + 16 bytes in a cell.
 *
 * Rank 0 waits for nobody, and what the last rank has is read by nobody.  So contributions are in a
 * ring of RING cells, used by operation number, in two halves.  Before a half begins, a rank makes
 * sure that all ranks above it have finished the half before last.
 *
 * Line                        written by   read by           value k means
 *   slot[r].cell[k % RING]    r            the ranks above   r's contribution to operation k is
 *                                                            behind this flag; segments, of the
 *                                                            last of one: the sum of its segment
 *   slot[r].done              r            the ranks below   r has finished all operations up to k
 *
 * Edges     R1 -> A1   a contribution or a sum   happens before  the reads of it
 *           R2 -> A2   a rank's reads of a half  happen before   the next writes of the ranks below
 *                                                                it to that half
 *
 * Deadlock freedom
 *   1. A rank posts its contribution before it waits for those of its operation.  A sum is posted
 *      after a wait for contributions only.
 *   2. At the beginning of a half it waits for ranks that have yet to enter an operation before its
 *      own; the one of the earliest operation, and the lowest of these, waits for nobody.
 * Safety
 *   1. With more ranks than one reduction reads, the result so far is in `out`, which may be `in`.
 *      Then its own contribution is read in shared memory, where that of the last rank is, too.
 *      That of the last of a segment is in the sum, which is made before.
 */
#include "alg/reduction.h"

enum { RING = 16, HALF = RING / 2 };

enum param { BUDGET, SEGMENT };

static const struct alg_param params[] = {
    [BUDGET] = { "budget", "B", "16 contributions, each with its flag", RING *HUD_LINE, 1 << 24,
                 132 << 10, NULL },
    [SEGMENT] = { "segment", "1", "of segments: ranks of one; 0: about the square root of all", 0,
                  1 << 16, 0, NULL, .per_call = true },
    { .name = NULL },
};

struct slot {
    mem_flag done;
    char cells[];
};

/* A call, as its algorithm sees it. */
struct prefix {
    struct mem *m;
    const struct coll *c;
    int me, ranks;
};

static struct prefix prefix_of(struct mem *m, const struct coll *c)
{
    return (struct prefix){ .m = m, .c = c, .me = mem_rank(m), .ranks = mem_size(m) };
}

static size_t cell_bytes(const struct coll *c)
{
    return (c->place->slot_bytes - sizeof(struct slot)) / RING / HUD_LINE * HUD_LINE;
}

static mem_flag *cell_of(const struct prefix *p, uint64_t op, int rank)
{
    struct slot *slot = mem_slot(p->m, rank);

    return (mem_flag *)(slot->cells + op % RING * cell_bytes(p->c));
}

/* What a rank has published in this operation; and what this one contributes. */
static struct mem_span cell_span(const struct prefix *p, int rank)
{
    return (struct mem_span){ .shared = contribution_at(cell_of(p, p->c->op, rank)) };
}

static struct mem_span own_span(const struct prefix *p)
{
    return contribution_stays(p->m) ? (struct mem_span){ .view = p->c->in } : cell_span(p, p->me);
}

/* Before the first write to a half: its readers have finished with it. */
static void enter(const struct prefix *p)
{
    if (p->c->op % HALF != 0 || p->c->op < RING)
        return;
    for (int r = p->me + 1; r < p->ranks; r++) {
        struct slot *reader = mem_slot(p->m, r);
        mem_await(p->m, &reader->done, p->c->op - HALF - 1); /* A2 */
    }
}

static void contribute(const struct prefix *p)
{
    mem_flag *cell = cell_of(p, p->c->op, p->me);
    bool last = p->me == p->ranks - 1;

    enter(p);
    if (!last || !contribution_stays(p->m))
        mem_in_all(p->m, contribution_at(cell), p->c->in, 0, p->c->bytes);
    if (!last)
        mem_post(p->m, cell, p->c->op); /* R1 */
}

/* What ranks first, first + step, ... below this one have published. */
static void await(const struct prefix *p, int first, int step)
{
    for (int r = first; r < p->me; r += step) {
        mem_flag *cell = cell_of(p, p->c->op, r);
        mem_await(p->m, cell, p->c->op); /* A1 */
    }
}

/* Of those before `end`, as sources. */
static void add(const struct prefix *p, int first, int end, int step, struct sources *all)
{
    for (int r = first; r < end; r += step)
        sources_add(all, cell_span(p, r));
}

/* The result, if there is one, and the end of the operation. */
static void finish(const struct prefix *p, const struct sources *all, const struct mem_span *out)
{
    struct slot *mine = mem_slot(p->m, p->me);

    if (all->count > 0)
        sources_reduce(all, out, NULL);
    if ((p->c->op + 1) % HALF == 0)
        mem_post(p->m, &mine->done, p->c->op); /* R2 */
    if (p->me < p->ranks - 1)
        contribution_prefetch(p->m, p->c, cell_of(p, p->c->op + 1, p->me));
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t lines = sizeof(struct slot), wanted = lines + (size_t)param[BUDGET],
           bytes = wanted < max_bytes ? wanted : max_bytes;

    (void)ranks;
    return bytes < lines + (size_t)RING * HUD_LINE ? 0 : bytes / HUD_LINE * HUD_LINE;
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= cell_bytes(c) - (HUD_LINE - CONTRIBUTION_LINE);
}

/* ---- inline ---- */

static void run_inline(struct mem *m, const struct coll *c, bool exclusive)
{
    const struct prefix p = prefix_of(m, c);
    const struct mem_span out = { .view = c->out };
    struct sources all;

    contribute(&p);
    await(&p, 0, 1);
    sources_begin(&all, m, c, &out, c->bytes);
    add(&p, 0, p.me, 1, &all);
    if (!exclusive)
        sources_add(&all, own_span(&p));
    finish(&p, &all, &out);
}

static void scan_inline(struct mem *m, const struct coll *c)
{
    run_inline(m, c, false);
}

ALG_DEFINE(scan, inline) = {
    .coll = "scan",
    .name = "inline",
    .doc = "contributions are behind flags, every rank reduces those of all ranks below",
    .source = "this project, after papers 01 (sets) and 05",
    .ordered = true,
    .accepts = accepts,
    .family = &family,
    .run = scan_inline,
};

static void exscan_inline(struct mem *m, const struct coll *c)
{
    run_inline(m, c, true);
}

ALG_DEFINE(exscan, inline) = {
    .coll = "exscan",
    .name = "inline",
    .doc = "contributions are behind flags, every rank reduces those of all ranks below",
    .source = "this project, after papers 01 (sets) and 05",
    .ordered = true,
    .accepts = accepts,
    .family = &family,
    .run = exscan_inline,
};

/* ---- segments ---- */

static int segment_ranks(const struct prefix *p)
{
    int ranks = (int)p->c->param[SEGMENT];

    for (int root = 1; p->c->param[SEGMENT] == 0 && ranks == 0; root++)
        ranks = root * root >= p->ranks ? root : 0;
    return ranks;
}

/* The sum of the segment that begins with a rank and ends with this one. */
static void publish(const struct prefix *p, int first)
{
    mem_flag *cell = cell_of(p, p->c->op, p->me);
    const struct mem_span total = { .shared = contribution_at(cell) };
    struct sources all;

    enter(p);
    await(p, first, 1);
    sources_begin(&all, p->m, p->c, &total, p->c->bytes);
    add(p, first, p->me, 1, &all);
    sources_add(&all, (struct mem_span){ .view = p->c->in });
    sources_reduce(&all, &total, NULL);
    mem_post(p->m, cell, p->c->op); /* R1 */
}

static void run_segments(struct mem *m, const struct coll *c, bool exclusive)
{
    const struct prefix p = prefix_of(m, c);
    int ranks = segment_ranks(&p), first = p.me / ranks * ranks;
    bool publishes = p.me == first + ranks - 1 && p.me < p.ranks - 1;
    const struct mem_span out = { .view = c->out };
    struct sources all;

    if (publishes) {
        publish(&p, first);
    } else {
        contribute(&p);
        await(&p, first, 1);
    }
    await(&p, ranks - 1, ranks);
    sources_begin(&all, m, c, &out, c->bytes);
    add(&p, ranks - 1, first, ranks, &all);
    if (!publishes || exclusive)
        add(&p, first, p.me, 1, &all);
    if (!exclusive)
        sources_add(&all, publishes ? cell_span(&p, p.me) : own_span(&p));
    finish(&p, &all, &out);
}

static void scan_segments(struct mem *m, const struct coll *c)
{
    run_segments(m, c, false);
}

ALG_DEFINE(scan, segments) = {
    .coll = "scan",
    .name = "segments",
    .doc = "every rank reduces the contributions of its segment, and the sums of those before",
    .source = "this project, after papers 01 (sets) and 05",
    .accepts = accepts,
    .family = &family,
    .run = scan_segments,
};

static void exscan_segments(struct mem *m, const struct coll *c)
{
    run_segments(m, c, true);
}

ALG_DEFINE(exscan, segments) = {
    .coll = "exscan",
    .name = "segments",
    .doc = "every rank reduces the contributions of its segment, and the sums of those before",
    .source = "this project, after papers 01 (sets) and 05",
    .accepts = accepts,
    .family = &family,
    .run = exscan_segments,
};
