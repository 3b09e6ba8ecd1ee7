/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - the kinds of parameters that the rows of signatures.def name.  KIND_<kind> has these
 * columns:
 *
 *   type    the C type, from COUNT, PLACE, TYPE_HANDLE, OP_HANDLE and COMM_HANDLE, which the front
 *           end defines
 *   side    the data that an array or a type describes: IN, OUT, TO (as OUT, unless in place), or
 *           ALL (used on every rank)
 *   copied  how saved.h copies the argument if a call outlives it: VALUE, or ARRAY
 *   kept    how saved.h keeps the argument's objects alive: NOTHING, A_TYPE, ALL_TYPES, or AN_OP
 *   passed  how pmpi/pmpi.h passes the argument to hud_open_<name>: AS_IS, MANY_OF, or AS_CALL
 *   seen    whether the recorder reads the argument: SEEN, or UNSEEN
 *
 * A front end reads a column by KIND(use, kind), which expands to use(kind, columns).
 */
#ifndef HUD_KINDS_H
#define HUD_KINDS_H

#include "host/map.h"

#include <stdint.h>

/* clang-format off */
/*                      type                 side copied kept       passed   seen */
#define KIND_buffer     void *,              ALL, VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_in         const void *,        IN,  VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_out        void *,              OUT, VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_count      COUNT,               ALL, VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_ins        COUNT,               IN,  VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_outs       COUNT,               OUT, VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_counts     const COUNT *,       ALL, ARRAY, NOTHING,   MANY_OF, SEEN
#define KIND_in_counts  const COUNT *,       IN,  ARRAY, NOTHING,   MANY_OF, SEEN
#define KIND_out_counts const COUNT *,       OUT, ARRAY, NOTHING,   MANY_OF, SEEN
#define KIND_in_places  const PLACE *,       IN,  ARRAY, NOTHING,   MANY_OF, UNSEEN
#define KIND_out_places const PLACE *,       OUT, ARRAY, NOTHING,   MANY_OF, UNSEEN
#define KIND_in_bytes   const MPI_Aint *,    ALL, ARRAY, NOTHING,   MANY_OF, UNSEEN
#define KIND_out_bytes  const MPI_Aint *,    OUT, ARRAY, NOTHING,   MANY_OF, UNSEEN
#define KIND_type       TYPE_HANDLE,         ALL, VALUE, A_TYPE,    AS_IS,   SEEN
#define KIND_in_type    TYPE_HANDLE,         IN,  VALUE, A_TYPE,    AS_IS,   SEEN
#define KIND_out_type   TYPE_HANDLE,         TO,  VALUE, A_TYPE,    AS_IS,   SEEN
#define KIND_in_types   TYPE_HANDLE const *, IN,  ARRAY, ALL_TYPES, AS_IS,   SEEN
#define KIND_out_types  TYPE_HANDLE const *, OUT, ARRAY, ALL_TYPES, AS_IS,   SEEN
#define KIND_op         OP_HANDLE,           ALL, VALUE, AN_OP,     AS_IS,   UNSEEN
#define KIND_root       int,                 ALL, VALUE, NOTHING,   AS_IS,   SEEN
#define KIND_comm       COMM_HANDLE,         ALL, VALUE, NOTHING,   AS_CALL, SEEN
#define KIND_info       MPI_Info,            ALL, VALUE, NOTHING,   AS_IS,   UNSEEN
#define KIND_request    MPI_Request *,       ALL, VALUE, NOTHING,   AS_IS,   UNSEEN
/* clang-format on */

#define KIND(use, kind) KIND_USE(use, kind, KIND_##kind)
#define KIND_USE(use, ...) use(__VA_ARGS__)

/* PARAM(kind): the parameter of MPI's function. */
#define PARAM(kind) KIND(PARAM_OF, kind)
#define PARAM_OF(name, type, ...) type name

/* WORD(kind): the parameter of a function that only passes its arguments on.  All parameters of
 * MPI's functions are integers or pointers, each in a register or 8 bytes of the stack. */
#define WORD(kind) uintptr_t kind

/* Calls a function with the parameters of the caller, which have these kinds. */
#define PASS_ON(to, ...) ((uintptr_t(*)(MAP(WORD, __VA_ARGS__)))(void (*)(void))(to))(__VA_ARGS__)

#endif
