/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.c - a user's buffer of any datatype as a hud_view.
 *
 * Contiguous in memory and on the host: the view is the memory.  Otherwise Open MPI's convertor packs and unpacks it: gaps, permuted
 * structures, and device memory (CUDA; ROCm in 5.0), which the convertor copies with the device's own means.  So a rank with a device
 * buffer and one with a host buffer take part in the same collective and no agreement is needed: how bytes leave or enter a buffer is
 * its owner's affair.  What Open MPI does not recognise as device memory we do not either.
 *
 * One convertor serves a whole collective; its position is set each time, which costs nothing while bytes come in order.
 */
#include "component.h"

#include <stdlib.h>
#include <string.h>

/* Open the convertor for this use; false: it was open. */
static bool turn_to(struct view_state *s, enum view_use use)
{
    opal_convertor_t *c = &s->convertor;

    if (s->use == use)
        return false;
    hud_view_close(s);
    OBJ_CONSTRUCT(c, opal_convertor_t);
    if (use == VIEW_PACKS)
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, s->type, (size_t)s->count, s->buffer, 0, c);
    else
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, s->type, (size_t)s->count, s->buffer, 0, c);
    s->use = use;
    s->staged_bytes = s->spill_from = s->spill_bytes = 0;
    return true;
}

static size_t pack_at(struct view_state *s, void *dst, size_t offset_bytes, size_t most_bytes)
{
    struct iovec to = { .iov_base = dst, .iov_len = most_bytes };
    uint32_t pieces = 1;
    size_t packed = most_bytes;

    opal_convertor_set_position(&s->convertor, &offset_bytes);
    opal_convertor_pack(&s->convertor, &to, &pieces, &packed);
    return packed;
}

/* The convertor packs whole elements; one that does not fit is packed aside and given out in parts. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t most_bytes)
{
    struct view_state *s = view->host;

    turn_to(s, VIEW_PACKS);
    if (offset_bytes < s->spill_from || offset_bytes - s->spill_from >= s->spill_bytes) {
        size_t packed = pack_at(s, dst, offset_bytes, most_bytes);
        if (packed > 0)
            return packed;
        s->spill_from = offset_bytes;
        s->spill_bytes = pack_at(s, s->spill, offset_bytes, sizeof s->spill);
    }
    size_t skip = offset_bytes - s->spill_from, left = s->spill_bytes - skip;
    size_t bytes = left < most_bytes ? left : most_bytes;
    memcpy(dst, s->spill + skip, bytes);
    return bytes;
}

static void unpack_at(struct view_state *s, const void *src, size_t offset_bytes, size_t bytes)
{
    struct iovec from = { .iov_base = (void *)(uintptr_t)src, .iov_len = bytes };
    uint32_t pieces = 1;

    opal_convertor_set_position(&s->convertor, &offset_bytes);
    opal_convertor_unpack(&s->convertor, &from, &pieces, &bytes);
}

/* Open MPI's convertor overruns a buffer of its own when a piece ends within an element longer than this (MPI_C_LONG_DOUBLE_COMPLEX). */
enum { SAFE_TO_CUT = 16 };

static bool has_long_elements(const opal_datatype_t *type)
{
    for (uint32_t i = 0, used = type->bdt_used; used != 0; i++, used >>= 1) {
        if ((used & 1) != 0 && opal_datatype_basicDatatypes[i]->size > SAFE_TO_CUT)
            return true;
    }
    return false;
}

/* Types of long elements are gathered in private memory and unpacked at the end. */
static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    struct view_state *s = view->host;

    if (turn_to(s, VIEW_UNPACKS) && has_long_elements(s->type)) {
        s->stage = malloc(view->bytes);
        s->failed = s->stage == NULL;
    }
    if (s->failed)
        return;
    if (s->stage == NULL) {
        unpack_at(s, src, offset_bytes, bytes);
        return;
    }
    memcpy(s->stage + offset_bytes, src, bytes);
    if (s->staged_bytes < offset_bytes + bytes)
        s->staged_bytes = offset_bytes + bytes;
}

void hud_view_open(void *buffer, int count, const ompi_datatype_t *type, struct view_state *state, struct hud_view *view)
{
    const opal_datatype_t *t = &type->super;

    state->use = VIEW_IDLE;
    state->failed = false;
    *view = (struct hud_view){ .base = (char *)buffer + t->true_lb, .bytes = (size_t)count * t->size };
    if (opal_datatype_is_contiguous_memory_layout(t, count) && !compat_on_device(buffer))
        return;
    state->buffer = buffer;
    state->count = count;
    state->type = t;
    state->stage = NULL;
    view->pack = pack;
    view->unpack = unpack;
    view->host = state;
}

void hud_view_close(struct view_state *state)
{
    if (state->use == VIEW_IDLE)
        return;
    if (state->stage != NULL)
        unpack_at(state, state->stage, 0, state->staged_bytes);
    free(state->stage);
    state->stage = NULL;
    OBJ_DESTRUCT(&state->convertor);
    state->use = VIEW_IDLE;
}
