/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.c - see bare.h. */
#include "bare.h"
#include "data.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE = 128, TILE = 4096 };

struct flag {
    _Alignas(LINE) _Atomic uint64_t value;
    char small[BARE_INLINE];
};

/* Flags of a rank: its counts of barriers entered, fragments read, contributions and sums written,
 * and a flag per buffer.  The windows and rings of all ranks follow. */
struct side {
    struct flag entered, read, written, summed, ready[BARE_MAX_BUFFERS];
};

struct bare {
    struct side side[1]; /* [ranks] */
};

static size_t ring_bytes(const struct bare_rank *b)
{
    return b->fragment_bytes * (size_t)b->buffers;
}

size_t bare_bytes(const struct bare_rank *b, int ranks)
{
    return (size_t)ranks * (sizeof(struct side) + BARE_WINDOW_BYTES + ring_bytes(b));
}

static struct side *side_of(const struct bare_rank *b, int rank)
{
    return &b->shared->side[rank];
}

static char *window_of(const struct bare_rank *b, const struct shots_call *c, int rank)
{
    return (char *)side_of(b, c->ranks) + (size_t)rank * BARE_WINDOW_BYTES;
}

static char *ring_of(const struct bare_rank *b, const struct shots_call *c, int rank)
{
    return window_of(b, c, c->ranks) + (size_t)rank * ring_bytes(b);
}

static void post(struct flag *f, uint64_t value)
{
    atomic_store_explicit(&f->value, value, memory_order_release);
}

/* Waits until a flag has at least the value `min`.  Returns the value. */
static uint64_t await(const struct bare_rank *b, struct flag *f, uint64_t min)
{
    uint64_t value;

    for (unsigned spin = 1; (value = atomic_load_explicit(&f->value, memory_order_acquire)) < min;
         spin++)
        if (spin % b->spins == 0)
            sched_yield();
    return value;
}

/* Returns the rank i places behind this rank, so that the ranks do not all access the same rank at
 * a time. */
static int other(const struct shots_call *c, int i)
{
    return (c->rank + i) % c->ranks;
}

static void barrier(struct bare_rank *b, const struct shots_call *c)
{
    post(&side_of(b, c->rank)->entered, ++b->calls);
    for (int i = 1; i < c->ranks; i++)
        await(b, &side_of(b, other(c, i))->entered, b->calls);
}

/* Waits until all others have read `min` fragments.  Returns the minimum that they have read. */
static uint64_t await_readers(struct bare_rank *b, const struct shots_call *c, uint64_t min)
{
    uint64_t least = UINT64_MAX;

    for (int i = 1; i < c->ranks; i++) {
        uint64_t read = await(b, &side_of(b, other(c, i))->read, min);
        least = read < least ? read : least;
    }
    return least;
}

/* Broadcasts.  All ranks count the fragments of all roots, so that a flag's value identifies the
 * use of a buffer. */
static void bcast(struct bare_rank *b, const struct shots_call *c)
{
    uint64_t buffers = (uint64_t)b->buffers;
    struct side *root = side_of(b, c->root), *own = side_of(b, c->rank);
    char *message = c->out;

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        uint64_t at = ++b->at;
        struct flag *ready = &root->ready[at % buffers];

        bytes = c->bytes - done < b->fragment_bytes ? c->bytes - done : b->fragment_bytes;
        char *buffer = bytes <= BARE_INLINE
                           ? ready->small
                           : ring_of(b, c, c->root) + at % buffers * b->fragment_bytes;
        if (c->rank == c->root) {
            if (at > b->left + buffers)
                b->left = await_readers(b, c, at - buffers);
            memcpy(buffer, message + done, bytes);
            post(ready, at);
        } else {
            await(b, ready, at);
            memcpy(message + done, buffer, bytes);
            post(&own->read, at);
        }
    }
    if (c->rank == c->root)
        post(&own->read, b->at); /* the next root awaits it */
}

#ifdef __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void
add(double *restrict sums, const double *restrict numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += numbers[i];
}

/* Adds up this rank's slice.  A window has the layout of the message: slice r is for rank r, or has
 * its sums. */
static void add_up(struct bare_rank *b, const struct shots_call *c)
{
    enum { AT_ONCE = TILE / sizeof(double) };
    size_t first = data_before(c, c->rank), end = data_before(c, c->rank + 1);
    double *out = c->out, *sums = (double *)window_of(b, c, c->rank);

    for (size_t at = first, count; at < end; at += count) {
        count = end - at < AT_ONCE ? end - at : AT_ONCE;
        memcpy(out + at, (const double *)c->in + at, count * sizeof *out);
        for (int i = 1; i < c->ranks; i++)
            add(out + at, (const double *)window_of(b, c, other(c, i)) + at, count);
        memcpy(sums + at, out + at, count * sizeof *out);
    }
}

static void copy_slice(void *to, const void *from, const struct shots_call *c, int rank)
{
    size_t at = data_before(c, rank) * sizeof(double);

    memcpy((char *)to + at, (const char *)from + at, data_block(c, rank) * sizeof(double));
}

/*
 * Reduces through a single window.  Contributions of the next call are written after their reader's
 * sums of this call were seen.  Sums of the next call are written after all ranks have written, and
 * so have copied the sums of this call.
 */
static void allreduce(struct bare_rank *b, const struct shots_call *c)
{
    struct side *own = side_of(b, c->rank);

    b->calls++;
    for (int i = 1; i < c->ranks; i++)
        copy_slice(window_of(b, c, c->rank), c->in, c, other(c, i));
    post(&own->written, b->calls);
    for (int i = 1; i < c->ranks; i++)
        await(b, &side_of(b, other(c, i))->written, b->calls);
    add_up(b, c);
    post(&own->summed, b->calls);
    for (int i = 1; i < c->ranks; i++) {
        await(b, &side_of(b, other(c, i))->summed, b->calls);
        copy_slice(c->out, window_of(b, c, other(c, i)), c, other(c, i));
    }
}

/* Exchanges blocks.  A window is reused in the call after the next: by then all ranks have written
 * in the next call, and so have read this call's blocks. */
static void alltoall(struct bare_rank *b, const struct shots_call *c)
{
    size_t bytes = c->bytes, half = ++b->calls % 2 * (BARE_WINDOW_BYTES / 2);
    const char *in = c->in;
    char *out = c->out, *window = window_of(b, c, c->rank) + half;

    for (int i = 1; i < c->ranks; i++) {
        size_t at = (size_t)other(c, i) * bytes;
        memcpy(window + at, in + at, bytes);
    }
    post(&side_of(b, c->rank)->written, b->calls);
    memcpy(out + (size_t)c->rank * bytes, in + (size_t)c->rank * bytes, bytes);
    for (int i = 1; i < c->ranks; i++) {
        int from = other(c, i);
        await(b, &side_of(b, from)->written, b->calls);
        memcpy(out + (size_t)from * bytes, window_of(b, c, from) + half + (size_t)c->rank * bytes,
               bytes);
    }
}

int bare_call(struct bare_rank *b, const struct shots_call *c)
{
    if (c->kind == COLL_BARRIER)
        barrier(b, c);
    else if (c->kind == COLL_BCAST)
        bcast(b, c);
    else if (c->kind == COLL_ALLREDUCE && c->bytes <= BARE_WINDOW_BYTES)
        allreduce(b, c);
    else if (c->kind == COLL_ALLTOALL && c->bytes <= BARE_WINDOW_BYTES / 2 / (size_t)c->ranks)
        alltoall(b, c);
    else
        return 1;
    return 0;
}
