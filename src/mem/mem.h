/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem.h - everything an algorithm may do to shared memory.  This is the contract; mem_shm.h (real)
 * and mem_sim.h (fibers under a race checker) implement it, chosen by -DHUD_SIM.
 *
 * Prototypes come before the backend on purpose: a backend that changes a type or forgets a
 * function does not compile.
 *
 * Guarantees.  A value seen by mem_await or mem_peek was posted, and everything its poster did
 * before that post (or saw before it) happened before what the caller does next: post is a release,
 * await and peek are acquires.  There is no other order: two accesses to the same bytes, one of
 * them a write, that no chain of posts and awaits connects are a race, also when they "cannot" meet
 * in time.  Waiting calls the host's progress; nothing else here blocks or fails.
 *
 * Who may do what to a flag: one rank posts it per operation, any number await or peek it.  mem_add
 * is for counters whose paper is about counting (central counter, departures).
 */
#ifndef HUD_MEM_H
#define HUD_MEM_H

#include "huddle/huddle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HUD_LINE = 128, /* bytes: Kunpeng's L3 line, x86's prefetch pair, any other's multiple */
    MEM_PAYLOAD = HUD_LINE - 8 /* bytes that travel in a flag's own line */
};

/* A counter on a line of its own; only grows; starts at 0; wraps modulo 2^64.  Its payload is
 * written before its post. */
typedef struct {
    _Alignas(HUD_LINE) _Atomic uint64_t value;
    uint64_t payload[MEM_PAYLOAD / 8];
} mem_flag;

/* A counter that shares its line with its neighbours, for the papers' packed queues: its poster
 * takes the line from all who poll it.  No payload.  Flags are better. */
typedef struct {
    _Atomic uint64_t value;
} mem_cell;

/* Bytes rounded up to whole lines. */
static inline size_t mem_lines(size_t bytes)
{
    return (bytes + HUD_LINE - 1) / HUD_LINE * HUD_LINE;
}

struct mem; /* one rank's handle on its team's slices */

#define MEM_FN static inline __attribute__((unused))

MEM_FN int mem_rank(const struct mem *m);
MEM_FN int mem_size(const struct mem *m);

/* The running algorithm's slot in a rank's slice, aligned to HUD_LINE, homed on that rank's NUMA
 * node, zero when leased; and its window there, whose bytes it does not find again at its next
 * call.
 */
MEM_FN void *mem_slot(struct mem *m, int rank);
MEM_FN void *mem_window(struct mem *m, int rank);

MEM_FN void mem_post(struct mem *m, mem_flag *f, uint64_t v); /* release store */
MEM_FN uint64_t mem_peek(struct mem *m, mem_flag *f);         /* acquire load */
MEM_FN uint64_t mem_await(struct mem *m, mem_flag *f,
                          uint64_t min); /* returns *f once that is >= min (mod 2^64); acquire */
MEM_FN uint64_t mem_add(struct mem *m, mem_flag *f,
                        uint64_t v); /* atomic; returns the sum; acquire and release */
MEM_FN void mem_post_cell(struct mem *m, mem_cell *c, uint64_t v); /* as those of flags */
MEM_FN uint64_t mem_await_cell(struct mem *m, mem_cell *c, uint64_t min);

/* Plain words of shared memory, ordered by flags only. */
MEM_FN uint64_t mem_get(struct mem *m, const uint64_t *word);
MEM_FN void mem_put(struct mem *m, uint64_t *word, uint64_t v);

/* Copy in: the view's bytes [offset, offset + max) to shared memory.  Returns the bytes taken: may
 * be less than max, never 0 unless max is. */
MEM_FN size_t mem_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                     size_t max_bytes);
/* Copy in all of them. */
MEM_FN void mem_in_all(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                       size_t bytes);
/* Copy out.  What lies beyond the view's end is dropped, unpack does not hear of it, and the call
 * reports HUD_ERR_TRUNCATE. */
MEM_FN void mem_out(struct mem *m, const struct hud_view *to, const void *src, size_t offset_bytes,
                    size_t bytes);
/*
 * Copy out by the last reader of these bytes: nobody reads them any more until their owner has
 * written them again, which it does only after an acknowledgement that follows this call.  The
 * reader may give their lines back: leave a byte written in each 64 bytes of memory that some of
 * them lie in, one of these bytes, with the value that it has.  Then the owner's next write finds
 * each line with one holder that has modified it, and takes it several times as fast as one that
 * has been read.  Counts as a write of all these bytes.
 */
MEM_FN void mem_out_last(struct mem *m, const struct hud_view *to, const void *src,
                         size_t offset_bytes, size_t bytes);
/* Whether it may: the owner of these bytes has found that it pays, or that is not known.  A caller
 * asks that has to find out whether it is the last reader. */
MEM_FN bool mem_wants_back(struct mem *m, const void *shared);
/* Shared to shared. */
MEM_FN void mem_copy(struct mem *m, void *dst, const void *src, size_t bytes);

/* Bytes that are read or written: of shared memory, or, where `shared` is NULL, of a view of the
 * call, from offset_bytes on. */
struct mem_span {
    void *shared;
    const struct hud_view *view;
    size_t offset_bytes;
};

enum { MEM_SOURCES = 32 }; /* most that one mem_reduce reads */

/*
 * to = from[0] op from[1] op ... op from[count - 1], element by element and in that order, for
 * `bytes` bytes, whole elements; the result goes to `also`, too, unless that is NULL.  count 1
 * copies.  `to` may be one of `from`, and `also` too, but they overlap in no other way; two of all
 * these at most are of packed views, one read, one written.
 */
MEM_FN void mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                       const struct mem_span *also, const struct mem_span *from, int count,
                       size_t bytes);

/* The same by the last reader of all of `from` that is in shared memory and not `to`; as
 * mem_out_last. */
MEM_FN void mem_reduce_last(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                            const struct mem_span *also, const struct mem_span *from, int count,
                            size_t bytes);

/* Copies `bytes` bytes between spans that do not overlap, also from view to view.  Beyond the end
 * of a view they are dropped, as by mem_out. */
MEM_FN void mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                     size_t bytes);

/*
 * A hint without order or effect: this rank will soon write these bytes of its own slot.  Lines
 * that others have read are taken back now, between two operations, and not when the next one waits
 * for them.  Where somebody still reads them, as a slow root may the half or the set that comes
 * next, the prefetch is wasted and the reader fetches them once more: that costs time, and nothing
 * else.
 */
MEM_FN void mem_prefetch_own(struct mem *m, const void *at, size_t bytes);

/* The same of the next message of a rank that the others wait for: only where it is long enough to
 * pay. */
MEM_FN void mem_prefetch_message(struct mem *m, const void *at, size_t bytes);

/*
 * A hint without order or effect, before this rank awaits `f`: in its next call it awaits `next`,
 * of the same poster, and reads so many bytes from there on.  If the poster is ahead, they are
 * fetched now.  If it is not, it has yet to write them, and this rank's copy would make its stores
 * wait.  So the hint is followed only after several awaits in a row that found their flags posted.
 * Whether `next` is posted is then looked at now and again: if not, the hint is ignored for a
 * while.  If the next call has another root, the prefetch is wasted.
 */
MEM_FN void mem_prefetch_next(struct mem *m, mem_flag *f, uint64_t min, mem_flag *next,
                              uint64_t next_min, size_t bytes);

/*
 * Single copy: straight from one rank's buffer to another's.  An exposed view is an address for the
 * other ranks, as good as a rank's own word for it: what they do there is ordered by posts and
 * awaits as on any other bytes.  0: nobody can reach it (packed, or no single copy in this team).
 * pull brings bytes [offset, offset + bytes) of a view that another rank has exposed, and that
 * holds them, to own shared memory or a contiguous view of the call; push takes them there.  They
 * return how many moved; fewer: the kernel refused, now or at some byte, and what is there is
 * neither the old nor the new.  What a pull brings beyond the end of this rank's view is dropped
 * and counts as moved, and the call reports HUD_ERR_TRUNCATE.
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
    for (size_t taken = 0; taken < bytes;)
        taken += mem_in(m, (char *)dst + taken, from, offset_bytes + taken, bytes - taken);
}

#endif
