/* SPDX-License-Identifier: BSD-3-Clause */
/* ops_reference.h - what MPI's operations make of two elements, plainly: one element, one type at a
 * time, nothing shared with the kernels. */
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
    enum number value, index; /* index: of pairs */
    size_t value_bytes, index_bytes, bytes;
};

extern const struct reference_type reference_types[HUD_TYPES];

/* MPI-4.1, 6.9.2 and 6.9.4. */
bool reference_has(enum class class, enum hud_operation operation);

/* An element made of the bits drawn: often one of the values that are special, sometimes any. */
void reference_draw(const struct reference_type *type, uint64_t (*draw)(void),
                    unsigned char *element);

/* a = a op b. */
void reference_combine(const struct reference_type *type, enum hud_operation operation,
                       unsigned char *a, const unsigned char *b);

/* All bits alike; of a NaN that a sum or product made, that it is one. */
bool reference_equal(const struct reference_type *type, enum hud_operation operation,
                     const unsigned char *a, const unsigned char *b);

#endif
