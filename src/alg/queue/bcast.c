/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - bcast/queue: pipelined copy-in/copy-out through a queue of buffers on its owner's NUMA
 * node.  The slot is in queue.h.
 *
 * Source    paper 01 (Kurnosov, Tokmasheva, Shared memory based MPI broadcast algorithm for NUMA
 *           systems), "Algorithm": s, f, q and the tree.  Control words, which the reader resets in
 *           the paper, are counters here.  They are written in the memory of the rank that
 *           announces, and in the paper by the parent in the child's memory.  A fragment may be
 *           shorter than f, so that packed datatypes work, and its length is sent with it.
 * Shape     p ranks, n bytes.  The root copies in, p - 1 ranks copy out of the root's queue.
 * Cost      T = ceil(n/b) (t_wo + t_a + t f) + ceil(n/f) t_w + n t    ns; b = s f bytes of a queue,
 *           t ns per byte copied in and out, t_w a notification down the tree, t_wo + t_a the wait
 *           for a free set and its release (paper 01, "Time model", s > 1)
 * Returned  lines of data, if there are two ranks (mem_out_as).
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all roots.  Every rank keeps its own position, and all
 * positions agree between operations.
 *
 * Line                      written by  read by       value k means
 *   slot[r].word[k % units]   r           r's children  the fragment at position k - 1 is in the
 *                                                       root's queue; with it, a fragment header
 *   slot[r].acknowledged      r           any root      r reads nothing before position k any more
 *   slot[r].at                r           r             (plain) r's position
 *   data                      r           all others    fragments, from the announcement to the
 *                                                       last acknowledgement
 *
 * Edges     R1 -> A1   the root's copy-in  happens before  the copies out; the announcement passes
 *                      down the tree before each copy
 *           R2 -> A2   a rank's last read of a set  happens before  any root's or parent's next
 *                      write to it
 *
 * Deadlock  A root waits until all ranks acknowledge an earlier set.  Another rank waits for its
 *           parent's announcement of a fragment, and a parent announces it without waiting for its
 *           children.  So each wait is for an earlier position, or for a parent at the same one.
 * Safety    At the beginning of a set, the root waits until all ranks have acknowledged the set's
 *           old contents.  All later accesses to the set happen after that, also under another
 *           root.  So there is one acknowledgement per set and rank.
 */
#include "alg/queue/queue.h"

enum param { FRAGMENT, BUFFERS, SETS, BUDGET, MESSAGE, TREE, DEGREE };

static const struct alg_param params[] = {
    /* Among rules that differ only in f, the first rule's s f is the size of the queue for all. */
    [FRAGMENT] = { "fragment", "B",
                   "f, bytes of a fragment, the unit of copies and announcements; 0: b / s, or "
                   "sqrt(min(n, b) t_w / t)",
                   0, 1 << 24, 0, NULL, .per_call = true, .tune = "4K,8K,16K,32K,64K" },
    [BUFFERS] = { "buffers", "1",
                  "s, number of buffers of f bytes; 0: as many as the budget holds or the longest "
                  "message needs",
                  0, RING_UNITS_MAX, 0, NULL },
    [SETS] = { "sets", "1", "q, number of sets of buffers; the root refills a set as a whole", 1, 8,
               3, NULL },
    [BUDGET] = { "budget", "B", "b, bytes of the queue; 0: s f, or as much as the lease allows", 0,
                 1 << 24, 0, NULL },
    [MESSAGE] = { "message", "B",
                  "m, bytes of the longest message that the queue must hold; 0: unknown", 0,
                  1 << 24, 0, NULL },
    /* Not per call: a root and a receiver that pass different sizes must not wait along different
     * trees of one slot (core/call/learn.h). */
    [TREE] = { "tree", "", "tree of ranks along which fragments are announced", 0, SHAPE_KINDS - 1,
               SHAPE_GROUPED, hud_shape_names, .tune = "flat,chain,knomial" },
    [DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL },
    { .name = NULL },
};

static struct ring_wish wish_of(const long *param)
{
    return (struct ring_wish){ (uint64_t)param[FRAGMENT], (uint64_t)param[BUFFERS],
                               (uint64_t)param[BUDGET], (uint64_t)param[MESSAGE] };
}

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct ring_wish wish = wish_of(param);

    (void)ranks;
    return queue_window_bytes(&wish, param[SETS], max_bytes);
}

/* Waits, at the root before the first write to a set, until all ranks have acknowledged the set's
 * old contents. */
static void await_free(struct mem *m, const struct shape_ring *ring, const struct ring_place *at)
{
    uint64_t acknowledged = ring_must_be_acknowledged(ring, at->at);

    for (int r = 0; acknowledged != 0 && r < mem_size(m); r++) {
        struct queue_slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->acknowledged, acknowledged); /* A2 */
    }
}

/* Prefetches the lines of the next message, which others have read.  Above the limit, copying in
 * hides the cost. */
static void prefetch_next(struct mem *m, const struct coll *c, const struct ring_place *at)
{
    enum { LIMIT_BYTES = 32 << 10 };
    size_t set = at->set_left * RING_UNIT, max = set < LIMIT_BYTES ? set : LIMIT_BYTES;

    mem_prefetch_message(m, queue_data(m, mem_rank(m), at),
                         c->out->bytes < max ? c->out->bytes : max);
}

/* Broadcasts fragment by fragment.  A fragment comes from the view or from the parent's header, is
 * announced to the children, and is then copied out. */
static void bcast_queue(struct mem *m, const struct coll *c)
{
    struct shape_tree t = coll_tree(m, c, c->root, TREE, DEGREE);
    struct shape_ring ring = queue_ring(c, c->param[SETS]);
    struct ring_wish wish = wish_of(c->param);
    int me = mem_rank(m), above = hud_shape_parent(&t, me);
    struct queue_slot *mine = mem_slot(m, me), *parent = mem_slot(m, above < 0 ? me : above);
    bool leaf = hud_shape_child(&t, me, 0) < 0;
    struct ring_place at = ring_place_of(&ring, mem_get(m, &mine->at));
    uint64_t header = FRAGMENT_MORE,
             f = above >= 0 ? 0 : ring_fragment_of(&wish, &ring, c->out->bytes, QUEUE_RATIO);

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        mem_flag *word = &mine->word[at.unit], *from = &parent->word[at.unit];

        if (above < 0) {
            if (ring_begins_set(&ring, &at))
                await_free(m, &ring, &at);
            header = queue_copy_in(m, c, &at, f, done);
        } else {
            mem_await(m, from, at.at + 1); /* A1 */
            header = mem_get(m, from->payload);
        }
        if (!leaf) {
            mem_put(m, word->payload, header);
            mem_post(m, word, at.at + 1); /* R1 */
        }
        if (above >= 0) {
            const char *data = queue_data(m, c->root, &at);
            mem_out_as(m, c->out, data, done, fragment_bytes(header), mem_size(m) == 2);
        }
        ring_move(&ring, &at, ring_units_of(fragment_bytes(header)));
        if (ring_begins_set(&ring, &at))
            mem_post(m, &mine->acknowledged, at.at); /* R2 */
    }
    mem_put(m, &mine->at, at.at);
    if (above < 0)
        prefetch_next(m, c, &at);
}

static const struct alg_family family = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = queue_lines_bytes,
};

ALG_DEFINE(bcast, queue) = {
    .coll = "bcast",
    .name = "queue",
    .doc = "pipelined copy-in/copy-out through a queue on the root's NUMA node",
    .source = "paper 01, Algorithm",
    .family = &family,
    .run = bcast_queue,
};
