/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runs.c - the runs of memory of a datatype's element, in the order of its packed form.
 *
 * A type whose element spans little memory is not decoded: the MPI packs an image of that memory in
 * which each byte contains one digit of its own place.  The packed digits give the place of each
 * packed byte, for any constructors.  A type that spans much memory, for example a type of absolute
 * addresses, is decoded into its parts, which are handled in the same way.
 */
#include "host/pmpi/pmpi.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_LITTLE = 64 << 10, IMAGE_MAX = 1 << 30 }; /* bytes */

/* Facts about a type that the MPI reports for its handle. */
struct shape {
    MPI_Count bytes, lower, extent, begin, span;
};

/* Adds the runs of `count` elements, `stride` bytes apart, the first at `at`. */
static bool repeat(const struct hud_runs *element, MPI_Count count, MPI_Count stride, MPI_Count at,
                   struct hud_runs *runs)
{
    bool good = true;

    for (MPI_Count i = 0; i < count; i++)
        for (size_t r = 0; r < element->count && good; r++)
            good = hud_runs_add(runs, at + i * stride + element->run[r].at, element->run[r].bytes);
    return good;
}

/* ---- by an image ----------------------------------------------------------------------------- */

/* Makes a committed type whose element begins at the address of its first byte. */
static bool make_packable(MPI_Datatype handle, MPI_Count begin, MPI_Datatype *made)
{
    const MPI_Aint back = -(MPI_Aint)begin;

    return real.Type_create_hindexed_block(1, 1, &back, handle, made) == MPI_SUCCESS &&
           real.Type_commit(made) == MPI_SUCCESS;
}

/* Adds digit number `digit` of the place of each packed byte. */
static void read_digit(MPI_Datatype packable, const struct shape *s, int digit,
                       unsigned char *image, unsigned char *packed, uint32_t *places)
{
    MPI_Count position = 0;

    for (MPI_Count i = 0; i < s->span; i++)
        image[i] = (unsigned char)(i >> (8 * digit));
    real.Pack_c(image, 1, packable, packed, s->bytes, &position, MPI_COMM_SELF);
    for (MPI_Count i = 0; i < s->bytes; i++)
        places[i] |= (uint32_t)packed[i] << (8 * digit);
}

static bool add_by_image(MPI_Datatype handle, const struct shape *s, struct hud_runs *runs)
{
    unsigned char *image = malloc((size_t)s->span), *packed = malloc((size_t)s->bytes);
    uint32_t *places = calloc((size_t)s->bytes, sizeof *places);
    MPI_Datatype packable;
    bool good = image && packed && places && make_packable(handle, s->begin, &packable);

    if (good) {
        for (int digit = 0; digit == 0 || (s->span - 1) >> (8 * digit) > 0; digit++)
            read_digit(packable, s, digit, image, packed, places);
        real.Type_free(&packable);
    }
    for (MPI_Count i = 0; i < s->bytes && good; i++)
        good = hud_runs_add(runs, s->begin + places[i], 1);
    free(image);
    free(packed);
    free(places);
    return good;
}

/* ---- by parts -------------------------------------------------------------------------------- */

/* The contents of a derived type: `number` has the integers, then the addresses, then the large
 * counts. */
struct parts {
    MPI_Count integers, addresses, large, count;
    MPI_Count *number;
    MPI_Datatype *types;
    int combiner;
};

enum kind { ONE, CONTIGUOUS, STRIDED, INDEXED, INDEXED_BLOCK };

/* How the numbers of a constructor define its blocks; places are in bytes, or in extents. */
static const struct form {
    int combiner;
    enum kind kind;
    bool in_bytes;
} forms[] = {
    { MPI_COMBINER_DUP, ONE, true },
    { MPI_COMBINER_RESIZED, ONE, true },
    { MPI_COMBINER_CONTIGUOUS, CONTIGUOUS, true },
    { MPI_COMBINER_VECTOR, STRIDED, false },
    { MPI_COMBINER_HVECTOR, STRIDED, true },
    { MPI_COMBINER_INDEXED, INDEXED, false },
    { MPI_COMBINER_HINDEXED, INDEXED, true },
    { MPI_COMBINER_INDEXED_BLOCK, INDEXED_BLOCK, false },
    { MPI_COMBINER_HINDEXED_BLOCK, INDEXED_BLOCK, true },
    { MPI_COMBINER_STRUCT, INDEXED, true },
};

struct block {
    MPI_Count length, place;
};

static MPI_Count blocks_of(const struct form *form, const MPI_Count *n)
{
    return form->kind == ONE || form->kind == CONTIGUOUS ? 1 : n[0];
}

static struct block block_of(const struct form *form, const MPI_Count *n, MPI_Count i)
{
    const struct block blocks[] = {
        [ONE] = { 1, 0 },
        [CONTIGUOUS] = { form->kind == CONTIGUOUS ? n[0] : 0, 0 },
        [STRIDED] = { form->kind == STRIDED ? n[1] : 0, form->kind == STRIDED ? i * n[2] : 0 },
        [INDEXED] = { form->kind == INDEXED ? n[1 + i] : 0,
                      form->kind == INDEXED ? n[1 + n[0] + i] : 0 },
        [INDEXED_BLOCK] = { form->kind == INDEXED_BLOCK ? n[1] : 0,
                            form->kind == INDEXED_BLOCK ? n[2 + i] : 0 },
    };

    return blocks[form->kind];
}

static bool add_type(MPI_Datatype handle, struct hud_runs *runs);

static struct hud_runs *runs_of_part(MPI_Datatype handle, MPI_Count *extent)
{
    struct hud_runs *runs = hud_runs_create();
    MPI_Count lower;

    if (runs && real.Type_get_extent_c(handle, &lower, extent) == MPI_SUCCESS &&
        add_type(handle, runs))
        return runs;
    hud_runs_drop(runs);
    return NULL;
}

static bool add_blocks(const struct parts *p, const struct form *form, struct hud_runs *runs)
{
    bool each = p->combiner == MPI_COMBINER_STRUCT, good = true;
    struct hud_runs *element = NULL;
    MPI_Count extent = 0;

    for (MPI_Count i = 0; i < blocks_of(form, p->number) && good; i++) {
        struct block b = block_of(form, p->number, i);
        if (each || !element) {
            hud_runs_drop(element);
            element = runs_of_part(p->types[each ? i : 0], &extent);
        }
        good = element &&
               repeat(element, b.length, extent, form->in_bytes ? b.place : b.place * extent, runs);
    }
    hud_runs_drop(element);
    return good;
}

/* Adds the runs dimension by dimension, beginning with the dimension of adjacent elements. */
static bool add_subarray(const struct parts *p, struct hud_runs *runs)
{
    MPI_Count dims = p->number[0], base = p->large ? 2 : 1, stride;
    const MPI_Count *sizes = p->number + base, *parts = sizes + dims, *starts = parts + dims;
    bool is_c = p->number[p->large ? 1 : 1 + 3 * dims] == MPI_ORDER_C;
    struct hud_runs *inner = runs_of_part(p->types[0], &stride);

    for (MPI_Count i = 0; i < dims && inner; i++) {
        MPI_Count d = is_c ? dims - 1 - i : i;
        struct hud_runs *outer = hud_runs_create();
        if (outer && !repeat(inner, parts[d], stride, starts[d] * stride, outer)) {
            hud_runs_drop(outer);
            outer = NULL;
        }
        hud_runs_drop(inner);
        inner = outer;
        stride *= sizes[d];
    }
    bool good = inner && repeat(inner, 1, 0, 0, runs);
    hud_runs_drop(inner);
    return good;
}

static const struct form *form_of(int combiner)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].combiner == combiner)
            return &forms[i];
    return NULL;
}

/* Reads the contents of a type.  Integers and addresses become numbers, before the large counts. */
static bool read_contents(MPI_Datatype handle, struct parts *p)
{
    int *integers = calloc((size_t)p->integers + 1, sizeof *integers);
    MPI_Aint *addresses = calloc((size_t)p->addresses + 1, sizeof *addresses);
    bool good = integers && addresses && p->number && p->types &&
                real.Type_get_contents_c(
                    handle, p->integers, p->addresses, p->large, p->count, integers, addresses,
                    p->number + p->integers + p->addresses, p->types) == MPI_SUCCESS;

    for (MPI_Count i = 0; i < p->integers && good; i++)
        p->number[i] = integers[i];
    for (MPI_Count i = 0; i < p->addresses && good; i++)
        p->number[p->integers + i] = addresses[i];
    free(integers);
    free(addresses);
    return good;
}

static bool add_by_parts(MPI_Datatype handle, struct parts *p, struct hud_runs *runs)
{
    const struct form *form = form_of(p->combiner);

    p->number = calloc((size_t)(p->integers + p->addresses + p->large) + 1, sizeof *p->number);
    p->types = calloc((size_t)p->count + 1, sizeof *p->types);
    bool good = read_contents(handle, p);
    if (good) {
        good = form ? add_blocks(p, form, runs) : add_subarray(p, runs);
        hud_type_release(p->types, p->count);
    }
    free(p->number);
    free(p->types);
    return good;
}

/* ---- any type -------------------------------------------------------------------------------- */

static bool add_type(MPI_Datatype handle, struct hud_runs *runs)
{
    struct shape s;
    struct parts p;

    if (real.Type_size_c(handle, &s.bytes) || real.Type_get_extent_c(handle, &s.lower, &s.extent) ||
        real.Type_get_true_extent_c(handle, &s.begin, &s.span) ||
        real.Type_get_envelope_c(handle, &p.integers, &p.addresses, &p.large, &p.count,
                                 &p.combiner))
        return false;
    if (s.bytes == 0)
        return true;
    if (s.bytes == s.span && (hud_type_is_plain(handle) || hud_type_is_run(handle)))
        return hud_runs_add(runs, s.begin, (size_t)s.bytes);
    if (s.span > IMAGE_LITTLE && (form_of(p.combiner) || p.combiner == MPI_COMBINER_SUBARRAY))
        return add_by_parts(handle, &p, runs);
    return s.span <= IMAGE_MAX && add_by_image(handle, &s, runs);
}

bool hud_type_flatten(MPI_Datatype handle, struct hud_runs *runs)
{
    return add_type(handle, runs);
}
