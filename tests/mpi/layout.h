/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - MPI datatypes together with their meaning: the blocks of memory in order, computed
 * here instead of queried from the MPI.
 *
 * Each combinator mirrors one MPI constructor. It consumes its argument (a layout is used once), so
 * expressions nest: laid_vector(laid_basic(MPI_INT, 4), 3, 1, 2).
 */
#ifndef HUD_TESTS_LAYOUT_H
#define HUD_TESTS_LAYOUT_H

#include "check.h"

struct block {
    ptrdiff_t at;
    size_t bytes;
};

struct layout {
    MPI_Datatype type;
    ptrdiff_t lower, extent; /* lower bound and extent in bytes */
    size_t blocks;
    struct block *block; /* blocks in the order of the type's signature */
};

static struct layout laid_basic(MPI_Datatype basic, size_t bytes)
{
    struct layout l = { .extent = (ptrdiff_t)bytes,
                        .blocks = 1,
                        .block = allocate(sizeof *l.block) };

    l.block[0] = (struct block){ 0, bytes };
    MPI_Type_dup(basic, &l.type);
    return l;
}

static void laid_free(struct layout *l)
{
    MPI_Type_free(&l->type);
    free(l->block);
}

/* Builds a layout of parts[i] consecutive copies of `of[i]` from byte at[i] on, for each i. Its
 * bounds are the outermost bounds of all parts. */
static struct layout place(int places, const struct layout *of, const int *parts,
                           const ptrdiff_t *at, MPI_Datatype type)
{
    struct layout l = { .type = type };
    ptrdiff_t upper = 0;
    bool any = false;

    for (int i = 0; i < places; i++)
        l.blocks += of[i].blocks * (size_t)parts[i];
    l.block = allocate(l.blocks * sizeof *l.block);
    l.blocks = 0;
    for (int i = 0; i < places; i++) {
        for (int n = 0; n < parts[i]; n++) {
            ptrdiff_t base = at[i] + n * of[i].extent, low = base + of[i].lower,
                      high = low + of[i].extent;
            for (size_t b = 0; b < of[i].blocks; b++)
                l.block[l.blocks++] =
                    (struct block){ base + of[i].block[b].at, of[i].block[b].bytes };
            l.lower = !any || low < l.lower ? low : l.lower;
            upper = !any || high > upper ? high : upper;
            any = true;
        }
    }
    l.extent = upper - l.lower;
    return l;
}

static UNUSED struct layout laid_contiguous(struct layout of, int count)
{
    MPI_Datatype type;
    ptrdiff_t at = 0;

    MPI_Type_contiguous(count, of.type, &type);
    struct layout l = place(1, &of, &count, &at, type);
    laid_free(&of);
    return l;
}

/* Builds an indexed layout. Displacements are in extents of `of`. */
static UNUSED struct layout laid_indexed(struct layout of, int places, const int *parts,
                                         const int *displacements)
{
    struct layout *same = allocate((size_t)places * sizeof *same);
    ptrdiff_t *at = allocate((size_t)places * sizeof *at);
    MPI_Datatype type;

    for (int i = 0; i < places; i++) {
        same[i] = of;
        at[i] = displacements[i] * of.extent;
    }
    MPI_Type_indexed(places, parts, displacements, of.type, &type);
    struct layout l = place(places, same, parts, at, type);
    laid_free(&of);
    free(same);
    free(at);
    return l;
}

/* Builds a vector. The stride is in bytes and may be negative. */
static UNUSED struct layout laid_vector(struct layout of, int places, int part,
                                        ptrdiff_t stride_bytes)
{
    struct layout *same = allocate((size_t)places * sizeof *same);
    ptrdiff_t *at = allocate((size_t)places * sizeof *at);
    int *parts = allocate((size_t)places * sizeof *parts);
    MPI_Datatype type;

    for (int i = 0; i < places; i++) {
        same[i] = of;
        at[i] = i * stride_bytes;
        parts[i] = part;
    }
    MPI_Type_create_hvector(places, part, stride_bytes, of.type, &type);
    struct layout l = place(places, same, parts, at, type);
    laid_free(&of);
    free(same);
    free(at);
    free(parts);
    return l;
}

/* Builds a structure of at most 8 members. */
static UNUSED struct layout laid_struct(int members, struct layout *of, const int *parts,
                                        const ptrdiff_t *at)
{
    MPI_Datatype type, types[8] = { MPI_DATATYPE_NULL };
    MPI_Aint displacements[8] = { 0 };

    for (int i = 0; i < members; i++) {
        types[i] = of[i].type;
        displacements[i] = at[i];
    }
    MPI_Type_create_struct(members, parts, displacements, types, &type);
    struct layout l = place(members, of, parts, at, type);
    for (int i = 0; i < members; i++)
        laid_free(&of[i]);
    return l;
}

static UNUSED struct layout laid_resized(struct layout of, ptrdiff_t lower, ptrdiff_t extent)
{
    struct layout l = of;

    MPI_Type_create_resized(of.type, lower, extent, &l.type);
    MPI_Type_free(&of.type);
    l.lower = lower;
    l.extent = extent;
    return l;
}

static UNUSED size_t laid_bytes(const struct layout *l)
{
    size_t sum = 0;

    for (size_t b = 0; b < l->blocks; b++)
        sum += l->block[b].bytes;
    return sum;
}

/* A buffer of `count` elements in its own memory, with guard bytes on both sides. */
struct area {
    unsigned char *memory, *base; /* base: the address passed to MPI */
    size_t bytes;
};

enum { GUARD = 64, BACKGROUND = 0xA5 };

/* Computes where the data of `count` elements begin and end, relative to their address. */
static void span_of(const struct layout *l, int count, ptrdiff_t *low, ptrdiff_t *high)
{
    *low = *high = 0;
    for (int n = 0; n<count; n += count> 1
                        ? count - 1
                        : 1) { /* the first and the last element have the bounds */
        for (size_t b = 0; b < l->blocks; b++) {
            ptrdiff_t at = n * l->extent + l->block[b].at, end = at + (ptrdiff_t)l->block[b].bytes;
            *low = at < *low ? at : *low;
            *high = end > *high ? end : *high;
        }
    }
}

/* Allocates an area for data between these bounds. */
static struct area area_between(ptrdiff_t low, ptrdiff_t high)
{
    struct area a;

    a.bytes = (size_t)(high - low) + 2 * GUARD;
    a.memory = allocate(a.bytes);
    a.base = a.memory + GUARD - low;
    memset(a.memory, BACKGROUND, a.bytes);
    return a;
}

static UNUSED struct area area_of(const struct layout *l, int count)
{
    ptrdiff_t low, high;

    span_of(l, count, &low, &high);
    return area_between(low, high);
}

/* Unpacks a packed message according to the type. */
static UNUSED void area_fill(const struct area *a, const struct layout *l, int count,
                             const unsigned char *packed)
{
    if (l->blocks == 1 && l->extent == (ptrdiff_t)l->block[0].bytes && count > 0) {
        memcpy(a->base + l->block[0].at, packed, (size_t)count * l->block[0].bytes);
        return;
    }
    for (int n = 0; n < count; n++) {
        for (size_t b = 0; b < l->blocks; b++) {
            memcpy(a->base + n * l->extent + l->block[b].at, packed, l->block[b].bytes);
            packed += l->block[b].bytes;
        }
    }
}

#endif
