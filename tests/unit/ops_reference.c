/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops_reference.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef unsigned __int128 wide;

enum {
    VALUE_OF_LONG_DOUBLE = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)
}; /* bytes of the value; the remaining bytes are padding */

#define ONE(id, class, number, type)                                                               \
    [HUD_##id] = { #id, class, number, NONE, sizeof(type), 0, sizeof(type) }
#define TWO(id, class, number, type)                                                               \
    [HUD_##id] = { #id, class, number, NONE, sizeof(type), 0, 2 * sizeof(type) }
#define PAIR(id, value, value_type, index, index_type)                                             \
    [HUD_##id] = { #id,                                                                            \
                   PAIRS,                                                                          \
                   value,                                                                          \
                   index,                                                                          \
                   sizeof(value_type),                                                             \
                   sizeof(index_type),                                                             \
                   sizeof(value_type) + sizeof(index_type) }

const struct reference_type reference_types[HUD_TYPES] = {
    ONE(INT8, INTEGERS, SIGNED, int8_t),
    ONE(INT16, INTEGERS, SIGNED, int16_t),
    ONE(INT32, INTEGERS, SIGNED, int32_t),
    ONE(INT64, INTEGERS, SIGNED, int64_t),
    ONE(UINT8, INTEGERS, UNSIGNED, uint8_t),
    ONE(UINT16, INTEGERS, UNSIGNED, uint16_t),
    ONE(UINT32, INTEGERS, UNSIGNED, uint32_t),
    ONE(UINT64, INTEGERS, UNSIGNED, uint64_t),
    ONE(FLOAT, FLOATS, FLOAT, float),
    ONE(DOUBLE, FLOATS, DOUBLE, double),
    ONE(LONG_DOUBLE, FLOATS, LONG_DOUBLE, long double),
    TWO(FLOAT_COMPLEX, COMPLEXES, FLOAT, float),
    TWO(DOUBLE_COMPLEX, COMPLEXES, DOUBLE, double),
    TWO(LONG_DOUBLE_COMPLEX, COMPLEXES, LONG_DOUBLE, long double),
    ONE(BOOL, LOGICALS, UNSIGNED, bool),
    ONE(BYTE, BYTES, UNSIGNED, uint8_t),
    PAIR(FLOAT_INT, FLOAT, float, SIGNED, int),
    PAIR(DOUBLE_INT, DOUBLE, double, SIGNED, int),
    PAIR(LONG_DOUBLE_INT, LONG_DOUBLE, long double, SIGNED, int),
    PAIR(SHORT_INT, SIGNED, short, SIGNED, int),
    PAIR(INT_INT, SIGNED, int, SIGNED, int),
    PAIR(LONG_INT, SIGNED, long, SIGNED, int),
    PAIR(FLOAT_FLOAT, FLOAT, float, FLOAT, float),
    PAIR(DOUBLE_DOUBLE, DOUBLE, double, DOUBLE, double),
};

bool reference_has(enum class class, enum hud_operation operation)
{
#define BIT(id) (1U << HUD_##id)
    static const unsigned has[] = {
        [INTEGERS] = BIT(MAX) | BIT(MIN) | BIT(SUM) | BIT(PROD) | BIT(LAND) | BIT(LOR) | BIT(LXOR) |
                     BIT(BAND) | BIT(BOR) | BIT(BXOR),
        [FLOATS] = BIT(MAX) | BIT(MIN) | BIT(SUM) | BIT(PROD),
        [COMPLEXES] = BIT(SUM) | BIT(PROD),
        [LOGICALS] = BIT(LAND) | BIT(LOR) | BIT(LXOR),
        [BYTES] = BIT(BAND) | BIT(BOR) | BIT(BXOR),
        [PAIRS] = BIT(MAXLOC) | BIT(MINLOC),
    };
    return has[class] >> operation & 1;
}

/* ---- numbers ---- */

static wide bits_of(const unsigned char *at, size_t bytes, bool is_signed)
{
    wide bits = 0;

    for (size_t i = bytes; i-- > 0;)
        bits = bits << 8 | at[i];
    return is_signed && at[bytes - 1] & 0x80 ? bits | ~(wide)0 << (8 * bytes) : bits;
}

static void set_bits(unsigned char *at, size_t bytes, wide bits)
{
    for (size_t i = 0; i < bytes; i++, bits >>= 8)
        at[i] = (unsigned char)bits;
}

/* Returns a number as a long double, which represents every float and double exactly. */
static long double value_of(enum number number, const unsigned char *at)
{
    float f;
    double d;
    long double l;

    memcpy(&f, at, sizeof f);
    memcpy(&d, at, number == FLOAT ? sizeof f : sizeof d);
    memcpy(&l, at, number == FLOAT ? sizeof f : number == DOUBLE ? sizeof d : sizeof l);
    return number == FLOAT ? (long double)f : number == DOUBLE ? (long double)d : l;
}

static void set_value(enum number number, unsigned char *at, long double value)
{
    float f = (float)value;
    double d = (double)value;

    memcpy(at,
           number == FLOAT    ? (const void *)&f
           : number == DOUBLE ? (const void *)&d
                              : &value,
           number == FLOAT    ? sizeof f
           : number == DOUBLE ? sizeof d
                              : sizeof value);
}

/* Compares two numbers: returns -1, 0 or 1 if a is less than, equal to or greater than b, and 2 if
 * they are unordered. */
static int compare(enum number number, size_t bytes, const unsigned char *a, const unsigned char *b)
{
    if (number >= FLOAT) {
        long double x = value_of(number, a), y = value_of(number, b);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    wide x = bits_of(a, bytes, number == SIGNED), y = bits_of(b, bytes, number == SIGNED);
    return number == SIGNED ? ((__int128)x > (__int128)y) - ((__int128)x < (__int128)y)
                            : (x > y) - (x < y);
}

/* ---- values ---- */

static void draw_number(enum number number, size_t bytes, uint64_t (*draw)(void), unsigned char *at)
{
    const long double small[] = { FLT_TRUE_MIN, DBL_TRUE_MIN, LDBL_TRUE_MIN },
                      large[] = { FLT_MAX, DBL_MAX, LDBL_MAX };
    const wide top = (wide)1 << (8 * bytes - 1),
               special[] = { 0, 1, 2, top, top - 1, top + 1, ~(wide)0 };
    uint64_t which = draw() % 16;
    wide random = (wide)draw() << 64 | draw();

    if (number < FLOAT) {
        set_bits(at, bytes, which < 7 ? special[which] : random);
        return;
    }
    long double plain = (long double)(int64_t)draw() / (long double)(draw() % 1000 + 1);
    const long double values[] = { NAN,
                                   INFINITY,
                                   -INFINITY,
                                   0,
                                   -0.0L,
                                   small[number - FLOAT],
                                   -small[number - FLOAT],
                                   large[number - FLOAT],
                                   1,
                                   -1 };
    set_value(number, at, which < 10 ? values[which] : plain);
}

void reference_draw(const struct reference_type *type, uint64_t (*draw)(void),
                    unsigned char *element)
{
    size_t value = type->value_bytes;

    memset(element, 0, type->bytes);
    draw_number(type->value, value, draw, element);
    if (type->class == COMPLEXES)
        draw_number(type->value, value, draw, element + value);
    if (type->class == PAIRS)
        draw_number(type->index, type->index_bytes, draw, element + value);
}

/* ---- operations ---- */

static wide integers(enum hud_operation operation, wide a, wide b)
{
    switch (operation) {
    case HUD_SUM:
        return a + b;
    case HUD_PROD:
        return a * b;
    case HUD_LAND:
        return a && b;
    case HUD_LOR:
        return a || b;
    case HUD_LXOR:
        return !a != !b;
    case HUD_BAND:
        return a & b;
    case HUD_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

#define ARITHMETIC(name, type)                                                                     \
    static void name(bool product, unsigned char *at, const unsigned char *right)                  \
    {                                                                                              \
        type a, b;                                                                                 \
        memcpy(&a, at, sizeof a);                                                                  \
        memcpy(&b, right, sizeof b);                                                               \
        a = product ? a * b : a + b;                                                               \
        memcpy(at, &a, sizeof a);                                                                  \
    }
ARITHMETIC(of_float, float)
ARITHMETIC(of_double, double)
ARITHMETIC(of_long_double, long double)
ARITHMETIC(of_float_complex, float complex)
ARITHMETIC(of_double_complex, double complex)
ARITHMETIC(of_long_double_complex, long double complex)

static void (*const arithmetic[][LONG_DOUBLE + 1])(bool product, unsigned char *at,
                                                   const unsigned char *right) = {
    [FLOATS] = { [FLOAT] = of_float, [DOUBLE] = of_double, [LONG_DOUBLE] = of_long_double },
    [COMPLEXES] = { [FLOAT] = of_float_complex,
                    [DOUBLE] = of_double_complex,
                    [LONG_DOUBLE] = of_long_double_complex },
};

/* Reports whether the result is the right operand. For max and min this is so unless the left
 * operand is better. For maxloc and minloc the left operand wins unless the right operand is
 * better, or equal with a lower index. */
static bool takes_right(const struct reference_type *type, enum hud_operation operation,
                        const unsigned char *a, const unsigned char *b)
{
    int better = operation == HUD_MAX || operation == HUD_MAXLOC ? 1 : -1,
        than = compare(type->value, type->value_bytes, a, b);

    if (type->class != PAIRS)
        return than != better;
    return than == -better ||
           (than == 0 && compare(type->index, type->index_bytes, a + type->value_bytes,
                                 b + type->value_bytes) == 1);
}

void reference_combine(const struct reference_type *type, enum hud_operation operation,
                       unsigned char *a, const unsigned char *b)
{
    if (operation == HUD_MAX || operation == HUD_MIN || type->class == PAIRS) {
        if (takes_right(type, operation, a, b))
            memcpy(a, b, type->bytes);
    } else if (type->value >= FLOAT) {
        arithmetic[type->class][type->value](operation == HUD_PROD, a, b);
    } else {
        set_bits(
            a, type->bytes,
            integers(operation, bits_of(a, type->bytes, false), bits_of(b, type->bytes, false)));
    }
}

static bool equal_number(enum number number, size_t bytes, bool made, const unsigned char *a,
                         const unsigned char *b)
{
    if (number >= FLOAT && made && isnan(value_of(number, a)) && isnan(value_of(number, b)))
        return true;
    return memcmp(a, b, number == LONG_DOUBLE ? VALUE_OF_LONG_DOUBLE : bytes) == 0;
}

bool reference_equal(const struct reference_type *type, enum hud_operation operation,
                     const unsigned char *a, const unsigned char *b)
{
    bool made = operation == HUD_SUM || operation == HUD_PROD;
    size_t second = type->value_bytes;

    return equal_number(type->value, second, made, a, b) &&
           (type->class != COMPLEXES ||
            equal_number(type->value, second, made, a + second, b + second)) &&
           (type->class != PAIRS ||
            equal_number(type->index, type->index_bytes, made, a + second, b + second));
}
