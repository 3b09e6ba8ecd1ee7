/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_copy.h - the family `single_copy`: ranks copy directly from one process to another by the
 * kernel.  This file has a rank's slot, and the announcements of each two ranks to each other.
 * Bytes that the kernel does not copy go through the bounce buffers of bounce.h.  The collectives:
 * bcast.c; reduce.c, reduce_scatter.c (owner.h); gather.c and scatter.c (rooted.h).  alltoall.c and
 * allgather.c (exchange.h) are a family of their own, because their slots also have offers
 * (offers.h).
 *
 * Shape     Each rank publishes where its buffers are.  Then the ranks copy by the kernel.  Then
 *           each rank reports the missing bytes.
 *
 * Line                               written by  read by  value k means
 *   slot[r].pair[i].entry            r           i        r has entered operation k; with it, where
 *                                                         the buffers are that i may use
 *   slot[r].pair[i].report           r           i        r uses nothing of i's in operation k any
 *                                                         more; with it, the bytes that did not
 *                                                         come
 *   slot[r].pair[i].full, .acknowledged                   bounce.h
 *   slot[r].set                                           offers.h
 *
 * Edges     R1 -> A1   an entry                         happens before  the other's use of a view
 *           R2 -> A2   the use of another's view        happens before  its owner's return
 *
 * Not needed
 *   R1, A1 by alltoall/cma_read, alltoall/cma_write, alltoallv/cma_read, allgather/cma_read,
 *   allgather/cma_write, allgatherv/cma_read, allgatherv/cma_write: their offers are entries
 *   (offers.h)
 *
 * Deadlock freedom
 *   1. An entry is posted without a wait.  A report waits only for entries, with one exception: a
 *      receiver of a broadcast also waits for the root's report before its own.
 * Safety
 *   1. A rank's last report may be read until its peer enters a later operation.  So a rank awaits
 *      its peer's entry before it replaces its own report.
 *   2. Counts may differ between ranks.  An entry has its owner's bytes, and no rank pulls or
 *      pushes bytes of a buffer that its owner has not announced.
 */
#ifndef HUD_ALG_SINGLE_COPY_H
#define HUD_ALG_SINGLE_COPY_H

#include "alg/direct.h"

/* Bytes of half a bounce buffer, or fewer if the window is smaller; minimum bytes of half a
 * buffer. */
enum { SINGLE_HALF = 64 << 10, SINGLE_MIN = HUD_ELEMENT_MAX };

struct single_pair {
    mem_flag entry, report, full, acknowledged;
};

static inline size_t single_half(size_t window_bytes)
{
    return window_bytes / 2;
}

static inline size_t single_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t half = max_bytes / 2 < SINGLE_HALF ? max_bytes / 2 / HUD_LINE * HUD_LINE : SINGLE_HALF;

    (void)param;
    (void)ranks;
    return half < SINGLE_MIN ? 0 : 2 * half;
}

static inline size_t single_lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param;
    (void)window_bytes;
    return (size_t)ranks * sizeof(struct single_pair);
}

/* Defined in bcast.c. */
extern const struct alg_family HUD_BACKEND(single_family);

static inline struct single_pair *single_pair(struct mem *m, int owner, int other)
{
    return (struct single_pair *)mem_slot(m, owner) + other;
}

/* Returns the k-th of the other ranks. */
static inline int single_other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

/* The payload of `entry`: addresses that a rank lets another rank read and write (0: out of reach);
 * how it cuts the message of a reduction; bytes of the message. */
struct single_exposed {
    uint64_t in, out, cut, bytes;
};

/* The payload of `report`: the missing bytes. */
struct single_missing {
    uint64_t from, end;
};

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

/* Returns the report of rank `by` to rank `to`, either of which is this rank. */
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

/* Returns bytes [from, end) of a part. */
static inline struct block single_cut(const struct block *part, size_t from, size_t end)
{
    struct mem_span at = part->at;

    at.offset_bytes += from;
    return (struct block){ at, end - from };
}

#endif
