/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_slot.h - single copy, where things lie in a rank's slot: its lines for each rank, the box
 * of two halves, and two sets of entries to exchanges.  Who says what in them is told by single.h,
 * single_box.h and single_entry.h.
 */
#ifndef HUD_ALG_SINGLE_SLOT_H
#define HUD_ALG_SINGLE_SLOT_H

#include "alg/alg.h"

/* Bytes of half a box, and of a set; less where the lease holds less; of a half at least. */
enum { SINGLE_HALF = 64 << 10, SINGLE_SET = (16 << 10) + HUD_LINE, SINGLE_MIN = HUD_ELEMENT_MAX };

struct single_pair {
    mem_flag here, told, full, taken;
};

/* Sets get a fifth. */
static inline size_t single_set(size_t slot_bytes, int ranks)
{
    size_t pairs = (size_t)ranks * sizeof(struct single_pair),
           room = slot_bytes > pairs ? slot_bytes - pairs : 0;

    return room >= 2 * (SINGLE_HALF + SINGLE_SET) ? SINGLE_SET : room / 10 / HUD_LINE * HUD_LINE;
}

static inline size_t single_half(size_t slot_bytes, int ranks)
{
    size_t half = 4 * single_set(slot_bytes, ranks);

    return half < SINGLE_HALF ? half : SINGLE_HALF;
}

static inline size_t single_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t half = single_half(max_bytes, ranks), set = single_set(max_bytes, ranks);

    (void)param;
    return half < SINGLE_MIN || set < (size_t)ranks * HUD_LINE
               ? 0
               : (size_t)ranks * sizeof(struct single_pair) + 2 * (half + set);
}

static inline struct single_pair *single_pair(struct mem *m, int owner, int other)
{
    return (struct single_pair *)mem_slot(m, owner) + other;
}

static inline char *single_box(struct mem *m, const struct coll *c, int owner, size_t k)
{
    return (char *)single_pair(m, owner, mem_size(m)) +
           k % 2 * single_half(c->slot_bytes, mem_size(m));
}

/* The first or the second set. */
static inline char *single_entries(struct mem *m, const struct coll *c, int owner, uint64_t k)
{
    int ranks = mem_size(m);

    return single_box(m, c, owner, 0) + 2 * single_half(c->slot_bytes, ranks) +
           k % 2 * single_set(c->slot_bytes, ranks);
}

#endif
