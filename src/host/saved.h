/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * saved.h - the arguments of a call as fields of a struct, for when the MPI's own collective is
 * started later.  FIELD_<kind> declares one; SAVED_<kind> is that of the struct that s points to.
 * The front end defines what differs: COUNT, PLACE, SAVED_TYPE, SAVED_TYPES (an array), SAVED_OP
 * and SAVED_COMM.
 */
#ifndef HUD_HOST_SAVED_H
#define HUD_HOST_SAVED_H

#include "host/grown.h"

#include <stdbool.h>
#include <string.h>

enum { SAVED_ARRAYS = 6 }; /* of a call, at most */

/* Copies of a call's arrays, in memory that is used again. */
struct saved_arrays {
    struct grown copy[SAVED_ARRAYS];
    int count; /* in use */
};

/*
 * A call's array, of `bytes`, becomes a copy of its own; NULL, if the call does not use it.  False:
 * no memory.  MPI demands that arrays last until the call is complete, but programs free them
 * before: mpi4py's Iallgatherv does, and what Fortran passes may be a copy.  A copy protects what
 * huddle reads, and what an MPI's own call reads that is started later.  It does not protect what
 * the MPI reads of the program's array itself: Open MPI may read the types of MPI_Ialltoallw at the
 * end of the call, to let go of them.
 */
static inline bool saved_array(struct saved_arrays *saved, bool used, size_t bytes,
                               const void **array)
{
    const void *given = used ? *array : NULL;

    *array = NULL;
    if (given == NULL)
        return true;
    void *copy = grown_to(&saved->copy[saved->count++], bytes);
    if (copy != NULL)
        *array = memcpy(copy, given, bytes);
    return copy != NULL;
}

static inline void saved_arrays_free(struct saved_arrays *saved)
{
    for (int i = 0; i < SAVED_ARRAYS; i++)
        grown_free(&saved->copy[i]);
}

#define FIELD_buffer void *buffer;
#define FIELD_in const void *in;
#define FIELD_out void *out;
#define FIELD_count COUNT count;
#define FIELD_ins COUNT ins;
#define FIELD_outs COUNT outs;
#define FIELD_counts const COUNT *counts;
#define FIELD_in_counts const COUNT *in_counts;
#define FIELD_out_counts const COUNT *out_counts;
#define FIELD_in_places const PLACE *in_places;
#define FIELD_out_places const PLACE *out_places;
#define FIELD_in_bytes const MPI_Aint *in_bytes;
#define FIELD_out_bytes const MPI_Aint *out_bytes;
#define FIELD_type SAVED_TYPE type;
#define FIELD_in_type SAVED_TYPE in_type;
#define FIELD_out_type SAVED_TYPE out_type;
#define FIELD_in_types SAVED_TYPES in_types;
#define FIELD_out_types SAVED_TYPES out_types;
#define FIELD_op SAVED_OP op;
#define FIELD_root int root;
#define FIELD_comm SAVED_COMM comm;

#define SAVED_buffer s->buffer
#define SAVED_in s->in
#define SAVED_out s->out
#define SAVED_count s->count
#define SAVED_ins s->ins
#define SAVED_outs s->outs
#define SAVED_counts s->counts
#define SAVED_in_counts s->in_counts
#define SAVED_out_counts s->out_counts
#define SAVED_in_places s->in_places
#define SAVED_out_places s->out_places
#define SAVED_in_bytes s->in_bytes
#define SAVED_out_bytes s->out_bytes
#define SAVED_type s->type
#define SAVED_in_type s->in_type
#define SAVED_out_type s->out_type
#define SAVED_in_types s->in_types
#define SAVED_out_types s->out_types
#define SAVED_op s->op
#define SAVED_root s->root
#define SAVED_comm s->comm

#endif
