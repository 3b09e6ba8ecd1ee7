/* SPDX-License-Identifier: BSD-3-Clause */
/* ops.c - the predefined operations on the predefined types. */
#include "huddle/huddle.h"

#include <stdint.h>

#define KERNEL(name, type, expression)                                                                                                     \
    static void name(const struct hud_op *op, void *dst, const void *const *src, int sources, size_t elements)                             \
    {                                                                                                                                      \
        (void)op;                                                                                                                          \
        for (size_t i = 0; i < elements; i++) {                                                                                            \
            type a = ((const type *)src[0])[i];                                                                                            \
            for (int s = 1; s < sources; s++) {                                                                                            \
                type b = ((const type *)src[s])[i];                                                                                        \
                a = (type)(expression);                                                                                                    \
            }                                                                                                                              \
            ((type *)dst)[i] = a;                                                                                                          \
        }                                                                                                                                  \
    }

#define OF_TYPE(id, type)                                                                                                                  \
    KERNEL(sum_##id, type, a + b)                                                                                                          \
    KERNEL(max_##id, type, a > b ? a : b)                                                                                                  \
    KERNEL(min_##id, type, a < b ? a : b)
OF_TYPE(INT32, int32_t)
OF_TYPE(INT64, int64_t)
OF_TYPE(FLOAT, float)
OF_TYPE(DOUBLE, double)

static const struct row {
    size_t bytes;
    void (*kernel[HUD_OPERATIONS])(const struct hud_op *op, void *dst, const void *const *src, int sources, size_t elements);
} rows[HUD_TYPES] = {
#define ROW(id, type) [HUD_##id] = { sizeof(type), { [HUD_SUM] = sum_##id, [HUD_MAX] = max_##id, [HUD_MIN] = min_##id } },
    ROW(INT32, int32_t) ROW(INT64, int64_t) ROW(FLOAT, float) ROW(DOUBLE, double)
};

static const char *const names[HUD_OPERATIONS] = { "MPI_MAX", "MPI_MIN", "MPI_SUM",  "MPI_PROD", "MPI_LAND",   "MPI_BAND",
                                                   "MPI_LOR", "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC" };

int hud_op_find(enum hud_operation operation, enum hud_type type, struct hud_op *op)
{
    if ((unsigned)operation >= HUD_OPERATIONS || (unsigned)type >= HUD_TYPES || !rows[type].kernel[operation])
        return HUD_PASS;
    *op = (struct hud_op){
        .element_bytes = rows[type].bytes, .commutative = 1, .combine = rows[type].kernel[operation], .name = names[operation]
    };
    return HUD_OK;
}
