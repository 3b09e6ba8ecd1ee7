/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h - collectives to be checked byte by byte: the bytes that each rank contributes and must
 * receive.
 *
 * A rank's buffer is a row of blocks. The bytes of block `slot` of rank `from` depend on both
 * numbers and on the call. Blocks are described by a kind of kinds.h; senders and receivers use
 * different kinds. Reductions are of pairs of integers, by predefined operations or by an operation
 * that does not commute.
 */
#ifndef HUD_TESTS_PIECES_H
#define HUD_TESTS_PIECES_H

#include "forms.h"

#include <limits.h>

/* With huddle, calls may be harder than every MPI supports: ranks use different types (an MPI may
 * choose its algorithm by them, and hang), communicators are freed early, and arguments significant
 * only at the root are garbage elsewhere. Set before the first call. */
static bool hard_pieces;

struct piece {
    enum kind_of_call what;
    struct arguments a;
    int me, size, units;  /* units of a block; pairs in a reduction */
    size_t unit;          /* bytes of a unit */
    int pairs[RANKS_MAX]; /* pairs for reduce_scatter, per rank */
    uint64_t id;
    bool in_place, alike; /* alike: drawn to be in place, even if this rank's call is not */
    const struct kind *in_kind, *out_kind;
    struct layout in_layout, out_layout;
    struct area in, out, want, given, before; /* given, before: contents of in and out before the
                                               * call */
    MPI_Request request;
};

static bool reduces(enum kind_of_call what)
{
    return what >= REDUCE && what <= EXSCAN;
}

static bool is_rooted(enum kind_of_call what)
{
    return what == BCAST || what == REDUCE || (what >= GATHER && what <= SCATTERV);
}

static bool uneven(enum kind_of_call what)
{
    return what == GATHERV || what == SCATTERV || what == ALLGATHERV || what >= ALLTOALLV;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Composes pairs. A pair (a, b) is the map x -> a x + b, and the left map is applied last. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const unsigned *left = in;
    unsigned *right = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        right[2 * i + 1] = left[2 * i] * right[2 * i + 1] + left[2 * i + 1];
        right[2 * i] *= left[2 * i];
    }
}

static unsigned number_of(const struct piece *p, int rank, int at)
{
    return (unsigned)mix(p->id + (uint64_t)rank * 1000003 + (uint64_t)at) & 0xffff;
}

/* Computes the result of ranks first .. last, for `count` elements from `at` on. */
static void reduced(const struct piece *p, int first, int last, int at, int count, unsigned *to)
{
    bool own = p->a.op != MPI_SUM;

    for (int i = 0; i < count; i++) {
        unsigned *sum = to + 2 * i;
        for (int r = first; r <= last; r++) {
            unsigned a = number_of(p, r, 2 * (at + i)), b = number_of(p, r, 2 * (at + i) + 1);
            sum[1] = r == first ? b : own ? sum[0] * b + sum[1] : sum[1] + b;
            sum[0] = r == first ? a : own ? sum[0] * a : sum[0] + a;
        }
    }
}

/* Returns the number of elements in a rank's result, and sets *first to the first of them. */
static int result_of(const struct piece *p, int rank, int *first)
{
    *first = 0;
    if (p->what == REDUCE_SCATTER_BLOCK)
        *first = rank * p->units;
    for (int r = 0; p->what == REDUCE_SCATTER && r < rank; r++)
        *first += p->pairs[r];
    return p->what == REDUCE_SCATTER ? p->pairs[rank] : p->units;
}

/* Makes a reduction. The user's operation is on a derived type, predefined operations on single
 * numbers. */
static void make_reduction(struct piece *p, bool own, MPI_Op composition)
{
    struct arguments *a = &p->a;
    int each = own ? 1 : 2, total = 0, first, last = p->size - 1;

    for (int r = 0; r < p->size; r++) {
        p->pairs[r] = (int)(mix(p->id + (uint64_t)r) % (uint64_t)(p->units + 1));
        a->out_counts[r] = p->pairs[r] * each;
        total += p->pairs[r];
    }
    if (p->what != REDUCE_SCATTER)
        total = p->what == REDUCE_SCATTER_BLOCK ? p->units * p->size : p->units;
    a->op = own ? composition : MPI_SUM;
    a->in_count = a->out_count = p->units * each;
    a->in_type = MPI_UNSIGNED;
    p->in_layout = laid_contiguous(laid_basic(MPI_UNSIGNED, sizeof(unsigned)), 2);
    MPI_Type_commit(&p->in_layout.type);
    if (own)
        a->in_type = p->in_layout.type;
    p->in = area_of(&p->in_layout, total);
    p->out = area_of(&p->in_layout, total);
    p->want = area_of(&p->in_layout, total);
    reduced(p, p->me, p->me, 0, total, (unsigned *)(void *)p->in.base);
    if (p->in_place) {
        memcpy(p->out.memory, p->in.memory, p->in.bytes);
        memcpy(p->want.memory, p->in.memory, p->in.bytes);
    }
    int count = result_of(p, p->me, &first);
    if (p->what == SCAN || p->what == EXSCAN)
        last = p->me - (p->what == EXSCAN);
    if (last >= 0 && (p->what != REDUCE || p->me == a->root))
        reduced(p, 0, last, first, count, (unsigned *)(void *)p->want.base);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Returns the units of the block from one rank to another. */
static int units_of(const struct piece *p, int from, int to)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    int key = p->what == GATHERV || p->what == ALLGATHERV ? from
              : p->what == SCATTERV                       ? to
                                                          : low * RANKS_MAX + high;

    uint64_t random = mix(p->id + (uint64_t)key);

    if (!uneven(p->what) || p->units == 0)
        return p->units;
    /* avoids empty blocks in place, after which Open MPI's ranks disagree on the number of calls */
    return p->alike ? 1 + (int)(random % (uint64_t)p->units)
                    : (int)(random % (uint64_t)(p->units + 1));
}

static int blocks_in(const struct piece *p)
{
    if (p->what == SCATTER || p->what == SCATTERV)
        return p->me == p->a.root ? p->size : 0;
    return p->what >= ALLTOALL ? p->size : p->what == BCAST ? 0 : 1;
}

static int blocks_out(const struct piece *p)
{
    if (p->what == GATHER || p->what == GATHERV)
        return p->me == p->a.root ? p->size : 0;
    return p->what >= ALLGATHER ? p->size : 1;
}

/* Determines the rank and its block received by this rank as block `slot`. The two functions below
 * return the units of a block sent or received by this rank. */
static void origin(const struct piece *p, int slot, int *from, int *of)
{
    bool to_one = p->what == SCATTER || p->what == SCATTERV;

    *from = p->what == BCAST || to_one ? p->a.root : slot;
    *of = to_one || p->what >= ALLTOALL ? p->me : 0;
}

static int sent_units(const struct piece *p, int slot)
{
    int to = blocks_in(p) > 1 ? slot : p->a.root;

    return units_of(p, p->me, to);
}

static int got_units(const struct piece *p, int slot)
{
    int from, of;

    origin(p, slot, &from, &of);
    return units_of(p, from, p->me);
}

/* Sets types, counts and displacements of a side. alltoallw has displacements in bytes. */
static void describe(struct piece *p, const struct kind *kind, struct layout *l, int blocks,
                     int (*units)(const struct piece *p, int slot), int *one, int *counts,
                     int *places, MPI_Datatype *types, struct area *area)
{
    int per = uneven(p->what) ? 1 : p->units, count, at = 0;

    if (strcmp(kind->name, "transposed") == 0)
        kind--; /* elements of transposed types overlap */
    *l = kind->make(per > 0 ? per : 1, &count);
    MPI_Type_commit(&l->type);
    if (p->units == 0)
        count = 0;
    *one = blocks > 0 ? count * (uneven(p->what) ? units(p, 0) : 1) : 0;
    if (!uneven(p->what))
        *one = count;
    for (int b = 0; b < blocks; b++) {
        counts[b] = count * (uneven(p->what) ? units(p, b) : 1);
        places[b] = p->what == ALLTOALLW ? at * (int)l->extent : at;
        types[b] = l->type;
        at += counts[b] + (uneven(p->what) ? 1 : 0);
    }
    *area = area_of(l, at);
}

static void fill_blocks(const struct piece *p, const struct layout *l, const struct area *area,
                        int blocks, const int *counts, const int *places, bool sent)
{
    unsigned char *packed = allocate((size_t)(p->units + 1) * p->unit);

    for (int b = 0; b < blocks; b++) {
        int from = p->me, of = b, units = sent ? sent_units(p, b) : got_units(p, b);
        if (!sent)
            origin(p, b, &from, &of);
        ptrdiff_t at = p->what == ALLTOALLW ? places[b] : places[b] * l->extent;
        pattern(packed, (size_t)units * p->unit,
                mix(p->id) + (uint64_t)from * RANKS_MAX + (uint64_t)of);
        area_fill(&(struct area){ .base = area->base + at }, l, counts[b], packed);
    }
    free(packed);
}

/* Fills in the buffer of an in-place call. */
static void fill_in_place(struct piece *p)
{
    int b = p->me;

    if (p->what >= ALLTOALL) {
        fill_blocks(p, &p->out_layout, &p->out, p->size, p->a.out_counts, p->a.out_places, true);
    } else if (p->what == GATHER || p->what == GATHERV || p->what >= ALLGATHER) {
        unsigned char *packed = allocate((size_t)(p->units + 1) * p->unit);
        pattern(packed, (size_t)got_units(p, b) * p->unit,
                mix(p->id) + (uint64_t)p->me * RANKS_MAX);
        area_fill(&(struct area){ .base = p->out.base + p->a.out_places[b] * p->out_layout.extent },
                  &p->out_layout, p->a.out_counts[b], packed);
        free(packed);
    }
}

static void make_blocks(struct piece *p)
{
    struct arguments *a = &p->a;
    int in = blocks_in(p), out = blocks_out(p);

    describe(p, p->in_kind, &p->in_layout, in, sent_units, &a->in_count, a->in_counts, a->in_places,
             a->in_types, &p->in);
    describe(p, p->out_kind, &p->out_layout, out, got_units, &a->out_count, a->out_counts,
             a->out_places, a->out_types, &p->out);
    a->in_type = p->in_layout.type;
    a->out_type = p->out_layout.type;
    fill_blocks(p, &p->in_layout, &p->in, in, a->in_counts, a->in_places, true);
    if (p->in_place)
        fill_in_place(p);
    p->want.bytes = p->out.bytes;
    p->want.memory = allocate(p->want.bytes);
    memcpy(p->want.memory, p->out.memory, p->out.bytes);
    p->want.base = p->want.memory + (p->out.base - p->out.memory);
    bool scattered = (p->what == SCATTER || p->what == SCATTERV) && p->in_place;
    if (!scattered)
        fill_blocks(p, &p->out_layout, &p->want, out, a->out_counts, a->out_places, false);
    if (p->what == BCAST && p->me == a->root)
        memcpy(p->out.memory, p->want.memory, p->out.bytes);
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Reports whether the call may be in place here: on all ranks, or at the root of a rooted
 * collective, but not if MPI has no in-place form. */
static bool may_be_in_place(const struct piece *p)
{
    if (p->what == BARRIER || p->what == BCAST)
        return false;
    if (p->what == REDUCE && !hard_pieces)
        return false; /* fails in MPICH 4 alone */
    return !is_rooted(p->what) || p->me == p->a.root;
}

/* Replaces arguments that no MPI may read, away from the root and in place. */
static void spoil(struct piece *p)
{
    if (blocks_out(p) == 0) {
        p->a.out_count = -3;
        p->a.out_type = MPI_DATATYPE_NULL;
        p->a.no_out = true;
    }
    if (blocks_in(p) == 0 && p->what != BCAST) {
        p->a.in_count = -3;
        p->a.in_type = MPI_DATATYPE_NULL;
        p->a.no_in = true;
    }
    if (p->in_place && p->what >= ALLTOALLV)
        p->a.no_in = true;
}

/* Makes a call, with the same arguments on all ranks. kind: BYTES, or a number from 0 on for the
 * kinds of families. */
static struct piece *piece_make(enum kind_of_call what, MPI_Comm comm, int root, int units,
                                bool in_place, int kind, MPI_Op composition, uint64_t id)
{
    struct piece *p = allocate(sizeof *p);
    const struct family *family = kind == BYTES ? &single_bytes : &families[kind % 2];

    memset(p, 0, sizeof *p);
    MPI_Comm_rank(comm, &p->me);
    MPI_Comm_size(comm, &p->size);
    p->what = what;
    p->units = units;
    p->unit = kind == BYTES ? 1 : UNIT;
    p->id = mix(id);
    p->a.comm = comm;
    p->a.root = root % p->size;
    p->alike = in_place;
    p->in_place = in_place && may_be_in_place(p);
    int shift = hard_pieces ? p->me : 0;
    p->in_kind = &family->kinds[(kind / 2 + shift) % family->count];
    p->out_kind = &family->kinds[(kind / 2 + shift + (shift > 0)) % family->count];
    if (reduces(what))
        make_reduction(p, kind % 3 == 0, composition);
    else if (what != BARRIER)
        make_blocks(p);
    p->a.in = p->in_place ? MPI_IN_PLACE : p->in.base;
    p->a.out = p->out.base;
    if ((what == SCATTER || what == SCATTERV) && p->in_place)
        p->a.in = p->in.base, p->a.out = MPI_IN_PLACE;
    if (hard_pieces)
        spoil(p);
    p->given.memory = allocate(p->in.bytes);
    p->before.memory = allocate(p->out.bytes);
    memcpy(p->given.memory, p->in.memory, p->in.bytes);
    memcpy(p->before.memory, p->out.memory, p->out.bytes);
    p->request = MPI_REQUEST_NULL;
    return p;
}

/* Reports whether the result is right. Ignores undefined bytes: the first rank's result of an
 * exscan, and bytes after the result of an in-place reduce_scatter. */
static bool is_right(const struct piece *p)
{
    int first;

    if (p->what == BARRIER || (p->what == EXSCAN && p->me == 0))
        return true;
    if ((p->what == REDUCE_SCATTER || p->what == REDUCE_SCATTER_BLOCK) && p->in_place)
        return memcmp(p->out.base, p->want.base, (size_t)result_of(p, p->me, &first) * 8) == 0;
    return memcmp(p->out.memory, p->want.memory, p->out.bytes) == 0;
}

static void piece_check(const struct piece *p, enum form form, int error)
{
    static const char *const forms[] = { "", " (nonblocking)", " (persistent)" };

    check(error == MPI_SUCCESS && is_right(p) &&
              memcmp(p->given.memory, p->in.memory, p->in.bytes) == 0,
          "%s%s%s of %d, %d ranks, root %d, %s to %s, id %llu: error %d or wrong bytes",
          collectives[p->what].name, forms[form], p->in_place ? " in place" : "", p->units, p->size,
          p->a.root, p->in_kind->name, p->out_kind->name, (unsigned long long)p->id, error);
}

/* Resets the buffers for the next start of a persistent request. */
static UNUSED void piece_again(struct piece *p)
{
    memcpy(p->out.memory, p->before.memory, p->out.bytes);
}

/* Frees the types of a call, which is allowed after a nonblocking call has started. */
static void piece_free_types(struct piece *p)
{
    if (p->in_layout.block)
        MPI_Type_free(&p->in_layout.type);
    if (p->out_layout.block)
        MPI_Type_free(&p->out_layout.type);
    free(p->in_layout.block);
    free(p->out_layout.block);
    p->in_layout.block = p->out_layout.block = NULL;
}

/* Overwrites counts and displacements after a call has started. MPI forbids this, but MPICH and
 * Open MPI allow it, as they read these arrays at the start. */
static UNUSED void piece_spoil_arrays(struct piece *p)
{
    memset(p->a.in_counts, 0x55, sizeof p->a.in_counts);
    memset(p->a.out_counts, 0x55, sizeof p->a.out_counts);
    memset(p->a.in_places, 0x55, sizeof p->a.in_places);
    memset(p->a.out_places, 0x55, sizeof p->a.out_places);
}

static void piece_free(struct piece *p)
{
    piece_free_types(p);
    free(p->in.memory);
    free(p->out.memory);
    free(p->want.memory);
    free(p->given.memory);
    free(p->before.memory);
    free(p);
}

#endif
