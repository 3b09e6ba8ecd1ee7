/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h - memory of devices (GPUs): which memory is at an address, and copies between it and the
 * host's.
 *
 * device.c   the runtimes that are in the process, questions to them and copies by them
 * cuda.c     CUDA's driver
 * hip.c      HIP's runtime
 * ze.c       Level Zero's loader
 * runs.c     the runs of memory of a datatype's element
 * view.c     memory of a device as a hud_view
 *
 * A runtime is one that the process has loaded; huddle loads none.  A program without one pays
 * nothing: the fast path of a call compares its buffer with hud_device_limit, in place of the test
 * for a null buffer.  While a runtime is in the process, the limit is 0 and each buffer is asked
 * for.
 */
#ifndef HUD_HOST_DEVICE_H
#define HUD_HOST_DEVICE_H

#include "core/local.h"
#include "huddle/huddle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- device.c -------------------------------------------------------------------------------- */

/* One piece of a copy between a device and the host: rows that follow each other in memory of the
 * host, and have `stride` bytes from one to the next on the device. */
struct hud_device_copy {
    char *device, *host;
    size_t bytes, rows; /* bytes of a row */
    ptrdiff_t stride;   /* 0 where there is one row */
};

/* The memory at an address. */
struct hud_device_place {
    const struct hud_device_runtime *runtime; /* NULL: plain memory */
    void *context;                            /* the runtime's own data about it, or NULL */
    int device;
    bool managed; /* the processor can use it, but the kernel may not copy it */
};

/* A runtime: its library and its functions. */
struct hud_device_runtime {
    const char *name;
    const char *libraries[2]; /* a file whose name begins so; the first is preferred, NULL: none */
    /* Finds the functions in the library.  Returns false if one that is needed is missing. */
    bool (*find)(void *library);
    /* Returns true if the address is in memory of a device, or managed. */
    bool (*ask)(const void *address, struct hud_device_place *place);
    /* Makes copies that are complete when it returns.  Returns 0, or the runtime's error; then
     * *function is the name of what failed. */
    int (*copy)(const struct hud_device_place *place, const struct hud_device_copy *copies,
                size_t count, bool to_device, const char **function);
};

/* Several rows that a runtime can copy by one call: its functions for planes take no stride that is
 * negative, long or less than a row. */
static inline bool hud_device_is_plane(const struct hud_device_copy *c)
{
    return c->rows > 1 && c->stride >= (ptrdiff_t)c->bytes && c->stride < INT32_MAX &&
           c->rows < INT32_MAX;
}

/* Returns row number `row` as a copy of its own. */
static inline struct hud_device_copy hud_device_row(const struct hud_device_copy *c, size_t row)
{
    return (struct hud_device_copy){ c->device + (ptrdiff_t)row * c->stride,
                                     c->host + row * c->bytes, c->bytes, 1, 0 };
}

extern const struct hud_device_runtime hud_device_cuda, hud_device_hip, hud_device_ze;

/* An address is certainly of plain memory if it is above 0 and at most this.  So neither NULL nor
 * (void *)-1 is, ever. */
extern _Atomic(uintptr_t) hud_device_limit __attribute__((visibility("hidden")));

/* Returns true if the address is not null, not (void *)-1, and not on a device.  If false, it may
 * still be plain. */
static inline bool hud_device_is_plain(const void *address)
{
    return (uintptr_t)address - 1 < local_glance(&hud_device_limit);
}

/* Returns true if a runtime is in the process. */
bool hud_device_present(void);
/* Returns true if the address is on a device or in managed memory. */
bool hud_device_ask(const void *address, struct hud_device_place *place);
/* Makes copies, of one place.  Returns false if the runtime failed, after a line about it. */
bool hud_device_copy(const struct hud_device_place *place, const struct hud_device_copy *copies,
                     size_t count, bool to_device);
/* Returns true if a list of kinds of memory has none of a device: MPI 4.1's info
 * mpi_assert_memory_alloc_kinds, as "system,mpi" or "cuda:device,system". */
bool hud_device_is_excluded(const char *kinds);
/* HUDDLE_DEVICES=off: no address is asked for. */
void hud_device_switch_off(void);
/* The front end has more questions about buffers: none is plain by the limit. */
void hud_device_ask_always(void);

/* A runtime may have been loaded.  Cheap: the next call with a buffer looks. */
HUD_API void huddle_look_again(void);

/* ---- runs.c ---------------------------------------------------------------------------------- */

/* Packed bytes [from, from + bytes) of an element are at this place from its address. */
struct hud_run {
    size_t from, bytes;
    ptrdiff_t at;
};

/* The runs of one element, in the order of its packed form. */
struct hud_runs {
    atomic_int users;
    size_t bytes; /* of an element, packed */
    size_t count, room;
    struct hud_run *run;
};

/* Returns an empty list with one user, or NULL without memory. */
struct hud_runs *hud_runs_create(void);
/* Adds a run behind the others.  Returns false without memory. */
bool hud_runs_add(struct hud_runs *runs, ptrdiff_t at, size_t bytes);
void hud_runs_share(struct hud_runs *runs);
/* The last user frees it.  NULL is allowed. */
void hud_runs_drop(struct hud_runs *runs);
/* Returns the run that has this packed byte. */
const struct hud_run *hud_runs_find(const struct hud_runs *runs, size_t offset);

/* The status of a call of which a copy has failed: MPI_ERR_OTHER. */
enum { HUD_ERR_DEVICE = HUD_ERR_UNLIKE };

/* ---- view.c ---------------------------------------------------------------------------------- */

/* A buffer that has memory of a device. */
struct hud_device_view {
    char *first;           /* element 0; if contiguous, its first byte */
    ptrdiff_t extent;      /* from element to element */
    struct hud_runs *runs; /* NULL: contiguous */
    struct hud_device_place place;
    bool mixed;  /* parts are elsewhere: each run is asked for */
    bool failed; /* a copy has */
};

/* The bytes of a buffer that are asked for, since the others are of the same array. */
struct hud_device_span {
    const void *first, *last;
    bool absolute; /* not so: addresses are absolute (MPI_BOTTOM) */
};

/* Returns true if the buffer has memory of a device: then place and mixed are set. */
bool hud_device_view_ask(struct hud_device_view *view, const struct hud_device_span *span);
/* hud_view's pack and unpack, of that memory. */
size_t hud_device_pack(struct hud_device_view *view, void *dst, size_t offset, size_t bytes);
void hud_device_unpack(struct hud_device_view *view, const void *src, size_t offset, size_t bytes);

#endif
