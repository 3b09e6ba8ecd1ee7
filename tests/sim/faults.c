/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - faulty algorithms that the checker must report, and correct ones that it must not
 * report. The table at the end has the expected report of each. */
#include "faults.h"

static struct slot *slot_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

static bool is_root(struct mem *m, const struct coll *c)
{
    return mem_rank(m) == c->root;
}

/* ---- correct algorithms ---- */

static void wait_all(struct mem *m, uint64_t op)
{
    for (int r = 0; r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &slot_of(m, r)->done, op);
}

/* Copies from the slot that the root publishes. The root publishes again only after all ranks are
 * done. */
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

/* Adds to a central counter and polls. The faulty algorithms below end with this barrier where they
 * would otherwise break their promise, too. */
void right_barrier(struct mem *m, const struct coll *c)
{
    mem_flag *met = &slot_of(m, 0)->met;

    mem_add(m, met, 1);
    while (mem_peek(m, met) < c->op * (uint64_t)mem_size(m))
        ;
}

/* Recognises the last rank to arrive by the sum. This rank releases the others. */
static void right_counter(struct mem *m, const struct coll *c)
{
    uint64_t all = c->op * (uint64_t)mem_size(m);

    if (mem_add(m, &slot_of(m, 0)->met, 1) == all)
        mem_post(m, &slot_of(m, 0)->full, c->op);
    else
        mem_await(m, &slot_of(m, 0)->full, c->op);
}

/* Accesses memory outside its region if a flag is seen to decrease, or to be older than a value
 * known to have been posted. */
static void right_peeks_never_see_older_values(struct mem *m, const struct coll *c)
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

/* Copies ranges with a common byte. */
static void writes_overlapping_bytes(struct mem *m, const struct coll *c)
{
    mem_copy(m, slot_of(m, 0)->data + 8 + 7 * mem_rank(m), slot_of(m, mem_rank(m))->data + 128, 8);
    right_barrier(m, c);
}

static void writes_payload_after_the_post(struct mem *m, const struct coll *c)
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

/* Writes a word after its first post, so only the second post orders the write. */
static void awaits_an_earlier_value(struct mem *m, const struct coll *c)
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

/* Posts a flag, peeks at another rank's flag and writes if the latter is not posted. Right only if
 * a peek always saw the latest value. */
static void relies_on_the_latest_peek(struct mem *m, const struct coll *c)
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

static void posts_the_same_value_twice(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
}

static void writes_a_flag_plainly(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_put(m, (uint64_t *)(void *)&slot_of(m, mem_rank(m))->full, c->op + 1);
}

static void polls_forever(struct mem *m, const struct coll *c)
{
    while (mem_peek(m, &slot_of(m, 0)->full) < c->op)
        ;
}

/* ---- memory ---- */

static void dereferences_shared_memory(struct mem *m, const struct coll *c)
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

/* Reads the root's own buffer, and the root waits for the readers. */
static void right_pull(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    pull(m, c, c->out->bytes);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Acknowledges before reading the root's buffer. */
static void pulls_after_the_acknowledgment(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    pull(m, c, c->out->bytes);
}

static void pulls_more_than_exposed(struct mem *m, const struct coll *c)
{
    if (is_root(m, c)) {
        expose(m, c);
        wait_all(m, c->op);
        return;
    }
    pull(m, c, c->out->bytes + 1);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Writes to buffers whose owners do not wait. */
static void pushes_after_the_acknowledgment(struct mem *m, const struct coll *c)
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

const struct fault faults[] = {
    FAULT("bcast", right_bcast, FAULT_CALLS, 0, NULL),
    FAULT("barrier", right_barrier, FAULT_CALLS, 0, NULL),
    FAULT("barrier", right_counter, FAULT_CALLS, 0, NULL),
    FAULT("bcast", right_pull, FAULT_CALLS, 0, NULL),
    FAULT("barrier", right_peeks_never_see_older_values, FAULT_CALLS, 0, NULL),
    FAULT("bcast", never_posts, 1, 2, "deadlock: 2 of 3 ranks", .always = true),
    FAULT("bcast", never_waits, 1, 2, "race on the arena", .always = true),
    FAULT("bcast", reuses_early, FAULT_CALLS, 2, "race on the arena"),
    FAULT("barrier", writes_overlapping_bytes, 1, 2, "race on the arena", .always = true),
    FAULT("bcast", writes_payload_after_the_post, 1, 2, "race on the arena"),
    FAULT("bcast", awaits_an_earlier_value, 1, 2, "race on the arena", .always = true),
    FAULT("barrier", breaks_promise, 1, 1, "broken promise", .always = true),
    FAULT("bcast", returns_without_root, 1, 1, "broken promise"),
    FAULT("bcast", relies_on_the_latest_peek, 1, 2, "race on the arena"),
    FAULT("bcast", two_writers, 1, 2, "race on a flag"),
    FAULT("bcast", posts_the_same_value_twice, 1, 2, "must grow", .always = true),
    FAULT("bcast", writes_a_flag_plainly, 1, 1, "plain access to a flag", .always = true),
    FAULT("barrier", polls_forever, 1, 1, "no end", .always = true),
    FAULT("bcast", dereferences_shared_memory, 1, 1, "plain access to shared memory",
          .always = true),
    FAULT("bcast", leaves_its_region, 1, 1, "outside its region", .always = true),
    FAULT("bcast", copies_private, 1, 1, "not shared memory", .always = true),
    FAULT("bcast", pulls_after_the_acknowledgment, 1, 1, "race on the user buffer"),
    FAULT("bcast", pushes_after_the_acknowledgment, 1, 1, "race on the user buffer"),
    FAULT("bcast", pulls_more_than_exposed, 1, 1, "nothing exposed", .always = true),
    FAULT("nothing", right_barrier, 1, 0, "no collective is named"),
    { .calls = 0 },
};
