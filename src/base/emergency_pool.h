/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * emergency_pool.h - static memory for objects that a rank needs to tell the others that it is out
 * of memory.
 *
 * A rank that failed silently would leave the others waiting in a team's set-up.  So the objects
 * that are needed up to the set-up's first round come from here when the heap is exhausted.
 */
#ifndef HUD_EMERGENCY_POOL_H
#define HUD_EMERGENCY_POOL_H

#include "base/process_atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct emergency_pool {
    void *object; /* [count], each of `bytes` */
    size_t bytes;
    int count;
    atomic_flag *used; /* [count]; static, so clear */
};

/* Declares `name`, with room for `number` objects of a type. */
#define EMERGENCY_POOL(name, type, number)                                                         \
    static type name##_object[number];                                                             \
    static atomic_flag name##_used[number];                                                        \
    static const struct emergency_pool name = { name##_object, sizeof(type), number, name##_used }

/* Returns a zeroed object, or NULL if all are in use. */
static inline void *emergency_take(const struct emergency_pool *k)
{
    for (int i = 0; i < k->count; i++)
        if (local_claim(&k->used[i]))
            return memset((char *)k->object + (size_t)i * k->bytes, 0, k->bytes);
    return NULL;
}

/* Releases an object that came from the heap or from the pool. */
static inline void emergency_free(const struct emergency_pool *k, void *object)
{
    uintptr_t at = (uintptr_t)object - (uintptr_t)k->object;

    if (object && at < k->bytes * (size_t)k->count)
        local_release(&k->used[at / k->bytes]);
    else
        free(object);
}

#endif
