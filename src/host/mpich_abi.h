/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpich_abi.h - recognises the ABI that MPICH, Intel MPI and the MPIs of several vendors share, by
 * what their libraries define.  Vendors give the library other names, and other version texts.
 */
#ifndef HUD_HOST_MPICH_ABI_H
#define HUD_HOST_MPICH_ABI_H

#include "host/object.h"

/* Returns whether the library defines a datum of this name. */
static inline bool mpich_abi_has_datum(const struct object *library, const char *name)
{
    const ElfW(Sym) *symbol = hud_object_defines(library, name);

    return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
}

/* Returns whether an MPI's library has MPICH's ABI.  Programs of this ABI refer to these names, by
 * MPI_UNWEIGHTED and MPI_COMM_DUP_FN.  In the standard ABI both are constants, and in Open MPI's
 * ABI the names differ. */
static inline bool mpich_abi_is_of(const struct object *mpi)
{
    return mpich_abi_has_datum(mpi, "MPI_UNWEIGHTED") &&
           mpich_abi_has_datum(mpi, "MPI_WEIGHTS_EMPTY") &&
           hud_object_address(mpi, "MPIR_Dup_fn") != NULL;
}

#endif
