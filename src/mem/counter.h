/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.h - statistics in shared memory: one process counts, another may read at any time and
 * sees some recent value.  No order is promised, and none is needed.
 */
#ifndef HUD_COUNTER_H
#define HUD_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    _Atomic uint64_t value;
} mem_counter;

static inline uint64_t mem_count_read(mem_counter *c)
{
    return atomic_load_explicit(&c->value, memory_order_relaxed);
}

/* threads: others of this process may count in the same counter at once. */
static inline void mem_count(mem_counter *c, uint64_t by, bool threads)
{
    if (threads)
        atomic_fetch_add_explicit(&c->value, by, memory_order_relaxed);
    else
        atomic_store_explicit(&c->value, mem_count_read(c) + by, memory_order_relaxed);
}

/*
 * A counter of events that others follow: one thread steps it, and a thread that observes a step
 * sees all that its owner has counted in this way before.  Returns the new value.
 */
static inline uint64_t mem_count_step(mem_counter *c)
{
    uint64_t next = mem_count_read(c) + 1;

    atomic_store_explicit(&c->value, next, memory_order_release);
    return next;
}

/* A value that goes with the next step: who observes it observes all steps before it as well. */
static inline void mem_count_put(mem_counter *c, uint64_t value)
{
    atomic_store_explicit(&c->value, value, memory_order_release);
}

static inline uint64_t mem_count_observe(const mem_counter *c)
{
    return atomic_load_explicit(&c->value, memory_order_acquire);
}

/* True for the first caller, of all processes. */
static inline bool mem_count_claim(mem_counter *c)
{
    return atomic_exchange_explicit(&c->value, 1, memory_order_relaxed) == 0;
}

/* What one counter has goes to another; nothing that others count meanwhile is lost. */
static inline void mem_count_move(mem_counter *from, mem_counter *to)
{
    mem_count(to, atomic_exchange_explicit(&from->value, 0, memory_order_relaxed), true);
}

/* References to a mapping that threads of one process share. */
static inline void mem_hold(mem_counter *references)
{
    atomic_fetch_add_explicit(&references->value, 1, memory_order_relaxed);
}

/* True for the caller that drops the last one: all others' accesses happened before. */
static inline bool mem_drop(mem_counter *references)
{
    return atomic_fetch_sub_explicit(&references->value, 1, memory_order_acq_rel) == 1;
}

#endif
