/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - atomics within one process: the only ones outside src/mem. */
#ifndef HUD_LOCAL_H
#define HUD_LOCAL_H

#include <stdatomic.h>

/* True for exactly one caller. */
static inline int local_claim(atomic_flag *flag)
{
    return !atomic_flag_test_and_set(flag);
}

static inline void local_release(atomic_flag *flag)
{
    atomic_flag_clear(flag);
}

/* A counter that many read and few raise. */
static inline unsigned local_read(atomic_uint *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static inline void local_raise(atomic_uint *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_acq_rel);
}

/* A pointer that is set once, or again to the same; NULL before. */
static inline void *local_get(_Atomic(void *) *pointer)
{
    return atomic_load_explicit(pointer, memory_order_acquire);
}

static inline void local_set(_Atomic(void *) *pointer, void *value)
{
    atomic_store_explicit(pointer, value, memory_order_release);
}

#endif
