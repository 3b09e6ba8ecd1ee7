/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/release.c - baseline: one ring of cells for all ranks; a release down a tree, a gather up
 * the same tree.
 *
 * Source    Jain et al. (SC'18), as paper 01, "Problem", describes it; here to compare with.  A
 *           fragment's length lies in its cell, as a header, since it may be shorter than f; the
 *           cell's last root lies there too, whose tree the next one asks.
 * Shape     p ranks, n bytes, w cells of f bytes, all in rank 0's slice (slices are alike, so the
 *           others' lie idle).  The root copies in, p - 1 copy out.
 * Cost      T = ceil(n/f) (t_r + t_g) + (n + f) t     ns; t_r, t_g a notification down and up the
 *           tree, t ns per byte copied in and out
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h, each cell is a set) count over all roots; every rank keeps its own, and
 * they agree between operations.  A rank with children waits for them after each fragment; the
 * root goes on, and waits for its cell only: all below the last use's root, in that use's tree,
 * have finished with it.  So tree and degree hold for all calls of a team, not per call.
 *
 * Line              written by         read by              value k means
 *   slot[r].release   r                  r's children         the fragments before position k are
 *                                                             in the ring
 *   slot[r].gather    r, while not root  r's parent; the      r, and all below it in each
 *                                        next writer of a     operation's tree, read nothing
 *                                        cell that r's        before position k any more
 *                                        parent wrote
 *   slot[r].at        r                  r                    (plain) r's position
 *   slot[0].cell[i]   the root           all                  a fragment, from its release until
 *                                                             it is gathered
 *
 * Edges     R1 -> A1   the root's copy-in                  happens before  the copies out; the
 *                      release passes down the tree
 *           R2 -> A2   the last reads at and below a rank  happen before   its parent's gather, and
 *                      any root's next write to the cell
 */
#include "alg/fragment.h"

enum param { FRAGMENT, CELLS, TREE, DEGREE };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a cell", 512, 1 << 16, 8192, NULL },
    [CELLS] = { "cells", "1", "w, cells of the one ring; fewer where the lease holds fewer", 1,
                RING_UNITS_MAX, 4, NULL },
    [TREE] = { "tree", "", "who releases, and gathers from, whom", 0, SHAPE_KINDS - 1,
               SHAPE_GROUPED, hud_shape_names },
    [DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL },
    { .name = NULL },
};

struct cell {
    _Alignas(HUD_LINE) uint64_t header;
    uint64_t root; /* who wrote it */
    _Alignas(HUD_LINE) unsigned char data[];
};

struct slot {
    mem_flag release, gather;
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) unsigned char cells[];
};

static size_t cell_bytes(const long *param)
{
    return sizeof(struct cell) + mem_lines((size_t)param[FRAGMENT]);
}

static struct shape_ring ring_of(const long *param, size_t slot_bytes)
{
    struct shape_ring ring =
        fragment_ring(slot_bytes, sizeof(struct slot), cell_bytes(param), param[CELLS], 1);

    ring.set_units = 1; /* each cell is filled and acknowledged by itself */
    return ring;
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    struct shape_ring ring = ring_of(param, max_bytes);

    (void)ranks;
    return fragment_slot_bytes(&ring, sizeof(struct slot), cell_bytes(param));
}

/* Waits until all below a rank, in the tree of the operation with that root, read nothing before
 * position `min`. */
static void gather(struct mem *m, const struct coll *c, int root, int rank, uint64_t min)
{
    struct shape_tree t = coll_tree(m, c, root, TREE, DEGREE);

    for (int i = 0, child; (child = hud_shape_child(&t, rank, i)) >= 0; i++) {
        struct slot *below = mem_slot(m, child);
        mem_await(m, &below->gather, min); /* A2 */
    }
}

/* The root writes a cell, once all have acknowledged the position that it held. */
static void copy_in(struct mem *m, const struct coll *c, struct cell *cell, size_t done,
                    uint64_t acknowledged)
{
    if (acknowledged != 0) {
        int root = (int)mem_get(m, &cell->root);
        gather(m, c, root, root, acknowledged);
    }
    mem_put(m, &cell->header, fragment_copy_in(m, c, cell->data, done, (size_t)c->param[FRAGMENT]));
    mem_put(m, &cell->root, (uint64_t)c->root);
}

static void bcast_release(struct mem *m, const struct coll *c)
{
    struct shape_tree t = coll_tree(m, c, c->root, TREE, DEGREE);
    struct shape_ring ring = ring_of(c->param, c->place->slot_bytes);
    int me = mem_rank(m), above = hud_shape_parent(&t, me);
    struct slot *mine = mem_slot(m, me), *first = mem_slot(m, 0),
                *parent = mem_slot(m, above < 0 ? me : above);
    bool leaf = hud_shape_child(&t, me, 0) < 0;
    uint64_t at = mem_get(m, &mine->at), header = FRAGMENT_MORE;

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header)) {
        struct cell *cell = (struct cell *)(first->cells + at % ring.units * cell_bytes(c->param));

        if (above < 0)
            copy_in(m, c, cell, done, ring_must_be_acknowledged(&ring, at));
        else
            mem_await(m, &parent->release, at + 1); /* A1 */
        header = mem_get(m, &cell->header);
        at++;
        if (!leaf)
            mem_post(m, &mine->release, at); /* R1 */
        if (above >= 0) {
            mem_out(m, c->out, cell->data, done, fragment_bytes(header));
            gather(m, c, c->root, me, at);
            mem_post(m, &mine->gather, at); /* R2 */
        }
    }
    mem_put(m, &mine->at, at);
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(bcast, release) = {
    .coll = "bcast",
    .name = "release",
    .doc = "baseline: one ring of cells for all, released and gathered along a tree",
    .source = "paper 01, Problem: Jain et al., SC'18",
    .baseline = true,
    .family = &family,
    .run = bcast_release,
};
