/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/single.c - single copy: receivers read the root's buffer itself, while the root writes the
 * end of the message into theirs.
 *
 * Source    this project: the kernel copies from one process to another, as the MPIs let it for
 *           messages (CMA), here called by both sides at once.
 * Shape     p ranks, n bytes.  A receiver pulls n - n/p bytes, the root pushes n/p to each in turn,
 *           so that all copy for about the same time.
 * Cost      T = 3 l + (1 - 1/p) n t     ns; l one line transfer, t ns per byte that the kernel
 *           copies, and maps to do so traffic: none beyond the bytes read and written; what cannot
 *           be reached is copied twice, through the root's box, to one receiver after the other
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *
 * A view that holds less than the message gets no push, and pulls what it holds.  Lines and edges
 * are single.h's and single_box.h's.
 */
#include "alg/single_box.h"

/* Bytes that the root pushes: the end of the message, into a view that can hold all of it. */
static size_t pushed(const struct mem *m, const struct single_place *root,
                     const struct single_place *to)
{
    return root->in != 0 && to->out != 0 && to->bytes == root->bytes
               ? root->bytes / (size_t)mem_size(m)
               : 0;
}

static void push(struct mem *m, const struct coll *c, const struct single_place *mine, int rank)
{
    const struct single_place to = single_meet(m, c, rank);
    size_t bytes = pushed(m, mine, &to), at = mine->bytes - bytes;

    at += mem_push(m, &(struct mem_span){ .view = &c->buf, .offset_bytes = at }, rank, to.out, at,
                   bytes);
    single_tell(m, c, rank, at, mine->bytes);
}

static void send(struct mem *m, const struct coll *c, const struct single_place *mine)
{
    const struct single_part whole = { { .view = &c->buf }, c->buf.bytes }, none = { .bytes = 0 };

    for (int k = 1; k < mem_size(m); k++)
        single_enter(m, c, single_other(m, k), mine);
    for (int k = 1; k < mem_size(m); k++)
        push(m, c, mine, single_other(m, k));
    for (int k = 1; k < mem_size(m); k++) {
        const struct single_lack lack = single_hear(m, c, single_other(m, k));
        const struct single_part rest = single_cut(&whole, lack.from, lack.end);
        single_swap(m, c, single_other(m, k), &rest, &none);
    }
}

/* Whoever has not got all by pulling takes what comes after that once more. */
static void receive(struct mem *m, const struct coll *c, const struct single_place *mine)
{
    const struct mem_span to = { .view = &c->buf };

    single_enter(m, c, c->root, mine);
    const struct single_place root = single_meet(m, c, c->root);
    size_t max = root.bytes - pushed(m, &root, mine), got = 0;
    if (root.in != 0 && mine->out != 0)
        got = mem_pull(m, &to, c->root, root.in, 0, max);
    struct single_lack lack = single_hear(m, c, c->root);
    if (got < max)
        lack.from = got;
    single_tell(m, c, c->root, lack.from, lack.end);
    const struct single_part whole = { to, root.bytes }, none = { .bytes = 0 },
                             rest = single_cut(&whole, lack.from, lack.end);
    single_swap(m, c, c->root, &none, &rest);
}

static void run(struct mem *m, const struct coll *c)
{
    const uint64_t address = mem_expose(m, &c->buf);
    const struct single_place mine = { .in = address, .out = address, .bytes = c->buf.bytes };

    if (mem_rank(m) == c->root)
        send(m, c, &mine);
    else
        receive(m, c, &mine);
}

ALG_DEFINE(bcast, single) = {
    .coll = "bcast",
    .name = "single",
    .doc = "single copy: receivers read the root's memory while it writes into theirs",
    .source = "this project",
    .direct = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
