/* SPDX-License-Identifier: BSD-3-Clause */
/* bare.c - see bare.h. */
#include "bare.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE = 128, SPINS = 1024 };

struct flag {
    _Alignas(LINE) _Atomic uint64_t value;
    char small[BARE_INLINE];
};

/* One per rank: its counts of barriers entered and fragments read, and a flag per buffer.  The
 * buffers of both ranks follow. */
struct side {
    struct flag entered, read, ready[BARE_MAX_BUFFERS];
};

struct bare {
    struct side side[2];
    char data[];
};

size_t bare_bytes(size_t fragment_bytes, int buffers)
{
    return sizeof(struct bare) + 2 * fragment_bytes * (size_t)buffers;
}

static void post(struct flag *f, uint64_t value)
{
    atomic_store_explicit(&f->value, value, memory_order_release);
}

/* Returns what it saw. */
static uint64_t await(struct flag *f, uint64_t min)
{
    uint64_t value;

    for (unsigned spin = 1; (value = atomic_load_explicit(&f->value, memory_order_acquire)) < min;
         spin++)
        if (spin % SPINS == 0)
            sched_yield();
    return value;
}

int bare_barrier(struct bare_ring *ring, const struct shots_call *c)
{
    if (c->ranks != 2)
        return 1;
    post(&ring->shared->side[c->rank].entered, ++ring->calls);
    await(&ring->shared->side[!c->rank].entered, ring->calls);
    return 0;
}

int bare_bcast(struct bare_ring *ring, const struct shots_call *c)
{
    uint64_t buffers = (uint64_t)ring->buffers;

    if (c->ranks != 2)
        return 1;
    struct side *root = &ring->shared->side[c->root], *other = &ring->shared->side[!c->root];
    char *queue = ring->shared->data + (size_t)c->root * ring->fragment_bytes * buffers,
         *mine = c->out;

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        uint64_t at = ++ring->at[c->root];
        struct flag *ready = &root->ready[at % buffers];

        bytes = c->bytes - done < ring->fragment_bytes ? c->bytes - done : ring->fragment_bytes;
        char *buffer =
            bytes <= BARE_INLINE ? ready->small : queue + at % buffers * ring->fragment_bytes;
        if (c->rank == c->root) {
            if (at > ring->left[c->root] + buffers)
                ring->left[c->root] = await(&other->read, at - buffers);
            memcpy(buffer, mine + done, bytes);
            post(ready, at);
        } else {
            await(ready, at);
            memcpy(mine + done, buffer, bytes);
            post(&other->read, at);
        }
    }
    return 0;
}
