/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept.h - static memory for objects that a rank needs to tell the others that it is out of memory.
 *
 * A rank that failed silently would leave the others waiting in a team's set-up.  So the objects
 * that are needed up to the set-up's first round come from here when the heap is exhausted.
 */
#ifndef HUD_KEPT_H
#define HUD_KEPT_H

#include "core/local.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    void *object; /* [count], each of `bytes` */
    size_t bytes;
    int count;
    atomic_flag *used; /* [count]; static, so clear */
};

/* Declares `name`, with room for `number` objects of a type. */
#define KEPT(name, type, number)                                                                   \
    static type name##_object[number];                                                             \
    static atomic_flag name##_used[number];                                                        \
    static const struct kept name = { name##_object, sizeof(type), number, name##_used }

/* Zeroed; NULL: all are in use. */
static inline void *kept_take(const struct kept *k)
{
    for (int i = 0; i < k->count; i++)
        if (local_claim(&k->used[i]))
            return memset((char *)k->object + (size_t)i * k->bytes, 0, k->bytes);
    return NULL;
}

/* What came from the heap or from here. */
static inline void kept_free(const struct kept *k, void *object)
{
    uintptr_t at = (uintptr_t)object - (uintptr_t)k->object;

    if (object && at < k->bytes * (size_t)k->count)
        local_release(&k->used[at / k->bytes]);
    else
        free(object);
}

#endif
