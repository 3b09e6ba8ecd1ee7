/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - what the checker must report, and what it must not.  The table at the end says which
 * is which. */
#include "faults.h"

static struct slot *slot_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

static bool is_root(struct mem *m, const struct coll *c)
{
    return mem_rank(m) == c->root;
}

/* ---- right ones ---- */

static void wait_all(struct mem *m, uint64_t op)
{
    for (int r = 0; r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &slot_of(m, r)->done, op);
}

/* The root publishes its slot, all copy from it; before it does so again, all must be done. */
void right_bcast(struct mem *m, const struct coll *c)
{
    struct slot *mine = slot_of(m, mem_rank(m)), *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        wait_all(m, c->op - 1);
        mem_in(m, mine->data, c->out, 0, c->out->bytes);
        mem_post(m, &mine->full, c->op);
    } else {
        mem_await(m, &root->full, c->op);
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    }
    mem_post(m, &mine->done, c->op);
}

/* Central counter, polled.  The wrong ones below end with it where they would break their promise,
 * too. */
void right_barrier(struct mem *m, const struct coll *c)
{
    mem_flag *met = &slot_of(m, 0)->met;

    mem_add(m, met, 1);
    while (mem_peek(m, met) < c->op * (uint64_t)mem_size(m))
        ;
}

/* The last to come knows from the sum that all are there. */
static void right_counter(struct mem *m, const struct coll *c)
{
    uint64_t all = c->op * (uint64_t)mem_size(m);

    if (mem_add(m, &slot_of(m, 0)->met, 1) == all)
        mem_post(m, &slot_of(m, 0)->full, c->op);
    else
        mem_await(m, &slot_of(m, 0)->full, c->op);
}

/* A flag is never seen to go back, nor older than what is known to have happened: else this leaves
 * its region. */
static void sees_no_past(struct mem *m, const struct coll *c)
{
    mem_flag *zero = &slot_of(m, 0)->full;
    uint64_t first;

    if (mem_rank(m) == 0) {
        mem_post(m, zero, 2 * c->op - 1);
        mem_post(m, zero, 2 * c->op);
    }
    first = mem_peek(m, zero);
    if (mem_peek(m, zero) < first)
        slot_of(m, -1);
    right_barrier(m, c);
    if (mem_peek(m, zero) < 2 * c->op)
        slot_of(m, -1);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    wait_all(m, c->op);
}

/* ---- order ---- */

static void never_posts(struct mem *m, const struct coll *c)
{
    if (!is_root(m, c))
        mem_await(m, &slot_of(m, c->root)->full, c->op);
}

static void never_waits(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c))
        mem_in(m, root->data, c->out, 0, c->out->bytes);
    else
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    right_barrier(m, c);
}

static void reuses_early(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_in(m, root->data, c->out, 0, c->out->bytes);
        mem_post(m, &root->full, c->op);
    } else {
        mem_await(m, &root->full, c->op);
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    }
}

/* In one byte. */
static void overlaps(struct mem *m, const struct coll *c)
{
    mem_copy(m, slot_of(m, 0)->data + 8 + 7 * mem_rank(m), slot_of(m, mem_rank(m))->data + 128, 8);
    right_barrier(m, c);
}

static void writes_payload_late(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_post(m, &root->full, c->op);
        mem_put(m, &root->full.payload[3], 7);
    } else {
        mem_await(m, &root->full, c->op);
        mem_get(m, &root->full.payload[3]);
    }
}

/* What it writes after its first post is ordered by the second only. */
static void awaits_too_little(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_post(m, &root->full, 2 * c->op - 1);
        mem_put(m, &root->word, 1);
        mem_post(m, &root->full, 2 * c->op);
        wait_all(m, c->op);
    } else {
        mem_await(m, &slot_of(m, c->root)->full, 2 * c->op - 1);
        mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
        mem_await(m, &root->full, 2 * c->op - 1);
        mem_get(m, &root->word);
    }
}

static void breaks_promise(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    mem_await(m, &slot_of(m, (mem_rank(m) + 1) % mem_size(m))->done, c->op);
}

static void returns_without_root(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Two ranks post their flags, look at each other's, and write if it is not there: right only if a
 * peek always saw the newest. */
static void trusts_a_peek(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);

    if (me < 2) {
        mem_post(m, &slot_of(m, me)->done, c->op);
        if (mem_peek(m, &slot_of(m, 1 - me)->done) < c->op)
            mem_put(m, &slot_of(m, 0)->word, 1);
    }
    right_barrier(m, c);
}

/* ---- flags ---- */

static void two_writers(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, 0)->full, c->op * 10 + (uint64_t)mem_rank(m));
    right_barrier(m, c);
}

static void does_not_grow(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
}

static void puts_a_flag(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_put(m, (uint64_t *)(void *)&slot_of(m, mem_rank(m))->full, c->op + 1);
}

static void polls_for_ever(struct mem *m, const struct coll *c)
{
    while (mem_peek(m, &slot_of(m, 0)->full) < c->op)
        ;
}

/* ---- memory ---- */

static void dereferences(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    slot_of(m, mem_rank(m))->word = c->op;
}

static void leaves_its_region(struct mem *m, const struct coll *c)
{
    (void)c;
    mem_put(m, &slot_of(m, mem_rank(m))->word + sizeof(struct slot) / 8, 1);
}

static void copies_private(struct mem *m, const struct coll *c)
{
    unsigned char local[8] = { 0 };

    (void)c;
    mem_copy(m, slot_of(m, mem_rank(m))->data, local, sizeof local);
}

/* ---- single copy ---- */

static void expose(struct mem *m, const struct coll *c)
{
    struct slot *mine = slot_of(m, mem_rank(m));

    mem_put(m, &mine->word, mem_expose(m, c->out));
    mem_post(m, &mine->full, c->op);
}

static void pull(struct mem *m, const struct coll *c, size_t bytes)
{
    struct slot *root = slot_of(m, c->root);

    mem_await(m, &root->full, c->op);
    mem_pull(m, &(struct mem_span){ .view = c->out }, c->root, mem_get(m, &root->word), 0, bytes);
}

/* The others read the root's own buffer, and the root waits for them. */
static void pulls_in_time(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    pull(m, c, c->out->bytes);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* The same, but they say so before they read. */
static void pulls_late(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    pull(m, c, c->out->bytes);
}

static void pulls_too_much(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    pull(m, c, c->out->bytes + 1);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* The root writes into buffers whose owners do not wait for it. */
static void pushes_late(struct mem *m, const struct coll *c)
{
    struct slot *one = slot_of(m, 1);

    if (!is_root(m, c)) {
        expose(m, c);
        mem_await(m, &slot_of(m, c->root)->done, c->op);
        return;
    }
    mem_await(m, &one->full, c->op);
    mem_post(m, &slot_of(m, c->root)->done, c->op);
    mem_push(m, &(struct mem_span){ .view = c->out }, 1, mem_get(m, &one->word), 0, c->out->bytes);
}

/* ---- */

const struct fault faults[] = {
    FAULT("bcast", right_bcast, FAULT_CALLS, 0, NULL),
    FAULT("barrier", right_barrier, FAULT_CALLS, 0, NULL),
    FAULT("barrier", right_counter, FAULT_CALLS, 0, NULL),
    FAULT("bcast", pulls_in_time, FAULT_CALLS, 0, NULL),
    FAULT("barrier", sees_no_past, FAULT_CALLS, 0, NULL),
    FAULT("bcast", never_posts, 1, 2, "deadlock: 2 of 3 ranks", .always = true),
    FAULT("bcast", never_waits, 1, 2, "race on the arena", .always = true),
    FAULT("bcast", reuses_early, FAULT_CALLS, 2, "race on the arena"),
    FAULT("barrier", overlaps, 1, 2, "race on the arena", .always = true),
    FAULT("bcast", writes_payload_late, 1, 2, "race on the arena"),
    FAULT("bcast", awaits_too_little, 1, 2, "race on the arena", .always = true),
    FAULT("barrier", breaks_promise, 1, 1, "broken promise", .always = true),
    FAULT("bcast", returns_without_root, 1, 1, "broken promise"),
    FAULT("bcast", trusts_a_peek, 1, 2, "race on the arena"),
    FAULT("bcast", two_writers, 1, 2, "race on a flag"),
    FAULT("bcast", does_not_grow, 1, 2, "must grow", .always = true),
    FAULT("bcast", puts_a_flag, 1, 1, "plain access to a flag", .always = true),
    FAULT("barrier", polls_for_ever, 1, 1, "no end", .always = true),
    FAULT("bcast", dereferences, 1, 1, "plain access to shared memory", .always = true),
    FAULT("bcast", leaves_its_region, 1, 1, "outside its region", .always = true),
    FAULT("bcast", copies_private, 1, 1, "not shared memory", .always = true),
    FAULT("bcast", pulls_late, 1, 1, "race on the user buffer"),
    FAULT("bcast", pushes_late, 1, 1, "race on the user buffer"),
    FAULT("bcast", pulls_too_much, 1, 1, "nothing exposed", .always = true),
    FAULT("nothing", right_barrier, 1, 0, "no collective is named"),
    { .calls = 0 },
};
