/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - alltoall/single and alltoallv/single: every rank publishes where its blocks are, or
 * a small block itself, and pulls the blocks for it out of the others' buffers.  Slot, lines and
 * edges of the bounce buffers: single_copy.h.
 *
 * Source    this project: the kernel copies from one process to another, as the MPIs use it for
 *           messages (CMA).  No two ranks read from one at a time, as in pairwise exchange.
 * Shape     p ranks, n[i][j] bytes from i to j.  Rank j pulls n[i][j] from each i, from rank j - 1
 *           on, and copies n[j][j].  Small blocks, up to 16 KB / (p - 1), are behind their
 *           sender's entry, the first bytes in its line: one line transfer, and no report.
 *           Afterwards pairs of ranks exchange through their bounce buffers what could not be
 *           pulled; in place, all larger blocks.
 * Cost      T = 2 l + (sum of n[i][j] over i) t + n[j][j] u  ns, of the rank j with the maximum; l
 *           one line transfer, t ns per byte that the kernel copies, and maps to do so, u of a
 *           copy in one process
 *           small blocks of n bytes: l + (p - 2) g + 2 (p - 1) n u, g one more overlapped line
 *           traffic: none beyond the bytes read and written; small blocks, and those that cannot
 *           be reached, are copied once more, which stays in the caches
 * Accepts   any sizes, if the ranks can reach each other's memory (alg_family.direct) and the lease
 *           has room for a bounce buffer.
 *
 * Exchanges are counted by themselves: in the family's other operations not all meet all.
 *
 * Line                        written by   read by   value e means
 *   slot[r].set[e % 2][i]     r            i         r has entered the e-th exchange; with it,
 *                                                    where its block for i is, or the block
 *   slot[r].pair[r].entry     r            r         (plain) exchanges up to now
 *
 * Edges     R5 -> A5   a copy behind an entry     happens before  the copy out
 *                      an entry                   happens before  the other's use of the view
 *                      a rank's copies out of it  happen before   the next write to that set
 *
 * Safety    There are two sets of entries, in turn: a rank that sees another's entry to the e-th
 *           exchange knows that this one has finished exchange e - 1.
 */
#include "alg/single_copy/single_copy.h"

/* The payload of an entry: the block's address, 0: out of reach, or small; where it begins there;
 * its bytes; then the block, if it is small. */
enum { EXCHANGE_IN, EXCHANGE_OFFSET, EXCHANGE_BYTES, EXCHANGE_BLOCK };

enum { EXCHANGE_PREFETCH_MAX = 8192 }; /* bytes, for the next exchange */

struct exchange {
    struct mem *m;
    const struct coll *c;
    uint64_t count;     /* of this exchange */
    size_t place_bytes; /* of an entry and what is behind it */
};

/* Counts this one. */
static struct exchange exchange_begin(struct mem *m, const struct coll *c)
{
    int ranks = mem_size(m);
    size_t place =
        ranks == 1 ? 0
                   : single_set(c->place->window_bytes) / (size_t)(ranks - 1) / HUD_LINE * HUD_LINE;
    uint64_t *before = single_pair(m, mem_rank(m), mem_rank(m))->entry.payload,
             count = mem_get(m, before) + 1;

    mem_put(m, before, count);
    return (struct exchange){ m, c, count, place };
}

/* A rank's entry to this exchange, or to the one after it, for another. */
static mem_flag *exchange_entry(const struct exchange *x, uint64_t count, int owner, int other)
{
    int place = other < owner ? other : other - 1;

    return (mem_flag *)(single_entries(x->m, x->c, owner, count) + (size_t)place * x->place_bytes);
}

static bool exchange_small(const struct exchange *x, size_t bytes)
{
    return bytes <= x->place_bytes - offsetof(mem_flag, payload[EXCHANGE_BLOCK]);
}

static bool exchange_in_place(const struct single_part *out, const struct single_part *in)
{
    return (const char *)out->at.view->base + out->at.offset_bytes ==
           (const char *)in->at.view->base + in->at.offset_bytes;
}

static void exchange_enter(const struct exchange *x, int rank, const struct single_part *out,
                           const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, mem_rank(m), rank);
    bool small = exchange_small(x, out->bytes);

    mem_put(m, &entry->payload[EXCHANGE_IN],
            small || exchange_in_place(out, in) ? 0 : mem_expose(m, out->at.view));
    mem_put(m, &entry->payload[EXCHANGE_OFFSET], out->at.offset_bytes);
    mem_put(m, &entry->payload[EXCHANGE_BYTES], out->bytes);
    if (small)
        mem_in_all(m, &entry->payload[EXCHANGE_BLOCK], out->at.view, out->at.offset_bytes,
                   out->bytes);
    mem_post(m, entry, x->count); /* R5 */
}

/* Another rank's entry, awaited. */
static struct single_exposed exchange_await_entry(const struct exchange *x, mem_flag *entry)
{
    mem_await(x->m, entry, x->count); /* A5 */
    return (struct single_exposed){ .in = mem_get(x->m, &entry->payload[EXCHANGE_IN]),
                                    .offset_bytes = mem_get(x->m, &entry->payload[EXCHANGE_OFFSET]),
                                    .bytes = mem_get(x->m, &entry->payload[EXCHANGE_BYTES]) };
}

/* The next entry for a rank, which has finished with the one there; and its block if that is like
 * this one. */
static void exchange_prefetch(const struct exchange *x, int rank, const struct single_part *out)
{
    size_t head = offsetof(mem_flag, payload[EXCHANGE_BLOCK]),
           block = exchange_small(x, out->bytes) ? out->bytes : 0;

    mem_prefetch_own(x->m, exchange_entry(x, x->count + 1, mem_rank(x->m), rank),
                     head + (block < EXCHANGE_PREFETCH_MAX ? block : EXCHANGE_PREFETCH_MAX));
}

/* The block of this rank's call for a rank, and that from it. */
typedef struct single_part exchange_block(const struct coll *c, int rank);

/* Bytes of a block that came straight from its sender's buffer. */
static size_t exchange_pull(struct mem *m, int rank, const struct single_exposed *from,
                            const struct single_part *to)
{
    if (from->in == 0 || mem_expose(m, to->at.view) == 0)
        return 0;
    return mem_pull(m, &to->at, rank, from->in, from->offset_bytes, from->bytes);
}

/* Copies out what there is of a rank's block, and if it was not small, reports that. */
static void exchange_copy_out(const struct exchange *x, int rank, const struct single_part *out,
                              const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));
    struct single_exposed from = exchange_await_entry(x, entry);

    if (exchange_small(x, from.bytes))
        mem_out(m, in->at.view, &entry->payload[EXCHANGE_BLOCK], in->at.offset_bytes, from.bytes);
    else
        single_report(m, x->c, rank,
                      exchange_in_place(out, in) ? 0 : exchange_pull(m, rank, &from, in),
                      from.bytes);
}

/* What is missing of the blocks of a pair of ranks, through their bounce buffers. */
static void exchange_bounce_missing(const struct exchange *x, int rank,
                                    const struct single_part *out, const struct single_part *in)
{
    struct mem *m = x->m;
    const mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));
    struct single_missing theirs = { 0 }, ours = { 0 };

    if (!exchange_small(x, out->bytes))
        theirs = single_reported(m, rank, mem_rank(m));
    if (!exchange_small(x, mem_get(m, &entry->payload[EXCHANGE_BYTES])))
        ours = single_reported(m, mem_rank(m), rank);
    const struct single_part send = single_cut(out, theirs.from, theirs.end),
                             get = single_cut(in, ours.from, ours.end);
    single_bounce_swap(m, x->c, rank, &send, &get);
}

static void exchange_copy_own(struct mem *m, const struct single_part *out,
                              const struct single_part *in)
{
    if (!exchange_in_place(out, in))
        mem_move(m, &in->at, &out->at, out->bytes);
}

ALG_INLINE void exchange_blocks(struct mem *m, const struct coll *c, exchange_block *sent,
                                exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    const struct exchange x = exchange_begin(m, c);

    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        exchange_enter(&x, single_other(m, k), &to, &from);
    }
    struct single_part out = sent(c, me), in = got(c, me);
    exchange_copy_own(m, &out, &in);
    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, ranks - k)),
                           from = got(c, single_other(m, ranks - k));
        exchange_copy_out(&x, single_other(m, ranks - k), &to, &from);
    }
    for (int k = 1; k < ranks; k++) {
        out = sent(c, single_other(m, k));
        if (!exchange_small(&x, out.bytes))
            single_await_report(m, c, single_other(m, k));
        exchange_prefetch(&x, single_other(m, k), &out);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        out = sent(c, rank);
        in = got(c, rank);
        exchange_bounce_missing(&x, rank, &out, &in);
    }
}

/* ---- alltoall/single ---- */

static struct single_part alltoall_sent(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = c->in, .offset_bytes = (size_t)rank * c->bytes },
                                 c->bytes };
}

static struct single_part alltoall_got(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = c->out, .offset_bytes = (size_t)rank * c->bytes },
                                 c->bytes };
}

static void alltoall_single(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, alltoall_sent, alltoall_got);
}

ALG_DEFINE(alltoall, single) = {
    .coll = "alltoall",
    .name = "single",
    .doc = "single copy: every rank reads its blocks out of the others' memory",
    .source = "this project",
    .family = &HUD_BACKEND(single_family),
    .run = alltoall_single,
};

/* ---- alltoallv/single ---- */

static struct single_part alltoallv_sent(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->in[rank] }, c->in[rank].bytes };
}

static struct single_part alltoallv_got(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->out[rank] }, c->out[rank].bytes };
}

static void alltoallv_single(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, alltoallv_sent, alltoallv_got);
}

ALG_DEFINE(alltoallv, single) = {
    .coll = "alltoallv",
    .name = "single",
    .doc = "single copy: every rank reads its blocks out of the others' memory",
    .source = "this project, after alltoall/single",
    .family = &HUD_BACKEND(single_family),
    .run = alltoallv_single,
};

/* ---- allgather/single: a rank's block for every other is the same ---- */

/* The call's root is the rank itself: whose block `in` has.  An in-place call needs no bounce
 * buffer: what a rank sends it does not receive into. */
static struct single_part allgather_sent(const struct coll *c, int rank)
{
    size_t at = coll_in_place(c) ? (size_t)c->root * c->bytes : 0;

    (void)rank;
    return (struct single_part){ { .view = c->in, .offset_bytes = at }, c->bytes };
}

static void allgather_single(struct mem *m, const struct coll *c)
{
    struct coll own = *c;

    own.root = mem_rank(m);
    exchange_blocks(m, &own, allgather_sent, alltoall_got);
}

ALG_DEFINE(allgather, single) = {
    .coll = "allgather",
    .name = "single",
    .doc = "single copy: every rank reads the others' blocks out of their memory",
    .source = "this project, after alltoall/single",
    .family = &HUD_BACKEND(single_family),
    .run = allgather_single,
};
