/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ops.c - the predefined operations of MPI on its predefined types (MPI-4.1, 6.9.2 and 6.9.4), by
 * the best path of kernels that this processor has.
 *
 * Guarantees of a kernel.  Elements are combined from left to right; a is the left one, b the right
 * one:
 *   max, min       a > b ? a : b, a < b ? a : b: where one is NaN, and of zeros of either sign, the
 *                  right one
 *   sum, prod      integers wrap; floating-point numbers are rounded in each step, in the precision
 *                  of the type, never fused; complex products are C's (infinities are kept)
 *   land lor lxor  0 or 1; what is not 0 is true
 *   maxloc minloc  the better value with its index; of equal values the lower index, and of equal
 *                  indices the left; a NaN never is better
 * Nothing else matters: not the path, the number of sources at once, their addresses, nor whether
 * the result overwrites a source.  All bits are the same, except the sign and payload of a NaN that
 * sum or prod makes, and the unused bytes of a long double.
 *
 * Measured by bench-kernels: GB/s read and written; 2 sources / 8 sources of the given size each; a
 * core with 48 KB of L1, 2 MB of L2 and a share of 260 MB of L3; gcc 12.  Compared with memcpy, the
 * compiler's code for plain loops is as fast at every level, so there are no intrinsics.
 *
 *                         L1: 4 KB     L2: 64 KB    L3: 1 MB, 4 MB
 *   memcpy                327          83           29
 *   sum double   avx512   386 / 345    106 / 137    29 / 27
 *                avx2     250 / 195    106 / 132    29 / 20
 *                baseline 124 / 119     82 / 83     29 / 17
 *   max float    avx512   462 / 312    106 / 130    29 / 23
 *   prod int64   avx512   254 / 115     99 / 96     29 / 29
 *                avx2      84 / 41      88 / 41     28 / 30
 *   prod float   avx512   115 / 78      76 / 68      32 / 29
 *     complex    avx2      43 / 40      40 / 39      32 / 30
 *   maxloc double int      29 / 15      38 / 7       7 / 5    an unpredictable branch;
 *                                                             without it all are 8 / 3
 * A sum of 8 bytes of 2 sources takes 3 ns.
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
                               .combine = combine,
                               .name = names[operation] };
    return HUD_OK;
}
