/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/levels.c - leaders copy each fragment once for their NUMA node or socket and publish it again there, pipelined.
 *
 * Source    this project: paper 01's queue in each leader's slice, on its node, over paper 03's groups.
 * Shape     p ranks in L levels of groups; the tree is SHAPE_GROUPED: in each group the member that leads the way to the root tells the others.
 *           A rank that was told at a high level and tells others below it copies the fragment into its own queue, from which all that it
 *           tells read; any other reads, and lets those it tells read, where the one that told it reads.  So a fragment crosses the
 *           link to a unit once, and the ranks of the root's own unit read the root's queue.
 * Cost      T = (ceil(n/f) + d) t_w + (n + d f) 2 t     ns; d copying ranks on the longest way, f bytes of a fragment, t ns per byte copied,
 *           t_w a notification; a copying rank copies twice, which is the pace of the pipeline
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all roots, and a fragment has the same position in every queue.  A rank that announces first makes
 * sure, once a set, that all that may read its slice have left what the set held; under any root these are the ranks below the
 * same member of level `from`, and those that meet it, or the leaders above it, at `from` or higher (`may_read`).
 *
 * Line                      written by   read by            value k means
 *   slot[r].word[k % units]   r            those r tells      the fragment at position k - 1 is in the queue they read; with it, a notice
 *   slot[r].left              r            whom r may read    r reads nothing before position k any more
 *   slot[r].at, .entered      r            r                  (plain) r's position; r may announce at any position before `entered`
 *   data                      r            may_read           fragments, from the announcement to the last `left`
 *
 * Edges     R1 -> A1   a copy into a queue  happens before  the copies out of it; the announcement passes down the tree before each copy out
 *           R2 -> A2   a rank's last read of a set  happens before  the next write to it by any rank that it may read
 */
#include "alg/alg.h"
#include "shape/ring.h"

enum param { FRAGMENT, BUFFERS, SETS, DEPTH };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes copied and announced at once; 0: sqrt(n t_w / (levels t)), at most a set", 0, 1 << 24, 0,
                   NULL, .tune = "4K,8K,16K,32K" },
    [BUFFERS] = { "buffers", "1", "s, buffers of f bytes (of 32K where f is 0); 0: what the lease holds", 0, RING_UNITS_MOST, 0, NULL },
    [SETS] = { "sets", "1", "q, sets of buffers that are refilled as a whole", 1, 8, 3, NULL },
    [DEPTH] = { "depth", "1", "levels of groups, from the top down, whose members copy for the groups below them", 0, SHAPE_LEVELS,
                SHAPE_LEVELS, NULL, .tune = "1" },
    { .name = NULL },
};

struct notice { /* the payload of a control word: this fragment, and the bytes after it */
    uint64_t bytes, units, rest;
};

struct slot {
    mem_flag left;
    _Alignas(HUD_LINE) uint64_t at;
    uint64_t entered;
    mem_flag word[]; /* [units], then the data */
};

static struct shape_ring ring_of(const long *param, size_t slot_bytes)
{
    enum { F = 32 << 10 }; /* where f follows from the message */
    uint64_t wanted = (uint64_t)param[BUFFERS] * ring_units_of(param[FRAGMENT] != 0 ? (uint64_t)param[FRAGMENT] : F);
    size_t room = slot_bytes > sizeof(struct slot) ? slot_bytes - sizeof(struct slot) : 0;

    return ring_make(room, sizeof(mem_flag), wanted, (uint64_t)param[SETS]);
}

static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    struct shape_ring ring = ring_of(param, most_bytes);

    (void)ranks;
    return ring.units == 0 ? 0 : sizeof(struct slot) + ring.units * (sizeof(mem_flag) + RING_UNIT);
}

static char *data_of(struct slot *slot, const struct shape_ring *ring, uint64_t at)
{
    return (char *)&slot->word[ring->units] + at % ring->units * RING_UNIT;
}

/* The lowest level at which being told makes a rank copy; no level: the number of levels. */
static int from_level(const struct coll *c)
{
    int from = c->groups->levels - (int)c->param[DEPTH];

    return from > 1 ? from : 1;
}

/* The root fills its queue; another fills its own if it was told at level `from` or above and tells ranks below that level. */
static bool copies(const struct shape_tree *t, int rank, int from)
{
    int above = hud_shape_parent(t, rank), level = 0, below = 0, count;

    for (; above >= 0 && t->groups->level[level].group_of[rank] != t->groups->level[level].group_of[above]; level++) {
        shape_members(t->groups, level, rank, &count);
        below += count - 1;
    }
    return above < 0 || (level >= from && below > 0);
}

/* Whether, under some root, rank `by` reads the slice of rank `of`. */
static bool may_read(const struct shape_groups *g, int from, int by, int of)
{
    int lead = by, count; /* of those that `by` is below at a level */

    for (int level = 0; level < g->levels; level++) {
        if (level >= from && (lead != by || g->level[level].group_of[by] == g->level[level].group_of[of]))
            return lead == by;
        lead = shape_members(g, level, lead, &count)[0];
        of = shape_members(g, level, of, &count)[0];
        if (level + 1 == from && lead == of)
            return true;
    }
    return false;
}

/* Before the first announcement in a set: all that may read this slice have left what the set held. */
static uint64_t enter(struct mem *m, const struct coll *c, const struct shape_ring *ring, uint64_t at)
{
    uint64_t set = at - at % ring->set_units, left = ring_must_have_left(ring, set);

    for (int r = 0; left != 0 && r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        if (r != mem_rank(m) && may_read(c->groups, from_level(c), r, mem_rank(m)))
            mem_await(m, &other->left, left); /* A2 */
    }
    return set + ring->set_units;
}

static struct notice copy_in(struct mem *m, const struct coll *c, const struct shape_ring *ring, uint64_t at, size_t sent)
{
    enum { RATIO = 2560 }; /* t_w / t */
    uint64_t ratio = RATIO / (uint64_t)c->groups->levels;
    uint64_t f = c->param[FRAGMENT] != 0 ? ring_units_of((uint64_t)c->param[FRAGMENT]) : ring_fragment(c->buf.bytes, ratio);
    size_t rest = c->buf.bytes - sent, most = ring_next(ring, at, f) * RING_UNIT;
    size_t bytes = mem_in(m, data_of(mem_slot(m, mem_rank(m)), ring, at), &c->buf, sent, rest < most ? rest : most); /* may be fewer */

    return (struct notice){ bytes, ring_units_of(bytes), rest - bytes };
}

/* Fragments come from the view or from the queue that the parent's notices are of; they are copied near, announced, copied out. */
static void run(struct mem *m, const struct coll *c)
{
    struct shape_tree t = { .kind = SHAPE_GROUPED, .ranks = mem_size(m), .root = c->root, .groups = c->groups };
    struct shape_ring ring = ring_of(c->param, c->slot_bytes);
    int me = mem_rank(m), above = hud_shape_parent(&t, me), from = above;
    bool near = copies(&t, me, from_level(c)), leaf = hud_shape_child(&t, me, 0) < 0;

    while (from >= 0 && !copies(&t, from, from_level(c)))
        from = hud_shape_parent(&t, from);
    struct slot *mine = mem_slot(m, me), *parent = mem_slot(m, above < 0 ? me : above), *origin = mem_slot(m, from < 0 ? me : from);
    uint64_t at = mem_get(m, &mine->at), entered = mem_get(m, &mine->entered);
    struct notice n = { .rest = 1 };

    for (size_t done = 0; n.rest != 0; done += n.bytes) {
        mem_flag *word = &mine->word[at % ring.units], *told = &parent->word[at % ring.units];
        struct notice *out = (struct notice *)word->payload, *in = (struct notice *)told->payload;

        if (!leaf && at >= entered)
            entered = enter(m, c, &ring, at);
        if (above < 0) {
            n = copy_in(m, c, &ring, at, done);
        } else {
            mem_await(m, told, at + 1); /* A1 */
            n = (struct notice){ mem_get(m, &in->bytes), mem_get(m, &in->units), mem_get(m, &in->rest) };
        }
        if (above >= 0 && near)
            mem_copy(m, data_of(mine, &ring, at), data_of(origin, &ring, at), n.bytes);
        if (!leaf) {
            mem_put(m, &out->bytes, n.bytes);
            mem_put(m, &out->units, n.units);
            mem_put(m, &out->rest, n.rest);
            mem_post(m, word, at + 1); /* R1 */
        }
        if (above >= 0)
            mem_out(m, &c->buf, data_of(near ? mine : origin, &ring, at), done, n.bytes);
        at += n.units;
        if (ring_at_set(&ring, at))
            mem_post(m, &mine->left, at); /* R2 */
    }
    mem_put(m, &mine->at, at);
    mem_put(m, &mine->entered, entered);
}

ALG_DEFINE(bcast, levels) = {
    .coll = "bcast",
    .name = "levels",
    .doc = "leaders copy each fragment once for their NUMA node or socket and publish it again there",
    .source = "this project, after papers 01 (queue) and 03 (groups)",
    .params = params,
    .slot_bytes = slot_bytes,
    .run = run,
};
