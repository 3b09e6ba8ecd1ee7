/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_copy.h - the family `single`: ranks copy straight from one process to another by the
 * kernel.  Here: a rank's slot, what each two ranks announce to each other, and the bounce buffer
 * for what the kernel does not copy.  The collectives: bcast.c, allreduce.c, reduce.c,
 * reduce_scatter.c, deliver.c (allreduce/push), alltoall.c, allgather.c, gather.c, scatter.c.
 *
 * Shape     Each rank publishes where its buffers are; then they copy by the kernel; each then
 *           reports the bytes that did not come; these go through the bounce buffer of their
 *           sender.  That has two halves, used in turn, and serves one receiver after the other.
 *           It takes packed views, and copies that the kernel refuses or cuts short.
 *
 * Line                               written by  read by  value k means
 *   slot[r].pair[i].entry            r           i        r has entered operation k; with it, where
 *                                                         the buffers are that i may use
 *   slot[r].pair[i].report           r           i        r uses nothing of i's in operation k any
 *                                                         more; with it, the bytes that did not
 *                                                         come
 *   slot[r].pair[i].full             r           i        fragment k of the two is in r's bounce
 *                                                         buffer
 *   slot[r].pair[i].acknowledged     r           i        r has consumed fragment k of the two out
 *                                                         of i's bounce buffer; with it, for r
 *                                                         itself, those of the operations before
 *   slot[r].set, pair[r].entry                            offers.h
 *
 * Edges     R1 -> A1   an entry                         happens before  the other's use of a view
 *           R2 -> A2   the use of another's view        happens before  its owner's return
 *           R3 -> A3   the copy into a bounce buffer    happens before  the copy out
 *           R4 -> A4   the copy out of a bounce buffer  happens before  the next copy into that
 *                      half, and to another rank
 *
 * Not needed
 *   R1, A1 by alltoall/single, alltoall/push, alltoallv/single, alltoallv/push, allgather/single,
 *   allgather/push, allgatherv/single, allgatherv/push: their offers are entries (offers.h)
 *   R4, A4 by reduce_scatter/single: no other rank copies out of an owner's buffer, and its R3 says
 *   that it has reduced the others' contributions
 *
 * Deadlock freedom
 *   1. An entry is posted without a wait.  A report waits for entries only; a receiver of a
 *      broadcast also waits for the root's report before its own, an owner of deliver.c for
 *      contributions, as that file's head says.
 *   2. Two ranks exchange what is missing only after both have heard the other's report, and go
 *      through it in the same order.  The order of pairs is the same on all ranks.
 * Safety
 *   1. What a rank reported last may be read until its peer enters a later operation.  So a rank
 *      awaits its peer's entry before it replaces its own report.
 *   2. A fragment has the size of a half but for the last, so no header is needed.  Two ranks
 *      count the fragments between them from the first on, alike, whichever way they go.
 *   3. Counts may differ between ranks.  An entry has its owner's bytes, and nobody pulls or pushes
 *      other bytes of a buffer than its owner has announced.  In a reduction an entry also has
 *      how its owner cuts the message.  Unless all entries are equal, nothing is copied, and the
 *      call reports HUD_ERR_TRUNCATE on all ranks: each has then seen an entry unlike its own.
 */
#ifndef HUD_ALG_SINGLE_COPY_H
#define HUD_ALG_SINGLE_COPY_H

#include "alg/block.h"

/* Bytes of half a bounce buffer, less where the window holds less, and the minimum.  A set of
 * offers (offers.h) has a quarter of that and a line. */
enum { SINGLE_HALF = 64 << 10, SINGLE_MIN = HUD_ELEMENT_MAX };

struct single_pair {
    mem_flag entry, report, full, acknowledged;
};

static inline size_t single_half(size_t window_bytes)
{
    return window_bytes / 2;
}

static inline size_t single_set(size_t window_bytes)
{
    return mem_lines(single_half(window_bytes) / 4) + HUD_LINE;
}

static inline size_t single_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t half = max_bytes / 2 < SINGLE_HALF ? max_bytes / 2 / HUD_LINE * HUD_LINE : SINGLE_HALF;

    (void)param;
    return half < SINGLE_MIN || single_set(2 * half) < (size_t)ranks * HUD_LINE ? 0 : 2 * half;
}

static inline size_t single_lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param;
    return (size_t)ranks * sizeof(struct single_pair) + 2 * single_set(window_bytes);
}

/* In bcast.c. */
extern const struct alg_family HUD_BACKEND(single_family);

static inline struct single_pair *single_pair(struct mem *m, int owner, int other)
{
    return (struct single_pair *)mem_slot(m, owner) + other;
}

static inline char *single_bounce(struct mem *m, const struct coll *c, int owner, size_t k)
{
    return (char *)mem_window(m, owner) + k % 2 * single_half(c->place->window_bytes);
}

/* The first or the second set of offers. */
static inline char *single_offers(struct mem *m, const struct coll *c, int owner, uint64_t k)
{
    return (char *)single_pair(m, owner, mem_size(m)) + k % 2 * single_set(c->place->window_bytes);
}

/* What a rank lets another one read and write, addresses, 0: out of reach; how it cuts the message
 * of a reduction; bytes of the message.  The payload of `entry`. */
struct single_exposed {
    uint64_t in, out, cut, bytes;
};

/* Bytes that did not come: the payload of `report`. */
struct single_missing {
    uint64_t from, end;
};

/* The k-th of the other ranks. */
static inline int single_other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

static inline void single_enter(struct mem *m, const struct coll *c, int rank,
                                const struct single_exposed *mine)
{
    mem_flag *entry = &single_pair(m, mem_rank(m), rank)->entry;
    struct single_exposed *to = (struct single_exposed *)entry->payload;

    mem_put(m, &to->in, mine->in);
    mem_put(m, &to->out, mine->out);
    mem_put(m, &to->cut, mine->cut);
    mem_put(m, &to->bytes, mine->bytes);
    mem_post(m, entry, c->op); /* R1 */
}

static inline struct single_exposed single_await_entry(struct mem *m, const struct coll *c,
                                                       int rank)
{
    mem_flag *entry = &single_pair(m, rank, mem_rank(m))->entry;
    const struct single_exposed *from = (const struct single_exposed *)entry->payload;

    mem_await(m, entry, c->op); /* A1 */
    return (struct single_exposed){ mem_get(m, &from->in), mem_get(m, &from->out),
                                    mem_get(m, &from->cut), mem_get(m, &from->bytes) };
}

static inline void single_report(struct mem *m, const struct coll *c, int rank, uint64_t from,
                                 uint64_t end)
{
    mem_flag *report = &single_pair(m, mem_rank(m), rank)->report;
    struct single_missing *missing = (struct single_missing *)report->payload;

    mem_put(m, &missing->from, from);
    mem_put(m, &missing->end, end);
    mem_post(m, report, c->op); /* R2 */
}

/* What one rank has reported to another, either of them this one. */
static inline struct single_missing single_reported(struct mem *m, int by, int to)
{
    const struct single_missing *missing =
        (const struct single_missing *)single_pair(m, by, to)->report.payload;

    return (struct single_missing){ mem_get(m, &missing->from), mem_get(m, &missing->end) };
}

static inline struct single_missing single_await_report(struct mem *m, const struct coll *c,
                                                        int rank)
{
    mem_await(m, &single_pair(m, rank, mem_rank(m))->report, c->op); /* A2 */
    return single_reported(m, rank, mem_rank(m));
}

/* Bytes of a view of this rank. */
struct single_part {
    struct mem_span at;
    size_t bytes;
};

/* Fragments that went between this rank and another one in the operations before. */
static inline uint64_t *single_fragments_before(struct mem *m, int rank)
{
    return single_pair(m, mem_rank(m), rank)->acknowledged.payload;
}

/* What fragment k of this operation counts as. */
static inline uint64_t single_count(struct mem *m, int rank, size_t k)
{
    return mem_get(m, single_fragments_before(m, rank)) + k + 1;
}

/* Counts the fragments of an operation that is over; both do. */
static inline void single_add_fragments(struct mem *m, int rank, size_t fragments)
{
    if (fragments != 0)
        mem_put(m, single_fragments_before(m, rank),
                mem_get(m, single_fragments_before(m, rank)) + fragments);
}

/* Fragment k is in this rank's bounce buffer for another one; or in another's for this one. */
static inline void single_post_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->full, count); /* R3 */
}

static inline void single_await_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->full, count); /* A3 */
}

/* This rank has consumed fragment k of another's bounce buffer; or another of this rank's. */
static inline void single_post_acknowledged(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->acknowledged, count); /* R4 */
}

static inline void single_await_acknowledged(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->acknowledged, count); /* A4 */
}

/*
 * Awaits all ranks' entries; true: with the same message, cut alike.  If not, the operation is over
 * on all ranks.  What a rank may have put into its bounce buffer before it knew counts as a
 * fragment.
 */
static inline bool single_agree(struct mem *m, const struct coll *c,
                                const struct single_exposed *mine)
{
    bool alike = true;

    for (int k = 1; k < mem_size(m); k++) {
        struct single_exposed other = single_await_entry(m, c, single_other(m, k));
        alike = alike && other.bytes == mine->bytes && other.cut == mine->cut;
    }
    if (alike)
        return true;
    for (int k = 1; k < mem_size(m); k++)
        single_report(m, c, single_other(m, k), 0, 0);
    for (int k = 1; k < mem_size(m); k++) {
        single_await_report(m, c, single_other(m, k));
        single_add_fragments(m, single_other(m, k), 1);
    }
    block_truncate(m);
    return false;
}

/* Bytes [from, end) of a part. */
static inline struct single_part single_cut(const struct single_part *part, size_t from, size_t end)
{
    struct mem_span at = part->at;

    at.offset_bytes += from;
    return (struct single_part){ at, end - from };
}

/* What of it fragment k holds. */
static inline struct single_part single_fragment(const struct single_part *part, size_t half,
                                                 size_t k)
{
    size_t end = (k + 1) * half;

    return single_cut(part, k * half, end < part->bytes ? end : part->bytes);
}

/* Sends one part to a rank while another one comes from it, either of which may be empty; both may
 * be the same bytes.  What comes is dropped beyond so much room. */
static inline void single_bounce_swap(struct mem *m, const struct coll *c, int rank,
                                      const struct single_part *out, const struct single_part *in,
                                      size_t room_bytes)
{
    size_t half = single_half(c->place->window_bytes), sends = (out->bytes + half - 1) / half,
           gets = (in->bytes + half - 1) / half;

    for (size_t k = 0; k < sends || k < gets; k++) {
        if (k < sends) {
            struct single_part part = single_fragment(out, half, k);
            if (k >= 2)
                single_await_acknowledged(m, rank, k - 2);
            mem_in_all(m, single_bounce(m, c, mem_rank(m), k), part.at.view, part.at.offset_bytes,
                       part.bytes);
            single_post_full(m, rank, k);
        }
        if (k < gets) {
            struct single_part part = single_fragment(in, half, k);
            single_await_full(m, rank, k);
            block_out(m, &part.at, block_left(room_bytes, k * half), single_bounce(m, c, rank, k),
                      part.bytes);
            single_post_acknowledged(m, rank, k);
        }
    }
    if (sends != 0)
        single_await_acknowledged(m, rank, sends - 1);
    single_add_fragments(m, rank, sends > gets ? sends : gets);
}

#endif
