/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ze.c - a stand-in for libze_loader.so.1 with two drivers, the second of which has two devices.
 * There are no drivers before the first allocation. A command list may be used by one thread at a
 * time.
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

struct region {
    uint32_t x, y, z, width, height, depth;
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

EXPORT int zeCommandListAppendMemoryCopyRegion(void *list, void *dst, const struct region *to,
                                               uint32_t dst_pitch, uint32_t dst_slice,
                                               const void *src, const struct region *from,
                                               uint32_t src_pitch, uint32_t src_slice, void *signal,
                                               uint32_t waits, void **wait_for);

int zeCommandListAppendMemoryCopyRegion(void *list, void *dst, const struct region *to,
                                        uint32_t dst_pitch, uint32_t dst_slice, const void *src,
                                        const struct region *from, uint32_t src_pitch,
                                        uint32_t src_slice, void *signal, uint32_t waits,
                                        void **wait_for)
{
    bool good = to->width == from->width && to->height == from->height && to->depth == 0 &&
                from->depth == 0 && dst_pitch >= to->width && src_pitch >= to->width &&
                to->x + to->y + to->z + from->x + from->y + from->z + dst_slice + src_slice == 0;
    int error = good ? 0 : INVALID_ARGUMENT;

    for (size_t row = 0; row < to->height && error == 0; row++)
        error = zeCommandListAppendMemoryCopy(list, (char *)dst + row * dst_pitch,
                                              (const char *)src + row * src_pitch, to->width,
                                              signal, waits, wait_for);
    return error;
}

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
