/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.c - converts an MPI operation on elements of a datatype to a huddle operation.
 *
 * Predefined operations with a kernel in huddle are in a table, indexed by the low bits of both
 * handles.  All others are carried out by the MPI (local.c).  Some calls fall back as a whole,
 * decided by facts that all ranks share: operations that MPI does not define (the MPI reports the
 * error), and predefined operations on derived types.
 */
#include "host/pmpi/pmpi.h"

/* ---- operations that MPI defines ---- */

#define BIT(operation) (1u << HUD_##operation)
enum {
    ORDER = BIT(MAX) | BIT(MIN),
    RING = BIT(SUM) | BIT(PROD),
    TRUTH = BIT(LAND) | BIT(LOR) | BIT(LXOR),
    BITS = BIT(BAND) | BIT(BOR) | BIT(BXOR),
    INTEGER =
        ORDER | RING | TRUTH |
        BITS, /* MPI defines no logical operations on Fortran's integers and on addresses, but these
                 MPIs do */
    REAL = ORDER | RING,
    PAIR = BIT(MINLOC) | BIT(MAXLOC),
};
#undef BIT

enum {
    CHAR = (char)-1 < 0 ? HUD_INT8 : HUD_UINT8,
    WITHOUT_KERNEL = HUD_TYPES /* only the MPI knows the truth values of Fortran */
};

/* A datatype: huddle's name for it, and the operations that MPI defines on it. */
struct kind {
    MPI_Datatype handle;
    unsigned short operations;
    unsigned char type;
};

/* Indexed by the low byte of the handle. */
#define T(name, type, operations) [(MPI_##name) & 0xff] = { MPI_##name, operations, type }
static const struct kind kinds[256] = {
    T(CHAR, CHAR, INTEGER),
    T(SIGNED_CHAR, HUD_INT8, INTEGER),
    T(UNSIGNED_CHAR, HUD_UINT8, INTEGER),
    T(BYTE, HUD_UINT8, BITS),
    T(SHORT, HUD_INT16, INTEGER),
    T(UNSIGNED_SHORT, HUD_UINT16, INTEGER),
    T(INT, HUD_INT32, INTEGER),
    T(UNSIGNED, HUD_UINT32, INTEGER),
    T(LONG, sizeof(long) == 8 ? HUD_INT64 : HUD_INT32, INTEGER),
    T(UNSIGNED_LONG, sizeof(long) == 8 ? HUD_UINT64 : HUD_UINT32, INTEGER),
    T(LONG_LONG_INT, HUD_INT64, INTEGER),
    T(UNSIGNED_LONG_LONG, HUD_UINT64, INTEGER),
    T(INT8_T, HUD_INT8, INTEGER),
    T(INT16_T, HUD_INT16, INTEGER),
    T(INT32_T, HUD_INT32, INTEGER),
    T(INT64_T, HUD_INT64, INTEGER),
    T(UINT8_T, HUD_UINT8, INTEGER),
    T(UINT16_T, HUD_UINT16, INTEGER),
    T(UINT32_T, HUD_UINT32, INTEGER),
    T(UINT64_T, HUD_UINT64, INTEGER),
    T(FLOAT, HUD_FLOAT, REAL),
    T(DOUBLE, HUD_DOUBLE, REAL),
    T(LONG_DOUBLE, HUD_LONG_DOUBLE, REAL),
    T(C_BOOL, HUD_BOOL, TRUTH),
    T(C_FLOAT_COMPLEX, HUD_FLOAT_COMPLEX, RING),
    T(C_DOUBLE_COMPLEX, HUD_DOUBLE_COMPLEX, RING),
    T(C_LONG_DOUBLE_COMPLEX, HUD_LONG_DOUBLE_COMPLEX, RING),
    T(CXX_BOOL, HUD_BOOL, TRUTH),
    T(CXX_FLOAT_COMPLEX, HUD_FLOAT_COMPLEX, RING),
    T(CXX_DOUBLE_COMPLEX, HUD_DOUBLE_COMPLEX, RING),
    T(CXX_LONG_DOUBLE_COMPLEX, HUD_LONG_DOUBLE_COMPLEX, RING),
    T(AINT, HUD_INT64, INTEGER),
    T(OFFSET, HUD_INT64, INTEGER),
    T(COUNT, HUD_INT64, INTEGER),
    T(INTEGER, HUD_INT32, INTEGER),
    T(INTEGER1, HUD_INT8, INTEGER),
    T(INTEGER2, HUD_INT16, INTEGER),
    T(INTEGER4, HUD_INT32, INTEGER),
    T(INTEGER8, HUD_INT64, INTEGER),
    T(REAL, HUD_FLOAT, REAL),
    T(DOUBLE_PRECISION, HUD_DOUBLE, REAL),
    T(REAL4, HUD_FLOAT, REAL),
    T(REAL8, HUD_DOUBLE, REAL),
    T(COMPLEX, HUD_FLOAT_COMPLEX, RING),
    T(DOUBLE_COMPLEX, HUD_DOUBLE_COMPLEX, RING),
    T(COMPLEX8, HUD_FLOAT_COMPLEX, RING),
    T(COMPLEX16, HUD_DOUBLE_COMPLEX, RING),
    T(LOGICAL, WITHOUT_KERNEL, TRUTH),
    T(2INT, HUD_INT_INT, PAIR),
    T(2INTEGER, HUD_INT_INT, PAIR),
    T(2REAL, HUD_FLOAT_FLOAT, PAIR),
    T(2DOUBLE_PRECISION, HUD_DOUBLE_DOUBLE, PAIR),
};
#undef T

/* The pairs of C, whose elements may have gaps; their handles are of another kind. */
#define T(name, type) [(MPI_##name) & 0x7] = { MPI_##name, PAIR, type }
static const struct kind pairs[8] = {
    T(FLOAT_INT, HUD_FLOAT_INT),
    T(DOUBLE_INT, HUD_DOUBLE_INT),
    T(LONG_DOUBLE_INT, HUD_LONG_DOUBLE_INT),
    T(SHORT_INT, HUD_SHORT_INT),
    T(LONG_INT, HUD_LONG_INT),
};
#undef T

#define OP(name) [(MPI_##name) & 0xf] = { MPI_##name, HUD_##name, "MPI_" #name }
static const struct operation {
    MPI_Op handle;
    int operation;
    const char *name;
} operations[16] = {
    OP(MAX), OP(MIN), OP(SUM),  OP(PROD), OP(LAND),   OP(BAND),
    OP(LOR), OP(BOR), OP(LXOR), OP(BXOR), OP(MINLOC), OP(MAXLOC),
};
#undef OP

static struct hud_op kernels[HUD_OPERATIONS][HUD_TYPES]; /* combine is NULL if there is no kernel */

static const struct kind *kind_of(MPI_Datatype type)
{
    const struct kind *kind = &kinds[type & 0xff];

    if (kind->handle == type)
        return kind;
    return pairs[type & 0x7].handle == type ? &pairs[type & 0x7] : NULL;
}

static const struct operation *operation_of(MPI_Op op)
{
    const struct operation *operation = &operations[op & 0xf];

    return operation->handle == op ? operation : NULL;
}

void hud_op_start(void)
{
    for (int operation = 0; operation < HUD_OPERATIONS; operation++)
        for (int type = 0; type < HUD_TYPES; type++)
            if (hud_op_find((enum hud_operation)operation, (enum hud_type)type,
                            &kernels[operation][type]) != HUD_OK)
                kernels[operation][type].combine = NULL;
}

const char *hud_op_name(MPI_Op op)
{
    const struct operation *operation = operation_of(op);

    return operation ? operation->name : "a user-defined operation";
}

/* Returns whether the bits of a handle are those of a user-defined operation. */
static bool is_of_user(MPI_Op op)
{
    return ((unsigned)op >> 26 & 0xf) == 6 && (unsigned)op >> 30 > 1;
}

int hud_op_open(MPI_Op op, MPI_Datatype handle, struct local_op *local, const struct hud_op **found)
{
    const struct operation *operation = operation_of(op);
    const struct kind *kind = kind_of(handle);

    local->wide = NULL;
    *found = &local->op;
    if (operation) {
        if (!kind || !(kind->operations >> operation->operation & 1))
            return HUD_PASS;
        if (kind->type != WITHOUT_KERNEL && kernels[operation->operation][kind->type].combine) {
            *found = &kernels[operation->operation][kind->type];
            return HUD_OK;
        }
    }
    return operation || is_of_user(op) ? hud_local_open(op, handle, local) : HUD_PASS;
}
