/* SPDX-License-Identifier: BSD-3-Clause */
/* ops_reference.h - simple implementations of MPI's operations on two elements, for one element and
 * one type at a time. They share no code with the kernels. */
#ifndef OPS_REFERENCE_H
#define OPS_REFERENCE_H

#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdint.h>

enum number { NONE, SIGNED, UNSIGNED, FLOAT, DOUBLE, LONG_DOUBLE };
enum class { INTEGERS, FLOATS, COMPLEXES, LOGICALS, BYTES, PAIRS };

struct reference_type {
    const char *name;
    enum class class;
    enum number value, index; /* index: the second member of pairs */
    size_t value_bytes, index_bytes, bytes;
};

extern const struct reference_type reference_types[HUD_TYPES];

/* Reports whether MPI defines the operation for the class of types (MPI-4.1, 6.9.2 and 6.9.4). */
bool reference_has(enum class class, enum hud_operation operation);

/* Makes an element from random bits. The element is often a special value. */
void reference_draw(const struct reference_type *type, uint64_t (*draw)(void),
                    unsigned char *element);

/* Computes a = a op b. */
void reference_combine(const struct reference_type *type, enum hud_operation operation,
                       unsigned char *a, const unsigned char *b);

/* Reports whether two results are equal: all bits must be, except that a sum or product may be any
 * NaN. */
bool reference_equal(const struct reference_type *type, enum hud_operation operation,
                     const unsigned char *a, const unsigned char *b);

#endif
