/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces a header that ompi/op/op.h includes, but that distributions omit from their packages of
 * Open MPI: Fortran's INTEGER is C's int. */
#ifndef HUD_SHIM_FINT_2_INT_H
#define HUD_SHIM_FINT_2_INT_H

#include "mpi.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int),
               "this Open MPI has another INTEGER in Fortran than int in C");

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif
