/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operators.h - user-defined operations on predefined and derived types.
 *
 * An element is a row of pairs (a, b) of unsigned. "add" adds each number and commutes. "compose"
 * takes a pair as the map x -> a x + b and composes maps, left after right, which is associative
 * but not commutative. Both read and write elements at the places that their type defines, so
 * packed bytes would give wrong results.
 */
#ifndef HUD_TESTS_OPERATORS_H
#define HUD_TESTS_OPERATORS_H

#include "operands.h"

enum { OPERATORS = 2, SHAPES = 8 };

static const struct operand
    *applied;       /* operand of the running collective; a user's function gets only a type */
static int misfits; /* calls of a user's function with another type than the collective's type */

static unsigned load(const unsigned char *at)
{
    unsigned value;

    memcpy(&value, at, sizeof value);
    return value;
}

static void store(unsigned char *at, unsigned value)
{
    memcpy(at, &value, sizeof value);
}

static void each_pair(const unsigned char *in, unsigned char *inout, int count, MPI_Datatype type,
                      void (*combine)(const unsigned *left, unsigned *right))
{
    const struct layout *l = &applied->l;
    MPI_Aint lower, extent;

    MPI_Type_get_extent(type, &lower, &extent);
    misfits += extent != l->extent;
    for (int n = 0; n < count; n++) {
        for (size_t b = 0; b + 1 < l->blocks; b += 2) {
            ptrdiff_t at[2] = { n * l->extent + l->block[b].at,
                                n * l->extent + l->block[b + 1].at };
            unsigned left[2] = { load(in + at[0]), load(in + at[1]) },
                     right[2] = { load(inout + at[0]), load(inout + at[1]) };
            combine(left, right);
            store(inout + at[0], right[0]);
            store(inout + at[1], right[1]);
        }
    }
}

static void add_pair(const unsigned *left, unsigned *right)
{
    right[0] += left[0];
    right[1] += left[1];
}

static void compose_pair(const unsigned *left, unsigned *right)
{
    right[1] = left[0] * right[1] + left[1];
    right[0] *= left[0];
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    each_pair(in, inout, *count, *type, add_pair);
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    each_pair(in, inout, *count, *type, compose_pair);
}

/* ---- elements ---- */

static struct layout number(void)
{
    return laid_basic(MPI_UNSIGNED, sizeof(unsigned));
}

/* Makes a predefined type whose elements are pairs. */
static struct layout predefined(void)
{
    struct layout l = laid_contiguous(number(), 2);

    MPI_Type_free(&l.type);
    l.type = MPI_2INT;
    return l;
}

static struct layout contiguous(void)
{
    return laid_contiguous(number(), 6);
}

static struct layout gaps(void)
{
    return laid_resized(laid_vector(number(), 4, 1, 12), 0, 48);
}

/* Makes four numbers whose order in memory differs from the signature, although the size equals the
 * extent. */
static struct layout out_of_order(void)
{
    return laid_indexed(number(), 4, (int[]){ 1, 1, 1, 1 }, (int[]){ 2, 0, 3, 1 });
}

static struct layout below_zero(void)
{
    return laid_resized(laid_vector(number(), 2, 1, -8), -12, 20);
}

static struct layout shrunk(void)
{
    return laid_resized(laid_indexed(number(), 2, (int[]){ 1, 1 }, (int[]){ 3, 1 }), 4, 24);
}

/* Makes elements of 800 bytes in 1,200, which most fragments split. */
static struct layout longer(void)
{
    return laid_resized(laid_vector(laid_contiguous(number(), 2), 100, 1, 12), 0, 1200);
}

/* Makes elements larger than huddle's maximum. */
static struct layout huge(void)
{
    return laid_contiguous(number(), 1500);
}

static const struct shape {
    const char *name;
    struct layout (*make)(void);
} shapes[SHAPES] = { { "MPI_2INT", predefined },
                     { "contiguous", contiguous },
                     { "gaps", gaps },
                     { "out of order", out_of_order },
                     { "below zero", below_zero },
                     { "shrunk", shrunk },
                     { "long", longer },
                     { "huge", huge } };

static void own_operand(int shape, bool commutes, struct operand *o)
{
    *o = (struct operand){ .name = shapes[shape].name,
                           .op_name = commutes ? "add" : "compose",
                           .forms = "u",
                           .l = shapes[shape].make() };
    MPI_Type_commit(&o->l.type);
    MPI_Op_create(commutes ? add : compose, commutes, &o->op);
}

static void own_free(struct operand *o)
{
    MPI_Op_free(&o->op);
    if (o->l.type == MPI_2INT)
        free(o->l.block);
    else
        laid_free(&o->l);
}

#endif
