/* SPDX-License-Identifier: BSD-3-Clause */
/* mem_shm.h - real shared memory.  Included only by mem.h. */
#include "mem/direct.h"
#include "mem/lines.h"
#include "mem/wait.h"

#include <string.h>

/* How this rank waits. */
struct mem_policy {
    unsigned
        polls; /* polls with PAUSE before anything else; 0 if another process needs the processor */
    enum mem_way way;            /* what the rank does after these polls */
    bool spans_nodes;            /* waits are also for messages from other nodes */
    unsigned sleep_ns;           /* length of one sleep, at most 1 ms */
    void (*progress)(void *arg); /* the host's progress function, or NULL */
    void *arg;
    mem_watch *watch; /* observer of long waits, or NULL */
    void *watch_arg;
    /* Waits on behalf of a stack that other calls share (a call in a fiber), and may leave the
     * collective by a non-local exit.  NULL: the rank waits here. */
    void (*suspend)(struct mem_wait *wait, void *arg);
    void *suspend_arg;
    size_t stream_bytes; /* messages from here on are copied out with non-temporal stores; 0:
                              none */
    size_t move_bytes;   /* limit like stream_bytes for moves, which do not read from a ring in the
                              caches */
    unsigned ways;       /* allowed ways of treating lines (lines.c), a bit each */
    _Atomic unsigned char
        *usual_way;        /* LINES_RETURNED ^ the best way that a team has found last; or
                                         NULL */
    bool learns;           /* more than one way is allowed and there is a clock: times are
                              measured */
    size_t prefetch_bytes; /* maximum that a processor prefetches without delaying its rank */
    size_t message_bytes;  /* prefetching pays from messages of this size on */
};

/*
 * The first lines of every arena.  An arena is mapped at a multiple of a power of two that is not
 * smaller than the arena and is the same for all arenas of a team.  So a flag's address is enough
 * to find these lines.
 */
struct mem_home {
    _Alignas(HUD_LINE) _Atomic uint32_t sleepers; /* how many ranks may be asleep on a flag of
                                                     this arena */
};

/* State that the calls of a team share and seldom need. */
struct mem_team {
    struct mem_habit habit[MEM_HABITS];
    struct lines_cell *cell; /* [LINES_CELLS] */
    size_t lines;            /* offset of struct lines_member in each member's slice */
    size_t slice_bytes;
    unsigned char way; /* way of treating lines with which a cell starts */
    bool keeps_ways;   /* no other way is tried now: algorithms are being compared */
    int read;          /* rank whose slice the last long copy out has read */
    int ahead; /* state of mem_prefetch_next: awaits and prefetches in a row; if negative, the
                  number of awaits until it is tried again */
    struct mem_peer *peers; /* the members' processes; NULL if they cannot reach each other's
                               memory */
    struct mem_mapped *const *mapped; /* the members' mappings, if they reach each other by
                                         mappings; NULL: the kernel copies (mapped.h) */
    size_t reach;                     /* offset of struct mem_reach in each member's slice */
};

/* State of one call.  Each call has its own. */
struct mem {
    int rank, size;
    char *const *slices; /* each member's slice, at its address in this process */
    uintptr_t home_mask; /* the address of a flag & mask is the address of its arena */
    const struct mem_policy *policy;
    struct mem_team *team;
    size_t slot_offset, window_offset; /* offsets of the running algorithm in a slice */
    size_t bytes;   /* size of this call or of the previous call, in which other ranks may still
                       be, whichever is larger; 0 in a team of several nodes */
    unsigned cell;  /* number of the slot, by which ways of treating lines are learned (lines.c) */
    bool truncated; /* a copy into a view of this call exceeded the view */
};

void hud_mem_stream(void *dst, const void *src,
                    size_t bytes); /* memcpy with non-temporal stores, if the processor has them;
                                      complete on return */
/* Copies a part like hud_mem_stream().  hud_mem_stream_end() completes all parts. */
void hud_mem_stream_part(void *dst, const void *src, size_t bytes);
void hud_mem_stream_end(void);
/* Copies a long message in, out, or from shared memory to shared memory (copy.c). */
size_t hud_mem_in_long(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                       size_t bytes);
void hud_mem_out_long(const struct mem *m, const struct hud_view *to, const void *src,
                      size_t offset_bytes, size_t bytes, bool last);
void hud_mem_copy_last(const struct mem *m, void *dst, const void *src, size_t bytes);

void hud_mem_reduce(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                    const struct mem_span *also, const struct mem_span *from, int count,
                    size_t bytes, bool last); /* reduce.c */
void hud_mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                  size_t bytes); /* move.c */

static inline void mem_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

MEM_FN int mem_rank(const struct mem *m)
{
    return m->rank;
}

MEM_FN int mem_size(const struct mem *m)
{
    return m->size;
}

MEM_FN void *mem_slot(struct mem *m, int rank)
{
    return m->slices[rank] + m->slot_offset;
}

MEM_FN void *mem_window(struct mem *m, int rank)
{
    return m->slices[rank] + m->window_offset;
}

MEM_FN uint64_t mem_peek_word(_Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

MEM_FN uint64_t mem_peek(struct mem *m, mem_flag *f)
{
    (void)m;
    return mem_peek_word(&f->value);
}

/* Wakes the ranks sleeping on a word.  There is no fence between the caller's store and the load of
 * `sleepers`: sleeps are bounded, so a missed wake costs one sleep. */
MEM_FN void mem_wake_word(struct mem *m, _Atomic uint64_t *word)
{
    struct mem_home *home = (struct mem_home *)((uintptr_t)word & m->home_mask);

    if (__builtin_expect(atomic_load_explicit(&home->sleepers, memory_order_relaxed) != 0, 0))
        hud_mem_wake(word);
}

MEM_FN void mem_post(struct mem *m, mem_flag *f, uint64_t v)
{
    atomic_store_explicit(&f->value, v, memory_order_release);
    mem_wake_word(m, &f->value);
}

MEM_FN void mem_post_cell(struct mem *m, mem_cell *c, uint64_t v)
{
    atomic_store_explicit(&c->value, v, memory_order_release);
    mem_wake_word(m, &c->value);
}

MEM_FN uint64_t mem_await_at(struct mem *m, _Atomic uint64_t *word, uint64_t min, const char *file,
                             int line)
{
    for (unsigned left = m->policy->polls + 1; left != 0; left--) {
        uint64_t seen = mem_peek_word(word);
        if ((int64_t)(seen - min) >= 0)
            return seen;
        mem_pause();
    }
    hud_mem_wait(m, word, min, file, line);
    return mem_peek_word(word);
}

MEM_FN uint64_t mem_await(struct mem *m, mem_flag *f, uint64_t min)
{
    return mem_await_at(m, &f->value, min, "", 0);
}

MEM_FN uint64_t mem_await_cell(struct mem *m, mem_cell *c, uint64_t min)
{
    return mem_await_at(m, &c->value, min, "", 0);
}

MEM_FN uint64_t mem_add(struct mem *m, mem_flag *f, uint64_t v)
{
    uint64_t sum = atomic_fetch_add_explicit(&f->value, v, memory_order_acq_rel) + v;

    mem_wake_word(m, &f->value);
    return sum;
}

MEM_FN uint64_t mem_get(struct mem *m, const uint64_t *word)
{
    (void)m;
    return *word;
}

MEM_FN void mem_put(struct mem *m, uint64_t *word, uint64_t v)
{
    (void)m;
    *word = v;
}

MEM_FN size_t mem_in(struct mem *m, void *dst, const struct hud_view *from, size_t offset_bytes,
                     size_t max_bytes)
{
    if (__builtin_expect(max_bytes >= LINES_MIN, 0))
        return hud_mem_in_long(m, dst, from, offset_bytes, max_bytes);
    if (from->pack)
        return from->pack(from, dst, offset_bytes, max_bytes);
    memcpy(dst, (const char *)from->base + offset_bytes, max_bytes);
    return max_bytes;
}

/* Copies to a view, or unpacks.  `last` is true for the last reader of these lines. */
static inline void mem_unpack(const struct mem *m, const struct hud_view *to, const void *src,
                              size_t offset_bytes, size_t bytes, bool last)
{
    if (__builtin_expect(bytes >= LINES_MIN, 0))
        hud_mem_out_long(m, to, src, offset_bytes, bytes, last);
    else if (to->unpack)
        to->unpack(to, src, offset_bytes, bytes);
    else
        memcpy((char *)to->base + offset_bytes, src, bytes);
}

/*
 * Copies out, and drops bytes beyond the end of the view.  Most copies fill the view.  Their length
 * is then taken from the view and not from a value next to the flag, so that the processor can
 * begin while the flag is still on its way.  The empty statement keeps the compiler from merging
 * the two copies.
 */
MEM_FN void mem_out_as(struct mem *m, const struct hud_view *to, const void *src,
                       size_t offset_bytes, size_t bytes, bool last)
{
    size_t room = offset_bytes < to->bytes ? to->bytes - offset_bytes : 0;

    if (__builtin_expect(bytes == room && bytes != 0, 1)) {
        __asm__ volatile("" : "+r"(room));
        mem_unpack(m, to, src, offset_bytes, room, last);
        return;
    }
    m->truncated = m->truncated || bytes > room;
    bytes = bytes < room ? bytes : room;
    if (bytes != 0)
        mem_unpack(m, to, src, offset_bytes, bytes, last);
}

MEM_FN void mem_copy_as(struct mem *m, void *dst, const void *src, size_t bytes, bool last)
{
    if (__builtin_expect(last && bytes >= LINES_MIN, 0))
        hud_mem_copy_last(m, dst, src, bytes);
    else
        memcpy(dst, src, bytes);
}

static inline char *mem_span_at(const struct mem_span *span)
{
    return span->shared ? span->shared : (char *)span->view->base + span->offset_bytes;
}

static inline bool mem_span_packed(const struct mem_span *span)
{
    return !span->shared && (span->view->pack || span->view->unpack);
}

/* Returns the number of whole elements.  Avoids the division if the size of an element is a power
 * of two, as most are. */
static inline size_t mem_elements(const struct hud_op *op, size_t bytes)
{
    size_t one = op->element_bytes;

    return (one & (one - 1)) == 0 ? bytes >> __builtin_ctzl(one) : bytes / one;
}

enum {
    MEM_PIECE = 4096
}; /* bytes that stay in the L1 cache; an element is not larger (HUD_ELEMENT_MAX) */

/* Reduces directly from memory to memory if all spans are contiguous and short, and in pieces
 * otherwise. */
MEM_FN void mem_reduce_as(struct mem *m, const struct hud_op *op, const struct mem_span *to,
                          const struct mem_span *also, const struct mem_span *from, int count,
                          size_t bytes, bool last)
{
    const void *sources[MEM_SOURCES];
    bool pieces = bytes >= LINES_MIN || mem_span_packed(to) || (also && mem_span_packed(also));

    for (int i = 0; i < count && !pieces; i++) {
        pieces = mem_span_packed(&from[i]);
        sources[i] = pieces ? NULL : mem_span_at(&from[i]);
    }
    if (__builtin_expect(pieces, 0)) {
        hud_mem_reduce(m, op, to, also, from, count, bytes, last);
        return;
    }
    op->combine(op, mem_span_at(to), sources, count, mem_elements(op, bytes));
    if (also)
        memcpy(mem_span_at(also), mem_span_at(to), bytes);
}

MEM_FN void mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                     size_t bytes)
{
    size_t past = m->policy->move_bytes;
    bool packed = mem_span_packed(to) || mem_span_packed(from);

    if (packed || to->shared || bytes == 0 || bytes >= MEM_PIECE || (past != 0 && bytes >= past) ||
        to->offset_bytes + bytes > to->view->bytes)
        hud_mem_move(m, to, from, bytes);
    else
        memcpy(mem_span_at(to), mem_span_at(from), bytes);
}

MEM_FN uint64_t mem_expose(struct mem *m, const struct hud_view *view)
{
    return m->team->peers && !view->pack ? (uint64_t)(uintptr_t)view->base : 0;
}

/* Returns how many of `bytes` bytes fit into the span's view, and records a truncation. */
static inline size_t mem_span_fits(struct mem *m, const struct mem_span *to, size_t bytes)
{
    size_t room = to->shared                           ? bytes
                  : to->offset_bytes < to->view->bytes ? to->view->bytes - to->offset_bytes
                                                       : 0;

    m->truncated = m->truncated || bytes > room;
    return bytes < room ? bytes : room;
}

MEM_FN size_t mem_pull(struct mem *m, const struct mem_span *to, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes)
{
    size_t fits = mem_span_fits(m, to, bytes);
    size_t moved = hud_mem_pull(m, rank, exposed + offset_bytes, mem_span_at(to), fits);
    return moved == fits ? bytes : moved;
}

MEM_FN size_t mem_push(struct mem *m, const struct mem_span *from, int rank, uint64_t exposed,
                       size_t offset_bytes, size_t bytes)
{
    return bytes == 0 ? 0 : hud_mem_push(m, rank, exposed + offset_bytes, mem_span_at(from), bytes);
}

/* Reports whether the awaited value has been posted.  Everything before the post then happened
 * before what the caller does next. */
static inline bool mem_wait_is_over(const struct mem_wait *wait)
{
    return wait->flag && (int64_t)(mem_peek_word(wait->flag) - wait->min) >= 0;
}

/* Each wait knows its place in the source.  The two constants are loaded only once the wait has
 * become slow. */
#define mem_await(m, f, min) mem_await_at(m, &(f)->value, min, __FILE__, __LINE__)
#define mem_await_cell(m, c, min) mem_await_at(m, &(c)->value, min, __FILE__, __LINE__)

#ifdef HUD_EDGE_TRAPS
/* Reports the place in the source before each post and peek, and may end the process there.  For
 * tests/edges only (CMake's HUD_EDGE_TRAPS). */
void hud_mem_edge(const char *file, int line);
#undef mem_await
#undef mem_await_cell
#define mem_post(...) (hud_mem_edge(__FILE__, __LINE__), mem_post(__VA_ARGS__))
#define mem_peek(...) (hud_mem_edge(__FILE__, __LINE__), mem_peek(__VA_ARGS__))
#define mem_add(...) (hud_mem_edge(__FILE__, __LINE__), mem_add(__VA_ARGS__))
#define mem_await(m, f, min)                                                                       \
    (hud_mem_edge(__FILE__, __LINE__), mem_await_at(m, &(f)->value, min, __FILE__, __LINE__))
#define mem_post_cell(...) (hud_mem_edge(__FILE__, __LINE__), mem_post_cell(__VA_ARGS__))
#define mem_await_cell(m, c, min)                                                                  \
    (hud_mem_edge(__FILE__, __LINE__), mem_await_at(m, &(c)->value, min, __FILE__, __LINE__))
#endif
