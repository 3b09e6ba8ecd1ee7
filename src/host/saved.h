/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * saved.h - stores the arguments of a call in a struct saved_<name> of a request, so that the MPI's
 * own collective can be started later.  FIELD(kind) declares a field; FROM_SAVED(kind) is the field
 * of the struct that s points to.
 */
#ifndef HUD_HOST_SAVED_H
#define HUD_HOST_SAVED_H

#include "host/kinds.h"
#include "host/scratch_array.h"

#include <stdbool.h>
#include <string.h>

enum { SAVED_ARRAYS = 6 }; /* maximum number of arrays of a call */

/* Copies of a call's arrays, in memory that is reused. */
struct saved_arrays {
    struct scratch_array copy[SAVED_ARRAYS];
    int count; /* copies in use */
};

/*
 * Replaces a call's array, of `bytes` bytes, by a copy, or by NULL if the call does not use the
 * array.  Returns false if out of memory.
 *
 * MPI requires arrays to last until the call is complete, but programs free them before: mpi4py's
 * Iallgatherv does, and an array passed by Fortran may be a copy.  The copy protects the arrays
 * read by huddle, and by an MPI's own call if started later.  The MPI may still read the program's
 * own array: Open MPI may read the types of MPI_Ialltoallw at the end of the call, to release them.
 */
static inline bool saved_array(struct saved_arrays *saved, bool used, size_t bytes,
                               const void **array)
{
    const void *given = used ? *array : NULL;

    *array = NULL;
    if (given == NULL)
        return true;
    void *copy = scratch_array_reserve(&saved->copy[saved->count++], bytes);
    if (copy != NULL)
        *array = memcpy(copy, given, bytes);
    return copy != NULL;
}

static inline void saved_arrays_free(struct saved_arrays *saved)
{
    for (int i = 0; i < SAVED_ARRAYS; i++)
        scratch_array_free(&saved->copy[i]);
}

#define FIELD(kind) KIND(FIELD_OF, kind)
#define FIELD_OF(name, type, ...) type name;
#define FROM_SAVED(kind) s->kind

/* The number of blocks on a side, and whether the rank's arguments about the side are used. */
#define BLOCKS_ALL sent
#define BLOCKS_IN sent
#define BLOCKS_OUT got
#define USES_ALL true
#define USES_IN (sends && s->in != MPI_IN_PLACE)
#define USES_OUT gets
#define USES_TO (gets && s->out != MPI_IN_PLACE)

/* COPY(kind): copies an array. */
#define COPY(kind) KIND(COPY_OF, kind)
#define COPY_OF(name, type, side, copied, ...) COPY_##copied(name, side)
#define COPY_VALUE(name, side)
#define COPY_ARRAY(name, side)                                                                     \
    done = done && saved_array(&r->arrays, USES_##side, (size_t)BLOCKS_##side * sizeof *s->name,   \
                               (const void **)(uintptr_t)&s->name);

/* KEEP(kind): keeps types, or an operation, alive until the request is freed, by the front end's
 * functions keep_type, keep_types and keep_op. */
#define KEEP(kind) KIND(KEEP_OF, kind)
#define KEEP_OF(name, type, side, copied, kept, ...) KEEP_##kept(name, side)
#define KEEP_NOTHING(name, side)
#define KEEP_A_TYPE(name, side) done = done && (!USES_##side || keep_type(r, s->name));
#define KEEP_ALL_TYPES(name, side)                                                                 \
    done = done && (!USES_##side || keep_types(r, s->name, BLOCKS_##side));
#define KEEP_AN_OP(name, side) done = done && keep_op(r, s->name);

/*
 * Defines a function that prepares r->saved.<name> to outlive the call, by COPY or KEEP of each
 * kind.  The function returns false if out of memory.  sends, gets: whether the rank's arguments
 * about sent, or received, data are used.  sent, got: the numbers of blocks.
 */
#define SAVED_BY(function, name, SENDS, GETS, ...)                                                 \
    static bool function(struct request *r, int sent, int got)                                     \
    {                                                                                              \
        struct saved_##name *s = &r->saved.name;                                                   \
        bool done = true, sends = SENDS, gets = GETS;                                              \
        (void)s, (void)sent, (void)got, (void)sends, (void)gets;                                   \
        __VA_ARGS__                                                                                \
        return done;                                                                               \
    }

#endif
