/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * controls.c - bcast/controls, baseline: paper 01's broadcast with its own control words and
 * counters.  bcast/queue is our form of it.  The slot: queue.h; the gates of a set: gates.h.
 *
 * Source    paper 01 (Kurnosov, Tokmasheva), "Segment" and "Algorithm".  notify = child: the parent
 *           writes a control word for each child, in the child's memory.  gate = counters: shm_op
 *           opens a set, shm_nreaders counts those who have left it, both lines of process 0 for
 *           each set; an operation begins with a set of its own.  shared, lines: bcast/queue's
 *           forms.  Words that the reader resets, and a counter that the root resets, grow here.
 * Shape     p ranks, n bytes.  The root copies in, p - 1 ranks copy out of the root's queue.
 * Cost      T = ceil(n/b) (t_wo + t_a + t f) + ceil(n/f) t_w + n t    ns; see bcast.c.  child: a
 *           rank of k children posts k words for a fragment, each with one reader.  counters: p - 1
 *           additions to one line for a set.
 * Accepts   any n, if the lease has a window.
 *
 * Line                        written by    read by        value k means
 *   slot[r].word[k % units]   r's parent    r              child: the fragment at position k - 1 is
 *                                                          in the root's queue; with it, a header
 *                             r             r's children   shared: the same
 *   slot[r].at                r             r              (plain) r's position
 * and those of gates.h.
 *
 * Edges     R1 -> A1   the root's copy-in  happens before  the copies out; the announcement passes
 *                      down the tree before each copy
 *
 * Safety    As bcast.c.
 */
#include "alg/queue/gates.h"

enum notify { NOTIFY_CHILD, NOTIFY_SHARED };

static const char *const notify_words[] = { "child", "shared", NULL }, *const gate_words[] = {
    "counters", "lines", NULL
};
static const struct alg_param params[] = {
    [CONTROLS_FRAGMENT] = { "fragment", "B", "f, bytes copied and announced at once", 1, 1 << 24,
                            8192, NULL },
    [CONTROLS_BUFFERS] = { "buffers", "1",
                           "s, buffers of f bytes; fewer where the lease holds fewer", 1,
                           RING_UNITS_MAX, 64, NULL },
    [CONTROLS_SETS] = { "sets", "1", "q, sets of buffers that the root refills as a whole", 1, 8, 2,
                        NULL },
    [CONTROLS_TREE] = { "tree", "", "who announces fragments to whom", 0, SHAPE_KINDS - 1,
                        SHAPE_KARY, hud_shape_names, .per_call = true },
    [CONTROLS_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL, .per_call = true },
    [CONTROLS_NOTIFY] = { "notify", "",
                          "child: a word for each child, in its memory (the paper); shared: one "
                          "word that all children poll",
                          NOTIFY_CHILD, NOTIFY_SHARED, NOTIFY_CHILD, notify_words },
    [CONTROLS_GATE] = { "gate", "",
                        "counters: sets are entered and left by shm_op and shm_nreaders (the "
                        "paper); lines: left by an acknowledgement of each rank",
                        GATES_COUNTERS, GATES_LINES, GATES_COUNTERS, gate_words },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct ring_wish wish = { .fragment = (uint64_t)param[CONTROLS_FRAGMENT],
                              .buffers = (uint64_t)param[CONTROLS_BUFFERS] };

    (void)ranks;
    return queue_window_bytes(&wish, param[CONTROLS_SETS], max_bytes);
}

static size_t lines_bytes(const long *param, int ranks, size_t window)
{
    return queue_lines_bytes(param, ranks, window) + gates_bytes(param);
}

static void announce(const struct controls *w, const struct shape_tree *t, uint64_t header)
{
    int me = mem_rank(w->m), child;
    bool shared = w->c->param[CONTROLS_NOTIFY] == NOTIFY_SHARED;

    for (int i = 0; (child = hud_shape_child(t, me, i)) >= 0; i++) {
        struct queue_slot *slot = mem_slot(w->m, shared ? me : child);
        mem_put(w->m, slot->word[w->at.unit].payload, header);
        mem_post(w->m, &slot->word[w->at.unit], w->at.at + 1); /* R1 */
        if (shared)
            return;
    }
}

static uint64_t hear(struct controls *w, int above)
{
    bool shared = w->c->param[CONTROLS_NOTIFY] == NOTIFY_SHARED;
    struct queue_slot *slot = mem_slot(w->m, shared ? above : mem_rank(w->m));

    mem_await(w->m, &slot->word[w->at.unit], w->at.at + 1); /* A1 */
    uint64_t header = mem_get(w->m, slot->word[w->at.unit].payload);
    if (!gates_count(w))
        return header;
    w->left -= fragment_bytes(header);
    return fragment_header(fragment_bytes(header), fragment_bytes(header) + w->left);
}

static void bcast_controls(struct mem *m, const struct coll *c)
{
    const struct shape_tree t = coll_tree(m, c, c->root, CONTROLS_TREE, CONTROLS_DEGREE);
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    struct controls w = { .m = m, .c = c, .ring = queue_ring(c, c->param[CONTROLS_SETS]) };
    bool counters = gates_count(&w);
    int above = hud_shape_parent(&t, mem_rank(m));
    uint64_t header = FRAGMENT_MORE, f = ring_units_of((uint64_t)c->param[CONTROLS_FRAGMENT]);

    w.root = above < 0;
    w.at = ring_place_of(&w.ring, mem_get(m, &mine->at));
    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        uint64_t began = w.at.at;
        if (ring_begins_set(&w.ring, &w.at))
            gates_enter(&w, done);
        header = w.root ? queue_copy_in(m, c, &w.at, f, done) : hear(&w, above);
        announce(&w, &t, header);
        if (!w.root)
            mem_out(m, c->out, queue_data(m, c->root, &w.at), done, fragment_bytes(header));
        ring_move(&w.ring, &w.at, ring_units_of(fragment_bytes(header)));
        if (ring_begins_set(&w.ring, &w.at) || (counters && !(header & FRAGMENT_MORE)))
            gates_leave(&w, began);
    }
    mem_put(m, &mine->at, counters ? ring_round_up(&w.ring, w.at.at) : w.at.at);
}

static const struct alg_family family = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = lines_bytes,
};

ALG_DEFINE(bcast, controls) = {
    .coll = "bcast",
    .name = "controls",
    .doc = "baseline: the queue with the paper's control words, one for each child, and counters",
    .source = "paper 01, Algorithm",
    .baseline = true,
    .family = &family,
    .run = bcast_controls,
};
