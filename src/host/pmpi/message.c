/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.c - a user's buffer as a huddle view.
 *
 * If the buffer is contiguous, the view is its bytes.  Otherwise the MPI packs and unpacks whole
 * elements; its packed form is the bare bytes in the order of the signature (checked by life.c).
 * MPI has no partial pack, and the sender decides where pieces end.  So a piece of an element is
 * cut from a packed copy.  To write a piece, the present element is packed, the piece replaced, and
 * the element unpacked.  Elements that are too large for this are staged: the whole message is
 * packed in private memory, which is allocated before shared memory is touched.
 *
 * Memory of a device is copied by its runtime, run by run (host/device): the MPI may not support
 * devices, and the packed form is needed in memory of the host.
 */
#include "host/pmpi/pmpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Describes elements of absolute addresses (MPI_BOTTOM) relative to an address that is not null,
 * because some MPICHs refuse to pack and unpack at a null address.  The new type is temporary: as
 * an attribute of the other type it would keep that type alive.
 */
enum { NOT_NULL = 64 };

static char *begin_bottom(MPI_Datatype *handle)
{
    const MPI_Aint back = -NOT_NULL;

    real.Type_create_hindexed_block(1, 1, &back, *handle, handle);
    real.Type_commit(handle);
    return (char *)(uintptr_t)NOT_NULL;
}

void hud_message_pack(const char *first, size_t count, MPI_Datatype handle, MPI_Comm comm,
                      size_t bytes, void *packed)
{
    bool bottom = first == NULL;
    MPI_Count position = 0;

    if (bottom)
        first = begin_bottom(&handle);
    real.Pack_c(first, (MPI_Count)count, handle, packed, (MPI_Count)bytes, &position, comm);
    if (bottom)
        real.Type_free(&handle);
}

void hud_message_unpack(const void *packed, size_t bytes, size_t count, MPI_Datatype handle,
                        MPI_Comm comm, char *first)
{
    bool bottom = first == NULL;
    MPI_Count position = 0;

    if (bottom)
        first = begin_bottom(&handle);
    real.Unpack_c(packed, (MPI_Count)bytes, &position, first, (MPI_Count)count, handle, comm);
    if (bottom)
        real.Type_free(&handle);
}

static void pack_elements(const struct message *m, size_t element, size_t count, void *packed)
{
    hud_message_pack(m->first + (MPI_Count)element * m->type.extent, count, m->handle, m->comm,
                     count * (size_t)m->type.bytes, packed);
}

static void unpack_elements(const struct message *m, size_t element, size_t count,
                            const void *packed)
{
    hud_message_unpack(packed, count * (size_t)m->type.bytes, count, m->handle, m->comm,
                       m->first + (MPI_Count)element * m->type.extent);
}

static size_t pack(const struct hud_view *view, void *dst, size_t offset, size_t max)
{
    const struct message *m = view->host;
    size_t bytes = (size_t)m->type.bytes, element = offset / bytes, inside = offset % bytes;
    size_t whole = smaller(max, view->bytes - offset) / bytes;
    char one[ELEMENT_MAX];

    if (inside == 0 && whole > 0) {
        pack_elements(m, element, whole, dst);
        return whole * bytes;
    }
    size_t piece = smaller(max, bytes - inside);
    pack_elements(m, element, 1, one);
    memcpy(dst, one + inside, piece);
    return piece;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset, size_t max)
{
    const struct message *m = view->host;
    size_t bytes = (size_t)m->type.bytes;
    const char *from = src;
    char one[ELEMENT_MAX];

    for (size_t done; max > 0; from += done, offset += done, max -= done) {
        size_t element = offset / bytes, inside = offset % bytes;
        done = inside == 0 ? max / bytes * bytes : 0;
        if (done > 0) {
            unpack_elements(m, element, done / bytes, from);
            continue;
        }
        done = smaller(max, bytes - inside);
        pack_elements(m, element, 1, one);
        memcpy(one + inside, from, done);
        unpack_elements(m, element, 1, one);
    }
}

void hud_message_fill(struct message *m)
{
    if (m->closes && m->stage && !m->packed) {
        pack_elements(m, 0, (size_t)m->count, m->stage);
        m->packed = true;
    }
}

static size_t pack_staged(const struct hud_view *view, void *dst, size_t offset, size_t max)
{
    struct message *m = view->host;
    size_t piece = smaller(max, view->bytes - offset);

    hud_message_fill(m);
    memcpy(dst, m->stage + offset, piece);
    return piece;
}

static void unpack_staged(const struct hud_view *view, const void *src, size_t offset, size_t bytes)
{
    struct message *m = view->host;

    memcpy(m->stage + offset, src, bytes);
    if (m->filled < offset + bytes)
        m->filled = offset + bytes;
}

/* Opens the view of a buffer that is not contiguous. */
static int open_packed(size_t bytes, struct message *m)
{
    m->stage = m->type.staged ? malloc(bytes) : NULL;
    m->closes = m->stage != NULL;
    m->filled = 0;
    m->packed = false;
    /* The base is the address of the first byte, by which huddle detects a call in place. */
    m->view =
        (struct hud_view){ m->first + m->type.begin, bytes, m->type.staged ? pack_staged : pack,
                           m->type.staged ? unpack_staged : unpack, m };
    return !m->type.staged || m->stage ? HUD_OK : HUD_ERR_MEMORY;
}

/* ---- memory of a device ---------------------------------------------------------------------- */

static size_t pack_device(const struct hud_view *view, void *dst, size_t offset, size_t max)
{
    struct message *m = view->host;

    return hud_device_pack(&m->device, dst, offset, smaller(max, view->bytes - offset));
}

static void unpack_device(const struct hud_view *view, const void *src, size_t offset, size_t bytes)
{
    struct message *m = view->host;

    hud_device_unpack(&m->device, src, offset, bytes);
}

/* Returns true if the message is on a device, in whole or in part. */
static bool is_on_device(struct message *m, bool one_run)
{
    MPI_Count far = (m->count - 1) * m->type.extent;
    char *low = m->first + m->type.begin;
    const struct hud_device_span span = { low, one_run ? low : low + far + m->type.reach - 1,
                                          m->first == NULL && !one_run };

    return hud_device_present() && !hud_comm_has_no_devices(m->comm) &&
           hud_device_view_ask(&m->device, &span);
}

static int open_device(bool one_run, struct message *m)
{
    m->stage = NULL;
    m->closes = true;
    m->device.first = one_run ? m->first + m->type.begin : m->first;
    m->device.extent = m->type.extent;
    m->device.runs = one_run ? NULL : hud_type_runs(m->handle);
    m->view.base = m->first + m->type.begin;
    m->view.pack = pack_device;
    m->view.unpack = unpack_device;
    m->view.host = m;
    return one_run || m->device.runs ? HUD_OK : HUD_ERR_MEMORY;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int hud_message_open(const void *user, MPI_Count count, MPI_Datatype handle, MPI_Comm comm,
                     struct message *m)
{
    void *buffer = (void *)(uintptr_t)user; /* read or written, depending on the collective */
    MPI_Count bytes;

    m->closes = false;
    if (count < 0 || buffer == MPI_IN_PLACE || !hud_type_find(handle, &m->type))
        return HUD_PASS;
    if (__builtin_mul_overflow(count, m->type.bytes, &bytes) || bytes < 0)
        return HUD_PASS;
    m->view = (struct hud_view){
        .bytes = (size_t)bytes
    }; /* no elements, or empty elements; without an address, which could be equal to another
          buffer's */
    if (bytes == 0)
        return HUD_OK;
    m->first = buffer;
    m->count = count;
    m->handle = handle;
    m->comm = comm;
    if ((uintptr_t)buffer + (uintptr_t)m->type.begin == 0)
        return HUD_PASS; /* a null buffer: the MPI reports the error */
    bool one_run = m->type.run && (count == 1 || m->type.extent == m->type.bytes);
    if (is_on_device(m, one_run))
        return open_device(one_run, m);
    if (!one_run)
        return open_packed((size_t)bytes, m);
    m->view.base = m->first + m->type.begin;
    return HUD_OK;
}

bool hud_message_close(struct message *m)
{
    if (!m->closes)
        return true;
    m->closes = false;
    if (!m->stage) {
        hud_runs_drop(m->device.runs);
        return !m->device.failed;
    }
    if (m->filled > 0)
        unpack_elements(m, 0, m->filled / (size_t)m->type.bytes, m->stage);
    free(m->stage);
    return true;
}
