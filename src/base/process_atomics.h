/* SPDX-License-Identifier: BSD-3-Clause */
/* process_atomics.h - atomics within one process: the only ones outside src/mem. */
#ifndef HUD_PROCESS_ATOMICS_H
#define HUD_PROCESS_ATOMICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns true for exactly one caller. */
static inline int local_claim(atomic_flag *flag)
{
    return !atomic_flag_test_and_set(flag);
}

static inline void local_release(atomic_flag *flag)
{
    atomic_flag_clear_explicit(flag, memory_order_release);
}

/* Takes a lock that only several threads need.  Costs nothing without threads: a locked
 * instruction waits until other processors have got the stores before, which may take a line
 * transfer. */
static inline void local_lock(pthread_mutex_t *lock, bool threads)
{
    if (threads)
        pthread_mutex_lock(lock);
}

static inline void local_unlock(pthread_mutex_t *lock, bool threads)
{
    if (threads)
        pthread_mutex_unlock(lock);
}

/* Returns true for one caller at a time, and false for a call from within. */
static inline bool local_enter(atomic_bool *mark, bool threads)
{
    if (threads)
        return !atomic_exchange_explicit(mark, true, memory_order_acquire);
    if (atomic_load_explicit(mark, memory_order_relaxed))
        return false;
    atomic_store_explicit(mark, true, memory_order_relaxed);
    return true;
}

static inline void local_leave(atomic_bool *mark)
{
    atomic_store_explicit(mark, false, memory_order_release);
}

/* Returns a number that threads share without order.  An older value does no harm. */
static inline uint64_t local_load(_Atomic uint64_t *shared)
{
    return atomic_load_explicit(shared, memory_order_relaxed);
}

static inline void local_store(_Atomic uint64_t *shared, uint64_t value)
{
    atomic_store_explicit(shared, value, memory_order_relaxed);
}

/* Returns a counter that many threads read and few raise. */
static inline unsigned local_read(atomic_uint *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static inline void local_raise(atomic_uint *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_acq_rel);
}

/* Returns a counter that changes under a lock, and may be read without. */
static inline int local_count(const atomic_int *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline int local_count_by(atomic_int *counter, int by)
{
    int now = local_count(counter) + by;

    atomic_store_explicit(counter, now, memory_order_relaxed);
    return now;
}

/* Returns an array of pointers that a thread replaces while others read.  The pointers found
 * have been written. */
static inline char **local_array(char ***array)
{
    return __atomic_load_n(array, __ATOMIC_ACQUIRE);
}

static inline void local_publish(char ***array, char **other)
{
    __atomic_store_n(array, other, __ATOMIC_RELEASE);
}

/* Replaces a pointer, if it is still `from`. */
static inline bool local_replace(_Atomic(void *) *pointer, void *from, void *to)
{
    return atomic_compare_exchange_strong_explicit(pointer, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

/* Returns a pointer, or NULL until it is set. */
static inline void *local_get(_Atomic(void *) *pointer)
{
    return atomic_load_explicit(pointer, memory_order_acquire);
}

static inline void local_set(_Atomic(void *) *pointer, void *value)
{
    atomic_store_explicit(pointer, value, memory_order_release);
}

/* Returns a number that threads set and read in the same order: each sees all numbers set
 * before. */
static inline uintptr_t local_word(const _Atomic(uintptr_t) *word)
{
    return atomic_load_explicit(word, memory_order_seq_cst);
}

static inline void local_set_word(_Atomic(uintptr_t) *word, uintptr_t value)
{
    atomic_store_explicit(word, value, memory_order_seq_cst);
}

static inline void local_raise_word(_Atomic(uintptr_t) *word)
{
    atomic_fetch_add_explicit(word, 1, memory_order_seq_cst);
}

/* Reads such a number where an older number does no harm.  A plain load: compilers make a plain
 * load part of a comparison, but not an atomic load. */
static inline uintptr_t local_glance(const _Atomic(uintptr_t) *word)
{
    return *(const uintptr_t *)(uintptr_t)word;
}

/* Adds a user of an object.  The last user is the thread for which local_part() returns 0. */
static inline void local_join(atomic_int *users)
{
    atomic_fetch_add_explicit(users, 1, memory_order_relaxed);
}

static inline int local_part(atomic_int *users)
{
    return atomic_fetch_sub_explicit(users, 1, memory_order_acq_rel) - 1;
}

#endif
