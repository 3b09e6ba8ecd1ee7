/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda.c - a stand-in for libcuda.so.1. Memory belongs to one of two contexts, or to a pool. All
 * queries fail without a current context. Copies must be made in the memory's context, and are
 * carried out when their stream is synchronized. PLAIN: a driver without streams and contexts.
 */
#include "memory.h"

typedef uint64_t pointer;

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, LAUNCH_FAILED = 719 };
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, ORDINAL = 9 };

EXPORT int cuPointerGetAttribute(void *data, int attribute, pointer p);
EXPORT int cuMemcpy(pointer dst, pointer src, size_t bytes);

static char contexts[2];

/* Returns the context of a memory, or NULL for memory of a pool. */
static void *context_of(const struct memory *m)
{
    return m->number % 3 < 2 ? &contexts[m->number % 3] : NULL;
}

#ifndef PLAIN
enum { DEEPEST = 8, QUEUE = 256 };
static _Thread_local void *stack[DEEPEST];
static _Thread_local int depth;
#endif

static bool may_ask(void)
{
#ifdef PLAIN
    return true;
#else
    return depth > 0;
#endif
}

int cuPointerGetAttribute(void *data, int attribute, pointer p)
{
    struct memory m;

    if (!may_ask())
        return INVALID_CONTEXT;
    if (!find_memory((void *)(uintptr_t)p, &m))
        return INVALID_VALUE;
    if (attribute == MEMORY_TYPE)
        *(unsigned *)data = 2;
    else if (attribute == IS_MANAGED)
        *(unsigned *)data = m.managed;
    else if (attribute == ORDINAL)
        *(int *)data = 0;
    else if (attribute == CONTEXT)
        *(void **)data = context_of(&m);
    return 0;
}

int cuMemcpy(pointer dst, pointer src, size_t bytes)
{
    if (failing)
        return LAUNCH_FAILED;
    copy_memory((void *)(uintptr_t)dst, (void *)(uintptr_t)src, bytes);
    return 0;
}

#ifndef PLAIN
EXPORT int cuPointerGetAttributes(unsigned count, int *attributes, void **data, pointer p);
EXPORT int cuCtxPushCurrent_v2(void *context);
EXPORT int cuCtxPopCurrent_v2(void **context);
EXPORT int cuCtxGetCurrent(void **context);
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuStreamCreate(void **stream, unsigned flags);
EXPORT int cuMemcpyAsync(pointer dst, pointer src, size_t bytes, void *stream);
EXPORT int cuStreamSynchronize(void *stream);
struct side {
    size_t x, y;
    int memory;
    void *host;
    pointer device;
    void *array;
    size_t pitch;
};
struct plane {
    struct side from, to;
    size_t width, height;
};
EXPORT int cuMemcpy2DAsync_v2(const struct plane *plane, void *stream);

struct stream {
    void *context;
    int count;
    struct {
        pointer dst, src;
        size_t bytes;
    } queue[QUEUE];
};
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;

int cuPointerGetAttributes(unsigned count, int *attributes, void **data, pointer p)
{
    if (!may_ask())
        return INVALID_CONTEXT;
    for (unsigned i = 0; i < count; i++)
        if (cuPointerGetAttribute(data[i], attributes[i], p) != 0)
            *(unsigned *)data[i] = 0;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (depth == DEEPEST || !context)
        return INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &contexts[0];
    return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = device == 1;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 2;
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    struct stream *s = calloc(1, sizeof *s);

    (void)flags;
    if (!s || cuCtxGetCurrent(&s->context) != 0 || !s->context)
        return INVALID_CONTEXT;
    *stream = s;
    return 0;
}

/* Reports whether the current context is the stream's, and the memory's if the address is device
 * memory of a context. */
static bool may_copy(pointer address, const struct stream *s)
{
    struct memory m;
    void *current;

    cuCtxGetCurrent(&current);
    return current == s->context && (!find_memory((void *)(uintptr_t)address, &m) ||
                                     !context_of(&m) || context_of(&m) == current);
}

/* Carries out the queued copies of a stream. The lock must be held. */
static int carry_out(struct stream *s)
{
    int error = 0;

    for (int i = 0; i < s->count && error == 0; i++)
        error = cuMemcpy(s->queue[i].dst, s->queue[i].src, s->queue[i].bytes);
    s->count = 0;
    return error;
}

int cuMemcpyAsync(pointer dst, pointer src, size_t bytes, void *stream)
{
    struct stream *s = stream;
    int error = s && may_copy(dst, s) && may_copy(src, s) ? 0 : INVALID_HANDLE;

    pthread_mutex_lock(&stream_lock);
    if (error == 0 && s->count == QUEUE)
        error = carry_out(s);
    if (error == 0) {
        s->queue[s->count].dst = dst;
        s->queue[s->count].src = src;
        s->queue[s->count++].bytes = bytes;
    }
    pthread_mutex_unlock(&stream_lock);
    return error;
}

static pointer start_of(const struct side *side)
{
    return side->memory == 2 ? side->device : (uintptr_t)side->host;
}

int cuMemcpy2DAsync_v2(const struct plane *p, void *stream)
{
    int error = p->from.pitch >= p->width && p->to.pitch >= p->width ? 0 : INVALID_VALUE;

    for (size_t row = 0; row < p->height && error == 0; row++)
        error = cuMemcpyAsync(start_of(&p->to) + row * p->to.pitch,
                              start_of(&p->from) + row * p->from.pitch, p->width, stream);
    return error;
}

int cuStreamSynchronize(void *stream)
{
    pthread_mutex_lock(&stream_lock);
    int error = carry_out(stream);
    pthread_mutex_unlock(&stream_lock);
    return error;
}
#endif
