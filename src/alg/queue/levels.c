/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * levels.c - bcast/levels: leaders copy each fragment once for their NUMA node or socket and
 * publish it again there, pipelined.  The slot is in queue.h.
 *
 * Source    this project: paper 01's queue in each leader's slice, on its node, over paper 03's
 *           groups.
 * Shape     p ranks in L levels of groups; the tree is SHAPE_GROUPED: in each group the member
 *           nearest to the root announces fragments to the other members.  A rank to which a
 *           fragment is announced at a high level, and which announces to others below it, copies
 *           the fragment into its own queue, from which these ranks read.  Any other rank, and the
 *           ranks below it, read where its parent reads.  So a fragment crosses the link to a unit
 *           once, and the ranks of the root's own unit read the root's queue.
 * Cost      T = (ceil(n/f) + d) t_w + (n + d f) 2 t     ns; d copying ranks on the longest path, f
 *           bytes of a fragment, t ns per byte copied, t_w a notification; a copying rank copies
 *           twice, which is the pace of the pipeline
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all roots, and a fragment has the same position in every
 * queue.
 *
 * Line                       written by  read by          value k means
 *   slot[r].word[k % units]    r           r's children     the fragment at position k - 1 is in
 *                                                           the queue they read; with it, a
 *                                                           fragment header
 *   slot[r].acknowledged       r           ranks r may read r reads nothing before position k any
 *                                                           more
 *   slot[r].at, .free_until    r           r                (plain) r's position; r may announce at
 *                                                           any position before `free_until`
 *   data                       r           relay_may_read   fragments, from the announcement to the
 *                                                           last acknowledgement
 *
 * Edges     R1 -> A1   a copy into a queue  happens before  the copies out of it; the announcement
 *                      passes down the tree before each copy out
 *           R2 -> A2   a rank's last read of a set  happens before  the next write to it by any
 *                      rank that it may read
 *
 * Deadlock  A rank waits, before it announces the first fragment of a set, until its readers
 *           acknowledge an earlier set.  It waits for its parent's announcement of a fragment, and
 *           a parent announces without waiting for its children.  So each wait is for an earlier
 *           position, or for a parent at the same one.
 * Safety    A rank that announces makes sure, once for each set, that all ranks that may read its
 *           slice have acknowledged the set's old contents.  Under any root these are the ranks
 *           below the same member of level `from`, and the ranks that meet this member, or the
 *           leaders above it, at `from` or a higher level (relay_may_read).
 */
#include "alg/queue/queue.h"
#include "shape/relay.h"

enum param { FRAGMENT, SETS, BUDGET, DEPTH };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B",
                   "f, bytes of a fragment, the unit of copies and announcements; 0: sqrt(min(n, "
                   "b) t_w / (t levels))",
                   0, 1 << 24, 0, NULL, .per_call = true, .tune = "4K,8K,16K,32K" },
    [SETS] = { "sets", "1", "q, number of sets of buffers; a set is refilled as a whole", 1, 8, 3,
               NULL },
    [BUDGET] = { "budget", "B", "b, bytes of each queue; 0: as much as the lease allows", 0,
                 1 << 24, 0, NULL },
    [DEPTH] = { "depth", "1",
                "levels of groups, counted from the top, at which leaders copy fragments for the "
                "ranks below",
                0, SHAPE_LEVELS, SHAPE_LEVELS, NULL, .tune = "1" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct ring_wish wish = { .budget = (uint64_t)param[BUDGET] };

    (void)ranks;
    return queue_window_bytes(&wish, param[SETS], max_bytes);
}

/* Returns the lowest level at which an announcement makes a rank copy, and the number of levels if
 * there is none. */
static int from_level(const struct coll *c)
{
    int from = c->groups->levels - (int)c->param[DEPTH];

    return from > 1 ? from : 1;
}

/* Waits, before the first announcement in a set, until all ranks that may read this slice have
 * acknowledged the set's old contents.  Returns the end of the set. */
static uint64_t await_free(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                           const struct ring_place *at)
{
    uint64_t end = at->at + at->set_left,
             acknowledged = ring_must_be_acknowledged(ring, end - ring->set_units);

    for (int r = 0; acknowledged != 0 && r < mem_size(m); r++) {
        struct queue_slot *other = mem_slot(m, r);
        if (r != mem_rank(m) && relay_may_read(c->groups, from_level(c), r, mem_rank(m)))
            mem_await(m, &other->acknowledged, acknowledged); /* A2 */
    }
    return end;
}

/* Broadcasts fragment by fragment.  A fragment comes from the view, or from the queue that the
 * parent's header refers to.  The fragment is copied into this rank's own queue if other ranks read
 * there, announced, and copied out. */
static void bcast_levels(struct mem *m, const struct coll *c)
{
    struct shape_tree t = {
        .kind = SHAPE_GROUPED, .ranks = mem_size(m), .root = c->root, .groups = c->groups
    };
    struct shape_ring ring = queue_ring(c, c->param[SETS]);
    struct ring_wish wish = { .fragment = (uint64_t)c->param[FRAGMENT],
                              .budget = (uint64_t)c->param[BUDGET] };
    int me = mem_rank(m), above = hud_shape_parent(&t, me),
        from = above; /* rank whose window this rank reads */
    uint64_t f = above >= 0 ? 0
                            : ring_fragment_of(&wish, &ring, c->out->bytes,
                                               QUEUE_RATIO / (uint64_t)c->groups->levels);
    bool root = above < 0, near = relay_copies(&t, me, from_level(c)),
         leaf = hud_shape_child(&t, me, 0) < 0;

    while (from >= 0 && !relay_copies(&t, from, from_level(c)))
        from = hud_shape_parent(&t, from);
    struct queue_slot *mine = mem_slot(m, me), *parent = mem_slot(m, root ? me : above);
    struct ring_place at = ring_place_of(&ring, mem_get(m, &mine->at));
    uint64_t free_until = mem_get(m, &mine->free_until), header = FRAGMENT_MORE;

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        mem_flag *word = &mine->word[at.unit], *announced = &parent->word[at.unit];

        if (!leaf && at.at >= free_until)
            free_until = await_free(m, c, &ring, &at);
        if (root) {
            header = queue_copy_in(m, c, &at, f, done);
        } else {
            mem_await(m, announced, at.at + 1); /* A1 */
            header = mem_get(m, announced->payload);
        }
        if (near && !root)
            mem_copy(m, queue_data(m, me, &at), queue_data(m, from, &at), fragment_bytes(header));
        if (!leaf) {
            mem_put(m, word->payload, header);
            mem_post(m, word, at.at + 1); /* R1 */
        }
        if (!root)
            mem_out(m, c->out, queue_data(m, near ? me : from, &at), done, fragment_bytes(header));
        ring_move(&ring, &at, ring_units_of(fragment_bytes(header)));
        if (ring_begins_set(&ring, &at))
            mem_post(m, &mine->acknowledged, at.at); /* R2 */
    }
    mem_put(m, &mine->at, at.at);
    mem_put(m, &mine->free_until, free_until);
}

static const struct alg_family family = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = queue_lines_bytes,
};

ALG_DEFINE(bcast, levels) = {
    .coll = "bcast",
    .name = "levels",
    .doc = "one leader per NUMA node or socket copies each fragment and publishes its copy to the "
           "ranks there",
    .source = "this project, after papers 01 (queue) and 03 (groups)",
    .family = &family,
    .run = bcast_levels,
};
