/* SPDX-License-Identifier: BSD-3-Clause */
/* last_faults.c - tests mem_out_last and mem_reduce_last, which count as writes of the bytes they
 * read. Some algorithms use them as the last reader, others wrongly. */
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

/* Publishes the root's data after both readers have acknowledged the data before. */
static void write_root(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    await_done(m, FIRST, c->op - 1);
    await_done(m, LAST, c->op - 1);
    mem_in(m, root->data, c->out, 0, c->out->bytes);
    mem_post(m, &root->full, c->op);
}

/* Writes the data at the root and returns NULL. Other ranks wait for the data and get the root's
 * slot. */
static struct slot *written_root(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, ROOT);

    if (mem_rank(m) == ROOT) {
        write_root(m, c);
        return NULL;
    }
    mem_await(m, &root->full, c->op);
    return root;
}

static void acknowledge(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Reads after the root has written: the first reader reads, the last reader reads after the first,
 * and each acknowledges. */
static void right_last_reader(struct mem *m, const struct coll *c)
{
    struct slot *root = written_root(m, c);

    if (!root)
        return;
    if (mem_rank(m) == LAST) {
        await_done(m, FIRST, c->op);
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    } else {
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    }
    acknowledge(m, c);
}

/* Reads a part of a line as its last reader. The two readers return the bytes of their own parts
 * only, plus `extra` bytes. */
static void read_part(struct mem *m, const struct coll *c, size_t extra)
{
    struct slot *root = written_root(m, c);
    size_t at = mem_rank(m) == LAST ? HALF : 0;

    if (!root)
        return;
    mem_out_last(m, c->out, root->data + at, 0, HALF + extra);
    acknowledge(m, c);
}

static void right_last_readers_of_parts(struct mem *m, const struct coll *c)
{
    read_part(m, c, 0);
}

static void last_readers_of_overlapping_parts(struct mem *m, const struct coll *c)
{
    read_part(m, c, 1);
}

/* ---- order ---- */

/* Reads as the last reader while the first may still be reading. */
static void last_reader_does_not_wait_for_the_first(struct mem *m, const struct coll *c)
{
    struct slot *root = written_root(m, c);

    if (!root)
        return;
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    else
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    acknowledge(m, c);
}

/* Returns bytes for which the view has no room, too. */
static void last_reader_returns_bytes_beyond_its_view(struct mem *m, const struct coll *c)
{
    struct slot *root = written_root(m, c);

    if (!root)
        return;
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, c->out->bytes, HALF);
    else
        mem_out(m, c->out, root->data, 0, HALF);
    acknowledge(m, c);
}

static void acknowledges_before_the_last_read(struct mem *m, const struct coll *c)
{
    struct slot *root = written_root(m, c);

    if (!root)
        return;
    if (mem_rank(m) == LAST)
        await_done(m, FIRST, c->op);
    acknowledge(m, c);
    if (mem_rank(m) == LAST)
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
}

/* Waits for the first reader only, which has read nothing. */
static void owner_does_not_wait_for_the_last_reader(struct mem *m, const struct coll *c)
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
    acknowledge(m, c);
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

/* Adds the root's contribution to its own, in its own slot. */
static void sum_last(struct mem *m)
{
    static const struct hud_op op = { .element_bytes = 1, .combine = add_bytes };
    unsigned char *own = slot_of(m, mem_rank(m))->data;
    const struct mem_span from[] = { { .shared = own }, { .shared = slot_of(m, ROOT)->data } };

    mem_reduce_last(m, &op, &from[0], NULL, from, 2, HALF);
}

/* Adds in turn. The first rank returns bytes that the last rank reads later, in order. */
static void right_last_sums_in_turn(struct mem *m, const struct coll *c)
{
    if (!written_root(m, c))
        return;
    if (mem_rank(m) == LAST)
        await_done(m, FIRST, c->op);
    sum_last(m);
    acknowledge(m, c);
}

static void last_sums_at_the_same_time(struct mem *m, const struct coll *c)
{
    if (!written_root(m, c))
        return;
    sum_last(m);
    acknowledge(m, c);
}

const struct fault last_faults[] = {
    FAULT("bcast", right_last_reader, FAULT_CALLS, 0, NULL),
    FAULT("bcast", right_last_readers_of_parts, FAULT_CALLS, 0, NULL),
    FAULT("bcast", right_last_sums_in_turn, FAULT_CALLS, 0, NULL),
    FAULT("bcast", last_readers_of_overlapping_parts, 1, 2, "returns lines at", .always = true),
    FAULT("bcast", last_reader_does_not_wait_for_the_first, 1, 2, "returns lines at",
          .always = true),
    FAULT("bcast", last_reader_returns_bytes_beyond_its_view, 1, 2, "returns lines at",
          .always = true),
    FAULT("bcast", acknowledges_before_the_last_read, FAULT_CALLS, 2, "race on the arena",
          .always = true),
    FAULT("bcast", owner_does_not_wait_for_the_last_reader, FAULT_CALLS, 2, "race on the arena",
          .always = true),
    FAULT("bcast", last_sums_at_the_same_time, 1, 2, "returns lines at", .always = true),
    { .calls = 0 },
};
