/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.c - a user's buffer of any datatype as a hud_view.
 *
 * If the buffer is contiguous and in host memory, the view is the memory.  Otherwise Open MPI's
 * convertor packs and unpacks it: gaps, permuted structures, and device memory that Open MPI knows
 * (CUDA; ROCm and Level Zero in 5.0), which the convertor copies with the device's own functions.
 * Device memory that Open MPI does not know is copied by the device's runtime (host/device), in the
 * runs that the convertor returns.  So a rank with a device buffer and a rank with a host buffer
 * can take part in the same collective without an agreement.
 *
 * Views may share a convertor, which serves one of them at a time.  Its position is set each time,
 * which costs nothing while bytes come in order.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static void prepare(opal_convertor_t *c, enum view_use use, const opal_datatype_t *type,
                    size_t count, const void *buffer)
{
    OBJ_CONSTRUCT(c, opal_convertor_t);
    if (use == VIEW_PACKS)
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, type, count, buffer, 0,
                                                 c);
    else
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, type, count, buffer, 0,
                                                 c);
}

void hud_convertor_end(struct view_convertor *c)
{
    OBJ_DESTRUCT(&c->convertor);
    c->serves = NULL;
}

/* Returns the view's convertor, set up for the view. */
static struct view_convertor *turn_to(struct view_state *s, enum view_use use)
{
    struct view_convertor *c = s->convertor;

    if (c->serves == s && c->use == use)
        return c;
    hud_convertor_close(c);
    prepare(&c->convertor, use, s->type, s->count, s->buffer);
    c->serves = s;
    c->use = use;
    c->spill_from = c->spill_bytes = 0;
    return c;
}

/*
 * Sets the position, or the beginning of an element that is being packed; returns the position.
 * Open MPI's convertor fails to skip bytes from the middle on (arrays of structures with gaps), but
 * not from the beginning.
 */
static size_t position(struct view_convertor *c, size_t offset_bytes)
{
    size_t beginning = 0;

    if (offset_bytes > c->convertor.bConverted)
        opal_convertor_set_position(&c->convertor, &beginning);
    opal_convertor_set_position(&c->convertor, &offset_bytes);
    return offset_bytes;
}

static size_t pack_here(struct view_convertor *c, void *dst, size_t max_bytes)
{
    struct iovec to = { .iov_base = dst, .iov_len = max_bytes };
    uint32_t pieces = 1;
    size_t packed = max_bytes;

    opal_convertor_pack(&c->convertor, &to, &pieces, &packed);
    return packed;
}

static void unpack_at(struct view_convertor *c, const void *src, size_t offset_bytes, size_t bytes)
{
    struct iovec from = { .iov_base = (void *)(uintptr_t)src, .iov_len = bytes };
    uint32_t pieces = 1;

    position(c, offset_bytes);
    opal_convertor_unpack(&c->convertor, &from, &pieces, &bytes);
}

/* Unpacks staged data into the user's buffer.  The data stays in the stage, because adjacent data
 * may follow. */
static void flush(struct view_state *s)
{
    if (s->stage != NULL)
        unpack_at(turn_to(s, VIEW_UNPACKS), s->stage, 0, s->staged_bytes);
}

/* Packs bytes.  The convertor packs whole elements: an element that does not fit, or is needed from
 * its middle on, is packed into `spill` and returned in parts. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    struct view_state *s = view->host;

    if (s->convertor->serves != s || s->convertor->use != VIEW_PACKS)
        flush(s);
    struct view_convertor *c = turn_to(s, VIEW_PACKS);
    if (offset_bytes < c->spill_from || offset_bytes - c->spill_from >= c->spill_bytes) {
        size_t packed =
            position(c, offset_bytes) == offset_bytes ? pack_here(c, dst, max_bytes) : 0;
        if (packed > 0)
            return packed;
        c->spill_from = position(c, offset_bytes);
        c->spill_bytes = pack_here(c, c->spill, sizeof c->spill);
    }
    size_t skip = offset_bytes - c->spill_from, left = c->spill_bytes - skip;
    size_t bytes = left < max_bytes ? left : max_bytes;
    memcpy(dst, c->spill + skip, bytes);
    return bytes;
}

/* Open MPI's convertor overruns its own buffer when a piece ends within an element longer than this
 * (MPI_C_LONG_DOUBLE_COMPLEX). */
enum { SAFE_TO_CUT = 16 };

static bool has_long_elements(const opal_datatype_t *type)
{
    for (uint32_t i = 0, used = type->bdt_used; used != 0; i++, used >>= 1) {
        if ((used & 1) != 0 && opal_datatype_basicDatatypes[i]->size > SAFE_TO_CUT)
            return true;
    }
    return false;
}

/* Unpacks bytes.  Types with long elements are gathered in private memory and unpacked at the
 * end. */
static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    struct view_state *s = view->host;

    if (!s->filled && has_long_elements(s->type)) {
        s->stage = malloc(view->bytes);
        s->failed = s->stage == NULL;
        if (!s->failed) /* not all of a buffer in place is written */
            hud_elements_pack(s->type, s->count, s->buffer, s->stage);
    }
    s->filled = true;
    if (s->failed)
        return;
    if (s->stage == NULL) {
        unpack_at(turn_to(s, VIEW_UNPACKS), src, offset_bytes, bytes);
        return;
    }
    memcpy(s->stage + offset_bytes, src, bytes);
    if (s->staged_bytes < offset_bytes + bytes)
        s->staged_bytes = offset_bytes + bytes;
}

/* ---- device memory that Open MPI does not know ---- */

/* Returns the runs of an element at an address, or NULL if out of memory. */
static struct hud_runs *flatten(const opal_datatype_t *type, const void *element)
{
    struct hud_runs *runs = hud_runs_create();
    bool good = runs != NULL;
    int32_t complete = 0;
    struct view_convertor c;

    prepare(&c.convertor, VIEW_PACKS, type, 1, element);
    while (good && !complete) {
        struct iovec run[32];
        uint32_t count = 32;
        size_t bytes;
        complete = opal_convertor_raw(&c.convertor, run, &count, &bytes);
        for (uint32_t i = 0; i < count && good; i++)
            good = hud_runs_add(runs, (ptrdiff_t)((uintptr_t)run[i].iov_base - (uintptr_t)element),
                                run[i].iov_len);
    }
    OBJ_DESTRUCT(&c.convertor);
    if (good)
        return runs;
    hud_runs_drop(runs);
    return NULL;
}

static bool has_runs(struct view_state *s)
{
    if (!s->one_run && s->device.runs == NULL)
        s->device.runs = flatten(s->type, s->buffer);
    s->failed = s->failed || (!s->one_run && s->device.runs == NULL);
    return !s->failed;
}

static size_t pack_device(const struct hud_view *view, void *dst, size_t offset_bytes,
                          size_t max_bytes)
{
    struct view_state *s = view->host;
    size_t left = view->bytes - offset_bytes, bytes = left < max_bytes ? left : max_bytes;

    if (has_runs(s))
        return hud_device_pack(&s->device, dst, offset_bytes, bytes);
    memset(dst, 0, bytes);
    return bytes;
}

static void unpack_device(const struct hud_view *view, const void *src, size_t offset_bytes,
                          size_t bytes)
{
    struct view_state *s = view->host;

    if (has_runs(s))
        hud_device_unpack(&s->device, src, offset_bytes, bytes);
}

/* Returns true if the buffer is on a device, in whole or in part. */
static bool is_on_device(struct view_state *s, bool contiguous, struct hud_module *module)
{
    const opal_datatype_t *t = s->type;
    ptrdiff_t extent = t->ub - t->lb, far = (ptrdiff_t)(s->count - 1) * extent;
    char *low = (char *)(uintptr_t)s->buffer + t->true_lb;
    const struct hud_device_span span = { low,
                                          contiguous ? low
                                                     : low + far + t->true_ub - t->true_lb - 1,
                                          s->buffer == NULL && !contiguous };

    return hud_device_present() && !hud_module_has_no_devices(module) &&
           hud_device_view_ask(&s->device, &span);
}

/* ---- opening and closing ---- */

/* Opens a buffer that is not plain memory, or may not be. */
void hud_view_open_other(void *buffer, size_t count, const opal_datatype_t *type,
                         struct view_state *state, struct hud_module *module, struct hud_view *view)
{
    bool contiguous = opal_datatype_is_contiguous_memory_layout(type, count == 1 ? 1 : 2);

    *state = (struct view_state){
        .buffer = buffer, .count = count, .type = type, .convertor = state->convertor
    };
    bool known = compat_on_device(buffer),
         device = !known && is_on_device(state, contiguous, module);
    if (contiguous && !known && !device)
        return;
    state->device.first = contiguous ? view->base : buffer;
    state->device.extent = type->ub - type->lb;
    state->one_run = contiguous;
    view->pack = device ? pack_device : pack;
    view->unpack = device ? unpack_device : unpack;
    view->host = state;
}

int hud_view_end(struct hud_view *view, int status)
{
    struct view_state *s = view->host;

    flush(s);
    free(s->stage);
    hud_runs_drop(s->device.runs);
    if (s->failed)
        status = HUD_ERR_MEMORY;
    else if (s->device.failed && status == HUD_OK)
        status = HUD_ERR_DEVICE;
    s->stage = NULL;
    s->staged_bytes = 0;
    s->device.runs = NULL;
    s->filled = s->failed = s->device.failed =
        false; /* the state of a persistent request is reused */
    return status;
}

/* ---- elements outside of views ---- */

void hud_elements_unpack(const opal_datatype_t *type, size_t count, const void *packed, void *base)
{
    struct view_convertor c;

    prepare(&c.convertor, VIEW_UNPACKS, type, count, base);
    unpack_at(&c, packed, 0, count * type->size);
    OBJ_DESTRUCT(&c.convertor);
}

void hud_elements_pack(const opal_datatype_t *type, size_t count, const void *base, void *packed)
{
    size_t bytes = count * type->size, n = 1;
    struct view_convertor c;

    prepare(&c.convertor, VIEW_PACKS, type, count, base);
    for (size_t done = 0; done < bytes && n != 0; done += n)
        n = pack_here(&c, (char *)packed + done, bytes - done);
    OBJ_DESTRUCT(&c.convertor);
}
