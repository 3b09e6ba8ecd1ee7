/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem.h - all operations on shared memory that an algorithm may use.  This is the contract.
 * mem_shm.h (real memory) and mem_sim.h (fibers under a race checker) implement it; -DHUD_SIM
 * chooses between them.
 *
 * The prototypes come before the backend on purpose: a backend that changes a type or lacks a
 * function does not compile.
 *
 * Guarantees.  A value seen by mem_await or mem_peek was posted.  Everything its poster did before
 * that post (or saw before it) happened before what the caller does next: post is a release, await
 * and peek are acquires.  There is no other order.  Two accesses to the same bytes are a race if
 * one of them is a write and no chain of posts and awaits connects them, even if they "cannot" meet
 * in time.  Waiting calls the host's progress.  Nothing else here blocks or fails.
 *
 * Use of a flag: one rank posts it per operation, and any number of ranks await or peek it.
 * mem_add is for counters of algorithms whose papers count with atomic additions (central counter,
 * departures).
 */
#ifndef HUD_MEM_H
#define HUD_MEM_H

#include "huddle/huddle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HUD_LINE = 128, /* bytes: the L3 line of Kunpeng, a pair of prefetched lines of x86, and a
                       multiple of all other lines */
    MEM_PAYLOAD = HUD_LINE - 8 /* bytes that travel in the flag's own line */
};

/* A counter on a cache line of its own.  It only grows, starts at 0 and wraps modulo 2^64.  The
 * payload is written before the counter is posted. */
typedef struct {
    _Alignas(HUD_LINE) _Atomic uint64_t value;
    uint64_t payload[MEM_PAYLOAD / 8];
} mem_flag;

/* A counter that shares its cache line with its neighbours, for the packed queues of some papers.
 * Each post takes the line from all ranks that poll it.  It has no payload.  Prefer flags. */
typedef struct {
    _Atomic uint64_t value;
} mem_cell;

/* Returns `bytes` rounded up to whole lines. */
static inline size_t mem_lines(size_t bytes)
{
    return (bytes + HUD_LINE - 1) / HUD_LINE * HUD_LINE;
}

struct mem; /* a rank's handle on the slices of its team */

#define MEM_FN static inline __attribute__((unused))

MEM_FN int mem_rank(const struct mem *m);
MEM_FN int mem_size(const struct mem *m);

/* Returns the running algorithm's slot, or its window, in a rank's slice.  A slot is aligned to
 * HUD_LINE, is on the rank's NUMA node, and is zero when leased.  The contents of a window do not
 * last until the algorithm's next call. */
MEM_FN void *mem_slot(struct mem *m, int rank);
MEM_FN void *mem_window(struct mem *m, int rank);

MEM_FN void mem_post(struct mem *m, mem_flag *f, uint64_t v); /* release store */
MEM_FN uint64_t mem_peek(struct mem *m, mem_flag *f);         /* acquire load */
MEM_FN uint64_t mem_await(struct mem *m, mem_flag *f,
                          uint64_t min); /* returns *f as soon as it is >= min (mod 2^64);
                                            acquire */
MEM_FN uint64_t mem_add(struct mem *m, mem_flag *f,
                        uint64_t v); /* atomic; returns the sum; acquire and release */
MEM_FN void mem_post_cell(struct mem *m, mem_cell *c, uint64_t v); /* these two: as for flags */
MEM_FN uint64_t mem_await_cell(struct mem *m, mem_cell *c, uint64_t min);

/* Reads, or writes, a plain word of shared memory, which only flags order. */
MEM_FN uint64_t mem_get(struct mem *m, const uint64_t *word);
MEM_FN void mem_put(struct mem *m, uint64_t *word, uint64_t v);

/* Copies in: the bytes [offset, offset + max) of the view to shared memory.  Returns the number of
 * bytes copied, which may be less than max_bytes but is 0 only if max_bytes is 0. */
MEM_FN size_t mem_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                     size_t max_bytes);
/* Copies in exactly `bytes` bytes. */
MEM_FN void mem_in_all(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                       size_t bytes);
/*
 * Copies out.  Bytes beyond the end of the view are dropped without calling unpack for them, and
 * the call then reports HUD_ERR_TRUNCATE.
 *
 * `last` is true for the last reader of these bytes.  Then no rank reads them any more until their
 * owner has written them again, and the owner does so only after an acknowledgement that follows
 * this call.
 *
 * The last reader may return the lines: in each 64 bytes of memory with some of these bytes, the
 * reader writes a byte with the value already there.  Then a single holder has modified each line,
 * and the owner's next write takes the line over several times as fast as a line other ranks have
 * only read.  This function counts as a write of all these bytes.
 */
MEM_FN void mem_out_as(struct mem *m, const struct hud_view *to, const void *src,
                       size_t offset_bytes, size_t bytes, bool last);
#define mem_out(...) mem_out_as(__VA_ARGS__, false)
#define mem_out_last(...) mem_out_as(__VA_ARGS__, true)
/* Copies from shared memory to shared memory.  `last` is true for the last reader (see mem_out_as)
 * of the source. */
MEM_FN void mem_copy_as(struct mem *m, void *dst, const void *src, size_t bytes, bool last);
#define mem_copy(...) mem_copy_as(__VA_ARGS__, false)
#define mem_copy_last(...) mem_copy_as(__VA_ARGS__, true)

/* Bytes that are read or written: at `shared` in shared memory, or, if `shared` is NULL, from
 * offset_bytes on in a view of the call. */
struct mem_span {
    void *shared;
    const struct hud_view *view;
    size_t offset_bytes;
};

enum { MEM_SOURCES = 32 }; /* maximum number of sources of a mem_reduce() */

/*
 * Computes to = from[0] op from[1] op ... op from[count - 1], element by element and in this order,
 * for `bytes` bytes, which are whole elements.  If `also` is not NULL, the result is stored there,
 * too.  With count 1, copies.  `to` may be equal to one of `from`, and so may `also`, but they
 * overlap in no other way.  At most two of all these spans are of packed views: a source and a
 * destination.
 *
 * `last` is true for the last reader (see mem_out_as) of all shared sources except `to`.
 */
MEM_FN void mem_reduce_as(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                          const struct mem_span *also, const struct mem_span *from, int count,
                          size_t bytes, bool last);
#define mem_reduce(...) mem_reduce_as(__VA_ARGS__, false)
#define mem_reduce_last(...) mem_reduce_as(__VA_ARGS__, true)

/* Copies `bytes` bytes between spans that do not overlap, also from view to view.  Bytes beyond the
 * end of a view are dropped, as in mem_out_as(). */
MEM_FN void mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                     size_t bytes);

/*
 * Tells the processor to prepare for this rank's next writes to these bytes of its own slot.  A
 * hint without order or effect.  Lines that others have read are fetched for writing now, between
 * two operations, and not when the next operation waits for them.  A slow root, for example, may
 * still read the half or the set which comes next.  Then the prefetch is wasted and the reader
 * fetches the lines once more, which costs time and nothing else.
 */
MEM_FN void mem_prefetch_own(struct mem *m, const void *at, size_t bytes);

/* Hints like mem_prefetch_own() for the next message of a rank, for which the others wait, but only
 * if the message is long enough to pay. */
MEM_FN void mem_prefetch_message(struct mem *m, const void *at, size_t bytes);

/*
 * Announces, before this rank awaits `f`, that in its next call the rank awaits `next`, of the same
 * poster, and reads `bytes` bytes from there on.  A hint without order or effect.
 *
 * If the poster is ahead, the bytes are fetched now.  If not, the poster has yet to write them, and
 * fetching would make its stores wait.  So the hint is followed only after several awaits in a row
 * for which the flags were already posted.  From time to time, the function checks whether `next`
 * is posted, and if not, ignores the hint for a while.  If the next call has another root, the
 * prefetch is wasted.
 */
MEM_FN void mem_prefetch_next(struct mem *m, mem_flag *f, uint64_t min, mem_flag *next,
                              uint64_t next_min, size_t bytes);

/*
 * Copies directly from a rank's buffer to another's ("single copy").
 *
 * mem_expose() returns an address of the view for the other ranks, and 0 if they cannot reach the
 * view (packed, or no single copy in this team).  Posts and awaits order the accesses of other
 * ranks to the view like accesses to any other bytes.
 *
 * mem_pull() copies the bytes [offset, offset + bytes) of a view exposed by another rank, which
 * must contain them, to own shared memory or to a contiguous view of the call.  mem_push() copies
 * in the other direction.  Both return the number of bytes moved.  If the number is smaller than
 * `bytes`, the kernel refused, at once or at some byte, and the destination has neither its old nor
 * its new contents.  Bytes that a pull brings beyond the end of this rank's view are dropped and
 * count as moved, and the call reports HUD_ERR_TRUNCATE.
 */
MEM_FN uint64_t mem_expose(struct mem *m, const struct hud_view *view);
MEM_FN size_t mem_pull(struct mem *m, const struct mem_span *to, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes);
MEM_FN size_t mem_push(struct mem *m, const struct mem_span *from, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes);

#ifdef HUD_SIM
#define HUD_BACKEND(name) hud_sim_##name
#include "mem/mem_sim.h"
#else
#define HUD_BACKEND(name) hud_shm_##name
#include "mem/mem_shm.h"
#include "mem/prefetch.h"
#endif

MEM_FN void mem_in_all(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                       size_t bytes)
{
    for (size_t copied = 0; copied < bytes;)
        copied += mem_in(m, (char *)dst + copied, from, offset_bytes + copied, bytes - copied);
}

#endif
