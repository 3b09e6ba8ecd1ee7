/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduction.c - converts an operation of Open MPI on a datatype to a hud_op.
 *
 * Predefined operations on predefined types are huddle's own, found by Open MPI's numbers of both.
 * All others (LOGICAL, user-defined operations) are applied by Open MPI, with MPI_Reduce_local, to
 * pieces in private memory.  An operation finds its elements in the layout of their datatype, in
 * memory aligned like malloc's or better, and never as packed bytes.  The pieces are on the stack.
 * Elements that are too wide for the stack are handled one by one in memory that is allocated
 * beforehand: ranks share only the signature, and the width may differ from rank to rank.
 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = OMPI_OP_REPLACE, TYPES = OMPI_DATATYPE_MAX_PREDEFINED };

static const enum hud_operation operations[OPERATIONS] = {
    [OMPI_OP_MAX] = HUD_MAX,   [OMPI_OP_MIN] = HUD_MIN,       [OMPI_OP_SUM] = HUD_SUM,
    [OMPI_OP_PROD] = HUD_PROD, [OMPI_OP_LAND] = HUD_LAND,     [OMPI_OP_BAND] = HUD_BAND,
    [OMPI_OP_LOR] = HUD_LOR,   [OMPI_OP_BOR] = HUD_BOR,       [OMPI_OP_LXOR] = HUD_LXOR,
    [OMPI_OP_BXOR] = HUD_BXOR, [OMPI_OP_MAXLOC] = HUD_MAXLOC, [OMPI_OP_MINLOC] = HUD_MINLOC,
};

/*
 * If a datatype has several rows, the row with its size is used: the sizes of Fortran's types, and
 * of C types whose names do not tell, are the compiler's choice.  Other types, such as LONG LONG or
 * INTEGER*4, share the number of a type in this table.
 */
static const struct {
    const ompi_predefined_datatype_t *type;
    enum hud_type element;
} types[] = {
    { &ompi_mpi_int8_t, HUD_INT8 },
    { &ompi_mpi_int16_t, HUD_INT16 },
    { &ompi_mpi_int32_t, HUD_INT32 },
    { &ompi_mpi_int64_t, HUD_INT64 },
    { &ompi_mpi_uint8_t, HUD_UINT8 },
    { &ompi_mpi_uint16_t, HUD_UINT16 },
    { &ompi_mpi_uint32_t, HUD_UINT32 },
    { &ompi_mpi_uint64_t, HUD_UINT64 },
    { &ompi_mpi_long, HUD_INT32 },
    { &ompi_mpi_long, HUD_INT64 },
    { &ompi_mpi_unsigned_long, HUD_UINT32 },
    { &ompi_mpi_unsigned_long, HUD_UINT64 },
    { &ompi_mpi_aint, HUD_INT32 },
    { &ompi_mpi_aint, HUD_INT64 },
    { &ompi_mpi_offset, HUD_INT32 },
    { &ompi_mpi_offset, HUD_INT64 },
    { &ompi_mpi_count, HUD_INT32 },
    { &ompi_mpi_count, HUD_INT64 },
    { &ompi_mpi_integer, HUD_INT32 },
    { &ompi_mpi_integer, HUD_INT64 },
    { &ompi_mpi_float, HUD_FLOAT },
    { &ompi_mpi_double, HUD_DOUBLE },
    { &ompi_mpi_long_double, HUD_LONG_DOUBLE },
    { &ompi_mpi_real, HUD_FLOAT },
    { &ompi_mpi_real, HUD_DOUBLE },
    { &ompi_mpi_dblprec, HUD_DOUBLE },
    { &ompi_mpi_c_float_complex, HUD_FLOAT_COMPLEX },
    { &ompi_mpi_c_double_complex, HUD_DOUBLE_COMPLEX },
    { &ompi_mpi_c_long_double_complex, HUD_LONG_DOUBLE_COMPLEX },
    { &ompi_mpi_cplex, HUD_FLOAT_COMPLEX },
    { &ompi_mpi_cplex, HUD_DOUBLE_COMPLEX },
    { &ompi_mpi_dblcplex, HUD_DOUBLE_COMPLEX },
    { &ompi_mpi_complex8, HUD_FLOAT_COMPLEX },
    { &ompi_mpi_complex16, HUD_DOUBLE_COMPLEX },
    { &ompi_mpi_cxx_cplex, HUD_FLOAT_COMPLEX },
    { &ompi_mpi_cxx_dblcplex, HUD_DOUBLE_COMPLEX },
    { &ompi_mpi_cxx_ldblcplex, HUD_LONG_DOUBLE_COMPLEX },
    { &ompi_mpi_c_bool, HUD_BOOL },
    { &ompi_mpi_cxx_bool, HUD_BOOL },
    { &ompi_mpi_float_int, HUD_FLOAT_INT },
    { &ompi_mpi_double_int, HUD_DOUBLE_INT },
    { &ompi_mpi_longdbl_int, HUD_LONG_DOUBLE_INT },
    { &ompi_mpi_short_int, HUD_SHORT_INT },
    { &ompi_mpi_2int, HUD_INT_INT },
    { &ompi_mpi_2integer, HUD_INT_INT },
    { &ompi_mpi_long_int, HUD_LONG_INT },
    { &ompi_mpi_2real, HUD_FLOAT_FLOAT },
    { &ompi_mpi_2real, HUD_DOUBLE_DOUBLE },
    { &ompi_mpi_2dblprec, HUD_DOUBLE_DOUBLE },
};

static struct hud_op kernels[OPERATIONS][TYPES]; /* combine is NULL if there is no kernel */
static __typeof__(&PMPI_Reduce_local) reduce_local;

void hud_reduction_prepare(void)
{
    reduce_local = OWN(Reduce_local);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const ompi_datatype_t *type = &types[t].type->dt;
        for (int o = OMPI_OP_MAX; o < OPERATIONS; o++) {
            struct hud_op found;
            if (hud_op_find(operations[o], types[t].element, &found) == HUD_OK &&
                found.element_bytes == type->super.size)
                kernels[o][type->id] = found;
        }
    }
}

const char *hud_reduction_name(ompi_op_t *op)
{
    return ompi_op_is_intrinsic(op) ? op->o_name : "a user-defined operation";
}

/* ---- operations that Open MPI applies -------------------------------------------------------- */

/* Bytes of an operand, on the stack of a thread that may have a small stack. */
enum { ROOM = HUD_ELEMENT_MAX, ALIGNMENT = 128 };

static void lay_out(const struct hud_reduction *r, const char *packed, size_t count, char *base)
{
    if (r->one_run)
        memcpy(base, packed, count * r->op.element_bytes);
    else
        hud_elements_unpack(&r->type->super, count, packed, base);
}

static void gather_up(const struct hud_reduction *r, const char *base, size_t count, char *packed)
{
    if (r->one_run)
        memcpy(packed, base, count * r->op.element_bytes);
    else
        hud_elements_pack(&r->type->super, count, base, packed);
}

/* Combines the sources.  MPI_Reduce_local(a, b) computes b = a op b, so each source is laid out, in
 * turn, where its result may replace it. */
static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    const struct hud_reduction *r = op->host;
    _Alignas(ALIGNMENT) char room[2][ROOM];
    char *const base[2] = { (r->wide != NULL ? r->wide : room[0]) + r->base,
                            (r->wide != NULL ? r->wide + r->wide_bytes : room[1]) + r->base };

    for (size_t done = 0, n; done < elements; done += n) {
        size_t at = done * op->element_bytes;
        n = elements - done < r->piece ? elements - done : r->piece;
        lay_out(r, (const char *)src[0] + at, n, base[0]);
        for (int i = 1; i < sources; i++) {
            lay_out(r, (const char *)src[i] + at, n, base[i % 2]);
            reduce_local(base[(i - 1) % 2], base[i % 2], (int)n, r->type, r->apply);
        }
        gather_up(r, base[(sources - 1) % 2], n, (char *)dst + at);
    }
}

/* Determines how many elements in a row fit, and the place of the first.  Allocates memory for a
 * wide element. */
static int fit(struct hud_reduction *r)
{
    const opal_datatype_t *t = &r->type->super;
    ptrdiff_t extent = t->ub - t->lb, span = t->true_ub - t->true_lb;

    r->base = 0;
    r->one_run = opal_datatype_is_contiguous_memory_layout(t, 2) && t->true_lb == 0;
    r->piece = ROOM / r->op.element_bytes;
    if (r->one_run || t->size == 0 || t->size > HUD_ELEMENT_MAX)
        return HUD_OK; /* the core never passes larger elements */
    r->base = -(t->true_lb & -(ptrdiff_t)ALIGNMENT);
    ptrdiff_t room = ROOM - (r->base + t->true_lb) - span;
    r->piece = room >= 0 && extent > 0 ? 1 + (size_t)(room / extent) : 1;
    if (room >= 0)
        return HUD_OK;
    r->wide_bytes = ((size_t)span / ALIGNMENT + 3) * ALIGNMENT;
    r->wide = aligned_alloc(ALIGNMENT, 2 * r->wide_bytes);
    return r->wide != NULL ? HUD_OK : HUD_ERR_MEMORY;
}

static int applied(ompi_op_t *op, ompi_datatype_t *type, struct hud_reduction *own)
{
    own->op = (struct hud_op){ .element_bytes = type->super.size != 0 ? type->super.size : 1,
                               .commutative = ompi_op_is_commute(op),
                               .combine = combine,
                               .host = own,
                               .name = hud_reduction_name(op) };
    own->apply = op;
    own->type = type;
    return fit(own);
}

int hud_reduction_open(ompi_op_t *op, ompi_datatype_t *type, struct hud_reduction *own,
                       const struct hud_op **found)
{
    own->wide = NULL;
    *found = &own->op;
    if (ompi_op_is_intrinsic(op)) {
        unsigned o = (unsigned)op->op_type, t = (unsigned)type->id;
        if (ompi_datatype_is_predefined(type) ? o >= OPERATIONS || t >= TYPES
                                              : type->super.size != 0)
            return HUD_PASS;
        if (ompi_datatype_is_predefined(type) && kernels[o][t].combine != NULL) {
            *found = &kernels[o][t];
            return HUD_OK;
        }
    }
    return applied(op, type, own);
}

void hud_reduction_close(struct hud_reduction *own)
{
    free(own->wide);
}
