/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - bcast/cma_read: receivers read the root's buffer themselves, while the root writes the
 * end of the message into theirs.  Lines, edges: single_copy.h, bounce.h.
 *
 * Source    this project: the kernel copies from one process to another, as MPI libraries use it
 *           for messages (CMA), here called by both sides at the same time.
 * Shape     p ranks, n bytes.  A receiver pulls n - n/p bytes, and the root pushes n/p bytes to
 *           each receiver in turn, so that all copy for about the same time.
 * Cost      T = 3 l + (1 - 1/p) n t     ns; l one line transfer, t ns per byte that the kernel
 *           copies, and maps to do so
 *           traffic: none beyond the bytes read and written; bytes that cannot be reached are
 *           copied twice, through the root's bounce buffer, to one receiver after the other
 * Accepts   any n, if the ranks can reach each other's memory (alg_family.direct) and the lease has
 *           room for a bounce buffer.
 *
 * Safety    A view that is smaller than the message gets no push, and its owner pulls as many bytes
 *           as fit.
 */
#include "alg/single_copy/bounce.h"

/* Returns how many bytes the root pushes to a receiver.  They are the end of the message, and are
 * only pushed into a view that can hold the whole message. */
static size_t bytes_to_push(const struct mem *m, const struct single_exposed *root,
                            const struct single_exposed *to)
{
    return root->in != 0 && to->out != 0 && to->bytes == root->bytes
               ? root->bytes / (size_t)mem_size(m)
               : 0;
}

static void push_end(struct mem *m, const struct coll *c, const struct single_exposed *mine,
                     int rank)
{
    const struct single_exposed to = single_await_entry(m, c, rank);
    size_t bytes = bytes_to_push(m, mine, &to), at = mine->bytes - bytes;

    at += mem_push(m, &(struct mem_span){ .view = c->out, .offset_bytes = at }, rank, to.out, at,
                   bytes);
    single_report(m, c, rank, at, mine->bytes);
}

static void send(struct mem *m, const struct coll *c, const struct single_exposed *mine)
{
    const struct block whole = { { .view = c->out }, c->out->bytes }, none = { .bytes = 0 };

    for (int k = 1; k < mem_size(m); k++)
        single_enter(m, c, single_other(m, k), mine);
    for (int k = 1; k < mem_size(m); k++)
        push_end(m, c, mine, single_other(m, k));
    for (int k = 1; k < mem_size(m); k++) {
        const struct single_missing missing = single_await_report(m, c, single_other(m, k));
        const struct block rest = single_cut(&whole, missing.from, missing.end);
        bounce_swap(m, c, single_other(m, k), &rest, &none, 0);
    }
}

/* Receives the message.  A receiver which could not pull everything requests all bytes after those
 * received. */
static void receive(struct mem *m, const struct coll *c, const struct single_exposed *mine)
{
    const struct mem_span to = { .view = c->out };

    single_enter(m, c, c->root, mine);
    const struct single_exposed root = single_await_entry(m, c, c->root);
    size_t max = root.bytes - bytes_to_push(m, &root, mine), got = 0;
    if (root.in != 0 && mine->out != 0)
        got = mem_pull(m, &to, c->root, root.in, 0, max);
    struct single_missing missing = single_await_report(m, c, c->root);
    if (got < max)
        missing.from = got;
    single_report(m, c, c->root, missing.from, missing.end);
    const struct block whole = { to, root.bytes }, none = { .bytes = 0 },
                       rest = single_cut(&whole, missing.from, missing.end);
    bounce_swap(m, c, c->root, &none, &rest, block_left(c->out->bytes, missing.from));
}

static void bcast_cma_read(struct mem *m, const struct coll *c)
{
    const uint64_t address = mem_expose(m, c->out);
    const struct single_exposed mine = { .in = address, .out = address, .bytes = c->out->bytes };

    if (mem_rank(m) == c->root)
        send(m, c, &mine);
    else
        receive(m, c, &mine);
}

const struct alg_family HUD_BACKEND(single_family) = {
    .direct = true,
    .window_bytes = single_window_bytes,
    .lines_bytes = single_lines_bytes,
};

ALG_DEFINE(bcast, cma_read) = {
    .coll = "bcast",
    .name = "cma_read",
    .doc = "single copy: receivers read the root's buffer while the root writes into their buffers",
    .source = "this project",
    .family = &HUD_BACKEND(single_family),
    .run = bcast_cma_read,
};
