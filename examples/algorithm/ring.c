/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/ring.c - the root copies fragments into a ring of buffers; all other ranks copy them out.
 *
 * Source    textbook: bounded buffer with one writer and several readers
 * Shape     p ranks, n bytes, w buffers of f bytes in each rank's slot.  One copy in by the root,
 *           one copy out by each other rank, all from the root's memory.
 * Cost      T = n t + ceil(n / f) l + f t     ns; l one line transfer, t ns per byte copied
 * Accepts   any n, if the lease has room for one buffer.
 *
 * Fragments are numbered over all operations and roots.  Every rank counts them, so all agree on
 * the number of the next one.
 *
 * Line               written by   read by     value k means
 *   slot[r].sent     r            all others  fragments of rank r before number k can be read
 *   slot[r].done     r            any root    rank r has finished all fragments before number k
 *   slot[r].next     r            r           (plain) number of the next fragment
 *   slot[r].cell[]   r            all others  (plain) bytes of the message still to come; fragment
 *
 * Edges     R1 -> A1   the copy into a buffer            happens before  each copy out of it
 *           R2 -> A2   a rank's copy out of a buffer     happens before  the next write to it
 *
 * Deadlock  A root waits only for fragments that were sent before, w fragments ago.
 * Safety    A root writes to a buffer after all other ranks have finished the fragments up to w
 *           before (A2), the last of which was in this buffer.
 */
#include "alg/alg.h"

enum param { FRAGMENT, BUFFERS };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a buffer", 512, 1 << 16, 8192, NULL,
                   .tune = "4K,32K" },
    [BUFFERS] = { "buffers", "1", "w, buffers of the ring; fewer where the lease holds fewer", 1,
                  64, 4, NULL },
    { .name = NULL },
};

struct cell {
    uint64_t left_bytes;
    _Alignas(HUD_LINE) char data[];
};

struct slot {
    mem_flag sent, done;
    _Alignas(HUD_LINE) uint64_t next;
    _Alignas(HUD_LINE) char cells[];
};

static size_t cell_bytes(const long *param)
{
    return sizeof(struct cell) + mem_lines((size_t)param[FRAGMENT]);
}

static size_t buffers(const long *param, size_t slot_bytes)
{
    size_t room = slot_bytes < sizeof(struct slot) ? 0 : slot_bytes - sizeof(struct slot);
    size_t fit = room / cell_bytes(param), wanted = (size_t)param[BUFFERS];

    return fit < wanted ? fit : wanted;
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t count = buffers(param, max_bytes);

    (void)ranks;
    return count == 0 ? 0 : sizeof(struct slot) + count * cell_bytes(param);
}

static struct cell *cell_at(struct mem *m, const struct coll *c, uint64_t number)
{
    struct slot *root = mem_slot(m, c->root);
    size_t index = number % buffers(c->param, c->place->slot_bytes);

    return (struct cell *)(root->cells + index * cell_bytes(c->param));
}

static size_t fragment_bytes(const struct coll *c, size_t left_bytes)
{
    size_t max_bytes = (size_t)c->param[FRAGMENT];

    return left_bytes < max_bytes ? left_bytes : max_bytes;
}

/* Waits until the buffer of fragment `number` is free: all ranks have finished the fragment w
 * before. */
static void await_buffer(struct mem *m, const struct coll *c, uint64_t number)
{
    size_t count = buffers(c->param, c->place->slot_bytes);

    for (int r = 0; r < mem_size(m) && number >= count; r++) {
        struct slot *other = mem_slot(m, r);
        if (r != c->root)
            mem_await(m, &other->done, number - count + 1); /* A2 */
    }
}

/* Acknowledges all fragments before `number`. */
static void finish(struct mem *m, uint64_t number)
{
    struct slot *mine = mem_slot(m, mem_rank(m));

    mem_post(m, &mine->done, number); /* R2 */
}

static uint64_t send(struct mem *m, const struct coll *c, uint64_t number)
{
    struct slot *mine = mem_slot(m, c->root);
    size_t bytes;

    for (size_t left = c->out->bytes; left > 0; left -= bytes) {
        struct cell *cell = cell_at(m, c, number);
        bytes = fragment_bytes(c, left);
        await_buffer(m, c, number);
        mem_put(m, &cell->left_bytes, left);
        mem_in_all(m, cell->data, c->out, c->out->bytes - left, bytes);
        mem_post(m, &mine->sent, ++number); /* R1 */
    }
    finish(m, number);
    return number;
}

static uint64_t receive(struct mem *m, const struct coll *c, uint64_t number)
{
    struct slot *root = mem_slot(m, c->root);
    size_t left, bytes, done = 0;

    do {
        struct cell *cell = cell_at(m, c, number);
        mem_await(m, &root->sent, number + 1); /* A1 */
        left = mem_get(m, &cell->left_bytes);
        bytes = fragment_bytes(c, left);
        mem_out(m, c->out, cell->data, done, bytes);
        done += bytes;
        finish(m, ++number);
    } while (left > bytes);
    return number;
}

static void bcast_ring(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    uint64_t number = mem_get(m, &mine->next);

    mem_put(m, &mine->next, mem_rank(m) == c->root ? send(m, c, number) : receive(m, c, number));
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(bcast, ring) = {
    .coll = "bcast",
    .name = "ring",
    .doc = "all ranks copy fragments out of a ring of buffers of the root",
    .source = "textbook: bounded buffer",
    .family = &family,
    .run = bcast_ring,
};
