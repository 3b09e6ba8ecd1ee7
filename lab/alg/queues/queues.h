/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queues.h - the family `queues`: paper 01's broadcast and those that it is compared with.  The
 * root copies fragments into a ring of buffers, and all other ranks copy them out.  An algorithm is
 * a pair of values: how fragments are announced, and how ranks acknowledge a set of buffers.
 * bcast.c has the algorithms.  bcast/queue, huddle's own, is WORD with LINES.
 *
 * Source    paper 01 (Kurnosov, Tokmasheva), "Problem", "Segment" and "Algorithm".  Words and
 *           counters that the originals reset only grow here.  A fragment may be shorter than f, so
 *           its length is sent with it.
 * Shape     p ranks, n bytes, w buffers of f bytes.  The root copies in, p - 1 ranks copy out.
 * Cost      T = ceil(n/f) A + ceil(n/b) B + (n + f) t     ns; b bytes of a set, t ns per byte
 *           copied in and out; l one line transfer, a an atomic addition, d the depth of the tree,
 *           k its degree
 *             A  WORD, POSITION: d l             WORDS: d k l
 *             B  LINES: (p - 1) l                COUNTED, OPENED: (p - 1) a
 *                BARRIER: 2 (p - 1) l            GATHER: d k l
 * Accepts   any n, if the lease has room for a ring.
 *
 * Positions (shape/ring.h) count over all roots.  Every rank keeps its own position, and all
 * positions agree between operations.  With COUNTED and OPENED an operation begins with a new set,
 * so that each use of a set has one root and p - 1 other ranks.
 *
 * Line                      written by   read by        value k means
 *   slot[r].word[k % w]     r            r's children   WORD: the fragment at position k - 1 can be
 *                                                       read; with it, a header
 *                           r's parent   r              WORDS: the same
 *                           any root     all            POSITION, slot[0]: (plain) a header, and
 *                                                       the root that wrote it
 *   slot[r].announced       r            r's children   POSITION: all fragments before position k
 *                                                       can be read
 *                           rank 0       all others     BARRIER: as `acknowledged`, of all ranks
 *   slot[r].acknowledged    r            any root,      r reads nothing before position k any
 *                                        r's parent     more; GATHER: nor do the ranks below r
 *   slot[0].gate[s].open    any root     all others     OPENED: set s has been used k times, the
 *                                                       last by this operation; with it, bytes of
 *                                                       the message still to come
 *   slot[0].gate[s].left    all, add 1   any root       COUNTED, OPENED: k ranks have left set s,
 *                                                       over all its uses
 *   slot[r].at              r            r              (plain) r's position
 *   data                    r            all others     fragments, from the announcement to the
 *                                                       acknowledgement
 *
 * Edges     R1 -> A1   the copies into a buffer     happen before   the copies out of it; the
 *                      announcement passes down the tree
 *           R2 -> A2   a rank's last read of a set  happens before  any rank's next write to it, or
 *                      to the words of its fragments
 *           R3 -> A3   BARRIER: rank 0's view of all ranks' reads  happens before  any root's next
 *                      write
 *                      OPENED: a root's note of the bytes to come  happens before  the reading
 *
 * Not needed
 *   R3, A3 by bcast/banks, bcast/release: they have no barrier and open no sets
 *
 * Deadlock  A root waits only until the others have read earlier fragments.  A rank that has been
 *           told of a fragment reads it without another wait.
 * Safety    Before the first fragment of a set, a root waits until all ranks have read the set's
 *           old contents: by their positions (LINES), by the number of ranks that have left it
 *           (COUNTED, OPENED), in the barrier (BARRIER), or by the positions of the last root's
 *           children, which include all below (GATHER).  All later writes to the set, also by
 *           another root, come after that.
 */
#ifndef HUD_LAB_ALG_QUEUES_H
#define HUD_LAB_ALG_QUEUES_H

#include "alg/fragment.h"

enum announcement {
    WORD,    /* a rank posts one word, in its own slot, which all its children poll */
    WORDS,   /* a rank posts a word for each child, in the child's slot */
    POSITION /* a rank posts its position; rank 0's ring, with the headers, serves all roots */
};

enum acknowledgement {
    LINES,   /* each rank posts its position, and the root awaits all of them */
    COUNTED, /* the ranks that leave a set are counted, by atomic additions */
    OPENED,  /* COUNTED, and the others also wait until the root opens the set */
    BARRIER, /* all ranks meet before they use the set again */
    GATHER /* each rank posts its position after the ranks below it; the root awaits its children */
};

enum { FRAGMENT, BUFFERS }; /* f and w, the first two parameters of each algorithm */
enum { SETS_MAX = 8 };

struct gate {
    mem_flag open, left;
};

struct slot {
    mem_flag acknowledged, announced;
    struct gate gate[SETS_MAX];
    _Alignas(HUD_LINE) uint64_t at;
    mem_flag word[]; /* [w], followed by the data */
};

/* A broadcast on one rank.  The members up to `relays` are what the algorithm is. */
struct pass {
    struct mem *m;
    const struct coll *c;
    enum announcement announcement;
    enum acknowledgement acknowledgement;
    struct shape_tree tree; /* a rank announces fragments to its children */
    struct shape_ring ring;
    /* Size of a unit of the ring, which has one fragment.  0: a fragment has as many units of
     * RING_UNIT bytes as it needs. */
    size_t cell_bytes;
    bool relays; /* a rank with children copies fragments into its own ring, for them */
    struct slot *mine, *first; /* this rank's and rank 0's */
    int me, above;             /* this rank and its parent */
    bool root;
    struct ring_place at;
    struct gate *gate; /* the set's gate */
    size_t to_come;    /* bytes of the message still to come; only at the root, and with OPENED */
};

/* ---- the ring ---- */

/* Returns the ring of a slot: as many units as wanted, or as fit, in equal sets. */
static inline struct shape_ring ring_in(size_t slot_bytes, size_t unit_bytes, uint64_t wanted,
                                        uint64_t sets)
{
    size_t room = slot_bytes > sizeof(struct slot) ? slot_bytes - sizeof(struct slot) : 0;

    return ring_cut(room / (sizeof(mem_flag) + unit_bytes), wanted, sets);
}

/* Returns how many bytes of the slot are used, and 0 if there is no room for a ring. */
static inline size_t bytes_with(const struct shape_ring *ring, size_t unit_bytes)
{
    return ring->units == 0 ? 0
                            : sizeof(struct slot) + ring->units * (sizeof(mem_flag) + unit_bytes);
}

static inline char *data_of(const struct pass *w, int rank)
{
    struct slot *slot = mem_slot(w->m, w->announcement == POSITION ? 0 : rank);

    return (char *)&slot->word[w->ring.units] +
           w->at.unit * (w->cell_bytes != 0 ? w->cell_bytes : RING_UNIT);
}

/* Copies the next fragment in, at the root, and returns its header. */
static inline uint64_t copy_in(const struct pass *w)
{
    size_t f = (size_t)w->c->param[FRAGMENT];

    if (w->cell_bytes == 0)
        f = ring_part(w->at.set_left, ring_units_of(f), ring_units_of(w->to_come)) * RING_UNIT;
    return fragment_copy_in(w->m, w->c, data_of(w, w->me), w->c->out->bytes - w->to_come, f);
}

/* ---- the announcement ---- */

/* Returns the flag by which a rank announces fragments to a child. */
static inline mem_flag *flag_of(const struct pass *w, int rank, int child)
{
    struct slot *slot = mem_slot(w->m, w->announcement == WORDS ? child : rank);

    return w->announcement == POSITION ? &slot->announced : &slot->word[w->at.unit];
}

/* Returns where the header is of a fragment announced by `flag`. */
static inline uint64_t *header_of(const struct pass *w, mem_flag *flag)
{
    return w->announcement == POSITION ? w->first->word[w->at.unit].payload : flag->payload;
}

/* Announces a fragment to all children. */
static inline void announce(const struct pass *w, uint64_t header)
{
    int child;

    for (int i = 0; (child = hud_shape_child(&w->tree, w->me, i)) >= 0; i++) {
        mem_flag *flag = flag_of(w, w->me, child);
        if (w->announcement != POSITION || w->root)
            mem_put(w->m, header_of(w, flag), header);
        if (w->announcement == POSITION && w->root)
            mem_put(w->m, header_of(w, flag) + 1, (uint64_t)w->me);
        mem_post(w->m, flag, w->at.at + 1); /* R1 */
        if (w->announcement != WORDS)
            return;
    }
}

/* Waits for the next fragment, and returns its header. */
static inline uint64_t hear(struct pass *w)
{
    mem_flag *flag = flag_of(w, w->above, w->me);

    mem_await(w->m, flag, w->at.at + 1); /* A1 */
    uint64_t header = mem_get(w->m, header_of(w, flag));
    if (w->acknowledgement == OPENED) {
        header = fragment_header(fragment_bytes(header), w->to_come);
        w->to_come -= fragment_bytes(header);
    }
    return header;
}

/* ---- the acknowledgement ---- */

static inline bool counts(const struct pass *w)
{
    return w->acknowledgement == COUNTED || w->acknowledgement == OPENED;
}

/* Waits until all other ranks have acknowledged `min`. */
static inline void await_all(const struct pass *w, uint64_t min)
{
    for (int r = 0; r < mem_size(w->m); r++) {
        struct slot *other = mem_slot(w->m, r);
        if (r != w->me)
            mem_await(w->m, &other->acknowledged, min); /* A2 */
    }
}

/* Waits until the children of a rank, in the tree of the given root, have acknowledged `min`. */
static inline void await_children(const struct pass *w, int root, int rank, uint64_t min)
{
    struct shape_tree t = w->tree;

    t.root = root;
    for (int i = 0, child; (child = hud_shape_child(&t, rank, i)) >= 0; i++) {
        struct slot *below = mem_slot(w->m, child);
        mem_await(w->m, &below->acknowledged, min); /* A2 */
    }
}

/* Waits in the barrier, until all ranks have reached this position. */
static inline void meet(const struct pass *w)
{
    if (w->me != 0) {
        mem_post(w->m, &w->mine->acknowledged, w->at.at); /* R2 */
        mem_await(w->m, &w->first->announced, w->at.at);  /* A3 */
        return;
    }
    await_all(w, w->at.at);
    mem_post(w->m, &w->first->announced, w->at.at); /* R3 */
}

/* Waits, at the root, until all others have left the set's earlier uses, and opens the set.  The
 * others wait until it is open. */
static inline void enter_counted(struct pass *w)
{
    uint64_t uses = w->at.at / w->ring.units, left = uses * (uint64_t)(mem_size(w->m) - 1);

    w->gate = &w->first->gate[w->at.unit / w->ring.set_units];
    if (w->root)
        mem_await(w->m, &w->gate->left, left); /* A2 */
    if (w->acknowledgement == OPENED && w->root) {
        mem_put(w->m, w->gate->open.payload, w->to_come);
        mem_post(w->m, &w->gate->open, uses + 1); /* R3 */
    } else if (w->acknowledgement == OPENED) {
        mem_await(w->m, &w->gate->open, uses + 1); /* A3 */
        w->to_come = mem_get(w->m, w->gate->open.payload);
    }
}

/* Enters a set before its first fragment. */
static inline void enter(struct pass *w)
{
    uint64_t min = ring_must_be_acknowledged(&w->ring, w->at.at);

    if (counts(w))
        enter_counted(w);
    if (w->acknowledgement == BARRIER && w->at.at != 0)
        meet(w);
    if (w->acknowledgement == LINES && w->root && min != 0)
        await_all(w, min);
    if (w->acknowledgement == GATHER && w->root && min != 0) {
        int last = (int)mem_get(w->m, &w->first->word[w->at.unit].payload[1]);
        await_children(w, last, last, min);
    }
}

/* Leaves a set after its last fragment. */
static inline void leave(const struct pass *w)
{
    bool gathers = w->acknowledgement == GATHER && !w->root;

    if (gathers)
        await_children(w, w->c->root, w->me, w->at.at);
    if (gathers || w->acknowledgement == LINES)
        mem_post(w->m, &w->mine->acknowledged, w->at.at); /* R2 */
    else if (counts(w) && !w->root)
        mem_add(w->m, &w->gate->left, 1); /* R2 */
}

/* ---- the broadcast ---- */

static inline void broadcast(struct pass *w)
{
    struct mem *m = w->m;
    const struct coll *c = w->c;
    int me = w->me = mem_rank(m), above = w->above = hud_shape_parent(&w->tree, me);
    bool root = w->root = above < 0,
         relays = w->relays && !root && hud_shape_child(&w->tree, me, 0) >= 0;
    int source = relays ? me : w->relays ? above : c->root;
    uint64_t header = FRAGMENT_MORE;

    w->mine = mem_slot(m, me);
    w->first = mem_slot(m, 0);
    w->at = ring_place_of(&w->ring, mem_get(m, &w->mine->at));
    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        if (root)
            w->to_come = c->out->bytes - done;
        if (ring_begins_set(&w->ring, &w->at))
            enter(w);
        header = root ? copy_in(w) : hear(w);
        if (relays)
            mem_copy(m, data_of(w, me), data_of(w, above), fragment_bytes(header));
        announce(w, header);
        if (!root)
            mem_out(m, c->out, data_of(w, source), done, fragment_bytes(header));
        ring_move(&w->ring, &w->at, w->cell_bytes != 0 ? 1 : ring_units_of(fragment_bytes(header)));
        if (ring_begins_set(&w->ring, &w->at) || (counts(w) && !(header & FRAGMENT_MORE)))
            leave(w);
    }
    mem_put(m, &w->mine->at, counts(w) ? ring_round_up(&w->ring, w->at.at) : w->at.at);
}

#endif
