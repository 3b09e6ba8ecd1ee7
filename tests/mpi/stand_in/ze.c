/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ze.c - a stand-in of libze_loader.so.1: two drivers, of which the second has two devices.  There
 * are none before the first allocation.  A command list may be used by one thread at a time.
 */
#include "memory.h"

enum { UNINITIALIZED = 0x78000001, INVALID_ARGUMENT = 0x78000004, DEVICE_LOST = 0x70000001 };
enum { CONTEXT_DESCRIPTION = 0xd, QUEUE_DESCRIPTION = 0xe, ALLOCATION_PROPERTIES = 0x17 };
enum { UNKNOWN = 0, DEVICE = 2, SHARED = 3, SYNCHRONOUS = 1 };

struct description {
    int kind;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
};

struct allocation {
    int kind;
    void *next;
    int type;
    uint64_t id, page_bytes;
};

struct list {
    void *device;
    int busy;
};

static char drivers[2], contexts[2], devices[2];

EXPORT int zeDriverGet(uint32_t *count, void **found);
EXPORT int zeContextCreate(void *driver, const struct description *description, void **context);
EXPORT int zeMemGetAllocProperties(void *context, const void *pointer, struct allocation *a,
                                   void **device);
EXPORT int zeCommandListCreateImmediate(void *context, void *device,
                                        const struct description *description, void **list);
EXPORT int zeCommandListAppendMemoryCopy(void *list, void *dst, const void *src, size_t bytes,
                                         void *signal, uint32_t waits, void **wait_for);

int zeDriverGet(uint32_t *count, void **found)
{
    if (made == 0)
        return UNINITIALIZED;
    for (uint32_t i = 0; found && i < 2 && i < *count; i++)
        found[i] = &drivers[i];
    *count = 2;
    return 0;
}

int zeContextCreate(void *driver, const struct description *description, void **context)
{
    if (description->kind != CONTEXT_DESCRIPTION)
        return INVALID_ARGUMENT;
    *context = &contexts[driver == &drivers[1]];
    return 0;
}

int zeMemGetAllocProperties(void *context, const void *pointer, struct allocation *a, void **device)
{
    struct memory m;

    if (a->kind != ALLOCATION_PROPERTIES || (context != &contexts[0] && context != &contexts[1]))
        return INVALID_ARGUMENT;
    a->type = UNKNOWN;
    if (context == &contexts[1] && find_memory(pointer, &m)) {
        a->type = m.managed ? SHARED : DEVICE;
        *device = &devices[m.number % 2];
    }
    return 0;
}

int zeCommandListCreateImmediate(void *context, void *device, const struct description *description,
                                 void **list)
{
    struct list *made_list = calloc(1, sizeof *made_list);

    if (!made_list || context != &contexts[1] || description->kind != QUEUE_DESCRIPTION ||
        description->mode != SYNCHRONOUS)
        return INVALID_ARGUMENT;
    made_list->device = device;
    *list = made_list;
    return 0;
}

int zeCommandListAppendMemoryCopy(void *list, void *dst, const void *src, size_t bytes,
                                  void *signal, uint32_t waits, void **wait_for)
{
    struct list *l = list;
    struct memory m;

    if (failing)
        return DEVICE_LOST;
    bool there = find_memory(dst, &m) || find_memory(src, &m);
    if (signal || waits || wait_for || !there || l->device != &devices[m.number % 2] ||
        __atomic_exchange_n(&l->busy, 1, __ATOMIC_ACQUIRE))
        return INVALID_ARGUMENT;
    copy_memory(dst, src, bytes);
    __atomic_store_n(&l->busy, 0, __ATOMIC_RELEASE);
    return 0;
}
