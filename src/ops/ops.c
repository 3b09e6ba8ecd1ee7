/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ops.c - the predefined operations of MPI on its predefined types (MPI-4.1, 6.9.2 and 6.9.4), by
 * the best path of kernels of this processor.
 *
 * Guarantees of a kernel.  Elements are combined from left to right; a is the left one, b the right
 * one:
 *   max, min       a > b ? a : b, a < b ? a : b: where one is NaN, and of zeros of either sign, the
 *                  right one
 *   sum, prod      integers wrap; floating-point numbers are rounded in each step, in the precision
 *                  of the type, never fused; complex products are C's (infinities are kept)
 *   land lor lxor  0 or 1; every value but 0 is true
 *   maxloc minloc  the better value with its index; of equal values the lower index, and of equal
 *                  indices the left; a NaN never is better
 * So the order of the sources decides about floating-point numbers, also in max and maxloc: about
 * NaNs, and zeros of either sign.
 * Nothing else matters: not the path, the number of sources at once, their addresses, nor whether
 * the result overwrites a source.  All bits are the same, except the sign and payload of a NaN that
 * sum or prod makes, and the unused bytes of a long double.
 *
 * The compiler's code for plain loops is as fast as memcpy at every level of the caches, so there
 * are no intrinsics (lab/evidence/kernels.csv, by bench-kernels).
 *
 * Missing here, so these fall back to the MPI: Fortran's LOGICAL (its compiler defines .true.),
 * numbers of 2 bytes, numbers of 16 bytes other than long double.
 */
#include "ops/ops.h"

#include <stdbool.h>
#include <stdint.h>

static const size_t element_bytes[HUD_TYPES] = {
#define UNSIGNED(id, type) [HUD_##id] = sizeof(type),
#define SIGNED(id, type, of) [HUD_##id] = sizeof(type),
#define FLOATING(id, type) [HUD_##id] = sizeof(type),
#define COMPLEX(id, type) [HUD_##id] = 2 * sizeof(type),
#define LOGICAL(id, type, of) [HUD_##id] = sizeof(type),
#define BYTES(id, type, of) [HUD_##id] = sizeof(type),
#define PAIR(id, value_type, index_type) [HUD_##id] = sizeof(value_type) + sizeof(index_type),
#include "ops/kernels.def"
};

static const char *const names[HUD_OPERATIONS] = {
#define NAME(operation) [HUD_##operation] = "MPI_" #operation
    NAME(MAX), NAME(MIN), NAME(SUM),  NAME(PROD), NAME(LAND),   NAME(BAND),
    NAME(LOR), NAME(BOR), NAME(LXOR), NAME(BXOR), NAME(MINLOC), NAME(MAXLOC),
};

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

static bool always(void)
{
    return true;
}

static const struct {
    struct hud_ops_path path;
    bool (*here)(void);
} paths[] = {
#if defined(__x86_64__)
    { { "avx512", hud_ops_avx512 }, has_avx512 },
    { { "avx2", hud_ops_avx2 }, has_avx2 },
#endif
    { { "baseline", hud_ops_baseline }, always },
};

const struct hud_ops_path *hud_ops_path_at(int i)
{
    for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++)
        if (paths[p].here() && i-- == 0)
            return &paths[p].path;
    return NULL;
}

static bool is_floating(enum hud_type type)
{
    return (type >= HUD_FLOAT && type <= HUD_LONG_DOUBLE_COMPLEX) ||
           (type >= HUD_FLOAT_INT && type <= HUD_LONG_DOUBLE_INT) || type >= HUD_FLOAT_FLOAT;
}

int hud_op_find(enum hud_operation operation, enum hud_type type, struct hud_op *op)
{
    if ((unsigned)operation >= HUD_OPERATIONS || (unsigned)type >= HUD_TYPES)
        return HUD_PASS;
    hud_combine *combine = hud_ops_path_at(0)->kernels[operation][type];
    if (!combine)
        return HUD_PASS;
    if (op)
        *op = (struct hud_op){ .element_bytes = element_bytes[type],
                               .commutative = 1,
                               .exact = !is_floating(type),
                               .combine = combine,
                               .name = names[operation] };
    return HUD_OK;
}
