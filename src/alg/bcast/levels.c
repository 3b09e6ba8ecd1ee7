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

enum param { FRAGMENT, SETS, BUDGET, DEPTH };
enum { RATIO = 2560 }; /* t_w / t, bytes; as in queue.c */

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes copied and announced at once; 0: sqrt(min(n, b) t_w / (t levels))", 0, 1 << 24, 0, NULL,
                   .per_call = true, .tune = "4K,8K,16K,32K" },
    [SETS] = { "sets", "1", "q, sets of buffers that are refilled as a whole", 1, 8, 3, NULL },
    [BUDGET] = { "budget", "B", "b, bytes of each queue; 0: what the lease holds", 0, 1 << 24, 0, NULL },
    [DEPTH] = { "depth", "1", "levels of groups, from the top down, whose members copy for those below them", 0, SHAPE_LEVELS, SHAPE_LEVELS,
                NULL, .tune = "1" },
    { .name = NULL },
};

/* What a control word carries: bytes of this fragment, times two, plus one if there are more. */
enum { MORE = 1 };

struct slot {
    mem_flag left;
    _Alignas(HUD_LINE) uint64_t at;
    uint64_t entered;
    mem_flag word[]; /* [units], then the data */
};

static struct ring_wish wish_of(const long *param)
{
    return (struct ring_wish){ .fragment = (uint64_t)param[FRAGMENT], .budget = (uint64_t)param[BUDGET] };
}

static struct shape_ring ring_in(size_t slot_bytes, uint64_t wanted, const long *param)
{
    return ring_make(slot_bytes > sizeof(struct slot) ? slot_bytes - sizeof(struct slot) : 0, sizeof(mem_flag), wanted,
                     (uint64_t)param[SETS]);
}

/* Exactly what is used: the slot and q tell the ring, whatever a call's f. */
static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    struct ring_wish wish = { .budget = (uint64_t)param[BUDGET] };
    struct shape_ring ring = ring_in(most_bytes, ring_wanted(&wish, (uint64_t)param[SETS], RATIO), param);

    (void)ranks;
    return ring.units == 0 ? 0 : sizeof(struct slot) + ring.units * (sizeof(mem_flag) + RING_UNIT);
}

static char *data_of(struct slot *slot, const struct shape_ring *ring, const struct ring_place *at)
{
    return (char *)&slot->word[ring->units] + at->unit * RING_UNIT;
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

/* Before the first announcement in a set: all that may read this slice have left what the set held.  Returns where the set ends. */
static uint64_t enter(struct mem *m, const struct coll *c, const struct shape_ring *ring, const struct ring_place *at)
{
    uint64_t end = at->at + at->set_left, left = ring_must_have_left(ring, end - ring->set_units);

    for (int r = 0; left != 0 && r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        if (r != mem_rank(m) && may_read(c->groups, from_level(c), r, mem_rank(m)))
            mem_await(m, &other->left, left); /* A2 */
    }
    return end;
}

static uint64_t copy_in(struct mem *m, const struct coll *c, const struct shape_ring *ring, const struct ring_place *at, size_t sent)
{
    struct ring_wish wish = wish_of(c->param);
    uint64_t f = ring_fragment_of(&wish, ring, c->buf.bytes, RATIO / (uint64_t)c->groups->levels);
    size_t rest = c->buf.bytes - sent, most = ring_part(at->set_left, f, ring_units_of(rest)) * RING_UNIT;
    /* Whole elements: may be fewer bytes. */
    size_t bytes = mem_in(m, data_of(mem_slot(m, mem_rank(m)), ring, at), &c->buf, sent, rest < most ? rest : most);

    return bytes << 1 | (bytes < rest ? MORE : 0);
}

/* Fragments come from the view, or from the queue that the parent's notices are of; they are copied near, announced, copied out. */
static void run(struct mem *m, const struct coll *c)
{
    struct shape_tree t = { .kind = SHAPE_GROUPED, .ranks = mem_size(m), .root = c->root, .groups = c->groups };
    struct shape_ring ring = ring_in(c->slot_bytes, 0, c->param);
    int me = mem_rank(m), above = hud_shape_parent(&t, me), from = above;
    bool root = above < 0, near = copies(&t, me, from_level(c)), leaf = hud_shape_child(&t, me, 0) < 0;

    while (from >= 0 && !copies(&t, from, from_level(c)))
        from = hud_shape_parent(&t, from);
    struct slot *mine = mem_slot(m, me), *parent = mem_slot(m, root ? me : above), *origin = mem_slot(m, root ? me : from);
    struct ring_place at = ring_place_of(&ring, mem_get(m, &mine->at));
    uint64_t entered = mem_get(m, &mine->entered), notice = MORE;

    for (size_t done = 0; notice & MORE; done += notice >> 1) {
        mem_flag *word = &mine->word[at.unit], *told = &parent->word[at.unit];

        if (!leaf && at.at >= entered)
            entered = enter(m, c, &ring, &at);
        if (root) {
            notice = copy_in(m, c, &ring, &at, done);
        } else {
            mem_await(m, told, at.at + 1); /* A1 */
            notice = mem_get(m, told->payload);
        }
        if (near && !root)
            mem_copy(m, data_of(mine, &ring, &at), data_of(origin, &ring, &at), notice >> 1);
        if (!leaf) {
            mem_put(m, word->payload, notice);
            mem_post(m, word, at.at + 1); /* R1 */
        }
        if (!root)
            mem_out(m, &c->buf, data_of(near ? mine : origin, &ring, &at), done, notice >> 1);
        ring_move(&ring, &at, ring_units_of(notice >> 1));
        if (ring_begins_set(&ring, &at))
            mem_post(m, &mine->left, at.at); /* R2 */
    }
    mem_put(m, &mine->at, at.at);
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
