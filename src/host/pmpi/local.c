/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local.c - operations that the MPI carries out, by MPI_Reduce_local: user-defined operations, and
 * predefined operations without a kernel of huddle.
 *
 * Elements are combined from left to right, whether the operation commutes or not, in pieces that
 * fit scratch memory on the stack.  Wider elements are handled one by one in memory that is
 * allocated beforehand, so nothing can fail in the middle.  Ranks share only the signature; the
 * width may differ from rank to rank.  A user's function sees elements in the layout of the user's
 * buffers.  If that layout is contiguous, the packed bytes have it too; otherwise elements are
 * unpacked into the scratch memory, at the datatype's bounds and extent, and packed again.
 */
#include "host/pmpi/pmpi.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGNED = 64, /* an element is aligned in the scratch as well as in any buffer of a user */
    ROOM = HUD_ELEMENT_MAX, /* bytes of an operand, limited because a thread may have a small
                               stack */
    SCRATCH = ROOM + 2 * ALIGNED
};

/* Loads packed elements into the scratch.  Returns the address of MPI's element 0. */
static char *load(const struct local_op *l, const void *packed, size_t count, char *scratch)
{
    size_t bytes = count * l->op.element_bytes;
    char *first = scratch + l->first;

    if (l->direct)
        memcpy(first + l->type.begin, packed, bytes);
    else
        hud_message_unpack(packed, bytes, count, l->handle, MPI_COMM_SELF, first);
    return first;
}

static void store(const struct local_op *l, const char *first, size_t count, void *packed)
{
    size_t bytes = count * l->op.element_bytes;

    if (l->direct)
        memmove(packed, first + l->type.begin, bytes);
    else
        hud_message_pack(first, count, l->handle, MPI_COMM_SELF, bytes, packed);
}

/* Combines the sources.  MPI_Reduce_local leaves the result in its right operand, which is the next
 * left operand.  dst may be a source, and is written after all have been read. */
static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    const struct local_op *l = op->host;
    _Alignas(ALIGNED) char room[2][SCRATCH];
    char *const scratch[2] = { l->wide ? l->wide : room[0],
                               l->wide ? l->wide + l->wide_bytes : room[1] };

    for (size_t done = 0, n; done < elements; done += n) {
        size_t at = done * op->element_bytes;
        n = elements - done < l->max ? elements - done : l->max;
        const char *left = (const char *)src[0] + at;
        left = l->direct ? left - l->type.begin : load(l, left, n, scratch[0]);
        for (int s = 1; s < sources; s++) {
            char *right = load(l, (const char *)src[s] + at, n, scratch[s % 2]);
            real.Reduce_local(left, right, (int)n, l->handle, l->operation);
            left = right;
        }
        store(l, left, n, (char *)dst + at);
    }
}

/* Determines how many elements fit into the scratch, and where the first begins. */
static int place(struct local_op *l)
{
    MPI_Count begin, bytes, step = l->type.extent < 0 ? -l->type.extent : l->type.extent;

    if (real.Type_get_true_extent_c(l->handle, &begin, &bytes))
        return HUD_PASS;
    if (bytes > ROOM) {
        l->wide_bytes = ((size_t)bytes / ALIGNED + 3) * ALIGNED;
        l->wide = aligned_alloc(ALIGNED, 2 * l->wide_bytes);
        if (!l->wide)
            return HUD_ERR_MEMORY;
    }
    l->max = step > 0 && !l->wide ? (size_t)((ROOM - bytes) / step) + 1 : 1;
    MPI_Count lowest = begin + (l->type.extent < 0 ? (MPI_Count)(l->max - 1) * l->type.extent : 0);
    l->first = -lowest / ALIGNED * ALIGNED + (lowest < 0 ? ALIGNED : 0);
    return HUD_OK;
}

int hud_local_open(MPI_Op operation, MPI_Datatype handle, struct local_op *l)
{
    int commutes;

    if (!hud_type_find(handle, &l->type) || l->type.staged ||
        real.Op_commutative(operation, &commutes))
        return HUD_PASS;
    l->handle = handle;
    l->operation = operation;
    l->direct = l->type.run && l->type.extent == l->type.bytes;
    /* if elements have no bytes, the operation is never applied */
    l->op = (struct hud_op){ .element_bytes = l->type.bytes ? (size_t)l->type.bytes : 1,
                             .commutative = commutes,
                             .combine = combine,
                             .host = l,
                             .name = hud_op_name(operation) };
    return place(l);
}

void hud_local_close(const struct local_op *l)
{
    free(l->wide);
}
