/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - alltoall(v) and allgather(v) by kernel copies.  `single`: every rank publishes
 * where its blocks are, or a small block itself, and pulls the blocks for it out of the others'
 * buffers.  `push`: it publishes where blocks for it go, and pushes its own into the others'
 * buffers.  Slot, lines and edges of the bounce buffers: single_copy.h.
 *
 * Source    this project; the MPIs use the kernel's copies for messages (CMA).  No two ranks read
 *           from one at a time, as in pairwise exchange.
 * Shape     p ranks, n[i][j] bytes from i to j.  Rank j pulls n[i][j] from each i, from rank j - 1
 *           on, or pushes n[j][i] to each i, from rank j + 1 on; and copies n[j][j].  Small
 *           blocks, up to 16 KB / (p - 1), are behind their sender's entry, the first bytes in its
 *           line: one line transfer, and no report.  Afterwards pairs of ranks exchange through
 *           their bounce buffers what the kernel did not copy; in place, all larger blocks.
 * Cost      T = 2 l + (sum of n[i][j] over i) t + n[j][j] u  ns, of the rank j with the maximum; l
 *           one line transfer, t ns per byte that the kernel copies, and maps to do so, u of a
 *           copy in one process.  `push`: the sum of n[j][i] over i; what is copied is in the
 *           caches of the rank that copies it, if that has just made it
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
 *                                                    where its block for i is, or that from i
 *                                                    goes; its block, if that is small
 *   slot[r].pair[r].entry     r            r         (plain) exchanges up to now
 *   slot[r].pair[i].report    r            i         single_copy.h; a block is reported by the rank
 *                                                    that copies it
 *
 * Edges     R5 -> A5   a copy behind an entry     happens before  the copy out
 *                      an entry                   happens before  the other's use of the view
 *                      a rank's copies out of it  happen before   the next write to that set
 *
 * Safety
 *   1. There are two sets of entries, in turn: a rank that sees another's entry to the e-th
 *      exchange knows that this one has finished exchange e - 1.
 *   2. A rank pushes into a view only after its owner's entry, and the owner returns only after the
 *      report.
 *   3. A block that is longer than its receiver expects is not pushed: it goes through the bounce
 *      buffer.  The receiver drops what its own block does not hold, though the view may go on with
 *      other blocks, and reports that.
 *   4. Another size may go the other way, in the same lines.  An entry has its owner's way.  Two
 *      ranks that differ in it exchange nothing, and both report that.
 *   5. In place, nothing is published: a block would replace one that still has to be sent.
 */
#include "alg/single_copy/single_copy.h"

/*
 * The payload of an entry.  First an address, 0: nothing to reach there, and where from there on
 * the block begins that the other pulls, or goes that it pushes.  Then the bytes of the owner's
 * block, times two, and one if its way is `push`; and, where the other pushes, the bytes of the
 * block that the owner expects.  Then the owner's block, if that is small.
 */
enum { EXCHANGE_ADDRESS, EXCHANGE_OFFSET, EXCHANGE_BLOCK, EXCHANGE_EXPECTED };

enum { EXCHANGE_PREFETCH_MAX = 8192 }; /* bytes, for the next exchange */

struct exchange {
    struct mem *m;
    const struct coll *c;
    bool push;          /* a block is copied by its sender, not by its receiver */
    uint64_t count;     /* of this exchange */
    size_t place_bytes; /* of an entry and what is behind it */
};

/* Counts this one. */
static struct exchange exchange_begin(struct mem *m, const struct coll *c, bool push)
{
    int ranks = mem_size(m);
    size_t place =
        ranks == 1 ? 0
                   : single_set(c->place->window_bytes) / (size_t)(ranks - 1) / HUD_LINE * HUD_LINE;
    uint64_t *before = single_pair(m, mem_rank(m), mem_rank(m))->entry.payload,
             count = mem_get(m, before) + 1;

    mem_put(m, before, count);
    return (struct exchange){ m, c, push, count, place };
}

/* A rank's entry to this exchange, or to the one after it, for another. */
static mem_flag *exchange_entry(const struct exchange *x, uint64_t count, int owner, int other)
{
    int place = other < owner ? other : other - 1;

    return (mem_flag *)(single_entries(x->m, x->c, owner, count) + (size_t)place * x->place_bytes);
}

/* Where a small block begins, in the line of its entry. */
static size_t exchange_head_bytes(const struct exchange *x)
{
    return offsetof(mem_flag, payload[EXCHANGE_EXPECTED + (x->push ? 1 : 0)]);
}

static bool exchange_small(const struct exchange *x, size_t bytes)
{
    return bytes <= x->place_bytes - exchange_head_bytes(x);
}

/* Bytes of the block that an entry announces. */
static size_t exchange_announced(const struct exchange *x, const mem_flag *entry)
{
    return mem_get(x->m, &entry->payload[EXCHANGE_BLOCK]) >> 1;
}

static bool exchange_goes_along(const struct exchange *x, const mem_flag *entry)
{
    return (mem_get(x->m, &entry->payload[EXCHANGE_BLOCK]) & 1) == x->push;
}

static void exchange_enter(const struct exchange *x, int rank, const struct single_part *out,
                           const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, mem_rank(m), rank);
    const struct single_part *reached = x->push ? in : out;
    bool closed = exchange_small(x, reached->bytes) || block_same(&out->at, &in->at);

    mem_put(m, &entry->payload[EXCHANGE_ADDRESS], closed ? 0 : mem_expose(m, reached->at.view));
    mem_put(m, &entry->payload[EXCHANGE_OFFSET], reached->at.offset_bytes);
    mem_put(m, &entry->payload[EXCHANGE_BLOCK], (uint64_t)out->bytes << 1 | x->push);
    if (x->push)
        mem_put(m, &entry->payload[EXCHANGE_EXPECTED], in->bytes);
    if (exchange_small(x, out->bytes))
        mem_in_all(m, (char *)entry + exchange_head_bytes(x), out->at.view, out->at.offset_bytes,
                   out->bytes);
    mem_post(m, entry, x->count); /* R5 */
}

/* The next entry for a rank, which has finished with the one there; and its block if that is like
 * this one. */
static void exchange_prefetch(const struct exchange *x, int rank, const struct single_part *out)
{
    size_t block = exchange_small(x, out->bytes) ? out->bytes : 0;

    mem_prefetch_own(x->m, exchange_entry(x, x->count + 1, mem_rank(x->m), rank),
                     exchange_head_bytes(x) +
                         (block < EXCHANGE_PREFETCH_MAX ? block : EXCHANGE_PREFETCH_MAX));
}

/* What the kernel copies of the block that another rank's entry announces, or of that for it: out
 * of its sender's buffer, or into its receiver's. */
static size_t exchange_pull(const struct exchange *x, int rank, const mem_flag *entry,
                            const struct single_part *to)
{
    struct mem *m = x->m;
    uint64_t from = mem_get(m, &entry->payload[EXCHANGE_ADDRESS]);
    size_t bytes = exchange_announced(x, entry), fit = bytes < to->bytes ? bytes : to->bytes;

    if (from == 0 || mem_expose(m, to->at.view) == 0)
        return 0;
    if (fit < bytes)
        block_truncate(m);
    size_t moved =
        mem_pull(m, &to->at, rank, from, mem_get(m, &entry->payload[EXCHANGE_OFFSET]), fit);
    return moved == fit ? bytes : moved;
}

static size_t exchange_push(struct mem *m, int rank, const mem_flag *entry,
                            const struct single_part *from)
{
    uint64_t to = mem_get(m, &entry->payload[EXCHANGE_ADDRESS]);

    if (to == 0 || mem_expose(m, from->at.view) == 0 ||
        mem_get(m, &entry->payload[EXCHANGE_EXPECTED]) < from->bytes)
        return 0;
    return mem_push(m, &from->at, rank, to, mem_get(m, &entry->payload[EXCHANGE_OFFSET]),
                    from->bytes);
}

/* Copies out a rank's block if that is small; copies by the kernel what this rank is to copy, and
 * reports what is missing of it. */
static void exchange_copy(const struct exchange *x, int rank, const struct single_part *out,
                          const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));

    mem_await(m, entry, x->count); /* A5 */
    size_t bytes = exchange_announced(x, entry);
    if (!exchange_goes_along(x, entry)) {
        block_truncate(m);
        return;
    }
    if (exchange_small(x, bytes))
        block_out(m, &in->at, in->bytes, (char *)entry + exchange_head_bytes(x), bytes);
    else if (!x->push)
        single_report(m, x->c, rank,
                      block_same(&out->at, &in->at) ? 0 : exchange_pull(x, rank, entry, in), bytes);
    if (x->push && !exchange_small(x, out->bytes))
        single_report(m, x->c, rank, exchange_push(m, rank, entry, out), out->bytes);
}

/* Waits until a rank has copied what it is to copy, the block for it or its own. */
static void exchange_await_copied(const struct exchange *x, int rank, const struct single_part *out)
{
    if (!x->push && exchange_small(x, out->bytes))
        return;
    const mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(x->m));
    if (exchange_goes_along(x, entry) &&
        !(x->push && exchange_small(x, exchange_announced(x, entry))))
        single_await_report(x->m, x->c, rank);
}

/* What is missing of a block between this rank and another one, `mine`: of this rank's. */
static struct single_missing exchange_missing(const struct exchange *x, int rank, bool mine,
                                              size_t bytes)
{
    if (exchange_small(x, bytes))
        return (struct single_missing){ 0 };
    return x->push == mine ? single_reported(x->m, mem_rank(x->m), rank)
                           : single_reported(x->m, rank, mem_rank(x->m));
}

/* What is missing of the blocks of a pair of ranks, through their bounce buffers. */
static void exchange_bounce_missing(const struct exchange *x, int rank,
                                    const struct single_part *out, const struct single_part *in)
{
    const mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(x->m));

    if (!exchange_goes_along(x, entry))
        return;
    struct single_missing theirs = exchange_missing(x, rank, true, out->bytes),
                          ours = exchange_missing(x, rank, false, exchange_announced(x, entry));
    if (theirs.from == theirs.end && ours.from == ours.end)
        return;
    const struct single_part send = single_cut(out, theirs.from, theirs.end),
                             get = single_cut(in, ours.from, ours.end);

    single_bounce_swap(x->m, x->c, rank, &send, &get, block_left(in->bytes, ours.from));
}

/* The block of this rank's call for a rank, and that from it. */
typedef struct single_part exchange_block(const struct coll *c, int rank);

ALG_INLINE void exchange_blocks(struct mem *m, const struct coll *c, bool push,
                                exchange_block *sent, exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    const struct exchange x = exchange_begin(m, c, push);

    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        exchange_enter(&x, single_other(m, k), &to, &from);
    }
    struct single_part out = sent(c, me), in = got(c, me);
    if (!block_same(&out.at, &in.at))
        mem_move(m, &in.at, &out.at, out.bytes);
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, push ? k : ranks - k);
        struct single_part to = sent(c, rank), from = got(c, rank);
        exchange_copy(&x, rank, &to, &from);
    }
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, push ? ranks - k : k);
        out = sent(c, rank);
        exchange_await_copied(&x, rank, &out);
        exchange_prefetch(&x, rank, &out);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        struct single_part to = sent(c, rank), from = got(c, rank);
        exchange_bounce_missing(&x, rank, &to, &from);
    }
}

/* What all of these rows have. */
#define EXCHANGE_ALG(coll_, name_, doc_)                                                           \
    .coll = #coll_, .name = #name_, .doc = "single copy: " doc_, .source = "this project",         \
    .family = &HUD_BACKEND(single_family), .run = coll_##_##name_

/* ---- alltoall ---- */

static struct single_part alltoall_sent(const struct coll *c, int rank)
{
    return (struct single_part){ block_at(c->in, c->bytes, rank), c->bytes };
}

static struct single_part alltoall_got(const struct coll *c, int rank)
{
    return (struct single_part){ block_at(c->out, c->bytes, rank), c->bytes };
}

static void alltoall_single(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, alltoall_sent, alltoall_got);
}

static void alltoall_push(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, alltoall_sent, alltoall_got);
}

ALG_DEFINE(alltoall, single) = {
    EXCHANGE_ALG(alltoall, single, "every rank reads its blocks out of the others' memory"),
};

ALG_DEFINE(alltoall, push) = {
    EXCHANGE_ALG(alltoall, push, "every rank writes its blocks into the others' memory"),
};

/* ---- alltoallv ---- */

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
    exchange_blocks(m, c, false, alltoallv_sent, alltoallv_got);
}

static void alltoallv_push(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, alltoallv_sent, alltoallv_got);
}

ALG_DEFINE(alltoallv, single) = {
    EXCHANGE_ALG(alltoallv, single, "every rank reads its blocks out of the others' memory"),
};

ALG_DEFINE(alltoallv, push) = {
    EXCHANGE_ALG(alltoallv, push, "every rank writes its blocks into the others' memory"),
};

/* ---- allgather: a rank's block for every other is the same ---- */

/* The call's root is the rank itself: whose block `in` has.  An in-place call needs no bounce
 * buffer: what a rank sends it does not receive into. */
static struct single_part allgather_sent(const struct coll *c, int rank)
{
    (void)rank;
    return (struct single_part){ block_at(c->in, c->bytes, coll_in_place(c) ? c->root : 0),
                                 c->bytes };
}

ALG_INLINE void allgather_blocks(struct mem *m, struct coll own, bool push)
{
    own.root = mem_rank(m);
    exchange_blocks(m, &own, push, allgather_sent, alltoall_got);
}

static void allgather_single(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, false);
}

static void allgather_push(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, true);
}

ALG_DEFINE(allgather, single) = {
    EXCHANGE_ALG(allgather, single, "every rank reads the others' blocks out of their memory"),
};

ALG_DEFINE(allgather, push) = {
    EXCHANGE_ALG(allgather, push, "every rank writes its block into the others' memory"),
};

/* ---- allgatherv ---- */

static struct single_part allgatherv_sent(const struct coll *c, int rank)
{
    (void)rank;
    return (struct single_part){ { .view = c->in }, c->in->bytes };
}

static void allgatherv_single(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, allgatherv_sent, alltoallv_got);
}

static void allgatherv_push(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, allgatherv_sent, alltoallv_got);
}

ALG_DEFINE(allgatherv, single) = {
    EXCHANGE_ALG(allgatherv, single, "every rank reads the others' blocks out of their memory"),
};

ALG_DEFINE(allgatherv, push) = {
    EXCHANGE_ALG(allgatherv, push, "every rank writes its block into the others' memory"),
};
