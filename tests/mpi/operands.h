/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operands.h - the operands of the differential test of reductions: elements of a predefined or
 * derived type, with an operation.
 *
 * Values are small integers wherever an operation rounds, so that every order of the ranks gives
 * the same bits in a floating-point result.
 */
#ifndef HUD_TESTS_OPERANDS_H
#define HUD_TESTS_OPERANDS_H

#include "layout.h"

#include <float.h>

/* The format of a block: 'i' signed, 'u' unsigned, 'f' a C floating-point type, 'q' the 16 bytes of
 * Fortran's REAL16, 'b' a truth value. */
struct operand {
    const char *name, *op_name;
    struct layout l;
    const char *forms; /* one letter per block, repeated */
    bool loose_gaps;   /* an MPI may copy the gaps of predefined pairs and long doubles */
    MPI_Op op;
};

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

static char form_of(const struct operand *o, size_t block)
{
    return o->forms[block % strlen(o->forms)];
}

/* ---- predefined types, by their valid operations ---- */

enum { OPS_MAX = 10 };

static const struct op_class {
    struct {
        const char *name;
        MPI_Op op;
    } ops[OPS_MAX];
    int count;
} integers = { { { "max", MPI_MAX },
                 { "min", MPI_MIN },
                 { "sum", MPI_SUM },
                 { "prod", MPI_PROD },
                 { "land", MPI_LAND },
                 { "band", MPI_BAND },
                 { "lor", MPI_LOR },
                 { "bor", MPI_BOR },
                 { "lxor", MPI_LXOR },
                 { "bxor", MPI_BXOR } },
               10 },
  reals = { { { "max", MPI_MAX }, { "min", MPI_MIN }, { "sum", MPI_SUM }, { "prod", MPI_PROD } },
            4 },
  complexes = { { { "sum", MPI_SUM }, { "prod", MPI_PROD } }, 2 },
  logicals = { { { "land", MPI_LAND }, { "lor", MPI_LOR }, { "lxor", MPI_LXOR } }, 3 },
  bytes_only = { { { "band", MPI_BAND }, { "bor", MPI_BOR }, { "bxor", MPI_BXOR } }, 3 },
  pairs = { { { "minloc", MPI_MINLOC }, { "maxloc", MPI_MAXLOC } }, 2 };

struct basic {
    const char *name;
    MPI_Datatype type;
    const struct op_class *class;
    const char *forms;
    size_t bytes[2], second, extent;
};

#define ONE(type, c, class, form)                                                                  \
    {                                                                                              \
#type, type, &class, form, { sizeof(c), 0 }, 0, sizeof(c)                                  \
    }
#define TWO(type, c, class, forms)                                                                 \
    {                                                                                              \
#type, type, &class, forms, { sizeof(c), sizeof(c) }, sizeof(c), 2 * sizeof(c)             \
    }
#define PAIR(type, c, forms)                                                                       \
    {                                                                                              \
#type, type, &pairs, forms,                                                                \
            { sizeof(c), sizeof(int) },                                                            \
              offsetof(                                                                            \
                  struct {                                                                         \
                      c value;                                                                     \
                      int at;                                                                      \
                  },                                                                               \
                  at),                                                                             \
              sizeof(struct {                                                                      \
                  c value;                                                                         \
                  int at;                                                                          \
              })                                                                                   \
    }

/* clang-format off */
static const struct basic basics[] = {
    ONE(MPI_SIGNED_CHAR, signed char, integers, "i"),
    ONE(MPI_UNSIGNED_CHAR, unsigned char, integers, "u"),
    ONE(MPI_SHORT, short, integers, "i"), ONE(MPI_UNSIGNED_SHORT, unsigned short, integers, "u"),
    ONE(MPI_INT, int, integers, "i"), ONE(MPI_UNSIGNED, unsigned, integers, "u"),
    ONE(MPI_LONG, long, integers, "i"), ONE(MPI_UNSIGNED_LONG, unsigned long, integers, "u"),
    ONE(MPI_LONG_LONG, long long, integers, "i"),
    ONE(MPI_UNSIGNED_LONG_LONG, unsigned long long, integers, "u"),
    ONE(MPI_INT8_T, int8_t, integers, "i"), ONE(MPI_UINT8_T, uint8_t, integers, "u"),
    ONE(MPI_INT16_T, int16_t, integers, "i"), ONE(MPI_UINT16_T, uint16_t, integers, "u"),
    ONE(MPI_INT32_T, int32_t, integers, "i"), ONE(MPI_UINT32_T, uint32_t, integers, "u"),
    ONE(MPI_INT64_T, int64_t, integers, "i"), ONE(MPI_UINT64_T, uint64_t, integers, "u"),
    ONE(MPI_AINT, MPI_Aint, integers, "i"), ONE(MPI_OFFSET, MPI_Offset, integers, "u"),
    ONE(MPI_COUNT, MPI_Count, integers, "i"),
    ONE(MPI_INTEGER, int32_t, integers, "i"), ONE(MPI_INTEGER1, int8_t, integers, "i"),
    ONE(MPI_INTEGER2, int16_t, integers, "i"),
    ONE(MPI_INTEGER4, int32_t, integers, "i"), ONE(MPI_INTEGER8, int64_t, integers, "i"),
    ONE(MPI_FLOAT, float, reals, "f"), ONE(MPI_DOUBLE, double, reals, "f"),
    ONE(MPI_LONG_DOUBLE, long double, reals, "f"),
    ONE(MPI_REAL, float, reals, "f"), ONE(MPI_REAL4, float, reals, "f"),
    ONE(MPI_REAL8, double, reals, "f"),
    ONE(MPI_DOUBLE_PRECISION, double, reals, "f"), ONE(MPI_REAL16, quad, reals, "q"),
    TWO(MPI_C_FLOAT_COMPLEX, float, complexes, "f"),
    TWO(MPI_C_DOUBLE_COMPLEX, double, complexes, "f"),
    TWO(MPI_C_LONG_DOUBLE_COMPLEX, long double, complexes, "f"),
    TWO(MPI_COMPLEX, float, complexes, "f"),
    TWO(MPI_COMPLEX8, float, complexes, "f"), TWO(MPI_COMPLEX16, double, complexes, "f"),
    TWO(MPI_COMPLEX32, quad, complexes, "q"),
    TWO(MPI_DOUBLE_COMPLEX, double, complexes, "f"),
    TWO(MPI_CXX_FLOAT_COMPLEX, float, complexes, "f"),
    TWO(MPI_CXX_DOUBLE_COMPLEX, double, complexes, "f"),
    TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, long double, complexes, "f"),
    ONE(MPI_C_BOOL, bool, logicals, "b"), ONE(MPI_CXX_BOOL, bool, logicals, "b"),
    ONE(MPI_LOGICAL, int32_t, logicals, "b"),
    ONE(MPI_BYTE, uint8_t, bytes_only, "u"),
    PAIR(MPI_FLOAT_INT, float, "fi"), PAIR(MPI_DOUBLE_INT, double, "fi"),
    PAIR(MPI_LONG_INT, long, "ii"), PAIR(MPI_2INT, int, "ii"),
    PAIR(MPI_SHORT_INT, short, "ii"), PAIR(MPI_LONG_DOUBLE_INT, long double, "fi"),
    TWO(MPI_2REAL, float, pairs, "ff"), TWO(MPI_2DOUBLE_PRECISION, double, pairs, "ff"),
    TWO(MPI_2INTEGER, int32_t, pairs, "ii"),
};
/* clang-format on */
enum { BASICS = sizeof basics / sizeof *basics };

/* Reports whether the MPI computes REAL16 correctly. Open MPI may treat REAL16 as long double, and
 * a reduction of Intel MPI crashes with this type on three ranks. */
static bool really_quad(const struct basic *b)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    quad in[2] = { 3 }, out[2] = { 4 };
    int length;

    if (b->forms[0] != 'q')
        return true;
    MPI_Get_library_version(version, &length);
    return !strstr(version, "Intel") &&
           MPI_Reduce_local(in, out, 1, b->type, MPI_SUM) == MPI_SUCCESS && out[0] == 7;
}

/* Makes an operand. Returns false if this MPI does not have the type, has another size for the
 * type, or does not apply the operation to it. */
static bool operand_of(const struct basic *b, int op, struct operand *o)
{
    unsigned char in[64] = { 0 }, out[64] = { 0 };
    int size = 0;
    bool known;

    if (b->type == MPI_DATATYPE_NULL)
        return false;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    known = MPI_Type_size(b->type, &size) == MPI_SUCCESS &&
            (size_t)size == b->bytes[0] + b->bytes[1] &&
            MPI_Reduce_local(in, out, 1, b->type, b->class->ops[op].op) == MPI_SUCCESS &&
            really_quad(b);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (!known)
        return false;
    *o = (struct operand){ .name = b->name,
                           .op_name = b->class->ops[op].name,
                           .op = b->class->ops[op].op,
                           .forms = b->forms };
    o->loose_gaps = true;
    o->l = (struct layout){ .type = b->type,
                            .extent = (ptrdiff_t)b->extent,
                            .blocks = b->bytes[1] ? 2 : 1 };
    o->l.block = allocate(2 * sizeof *o->l.block);
    o->l.block[0] = (struct block){ 0, b->bytes[0] };
    o->l.block[1] = (struct block){ (ptrdiff_t)b->second, b->bytes[1] };
    return true;
}

/* ---- values ---- */

static bool is_op(const struct operand *o, const char *name)
{
    return strcmp(o->op_name, name) == 0;
}

/*
 * Returns a value for the operation. Integers of 4 bytes or more wrap around, which gives the same
 * result in any order (Open MPI's sums of shorter integers saturate). Unsigned values for maximum
 * and minimum are positive as signed values, too, because MPICH 4 treats all types, and Open MPI
 * MPI_OFFSET, with the other signedness. Pairs and truth values have few different values, so that
 * pairs tie.
 */
static int64_t small_value(const struct operand *o, size_t block, uint64_t random)
{
    bool logical = is_op(o, "land") || is_op(o, "lor") || is_op(o, "lxor"),
         located = is_op(o, "minloc") || is_op(o, "maxloc");
    bool sum = is_op(o, "sum"), prod = is_op(o, "prod"), narrow = o->l.block[block].bytes < 4;
    char form = form_of(o, block);

    if (form == 'b' || logical)
        return form == 'b' ? (int64_t)(random & 1) : random & 1 ? (int64_t)(random >> 8 & 63) : 0;
    if (located)
        return (int64_t)((random >> 8) % 5);
    if (sum && narrow)
        return form == 'u' ? (int64_t)(random & 1) : (int64_t)(random % 3) - 1;
    if (prod && (narrow || form != 'u'))
        return (random & 126) == 0 ? 2 : random & 1 || form == 'u' ? 1 : -1;
    if (form == 'u' && (is_op(o, "max") || is_op(o, "min")))
        return (int64_t)(random & (UINT64_MAX >> (65 - 8 * o->l.block[block].bytes)));
    if (form == 'u' || (form == 'i' && !sum))
        return (int64_t)random;
    return (int64_t)(random >> 8 & 15) - 7;
}

static void put(char form, unsigned char *at, size_t bytes, int64_t value)
{
    if (form == 'q')
        memcpy(at, &(quad){ (quad)value }, bytes);
    else if (form == 'f' && bytes == sizeof(float))
        memcpy(at, &(float){ (float)value }, bytes);
    else if (form == 'f' && bytes == sizeof(double))
        memcpy(at, &(double){ (double)value }, bytes);
    else if (form == 'f')
        memcpy(at, &(long double){ (long double)value },
               LDBL_MANT_DIG == 64 ? 10 : bytes); /* the remaining bytes are padding */
    else
        memcpy(at, &value, bytes);
}

/* Returns a part of a value. Complex factors are 1, -1, i, -i, and sometimes 1 + i, so products of
 * any number of factors are exact. */
static int64_t value_at(const struct operand *o, size_t block, uint64_t random)
{
    char form = form_of(o, block);

    if (o->l.blocks == 2 && is_op(o, "prod") && (form == 'f' || form == 'q')) {
        bool both = (random & 0x700) == 0, mine = (random >> 1 & 1) == block;
        return both ? 1 : !mine ? 0 : random & 1 ? 1 : -1;
    }
    return small_value(o, block, is_op(o, "prod") ? random : mix(random + block));
}

/* Returns the contribution of `rank` to the call `id`, a function of these arguments only. */
static struct area contribution(const struct operand *o, int count, uint64_t id, int rank)
{
    struct area a = area_of(&o->l, count);
    uint64_t seed = mix(id) + (uint64_t)rank * 0x9e3779b97f4a7c15u;

    for (int n = 0; n < count; n++) {
        for (size_t b = 0; b < o->l.blocks; b++) {
            uint64_t element = seed + (uint64_t)n * 1024 + (o->l.blocks > 2 ? b / 2 : 0);
            put(form_of(o, b), a.base + n * o->l.extent + o->l.block[b].at, o->l.block[b].bytes,
                value_at(o, b, mix(element)));
        }
    }
    return a;
}

/* Compares two values as numbers. A long double has padding bytes, and a zero may have a sign. */
static bool same_value(char form, const unsigned char *a, const unsigned char *b, size_t bytes)
{
    quad q[2];
    float f[2];
    double d[2];
    long double l[2];
    bool real = form == 'f';

    if (memcmp(a, b, bytes) == 0)
        return true;
    if (form == 'q')
        return memcpy(&q[0], a, bytes) && memcpy(&q[1], b, bytes) && q[0] == q[1];
    if (real && bytes == sizeof(float))
        return memcpy(f, a, bytes) && memcpy(f + 1, b, bytes) && f[0] == f[1];
    if (real && bytes == sizeof(double))
        return memcpy(d, a, bytes) && memcpy(d + 1, b, bytes) && d[0] == d[1];
    if (real)
        return memcpy(l, a, bytes) && memcpy(l + 1, b, bytes) && l[0] == l[1];
    return false;
}

#endif
