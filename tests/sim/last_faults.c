/* SPDX-License-Identifier: BSD-3-Clause */
/* last_faults.c - reads by who reads last, and by who only seems to: mem_out_last and
 * mem_reduce_last count as writes of what they read. */
#include "faults.h"

enum { ROOT, FIRST, LAST, HALF = 100 };

static struct slot *slot_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

static void await_done(struct mem *m, int rank, uint64_t op)
{
    mem_await(m, &slot_of(m, rank)->done, op);
}

/* The root's data, once both readers have acknowledged the ones before. */
static void write_root(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    await_done(m, FIRST, c->op - 1);
    await_done(m, LAST, c->op - 1);
    mem_in(m, root->data, c->out, 0, c->out->bytes);
    mem_post(m, &root->full, c->op);
}

/* The root writes; the first reads, the last reads after it; and each acknowledges. */
static void right_last(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &root->full, c->op);
    if (mem_rank(m) == LAST) {
        await_done(m, FIRST, c->op);
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    } else {
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    }
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Two read parts of a line, which they give back: the bytes of their own parts. */
static void read_part(struct mem *m, const struct coll *c, size_t extra)
{
    struct slot *root = slot_of(m, ROOT);
    size_t at = mem_rank(m) == LAST ? HALF : 0;

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &root->full, c->op);
    mem_out_last(m, c->out, root->data + at, 0, HALF + extra);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

static void right_parts(struct mem *m, const struct coll *c)
{
    read_part(m, c, 0);
}

static void parts_overlap(struct mem *m, const struct coll *c)
{
    read_part(m, c, 1);
}

/* ---- order ---- */

/* The first may still be reading. */
static void last_too_early(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &root->full, c->op);
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    else
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* What its view has no room for is given back, too. */
static void last_of_what_is_cut(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &root->full, c->op);
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, c->out->bytes, HALF);
    else
        mem_out(m, c->out, root->data, 0, HALF);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

static void acknowledges_first(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &root->full, c->op);
    if (mem_rank(m) == LAST)
        await_done(m, FIRST, c->op);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
}

/* The owner waits for the first only, who has read nothing. */
static void owner_does_not_wait(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        await_done(m, FIRST, c->op - 1);
        mem_in(m, root->data, c->out, 0, c->out->bytes);
        mem_post(m, &root->full, c->op);
        return;
    }
    mem_await(m, &root->full, c->op);
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* ---- reductions ---- */

static void add_bytes(const struct hud_op *op, void *dst, const void *const *src, int sources,
                      size_t elements)
{
    for (size_t i = 0; i < elements * op->element_bytes; i++) {
        unsigned char sum = 0;
        for (int s = 0; s < sources; s++)
            sum = (unsigned char)(sum + ((const unsigned char *)src[s])[i]);
        ((unsigned char *)dst)[i] = sum;
    }
}

/* Of the root's contribution and its own, into its own slot. */
static void sum_last(struct mem *m)
{
    static const struct hud_op op = { .element_bytes = 1, .combine = add_bytes };
    unsigned char *own = slot_of(m, mem_rank(m))->data;
    const struct mem_span from[] = { { .shared = own }, { .shared = slot_of(m, ROOT)->data } };

    mem_reduce_last(m, &op, &from[0], NULL, from, 2, HALF);
}

/* One rank after the other; the first gives back what the last reads after it, in order. */
static void sums_in_turn(struct mem *m, const struct coll *c)
{
    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &slot_of(m, ROOT)->full, c->op);
    if (mem_rank(m) == LAST)
        await_done(m, FIRST, c->op);
    sum_last(m);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

static void sums_at_once(struct mem *m, const struct coll *c)
{
    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return;
    }
    mem_await(m, &slot_of(m, ROOT)->full, c->op);
    sum_last(m);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

const struct fault last_faults[] = {
    FAULT("bcast", right_last, FAULT_CALLS, 0, NULL),
    FAULT("bcast", right_parts, FAULT_CALLS, 0, NULL),
    FAULT("bcast", sums_in_turn, FAULT_CALLS, 0, NULL),
    FAULT("bcast", parts_overlap, 1, 2, "gives back at", .always = true),
    FAULT("bcast", last_too_early, 1, 2, "gives back at", .always = true),
    FAULT("bcast", last_of_what_is_cut, 1, 2, "gives back at", .always = true),
    FAULT("bcast", acknowledges_first, FAULT_CALLS, 2, "race on the arena", .always = true),
    FAULT("bcast", owner_does_not_wait, FAULT_CALLS, 2, "race on the arena", .always = true),
    FAULT("bcast", sums_at_once, 1, 2, "gives back at", .always = true),
    { .calls = 0 },
};
