/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hip.c - memory of HIP, by its runtime (libamdhip64.so): AMD's GPUs.
 *
 * HIP 6 changed the numbers of memory kinds.  Memory of the host was an error before, and is a
 * separate kind since.  An error stays with the thread until the program asks for it, so an error
 * of huddle's own question is removed again.
 */
#include "base/process_atomics.h"
#include "host/device/device.h"
#include "host/device/symbols.h"

/* Constants of hip_runtime_api.h. */
enum { OLD_DEVICE = 1, OLD_MANAGED = 3 }; /* larger numbers: unified, managed */
enum { NEW_DEVICE = 2, NEW_MANAGED = 3, NEW_UNIFIED = 11 };
enum { NEW_NUMBERS = 60000000, COPY_TO_DEVICE = 1, COPY_TO_HOST = 2 };

struct attributes {
    int kind, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
    char later[64]; /* room for additions by a later version */
};

static struct {
    int (*get_attributes)(struct attributes *attributes, const void *pointer);
    int (*copy)(void *dst, const void *src, size_t bytes, int direction);
    int (*copy_plane)(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t height, int direction);
    int (*get_version)(int *version);
    int (*peek_error)(void);
    int (*take_error)(void);
    int (*get_device)(int *device);
    int (*set_device)(int device);
} runtime;

static const struct hud_symbol symbols[] = {
    { "hipPointerGetAttributes", (void **)&runtime.get_attributes, true },
    { "hipMemcpy", (void **)&runtime.copy, true },
    { "hipMemcpy2D", (void **)&runtime.copy_plane, false },
    { "hipRuntimeGetVersion", (void **)&runtime.get_version, true },
    { "hipPeekAtLastError", (void **)&runtime.peek_error, false },
    { "hipGetLastError", (void **)&runtime.take_error, false },
    { "hipGetDevice", (void **)&runtime.get_device, false },
    { "hipSetDevice", (void **)&runtime.set_device, false },
    { NULL, NULL, false },
};

static bool find(void *library)
{
    return hud_symbols_find(library, symbols);
}

static bool has_new_numbers(void)
{
    static _Atomic(uintptr_t) version; /* 0: not asked yet; asking may start the runtime */
    int now = 0;

    if (local_word(&version) == 0)
        local_set_word(&version, runtime.get_version(&now) == 0 && now > 0 ? (uintptr_t)now : 1);
    return local_word(&version) >= NEW_NUMBERS;
}

/* Asks without changing the program's last error.  Returns false for memory unknown to HIP. */
static bool get_attributes(const void *address, struct attributes *a)
{
    int before = runtime.peek_error ? runtime.peek_error() : 0;
    bool known = runtime.get_attributes(a, address) == 0;

    if (!known && before == 0 && runtime.take_error)
        (void)runtime.take_error();
    return known;
}

static bool ask(const void *address, struct hud_device_place *place)
{
    struct attributes a = { .kind = 0 };

    if (!get_attributes(address, &a))
        return false;
    bool newer = has_new_numbers();
    place->device = a.device;
    place->managed = a.is_managed != 0 || (newer ? a.kind == NEW_MANAGED || a.kind == NEW_UNIFIED
                                                 : a.kind >= OLD_MANAGED);
    return place->managed || a.kind == (newer ? NEW_DEVICE : OLD_DEVICE);
}

static int copy_plane(const struct hud_device_copy *c, bool to_device)
{
    size_t pitch = (size_t)c->stride;

    return to_device ? runtime.copy_plane(c->device, pitch, c->host, c->bytes, c->bytes, c->rows,
                                          COPY_TO_DEVICE)
                     : runtime.copy_plane(c->host, c->bytes, c->device, pitch, c->bytes, c->rows,
                                          COPY_TO_HOST);
}

static int copy_rows(const struct hud_device_copy *c, bool to_device)
{
    int error = 0;

    for (size_t i = 0; i < c->rows && error == 0; i++) {
        struct hud_device_copy row = hud_device_row(c, i);
        error = to_device ? runtime.copy(row.device, row.host, row.bytes, COPY_TO_DEVICE)
                          : runtime.copy(row.host, row.device, row.bytes, COPY_TO_HOST);
    }
    return error;
}

static int copy(const struct hud_device_place *place, const struct hud_device_copy *c, size_t count,
                bool to_device, const char **function)
{
    int before = -1, error = 0;
    bool selects = runtime.get_device && runtime.set_device && runtime.get_device(&before) == 0 &&
                   before != place->device;

    *function = "hipSetDevice"; /* otherwise the copy would also start the thread's device */
    if (selects)
        error = runtime.set_device(place->device);
    for (size_t i = 0; i < count && error == 0; i++) {
        bool is_plane = runtime.copy_plane && hud_device_is_plane(&c[i]);
        *function = is_plane ? "hipMemcpy2D" : "hipMemcpy";
        error = (is_plane ? copy_plane : copy_rows)(&c[i], to_device);
    }
    if (selects)
        (void)runtime.set_device(before);
    return error;
}

const struct hud_device_runtime hud_device_hip = {
    "HIP", { "libamdhip64", NULL }, find, ask, copy
};
