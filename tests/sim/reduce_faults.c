/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_faults.c - reductions with spans that mem_reduce rejects, and a reduction with spans that
 * it accepts. */
#include "faults.h"

#include <string.h>

enum { SUM_BYTES = 24 };

static void exclusive_or(const struct hud_op *op, void *dst, const void *const *src, int sources,
                         size_t elements)
{
    for (size_t i = 0; i < elements * op->element_bytes; i++) {
        unsigned char sum = 0;
        for (int s = 0; s < sources; s++)
            sum ^= ((const unsigned char *)src[s])[i];
        ((unsigned char *)dst)[i] = sum;
    }
}

static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    memcpy(dst, (const char *)view->base + offset_bytes, max_bytes);
    return max_bytes;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    memcpy((char *)view->base + offset_bytes, src, bytes);
}

enum { PACKED = 1000 };

/* Offsets of two results and two sources in the rank's own slot, or PACKED for a span in a packed
 * view. */
struct places {
    size_t to, also, from[2];
};

static void sum(struct mem *m, const struct coll *c, const struct places *p, size_t bytes)
{
    static const struct hud_op op = { .element_bytes = 8, .combine = exclusive_or };
    struct hud_view view = *c->out;
    size_t at[] = { p->to, p->also, p->from[0], p->from[1] };
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct mem_span spans[4];

    view.pack = pack;
    view.unpack = unpack;
    for (int i = 0; i < 4; i++) /* each packed span has its own bytes */
        spans[i] = at[i] < PACKED
                       ? (struct mem_span){ .shared = mine->data + at[i] }
                       : (struct mem_span){ .view = &view, .offset_bytes = (size_t)i * SUM_BYTES };
    mem_reduce(m, &op, &spans[0], &spans[1], &spans[2], 2, bytes);
    right_barrier(m, c);
}

static void right_reduction_in_place(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 24, .also = 0, .from = { 0, 24 } }, SUM_BYTES);
    sum(m, &(struct coll){ .out = c->out, .op = 2 },
        &(struct places){ .to = 24, .also = PACKED, .from = { PACKED, 24 } }, SUM_BYTES);
}

static void result_overlaps_a_source(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 40, .also = 120, .from = { 0, 24 } }, SUM_BYTES);
}

static void second_result_overlaps_a_source(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 120, .also = 8, .from = { 24, 0 } }, SUM_BYTES);
}

static void both_results_at_the_same_place(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 48, .also = 48, .from = { 0, 24 } }, SUM_BYTES);
}

static void packs_two_sources(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 48, .also = 72, .from = { PACKED, PACKED } }, SUM_BYTES);
}

static void unpacks_two_results(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = PACKED, .also = PACKED, .from = { 0, 24 } }, SUM_BYTES);
}

static void reduces_part_of_an_element(struct mem *m, const struct coll *c)
{
    sum(m, c, &(struct places){ .to = 48, .also = 72, .from = { 0, 24 } }, SUM_BYTES - 1);
}

const struct fault reduce_faults[] = {
    FAULT("barrier", right_reduction_in_place, 1, 0, NULL),
    FAULT("barrier", result_overlaps_a_source, 1, 1, "a result lies across a source",
          .always = true),
    FAULT("barrier", second_result_overlaps_a_source, 1, 1, "a result lies across a source",
          .always = true),
    FAULT("barrier", both_results_at_the_same_place, 1, 1, "two results in one place",
          .always = true),
    FAULT("barrier", packs_two_sources, 1, 1, "two packed sources", .always = true),
    FAULT("barrier", unpacks_two_results, 1, 1, "two packed results", .always = true),
    FAULT("barrier", reduces_part_of_an_element, 1, 1, "part of an element", .always = true),
    { .calls = 0 },
};
