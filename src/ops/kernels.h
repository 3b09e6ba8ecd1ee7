/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernels.h - the kernels of one path.  Each path (baseline.c, avx2.c, avx512.c) includes this file
 * once and is compiled for its processor.
 *
 * A kernel is a plain loop over elements, which the compiler vectorises, in a form for 2, 3, 4 and
 * 8 sources; fold.c combines any number with them.  To add a type, add a row in kernels.def.  To
 * add an operation, add its formula for two elements, and a row in each class of types that has it.
 */
#include "ops/ops.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- the result of an operation for two elements: a from the left, b from the right ---- */

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define WRAP(a, b) (1U * (a) * (b)) /* a product of unsigned elements shorter than int */
#define LAND(a, b) (((a) != 0) & ((b) != 0))
#define LOR(a, b) (((a) | (b)) != 0)
#define LXOR(a, b) (((a) != 0) ^ ((b) != 0))
#define BAND(a, b) ((a) & (b))
#define BOR(a, b) ((a) | (b))
#define BXOR(a, b) ((a) ^ (b))
#define MAXLOC(a, b)                                                                               \
    ((b).value > (a).value || ((b).value == (a).value && (b).index < (a).index) ? (b) : (a))
#define MINLOC(a, b)                                                                               \
    ((b).value < (a).value || ((b).value == (a).value && (b).index < (a).index) ? (b) : (a))

/* ---- which operations a class of types has: KERNEL(operation, id, type of a part, parts of an
 * element, macro), or SAME as another type ---- */

#define UNSIGNED(id, type)                                                                         \
    KERNEL(MAX, id, type, 1, MAX)                                                                  \
    KERNEL(MIN, id, type, 1, MIN)                                                                  \
    KERNEL(SUM, id, type, 1, SUM)                                                                  \
    KERNEL(PROD, id, type, 1, WRAP)                                                                \
    KERNEL(LAND, id, type, 1, LAND)                                                                \
    KERNEL(LOR, id, type, 1, LOR)                                                                  \
    KERNEL(LXOR, id, type, 1, LXOR)                                                                \
    KERNEL(BAND, id, type, 1, BAND)                                                                \
    KERNEL(BOR, id, type, 1, BOR)                                                                  \
    KERNEL(BXOR, id, type, 1, BXOR)
#define SIGNED(id, type, of)                                                                       \
    KERNEL(MAX, id, type, 1, MAX)                                                                  \
    KERNEL(MIN, id, type, 1, MIN)                                                                  \
    SAME(SUM, id, of)                                                                              \
    SAME(PROD, id, of)                                                                             \
    LOGICAL(id, type, of)                                                                          \
    BYTES(id, type, of)
#define LOGICAL(id, type, of) SAME(LAND, id, of) SAME(LOR, id, of) SAME(LXOR, id, of)
#define BYTES(id, type, of) SAME(BAND, id, of) SAME(BOR, id, of) SAME(BXOR, id, of)
#define FLOATING(id, type)                                                                         \
    KERNEL(MAX, id, type, 1, MAX)                                                                  \
    KERNEL(MIN, id, type, 1, MIN)                                                                  \
    KERNEL(SUM, id, type, 1, SUM)                                                                  \
    KERNEL(PROD, id, type, 1, PROD)
#define COMPLEX(id, type) KERNEL(SUM, id, type, 2, SUM) PRODUCT(PROD, id, type)
#define PAIR(id, value_type, index_type)                                                           \
    STRUCT(id, value_type, index_type)                                                             \
    KERNEL(MAXLOC, id, struct id, 1, MAXLOC)                                                       \
    KERNEL(MINLOC, id, struct id, 1, MINLOC)

/* ---- the loops ---- */

#define SAME(operation, id, of)

#define STRUCT(id, value_type, index_type)                                                         \
    struct __attribute__((packed)) id {                                                            \
        value_type value;                                                                          \
        index_type index;                                                                          \
    };

/* Declares the sources, whose number is known, for elements at any address. */
#define SOURCES(type)                                                                              \
    ;                                                                                              \
    typedef struct __attribute__((packed, may_alias)) {                                            \
        type v;                                                                                    \
    } at;                                                                                          \
    const at *s0 = src[0], *s1 = src[1], *s2 = sources > 2 ? src[2] : s1,                          \
             *s3 = sources > 3 ? src[3] : s1;                                                      \
    const at *s4 = sources > 4 ? src[4] : s1, *s5 = sources > 4 ? src[5] : s1;                     \
    const at *s6 = sources > 4 ? src[6] : s1, *s7 = sources > 4 ? src[7] : s1

#define FROM_THE_LEFT(step, type, f)                                                               \
    step(s1, type, f);                                                                             \
    if (sources > 2)                                                                               \
        step(s2, type, f);                                                                         \
    if (sources > 3)                                                                               \
        step(s3, type, f);                                                                         \
    if (sources > 4) {                                                                             \
        step(s4, type, f);                                                                         \
        step(s5, type, f);                                                                         \
        step(s6, type, f);                                                                         \
        step(s7, type, f);                                                                         \
    }

#define FORMS(name, type, parts)                                                                   \
    static void name##_2(void *dst, const void *const *src, size_t n)                              \
    {                                                                                              \
        name##_of(2, dst, src, n);                                                                 \
    }                                                                                              \
    static void name##_3(void *dst, const void *const *src, size_t n)                              \
    {                                                                                              \
        name##_of(3, dst, src, n);                                                                 \
    }                                                                                              \
    static void name##_4(void *dst, const void *const *src, size_t n)                              \
    {                                                                                              \
        name##_of(4, dst, src, n);                                                                 \
    }                                                                                              \
    static void name##_8(void *dst, const void *const *src, size_t n)                              \
    {                                                                                              \
        name##_of(8, dst, src, n);                                                                 \
    }                                                                                              \
    static void name(const struct hud_op *op, void *dst, const void *const *src, int sources,      \
                     size_t elements)                                                              \
    {                                                                                              \
        static hud_form *const forms[] = {                                                         \
            [2] = name##_2, [3] = name##_3, [4] = name##_4, [8] = name##_8                         \
        };                                                                                         \
        (void)op;                                                                                  \
        if (sources == 2)                                                                          \
            name##_2(dst, src, elements *(parts));                                                 \
        else                                                                                       \
            hud_ops_fold(forms, sizeof(type), dst, src, sources, elements *(parts));               \
    }

#define STEP(s, type, f) a = f(a, s[i].v)
#define KERNEL(operation, id, type, parts, f)                                                      \
    static inline __attribute__((always_inline)) void operation##_##id##_of(                       \
        int sources, void *dst, const void *const *src, size_t n)                                  \
    {                                                                                              \
        SOURCES(type);                                                                             \
        at *to = dst;                                                                              \
        _Pragma("omp simd") for (size_t i = 0; i < n; i++)                                         \
        {                                                                                          \
            type a = s0[i].v;                                                                      \
            FROM_THE_LEFT(STEP, type, f);                                                          \
            to[i].v = a;                                                                           \
        }                                                                                          \
    }                                                                                              \
    FORMS(operation##_##id, type, parts)

/*
 * C's product of complex numbers: the plain formula, and C's own rules of infinities if the formula
 * gives NaN for both parts.  A product that is NaN stays NaN, so checking the last product is
 * enough.  If a tile must be computed again, its first results are discarded.
 *
 * Real and imaginary parts are stored in separate rows.  With interleaved parts, gcc 12 generates
 * fused products where AVX-512 has them, even with contraction switched off.
 */
enum { TILE = 64 }; /* elements */

#define PLAIN_STEP(s, type, f)                                                                     \
    do {                                                                                           \
        const type x = s[j].v, y = s[j + 1].v, real = re * x - im * y;                             \
        im = re * y + im * x;                                                                      \
        re = real;                                                                                 \
    } while (0)
#define STRICT_STEP(s, type, f)                                                                    \
    do {                                                                                           \
        type _Complex b;                                                                           \
        memcpy(&b, s + j, sizeof b);                                                               \
        a = a * b;                                                                                 \
    } while (0)
#define PRODUCT(operation, id, type)                                                               \
    static inline __attribute__((always_inline)) void operation##_##id##_of(                       \
        int sources, void *dst, const void *const *src, size_t n)                                  \
    {                                                                                              \
        SOURCES(type);                                                                             \
        at *to = dst;                                                                              \
        type reals[TILE], imaginaries[TILE];                                                       \
        for (size_t begin = 0, end; begin < n; begin = end) {                                      \
            int none = 0;                                                                          \
            end = n - begin < TILE ? n : begin + TILE;                                             \
            _Pragma("omp simd reduction(|:none)") for (size_t i = begin; i < end; i++)             \
            {                                                                                      \
                const size_t j = 2 * i;                                                            \
                type re = s0[j].v, im = s0[j + 1].v;                                               \
                FROM_THE_LEFT(PLAIN_STEP, type, none);                                             \
                reals[i - begin] = re;                                                             \
                imaginaries[i - begin] = im;                                                       \
                none |= (re != re) & (im != im);                                                   \
            }                                                                                      \
            for (size_t i = begin; none && i < end; i++) {                                         \
                const size_t j = 2 * i;                                                            \
                type _Complex a;                                                                   \
                memcpy(&a, s0 + j, sizeof a);                                                      \
                FROM_THE_LEFT(STRICT_STEP, type, none);                                            \
                reals[i - begin] = __real__ a;                                                     \
                imaginaries[i - begin] = __imag__ a;                                               \
            }                                                                                      \
            _Pragma("omp simd") for (size_t i = begin; i < end; i++)                               \
            {                                                                                      \
                to[2 * i].v = reals[i - begin];                                                    \
                to[2 * i + 1].v = imaginaries[i - begin];                                          \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    FORMS(operation##_##id, type _Complex, 1)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion" /* values that do not fit into a short element are
                                                 truncated */
#include "ops/kernels.def"
#pragma GCC diagnostic pop

/* ---- the table ---- */

#undef KERNEL
#undef SAME
#undef PRODUCT
#undef STRUCT
#define KERNEL(operation, id, type, parts, f) [HUD_##operation][HUD_##id] = operation##_##id,
#define SAME(operation, id, of) [HUD_##operation][HUD_##id] = operation##_##of,
#define PRODUCT(operation, id, type) [HUD_##operation][HUD_##id] = operation##_##id,
#define STRUCT(id, value_type, index_type)

hud_ops_table HUD_PATH = {
#include "ops/kernels.def"
};
