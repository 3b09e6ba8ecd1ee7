/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.h - statistics in shared memory.  One process counts; others may read at any time and see
 * some recent value.  No order is promised, and none is needed.
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

/* Adds `by` to a counter.  `threads` is true if other threads of this process may count in the same
 * counter at the same time. */
static inline void mem_count(mem_counter *c, uint64_t by, bool threads)
{
    if (threads)
        atomic_fetch_add_explicit(&c->value, by, memory_order_relaxed);
    else
        atomic_store_explicit(&c->value, mem_count_read(c) + by, memory_order_relaxed);
}

/*
 * Increments a counter of events and returns the new value.  Only one thread may increment the
 * counter.  A thread observing the new value also sees everything the owner has counted in this way
 * before.
 */
static inline uint64_t mem_count_step(mem_counter *c)
{
    uint64_t next = mem_count_read(c) + 1;

    atomic_store_explicit(&c->value, next, memory_order_release);
    return next;
}

/* Stores a value for the next step.  A thread that observes the value also observes all steps
 * before the store. */
static inline void mem_count_put(mem_counter *c, uint64_t value)
{
    atomic_store_explicit(&c->value, value, memory_order_release);
}

static inline uint64_t mem_count_observe(const mem_counter *c)
{
    return atomic_load_explicit(&c->value, memory_order_acquire);
}

/* Returns true for the first caller among all processes. */
static inline bool mem_count_claim(mem_counter *c)
{
    return atomic_exchange_explicit(&c->value, 1, memory_order_relaxed) == 0;
}

/* Moves the value of a counter to another counter.  Counts that others add meanwhile are not
 * lost. */
static inline void mem_count_move(mem_counter *from, mem_counter *to)
{
    mem_count(to, atomic_exchange_explicit(&from->value, 0, memory_order_relaxed), true);
}

/* Adds a reference to a mapping that threads of the same process share. */
static inline void mem_hold(mem_counter *references)
{
    atomic_fetch_add_explicit(&references->value, 1, memory_order_relaxed);
}

/* Drops a reference.  Returns true for the caller that drops the last reference: the accesses of
 * all other holders happened before. */
static inline bool mem_drop(mem_counter *references)
{
    return atomic_fetch_sub_explicit(&references->value, 1, memory_order_acq_rel) == 1;
}

#endif
