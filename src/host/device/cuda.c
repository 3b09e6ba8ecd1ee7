/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda.c - memory of CUDA, by the functions of its driver (libcuda.so.1).
 *
 * Copies are made in the context of the memory, independent of the calling thread's current
 * context, and on huddle's own stream, which does not wait for kernels of the program as the
 * default stream does.  A copy from pageable memory to a device returns early, so the stream is
 * waited for.  With a driver without streams, copies use cuMemcpy.
 *
 * CUDA Driver API, "Unified Addressing", "Memory Management", "Stream Management".
 */
#include "host/device/device.h"
#include "host/device/symbols.h"

#include <pthread.h>

/* Constants of cuda.h. */
enum { POINTER_CONTEXT = 1, POINTER_MEMORY_TYPE = 2, POINTER_IS_MANAGED = 8, POINTER_ORDINAL = 9 };
enum { MEMORY_IS_HOST = 1, MEMORY_IS_DEVICE = 2, STREAM_NON_BLOCKING = 1 };
enum {
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709
};

/* Half of CUDA_MEMCPY2D: source or destination.  A plane has both. */
struct side {
    size_t x, y;
    int memory;
    const void *host;
    uint64_t device;
    void *array;
    size_t pitch;
};

struct plane {
    struct side from, to;
    size_t width, height;
};

static struct {
    int (*get_attributes)(unsigned count, int *attributes, void **data, uint64_t pointer);
    int (*get_attribute)(void *data, int attribute, uint64_t pointer);
    int (*copy)(uint64_t dst, uint64_t src, size_t bytes);
    int (*copy_async)(uint64_t dst, uint64_t src, size_t bytes, void *stream);
    int (*copy_plane)(const struct plane *plane, void *stream);
    int (*create_stream)(void **stream, unsigned flags);
    int (*wait_for_stream)(void *stream);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*get_current)(void **context);
    int (*get_id)(void *context, unsigned long long *id);
    int (*retain_primary)(void **context, int device);
    int (*get_state)(int device, unsigned *flags, int *active);
    int (*count_devices)(int *count);
} driver;

static const struct hud_symbol symbols[] = {
    { "cuPointerGetAttribute", (void **)&driver.get_attribute, true },
    { "cuMemcpy", (void **)&driver.copy, true },
    { "cuPointerGetAttributes", (void **)&driver.get_attributes, false },
    { "cuMemcpyAsync", (void **)&driver.copy_async, false },
    { "cuMemcpy2DAsync_v2", (void **)&driver.copy_plane, false },
    { "cuStreamCreate", (void **)&driver.create_stream, false },
    { "cuStreamSynchronize", (void **)&driver.wait_for_stream, false },
    { "cuCtxPushCurrent_v2", (void **)&driver.push, false },
    { "cuCtxPopCurrent_v2", (void **)&driver.pop, false },
    { "cuCtxGetCurrent", (void **)&driver.get_current, false },
    { "cuCtxGetId", (void **)&driver.get_id, false },
    { "cuDevicePrimaryCtxRetain", (void **)&driver.retain_primary, false },
    { "cuDevicePrimaryCtxGetState", (void **)&driver.get_state, false },
    { "cuDeviceGetCount", (void **)&driver.count_devices, false },
    { NULL, NULL, false },
};

static bool find(void *library)
{
    return hud_symbols_find(library, symbols);
}

/* ---- contexts -------------------------------------------------------------------------------- */

enum { DEVICES = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards contexts and streams */

/* Returns the primary context of a device, which the runtime shares, or NULL.  The context is
 * retained once, for the life of the process. */
static void *primary_of(int device)
{
    static void *contexts[DEVICES];
    void *context = NULL;

    if (!driver.retain_primary || device < 0 || device >= DEVICES)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!contexts[device] && driver.retain_primary(&context, device) == 0)
        contexts[device] = context;
    context = contexts[device];
    pthread_mutex_unlock(&lock);
    return context;
}

/* Returns a context that the program's runtime uses, or NULL. */
static void *active_context(void)
{
    int count = 0, active = 0;
    unsigned flags;

    if (!driver.count_devices || !driver.get_state || driver.count_devices(&count) != 0)
        return NULL;
    for (int i = 0; i < count; i++)
        if (driver.get_state(i, &flags, &active) == 0 && active)
            return primary_of(i);
    return NULL;
}

static bool push(void *context)
{
    return context && driver.push && driver.pop && driver.push(context) == 0;
}

static void pop(void)
{
    void *popped;

    (void)driver.pop(&popped);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* The driver writes 4 or 8 bytes of each field. */
struct answers {
    uint64_t type, managed, ordinal, context;
};

static int ask_each(uint64_t pointer, struct answers *a)
{
    int error = driver.get_attribute(&a->type, POINTER_MEMORY_TYPE, pointer);

    if (error == 0) {
        (void)driver.get_attribute(&a->managed, POINTER_IS_MANAGED, pointer);
        (void)driver.get_attribute(&a->ordinal, POINTER_ORDINAL, pointer);
        (void)driver.get_attribute(&a->context, POINTER_CONTEXT, pointer);
    }
    return error;
}

/* Asks for all attributes in one call, which is faster.  Does not fail for memory of the host. */
static int ask_all(uint64_t pointer, struct answers *a)
{
    int attributes[] = { POINTER_MEMORY_TYPE, POINTER_IS_MANAGED, POINTER_ORDINAL,
                         POINTER_CONTEXT };
    void *data[] = { &a->type, &a->managed, &a->ordinal, &a->context };

    return driver.get_attributes(4, attributes, data, pointer);
}

/* Asks the driver, in a context if necessary: drivers may require a context, and the thread may
 * have no current context. */
static int ask_driver(uint64_t pointer, struct answers *a)
{
    int (*const question)(uint64_t, struct answers *) = driver.get_attributes ? ask_all : ask_each;
    int error = question(pointer, a);

    if (error != CUDA_ERROR_INVALID_CONTEXT || !push(active_context()))
        return error;
    error = question(pointer, a);
    pop();
    return error;
}

static bool ask(const void *address, struct hud_device_place *place)
{
    struct answers a = { .type = 0 };

    if (ask_driver((uintptr_t)address, &a) != 0)
        return false;
    place->managed = (a.managed & 0xff) != 0;
    place->device = (int)a.ordinal;
    place->context = (void *)(uintptr_t)a.context; /* NULL for memory of a pool */
    return place->managed || (unsigned)a.type == MEMORY_IS_DEVICE;
}

/* ---- streams: one in each context ------------------------------------------------------------ */

enum { STREAMS = 64 };
static struct stream {
    void *context, *stream;
    unsigned long long id; /* the context's number: its address may be reused */
} streams[STREAMS];
static int used;

static unsigned long long id_of(void *context)
{
    unsigned long long id = 0;

    return driver.get_id && driver.get_id(context, &id) == 0 ? id : 0;
}

/* Returns the entry of a context, or a new entry with a NULL stream.  Returns NULL if there are too
 * many. */
static struct stream *entry_of(void *context)
{
    unsigned long long id = id_of(context);

    for (int i = 0; i < used; i++)
        if (streams[i].context == context && streams[i].id == id)
            return &streams[i];
    if (used == STREAMS)
        return NULL;
    streams[used] = (struct stream){ context, NULL, id };
    return &streams[used++];
}

/* Finds or creates the stream of the current context.  anew: the previous stream no longer
 * exists. */
static int stream_of(void *context, bool anew, void **stream)
{
    int error = 0;

    pthread_mutex_lock(&lock);
    struct stream *entry = entry_of(context);
    if (entry && (anew || !entry->stream)) {
        entry->stream = NULL;
        error = driver.create_stream(&entry->stream, STREAM_NON_BLOCKING);
    }
    *stream = entry ? entry->stream : NULL; /* NULL is the default stream */
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int start_plane(const struct hud_device_copy *c, bool to_device, void *stream)
{
    const struct side device = { .memory = MEMORY_IS_DEVICE,
                                 .device = (uintptr_t)c->device,
                                 .pitch = (size_t)c->stride },
                      host = { .memory = MEMORY_IS_HOST, .host = c->host, .pitch = c->bytes };
    const struct plane plane = { to_device ? host : device, to_device ? device : host, c->bytes,
                                 c->rows };

    return driver.copy_plane(&plane, stream);
}

static int start_rows(const struct hud_device_copy *c, bool to_device, void *stream)
{
    int error = 0;

    for (size_t i = 0; i < c->rows && error == 0; i++) {
        struct hud_device_copy row = hud_device_row(c, i);
        uint64_t device = (uintptr_t)row.device, host = (uintptr_t)row.host;
        error = driver.copy_async(to_device ? device : host, to_device ? host : device, row.bytes,
                                  stream);
    }
    return error;
}

/* Copies on the context's stream and waits.  Waits also after an error, because copies started
 * before use the caller's memory. */
static int copy_on(void *context, bool anew, const struct hud_device_copy *c, size_t count,
                   bool to_device, const char **function)
{
    void *stream;
    int error = stream_of(context, anew, &stream);

    *function = "cuStreamCreate";
    if (error != 0)
        return error;
    for (size_t i = 0; i < count && error == 0; i++) {
        bool is_plane = driver.copy_plane && hud_device_is_plane(&c[i]);
        *function = is_plane ? "cuMemcpy2DAsync" : "cuMemcpyAsync";
        error = (is_plane ? start_plane : start_rows)(&c[i], to_device, stream);
    }
    int waited = driver.wait_for_stream(stream);
    if (error != 0)
        return error;
    *function = "cuStreamSynchronize";
    return waited;
}

/* Returns true for errors of a context or a stream that the program has destroyed. */
static bool is_stale(int error)
{
    return error == CUDA_ERROR_INVALID_CONTEXT || error == CUDA_ERROR_INVALID_HANDLE ||
           error == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static int copy_by_streams(void *context, const struct hud_device_copy *c, size_t count,
                           bool to_device, const char **function)
{
    int error = copy_on(context, false, c, count, to_device, function);

    return is_stale(error) ? copy_on(context, true, c, count, to_device, function) : error;
}

static int copy_plainly(const struct hud_device_copy *c, size_t count, bool to_device,
                        const char **function)
{
    int error = 0;

    *function = "cuMemcpy";
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < c[i].rows && error == 0; row++) {
            struct hud_device_copy one = hud_device_row(&c[i], row);
            uint64_t device = (uintptr_t)one.device, host = (uintptr_t)one.host;
            error = driver.copy(to_device ? device : host, to_device ? host : device, one.bytes);
        }
    return error;
}

/* Returns the context in which memory is copied: the memory's own context.  Memory of a pool has
 * none, and can be used in each context of its device. */
static void *context_for(const struct hud_device_place *place)
{
    void *context = place->context ? place->context : primary_of(place->device);

    if (!context && driver.get_current && driver.get_current(&context) != 0)
        context = NULL;
    return context;
}

static int copy(const struct hud_device_place *place, const struct hud_device_copy *copies,
                size_t count, bool to_device, const char **function)
{
    void *context = context_for(place);
    bool has_streams = driver.copy_async && driver.create_stream && driver.wait_for_stream;
    bool pushed = push(context); /* the copy reports an error */
    int error = context && has_streams
                    ? copy_by_streams(context, copies, count, to_device, function)
                    : copy_plainly(copies, count, to_device, function);
    if (pushed)
        pop();
    return error;
}

const struct hud_device_runtime hud_device_cuda = {
    "CUDA", { "libcuda.so", NULL }, find, ask, copy
};
