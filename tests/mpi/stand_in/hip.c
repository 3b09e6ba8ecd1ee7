/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hip.c - a stand-in for libamdhip64.so of version VERSION (5 or 6). Versions differ in the numbers
 * of memory kinds, and in the result for unknown memory. Memory is on two devices, and a copy must
 * be made by the memory's device.
 */
#include "memory.h"

struct attributes {
    int kind, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, UNKNOWN = 999 };
enum { TO_DEVICE = 1, TO_HOST = 2 };
enum { KIND_DEVICE = VERSION >= 6 ? 2 : 1, KIND_MANAGED = VERSION >= 6 ? 3 : 1 };

EXPORT int hipPointerGetAttributes(struct attributes *attributes, const void *pointer);
EXPORT int hipMemcpy(void *dst, const void *src, size_t bytes, int direction);
EXPORT int hipMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                       size_t height, int direction);
EXPORT int hipRuntimeGetVersion(int *version);
EXPORT int hipPeekAtLastError(void);
EXPORT int hipGetLastError(void);
EXPORT int hipGetDevice(int *device);
EXPORT int hipSetDevice(int device);

static _Thread_local int last_error, current;

static int report(int error)
{
    if (error != 0)
        last_error = error;
    return error;
}

int hipPointerGetAttributes(struct attributes *a, const void *pointer)
{
    struct memory m;

    memset(a, 0, sizeof *a);
    if (!find_memory(pointer, &m))
        return VERSION >= 6 ? 0 : report(INVALID_VALUE);
    a->kind = m.managed ? KIND_MANAGED : KIND_DEVICE;
    a->is_managed = m.managed;
    a->device = m.number % 2;
    return 0;
}

int hipMemcpy(void *dst, const void *src, size_t bytes, int direction)
{
    const void *far = direction == TO_DEVICE ? dst : src,
               *near = direction == TO_DEVICE ? src : dst;
    struct memory m;

    if (failing)
        return report(UNKNOWN);
    if (!find_memory(far, &m) || m.managed || find_memory(near, &(struct memory){ .bytes = 0 }))
        return report(INVALID_VALUE);
    if (m.number % 2 != current)
        return report(INVALID_DEVICE);
    copy_memory(dst, src, bytes);
    return 0;
}

int hipMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                size_t height, int direction)
{
    int error = dst_pitch >= width && src_pitch >= width ? 0 : report(INVALID_VALUE);

    for (size_t row = 0; row < height && error == 0; row++)
        error = hipMemcpy((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch, width,
                          direction);
    return error;
}

int hipRuntimeGetVersion(int *version)
{
    *version = VERSION * 10000000 + 300000;
    return 0;
}

int hipPeekAtLastError(void)
{
    return last_error;
}

int hipGetLastError(void)
{
    int error = last_error;

    last_error = 0;
    return error;
}

int hipGetDevice(int *device)
{
    *device = current;
    return 0;
}

int hipSetDevice(int device)
{
    current = device;
    return 0;
}
