/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h - memory of devices (GPUs): which memory an address is in, and copies between memory of
 * a device and of the host.
 *
 * device.c   the runtimes in the process, questions to them and copies by them
 * cuda.c     CUDA's driver
 * hip.c      HIP's runtime
 * ze.c       Level Zero's loader
 * hsa.c      HSA's runtime
 * runs.c     the runs of memory of a datatype's element
 * view.c     memory of a device as a hud_view
 *
 * huddle uses only runtimes that the process has loaded, and loads none.  A program without a
 * runtime pays nothing: the fast path of a call compares its buffer with hud_device_limit instead
 * of testing for a null buffer.  While a runtime is in the process, the limit is 0 and the runtime
 * is asked about each buffer.
 */
#ifndef HUD_HOST_DEVICE_H
#define HUD_HOST_DEVICE_H

#include "base/process_atomics.h"
#include "huddle/huddle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- device.c -------------------------------------------------------------------------------- */

/* A piece of a copy between a device and the host: rows that are adjacent in memory of the host,
 * and `stride` bytes apart on the device. */
struct hud_device_copy {
    char *device, *host;
    size_t bytes, rows; /* bytes of a row */
    ptrdiff_t stride;   /* 0 if there is one row */
};

/* The memory at an address. */
struct hud_device_place {
    const struct hud_device_runtime *runtime; /* NULL: plain memory */
    void *context;                            /* the runtime's data about the memory, or NULL */
    int device;
    bool managed; /* the processor can use it, but the kernel may not copy it */
};

/* A runtime: its library and its functions. */
struct hud_device_runtime {
    const char *name;
    const char *libraries[2]; /* prefixes of file names; the first is preferred; or NULL */
    /* Finds the functions in the library.  Returns false if a required function is missing. */
    bool (*find)(void *library);
    /* Returns true if the address is in memory of a device, or in managed memory. */
    bool (*ask)(const void *address, struct hud_device_place *place);
    /* Makes copies that are complete on return.  Returns 0, or the runtime's error; then *function
     * is the name of the failed function. */
    int (*copy)(const struct hud_device_place *place, const struct hud_device_copy *copies,
                size_t count, bool to_device, const char **function);
};

/* Returns whether a runtime can copy several rows by a single call: its functions for planes do not
 * support strides which are negative, long, or less than a row. */
static inline bool hud_device_is_plane(const struct hud_device_copy *c)
{
    return c->rows > 1 && c->stride >= (ptrdiff_t)c->bytes && c->stride < INT32_MAX &&
           c->rows < INT32_MAX;
}

/* Returns row number `row` as a separate copy. */
static inline struct hud_device_copy hud_device_row(const struct hud_device_copy *c, size_t row)
{
    return (struct hud_device_copy){ c->device + (ptrdiff_t)row * c->stride,
                                     c->host + row * c->bytes, c->bytes, 1, 0 };
}

extern const struct hud_device_runtime hud_device_cuda, hud_device_hip, hud_device_ze,
    hud_device_hsa;

/* Bounds plain memory: an address above 0 and at most this limit is certainly plain memory.  So
 * NULL and (void *)-1 never are. */
extern _Atomic(uintptr_t) hud_device_limit __attribute__((visibility("hidden")));

/* Returns true if the address is not null, not (void *)-1, and not on a device.  Plain memory may
 * also give false. */
static inline bool hud_device_is_plain(const void *address)
{
    return (uintptr_t)address - 1 < local_glance(&hud_device_limit);
}

/* Returns true if a runtime is in the process. */
bool hud_device_present(void);
/* Returns true if the address is on a device or in managed memory. */
bool hud_device_ask(const void *address, struct hud_device_place *place);
/* Makes copies in the same place.  Returns false if the runtime failed, after printing a line. */
bool hud_device_copy(const struct hud_device_place *place, const struct hud_device_copy *copies,
                     size_t count, bool to_device);
/* Returns true if a list of memory kinds names no device: MPI 4.1's info
 * mpi_assert_memory_alloc_kinds, as "system,mpi" or "cuda:device,system". */
bool hud_device_is_excluded(const char *kinds);
/* Disables all questions about addresses (HUDDLE_DEVICES=off). */
void hud_device_switch_off(void);
/* Makes hud_device_is_plain return false for all buffers, because the front end has more questions
 * about them. */
void hud_device_ask_always(void);

/* Records that a runtime may have been loaded.  Cheap: the next call with a buffer searches. */
HUD_API void huddle_look_again(void);

/* ---- runs.c ---------------------------------------------------------------------------------- */

/* Packed bytes [from, from + bytes) of an element are `at` bytes from its address. */
struct hud_run {
    size_t from, bytes;
    ptrdiff_t at;
};

/* The runs of an element, in the order of its packed form. */
struct hud_runs {
    atomic_int users;
    size_t bytes; /* size of an element, packed */
    size_t count, room;
    struct hud_run *run;
};

/* Returns an empty list with one user, or NULL if out of memory. */
struct hud_runs *hud_runs_create(void);
/* Appends a run.  Returns false if out of memory. */
bool hud_runs_add(struct hud_runs *runs, ptrdiff_t at, size_t bytes);
void hud_runs_share(struct hud_runs *runs);
/* Drops a user; the last user frees the list.  NULL is allowed. */
void hud_runs_drop(struct hud_runs *runs);
/* Returns the run that contains a packed byte. */
const struct hud_run *hud_runs_find(const struct hud_runs *runs, size_t offset);

/* The status of a call with a failed copy: MPI_ERR_OTHER. */
enum { HUD_ERR_DEVICE = HUD_ERR_UNLIKE };

/* ---- view.c ---------------------------------------------------------------------------------- */

/* A buffer with memory of a device. */
struct hud_device_view {
    char *first;           /* element 0; if contiguous, its first byte */
    ptrdiff_t extent;      /* bytes from element to element */
    struct hud_runs *runs; /* NULL: contiguous */
    struct hud_device_place place;
    bool mixed;  /* parts are elsewhere: the runtime is asked about each run */
    bool failed; /* a copy has failed */
};

/* The bytes of a buffer that are asked about.  The other bytes belong to the same array. */
struct hud_device_span {
    const void *first, *last;
    bool absolute; /* except if addresses are absolute (MPI_BOTTOM) */
};

/* Returns true if the buffer has memory of a device; then place and mixed are set. */
bool hud_device_view_ask(struct hud_device_view *view, const struct hud_device_span *span);
/* Packs and unpacks memory of a device, for hud_view. */
size_t hud_device_pack(struct hud_device_view *view, void *dst, size_t offset, size_t bytes);
void hud_device_unpack(struct hud_device_view *view, const void *src, size_t offset, size_t bytes);

#endif
