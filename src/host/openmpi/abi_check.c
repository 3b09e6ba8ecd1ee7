/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi_check.c - checks that the objects of the Open MPI in this process have the layout of the
 * headers that huddle was compiled with.
 *
 * Sites build Open MPI with other options (CUDA, debugging, PERUSE, fault tolerance), which move
 * fields.  Every field that the component reads is checked in an object with a known value, or is
 * between two such fields.
 */
#include "module.h"

#include "ompi/op/op.h"

#include <string.h>

/* Checks a predefined type: its name and size, and the absence of gaps. */
static bool type_fits(const ompi_datatype_t *type, const char *name, size_t bytes)
{
    const opal_datatype_t *t = &type->super;
    return strcmp(type->name, name) == 0 && t->size == bytes && t->true_lb == 0 &&
           t->true_ub == (ptrdiff_t)bytes && t->lb == 0 && t->ub == (ptrdiff_t)bytes &&
           opal_datatype_is_contiguous_memory_layout(t, 2);
}

/* Checks the types' numbers, which equal types share.  The number is between a type's sizes and its
 * name. */
static bool numbers_fit(void)
{
    const ompi_datatype_t *a = &ompi_mpi_int.dt, *b = &ompi_mpi_int32_t.dt,
                          *other = &ompi_mpi_double.dt;
    return a->id == b->id && a->id != other->id && ompi_datatype_is_predefined(a) &&
           ompi_datatype_is_predefined(other);
}

static bool op_fits(const ompi_op_t *op, const char *name, enum ompi_op_type type, bool commutes)
{
    bool intrinsic = (op->o_flags & OMPI_OP_FLAGS_INTRINSIC) != 0;
    return strcmp(op->o_name, name) == 0 && op->op_type == type && intrinsic &&
           commutes == ((op->o_flags & OMPI_OP_FLAGS_COMMUTE) != 0);
}

const char *hud_openmpi_misfit(void)
{
    if (!type_fits(&ompi_mpi_int.dt, "MPI_INT", sizeof(int)) ||
        !type_fits(&ompi_mpi_double.dt, "MPI_DOUBLE", sizeof(double)))
        return "datatypes";
    if (mca_coll_base_module_t_class.cls_sizeof < sizeof(opal_object_t) ||
        mca_coll_base_module_t_class.cls_sizeof > hud_module_room())
        return "coll module";
    if (opal_convertor_t_class.cls_sizeof < sizeof(opal_object_t) ||
        opal_convertor_t_class.cls_sizeof > VIEW_CONVERTOR_ROOM)
        return "convertor";
    return NULL;
}

const char *hud_openmpi_misfit_of(const ompi_communicator_t *comm)
{
    ompi_group_t *group = comm->c_local_group;
    bool world = comm == &ompi_mpi_comm_world.comm;

    if (comm->errhandler_type != OMPI_ERRHANDLER_TYPE_COMM) /* the last field with a known value
                                                               before c_coll */
        return "communicator's error handler";
    if (world && comm->c_my_rank != (int)OMPI_PROC_MY_NAME->vpid)
        return "process's name";
    if (!op_fits(&ompi_mpi_op_max.op, "MPI_MAX", OMPI_OP_MAX, true) ||
        !op_fits(&ompi_mpi_op_replace.op, "MPI_REPLACE", OMPI_OP_REPLACE, true))
        return "operations";
    if (!numbers_fit())
        return "datatypes' numbers";
    if (group == NULL || group != comm->c_remote_group || group->grp_my_rank != comm->c_my_rank ||
        comm->c_my_rank < 0 || comm->c_my_rank >= group->grp_proc_count ||
        (world && group->grp_proc_count != (int)ompi_process_info.num_procs))
        return "communicator's group";
    if (world && strcmp(comm->c_name, "MPI_COMM_WORLD") != 0)
        return "communicator's name";
    opal_process_name_t me = ompi_group_get_proc_name(group, comm->c_my_rank);
    if (me.jobid != OMPI_PROC_MY_NAME->jobid || me.vpid != OMPI_PROC_MY_NAME->vpid)
        return "group's processes";
    if ((int64_t)ompi_process_info.num_local_peers >= (int64_t)ompi_process_info.num_procs)
        return "node's ranks";
    return NULL;
}
