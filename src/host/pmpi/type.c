/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type.c - huddle's data about a datatype: whether the bytes of an element are contiguous and in
 * order.
 *
 * size == extent does not prove this (a structure may permute its members), so constructors are
 * decoded.  Types that are not decoded count as not contiguous and are packed, which is always
 * correct.  Predefined types are in a table.  For others the result is an attribute of the type,
 * set once and never replaced, so that threads may read it.
 */
#include "host/pmpi/pmpi.h"

#include <pthread.h>
#include <stdlib.h>

static int keyval = MPI_KEYVAL_INVALID;
static MPI_Comm silent = MPI_COMM_NULL; /* has only this process; its errors return */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- predefined types ---- */

#define T(type) [(type)&0xff] = (type)
const MPI_Datatype hud_type_predefined[256] = {
    T(MPI_CHAR),
    T(MPI_SIGNED_CHAR),
    T(MPI_UNSIGNED_CHAR),
    T(MPI_BYTE),
    T(MPI_WCHAR),
    T(MPI_SHORT),
    T(MPI_UNSIGNED_SHORT),
    T(MPI_INT),
    T(MPI_UNSIGNED),
    T(MPI_LONG),
    T(MPI_UNSIGNED_LONG),
    T(MPI_FLOAT),
    T(MPI_DOUBLE),
    T(MPI_LONG_DOUBLE),
    T(MPI_LONG_LONG_INT),
    T(MPI_UNSIGNED_LONG_LONG),
    T(MPI_PACKED),
    T(MPI_2INT),
    T(MPI_COMPLEX),
    T(MPI_DOUBLE_COMPLEX),
    T(MPI_LOGICAL),
    T(MPI_REAL),
    T(MPI_DOUBLE_PRECISION),
    T(MPI_INTEGER),
    T(MPI_2INTEGER),
    T(MPI_2REAL),
    T(MPI_2DOUBLE_PRECISION),
    T(MPI_CHARACTER),
    T(MPI_REAL4),
    T(MPI_REAL8),
    T(MPI_COMPLEX8),
    T(MPI_COMPLEX16),
    T(MPI_INTEGER1),
    T(MPI_INTEGER2),
    T(MPI_INTEGER4),
    T(MPI_INTEGER8),
    T(MPI_INT8_T),
    T(MPI_INT16_T),
    T(MPI_INT32_T),
    T(MPI_INT64_T),
    T(MPI_UINT8_T),
    T(MPI_UINT16_T),
    T(MPI_UINT32_T),
    T(MPI_UINT64_T),
    T(MPI_C_BOOL),
    T(MPI_C_FLOAT_COMPLEX),
    T(MPI_C_DOUBLE_COMPLEX),
    T(MPI_C_LONG_DOUBLE_COMPLEX),
    T(MPI_AINT),
    T(MPI_OFFSET),
    T(MPI_COUNT),
    [0] = -1, /* neither 0 nor MPI_DATATYPE_NULL is a type */
};
#undef T

/* ---- decoding ---- */

struct run {
    MPI_Count begin, bytes, extent;
};

/* The contents of a derived type. */
struct parts {
    MPI_Count integers_count, addresses_count, large_count, types_count;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *large;
    MPI_Datatype *types;
};

static bool run_of(MPI_Datatype type, struct run *run);

/* Appends `count` elements in a row, the first at `at`, to the run.  Returns false if they are not
 * adjacent. */
static bool append(struct run *run, MPI_Count at, const struct run *element, MPI_Count count)
{
    MPI_Count begin = at + element->begin;

    if (count == 0 || element->bytes == 0)
        return true;
    if ((count > 1 && element->extent != element->bytes) ||
        (run->bytes > 0 && begin != run->begin + run->bytes))
        return false;
    if (run->bytes == 0)
        run->begin = begin;
    run->bytes += count * element->bytes;
    return true;
}

static bool decode_same(const struct parts *p, struct run *run)
{
    struct run child;

    return run_of(p->types[0], &child) && append(run, 0, &child, 1);
}

static bool decode_contiguous(const struct parts *p, struct run *run)
{
    struct run child;

    return run_of(p->types[0], &child) && append(run, 0, &child, p->integers[0]);
}

static bool blocks(const struct parts *p, const struct run *child, MPI_Count stride,
                   struct run *run)
{
    MPI_Count count = p->integers[0], length = p->integers[1];

    return (count < 2 || stride == length * child->extent) && append(run, 0, child, count * length);
}

static bool decode_vector(const struct parts *p, struct run *run)
{
    struct run child;

    return run_of(p->types[0], &child) && blocks(p, &child, p->integers[2] * child.extent, run);
}

static bool decode_hvector(const struct parts *p, struct run *run)
{
    struct run child;

    return run_of(p->types[0], &child) && blocks(p, &child, p->addresses[0], run);
}

static bool decode_struct(const struct parts *p, struct run *run)
{
    struct run child;

    for (MPI_Count i = 0; i < p->types_count; i++)
        if (!run_of(p->types[i], &child) ||
            !append(run, p->addresses[i], &child, p->integers[1 + i]))
            return false;
    return true;
}

static const struct decoder {
    int combiner;
    bool (*decode)(const struct parts *parts, struct run *run);
} decoders[] = {
    { MPI_COMBINER_DUP, decode_same },
    { MPI_COMBINER_RESIZED, decode_same },
    { MPI_COMBINER_CONTIGUOUS, decode_contiguous },
    { MPI_COMBINER_VECTOR, decode_vector },
    { MPI_COMBINER_HVECTOR, decode_hvector },
    { MPI_COMBINER_STRUCT, decode_struct },
};

/* Returns whether a type is predefined, even if it has no name.  Its bytes are in order, but may
 * have gaps (MPI_DOUBLE_INT). */
static bool is_basic(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Frees the types inside a type, which are new handles, unless they are predefined. */
void hud_type_release(MPI_Datatype *types, MPI_Count count)
{
    for (MPI_Count i = 0; i < count; i++) {
        MPI_Count integers, addresses, large, inner;
        int combiner = MPI_COMBINER_NAMED;
        real.Type_get_envelope_c(types[i], &integers, &addresses, &large, &inner, &combiner);
        if (!is_basic(combiner))
            real.Type_free(&types[i]);
    }
}

static bool take_apart(MPI_Datatype type, const struct decoder *decoder, struct parts *p,
                       struct run *run)
{
    bool one = false;

    p->integers = calloc((size_t)p->integers_count + 1, sizeof *p->integers);
    p->addresses = calloc((size_t)p->addresses_count + 1, sizeof *p->addresses);
    p->types = calloc((size_t)p->types_count + 1, sizeof *p->types);
    if (p->integers && p->addresses && p->types &&
        real.Type_get_contents_c(type, p->integers_count, p->addresses_count, 0, p->types_count,
                                 p->integers, p->addresses, NULL, p->types) == MPI_SUCCESS) {
        one = decoder->decode(p, run);
        hud_type_release(p->types, p->types_count);
    }
    free(p->integers);
    free(p->addresses);
    free(p->types);
    return one;
}

/* Returns true if the type's bytes are one run. */
static bool run_of(MPI_Datatype type, struct run *run)
{
    struct parts p;
    MPI_Count lower, size;
    int combiner;

    if (real.Type_get_envelope_c(type, &p.integers_count, &p.addresses_count, &p.large_count,
                                 &p.types_count, &combiner) ||
        real.Type_get_extent_c(type, &lower, &run->extent) || real.Type_size_c(type, &size))
        return false;
    run->begin = run->bytes = 0;
    if (is_basic(combiner)) {
        run->bytes = size;
        return run->extent == size;
    }
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++)
        if (decoders[i].combiner == combiner && p.large_count == 0)
            return take_apart(type, &decoders[i], &p, run);
    return false;
}

bool hud_type_is_run(MPI_Datatype handle)
{
    struct run run;

    return run_of(handle, &run);
}

/* ---- finding ---- */

/* The attribute of a type.  Only `runs` changes, under the lock. */
struct known {
    struct type type;
    struct hud_runs *runs; /* runs of an element, if they were needed; otherwise NULL */
};

static int forget(MPI_Datatype type, int key, void *attribute, void *extra)
{
    (void)type;
    (void)key;
    (void)extra;
    hud_runs_drop(((struct known *)attribute)->runs);
    free(attribute);
    return MPI_SUCCESS;
}

/*
 * Describes a type.  MPI_Pack_size fails for a type that is not committed, as a collective would.
 * The collective must report this error, to the handler of its own communicator.  So this call uses
 * a communicator whose errors return.
 */
static bool describe(MPI_Datatype handle, struct type *type)
{
    MPI_Count packed, lower, true_begin, true_bytes;
    struct run run;

    if (real.Pack_size_c(1, handle, silent, &packed) || real.Type_size_c(handle, &type->bytes) ||
        real.Type_get_extent_c(handle, &lower, &type->extent) ||
        real.Type_get_true_extent_c(handle, &true_begin, &true_bytes))
        return false;
    type->run = run_of(handle, &run) && run.bytes == type->bytes && run.begin == true_begin &&
                run.bytes == true_bytes;
    type->begin = true_begin;
    type->reach = true_bytes;
    type->staged = type->bytes > ELEMENT_MAX;
    return true;
}

/* Describes a type under the lock, unless another thread has done so meanwhile.  Without memory for
 * the attribute, the type is described again each time. */
static bool create(MPI_Datatype handle, struct type *type)
{
    struct known *known = NULL;
    int found;

    if (real.Type_get_attr(handle, keyval, &known, &found) != MPI_SUCCESS ||
        (!found && !describe(handle, type)))
        return false;
    if (found) {
        *type = known->type;
        return true;
    }
    known = malloc(sizeof *known);
    if (known)
        *known = (struct known){ .type = *type };
    if (known && real.Type_set_attr(handle, keyval, known) != MPI_SUCCESS)
        free(known);
    return true;
}

bool hud_type_find(MPI_Datatype handle, struct type *type)
{
    struct known *known = NULL;
    int found;

    if (hud_type_is_plain(handle)) {
        MPI_Count plain = hud_type_plain_bytes(handle);
        *type = (struct type){ .bytes = plain, .extent = plain, .reach = plain, .run = true };
        return true;
    }
    if (!handle_is_type(handle) ||
        real.Type_get_attr(handle, keyval, &known, &found) != MPI_SUCCESS)
        return false;
    if (found) {
        *type = known->type;
        return true;
    }
    pthread_mutex_lock(&lock);
    bool described = create(handle, type);
    pthread_mutex_unlock(&lock);
    return described;
}

/* Returns the runs of a type; called under the lock.  The list is shared with the attribute, if
 * there is one. */
static struct hud_runs *find_runs(MPI_Datatype handle)
{
    struct known *known = NULL;
    int found = 0;

    if (real.Type_get_attr(handle, keyval, &known, &found) == MPI_SUCCESS && found && known->runs) {
        hud_runs_share(known->runs);
        return known->runs;
    }
    struct hud_runs *runs = hud_runs_create();
    if (!runs || !hud_type_flatten(handle, runs)) {
        hud_runs_drop(runs);
        return NULL;
    }
    if (found) {
        known->runs = runs;
        hud_runs_share(runs);
    }
    return runs;
}

struct hud_runs *hud_type_runs(MPI_Datatype handle)
{
    pthread_mutex_lock(&lock);
    struct hud_runs *runs = find_runs(handle);
    pthread_mutex_unlock(&lock);
    return runs;
}

/* Creates the attribute and the silent communicator.  The communicator is created now, because
 * later the MPI may have no more communicators, and an attempt may end the job.  Created by
 * MPI_Comm_split, because a duplicate would copy the program's attributes. */
int hud_type_start(void)
{
    int code = real.Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL);

    if (code == MPI_SUCCESS)
        code = real.Comm_split(MPI_COMM_SELF, 0, 0, &silent);
    return code == MPI_SUCCESS ? real.Comm_set_errhandler(silent, MPI_ERRORS_RETURN) : code;
}

void hud_type_finish(void)
{
    real.Comm_free(&silent);
    real.Type_free_keyval(&keyval);
}
