/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ze.c - memory of Level Zero, by its loader (libze_loader.so): Intel's GPUs.  If the loader is
 * linked into the program, the driver itself provides the functions.
 *
 * Questions and copies need a context of the memory's driver.  The program's context is not known,
 * so huddle creates a context for each driver, and for each device a command list whose commands
 * are complete when they have been added.  Threads may not share a command list, so copies to a
 * device are made one at a time.  Before the program starts Level Zero there are no drivers and no
 * memory, and huddle does not start it.
 */
#include "base/process_atomics.h"
#include "host/device/device.h"
#include "host/device/symbols.h"

#include <pthread.h>

/* Constants of ze_api.h. */
enum { CONTEXT_DESCRIPTION = 0xd, QUEUE_DESCRIPTION = 0xe, ALLOCATION_PROPERTIES = 0x17 };
enum { MEMORY_IS_DEVICE = 2, MEMORY_IS_SHARED = 3, QUEUE_IS_SYNCHRONOUS = 1 };

struct context_description {
    int kind;
    const void *next;
    uint32_t flags;
};

struct queue_description {
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

static struct {
    int (*get_drivers)(uint32_t *count, void **drivers);
    int (*create_context)(void *driver, const struct context_description *description,
                          void **context);
    int (*get_allocation)(void *context, const void *pointer, struct allocation *allocation,
                          void **device);
    int (*create_list)(void *context, void *device, const struct queue_description *description,
                       void **list);
    int (*append_copy)(void *list, void *dst, const void *src, size_t bytes, void *signal,
                       uint32_t waits, void **wait_for);
    int (*append_plane)(void *list, void *dst, const struct region *dst_region, uint32_t dst_pitch,
                        uint32_t dst_slice, const void *src, const struct region *src_region,
                        uint32_t src_pitch, uint32_t src_slice, void *signal, uint32_t waits,
                        void **wait_for);
} loader;

static const struct hud_symbol symbols[] = {
    { "zeDriverGet", (void **)&loader.get_drivers, true },
    { "zeContextCreate", (void **)&loader.create_context, true },
    { "zeMemGetAllocProperties", (void **)&loader.get_allocation, true },
    { "zeCommandListCreateImmediate", (void **)&loader.create_list, true },
    { "zeCommandListAppendMemoryCopy", (void **)&loader.append_copy, true },
    { "zeCommandListAppendMemoryCopyRegion", (void **)&loader.append_plane, false },
    { NULL, NULL, false },
};

enum { DRIVERS = 8, DEVICES = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the data below */
static void *contexts[DRIVERS];                          /* one per driver */
static _Atomic(uintptr_t) drivers;                       /* number of contexts */
static struct device {
    void *device, *context, *list;
} devices[DEVICES];
static int used;

static bool find(void *library)
{
    return hud_symbols_find(library, symbols);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Creates the contexts as soon as the program has started Level Zero. */
static void create_contexts(void)
{
    const struct context_description description = { .kind = CONTEXT_DESCRIPTION };
    void *found[DRIVERS];
    uint32_t count = DRIVERS, made = 0;

    pthread_mutex_lock(&lock);
    if (local_word(&drivers) == 0 && loader.get_drivers(&count, found) == 0)
        for (uint32_t i = 0; i < count && i < DRIVERS; i++)
            made += loader.create_context(found[i], &description, &contexts[made]) == 0;
    if (made > 0)
        local_set_word(&drivers, made);
    pthread_mutex_unlock(&lock);
}

/* Returns the number of a device, adding the device if it is new, or -1 if there are too many. */
static int number_of(void *device, void *context)
{
    int i = 0;

    pthread_mutex_lock(&lock);
    while (i < used && devices[i].device != device)
        i++;
    if (i == used && used < DEVICES)
        devices[used++] = (struct device){ .device = device, .context = context };
    pthread_mutex_unlock(&lock);
    return i < DEVICES ? i : -1;
}

static bool ask(const void *address, struct hud_device_place *place)
{
    if (local_word(&drivers) == 0)
        create_contexts();
    for (uintptr_t i = 0; i < local_word(&drivers); i++) {
        struct allocation allocation = { .kind = ALLOCATION_PROPERTIES };
        void *device = NULL;
        if (loader.get_allocation(contexts[i], address, &allocation, &device) != 0)
            continue;
        place->managed = allocation.type == MEMORY_IS_SHARED;
        if (allocation.type == MEMORY_IS_DEVICE)
            place->device = number_of(device, contexts[i]);
        if (place->managed || allocation.type == MEMORY_IS_DEVICE)
            return true;
    }
    return false;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int append_plane(void *list, const struct hud_device_copy *c, bool to_device)
{
    const struct region region = { .width = (uint32_t)c->bytes,
                                   .height = (uint32_t)c->rows,
                                   .depth = 0 }; /* two dimensions */
    uint32_t device = (uint32_t)c->stride, host = (uint32_t)c->bytes;

    return loader.append_plane(list, to_device ? c->device : c->host, &region,
                               to_device ? device : host, 0, to_device ? c->host : c->device,
                               &region, to_device ? host : device, 0, NULL, 0, NULL);
}

static int append_rows(void *list, const struct hud_device_copy *c, bool to_device)
{
    int error = 0;

    for (size_t i = 0; i < c->rows && error == 0; i++) {
        struct hud_device_copy row = hud_device_row(c, i);
        error = loader.append_copy(list, to_device ? row.device : row.host,
                                   to_device ? row.host : row.device, row.bytes, NULL, 0, NULL);
    }
    return error;
}

/* Copies by the device's command list; called under the lock. */
static int copy_by(struct device *d, const struct hud_device_copy *c, size_t count, bool to_device,
                   const char **function)
{
    const struct queue_description description = { .kind = QUEUE_DESCRIPTION,
                                                   .mode = QUEUE_IS_SYNCHRONOUS };
    int error = 0;

    *function = "zeCommandListCreateImmediate";
    if (!d->list)
        error = loader.create_list(d->context, d->device, &description, &d->list);
    for (size_t i = 0; i < count && error == 0; i++) {
        bool is_plane = loader.append_plane && hud_device_is_plane(&c[i]);
        *function =
            is_plane ? "zeCommandListAppendMemoryCopyRegion" : "zeCommandListAppendMemoryCopy";
        error = (is_plane ? append_plane : append_rows)(d->list, &c[i], to_device);
    }
    return error;
}

static int copy(const struct hud_device_place *place, const struct hud_device_copy *copies,
                size_t count, bool to_device, const char **function)
{
    if (place->device < 0) {
        *function = "number of devices";
        return DEVICES;
    }
    pthread_mutex_lock(&lock);
    int error = copy_by(&devices[place->device], copies, count, to_device, function);
    pthread_mutex_unlock(&lock);
    return error;
}

const struct hud_device_runtime hud_device_ze = {
    "Level Zero", { "libze_loader.so", "libze_intel_gpu.so" }, find, ask, copy
};
