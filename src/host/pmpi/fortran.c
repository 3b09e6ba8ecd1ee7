/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran.c - wrappers of mpi_f08 routines that do not call the C function, and so not its wrapper
 * (MPICH's routines without a choice buffer).
 *
 * A routine that takes a number in the MPI's order of nonblocking calls is preceded by the first
 * part of its C wrapper, and then calls the MPI.  Arguments are passed on unchanged, because the
 * front end knows neither the truth values nor the strings of Fortran.  A handle is a structure of
 * one integer, which is the handle in C.  Routines that the wrappers carry out are next to the C
 * wrappers: barrier, Ibarrier, Comm_idup, and routines that free an object.
 */
#include "host/loader/front.h"
#include "host/pmpi/nonblocking.h"

#define F08(name, ...)                                                                             \
    static void *next_##name;                                                                      \
    static uintptr_t before_##name(MAP(WORD, __VA_ARGS__))                                         \
    {                                                                                              \
        hud_order_flush(*(const MPI_Comm *)comm);                                                  \
        return PASS_ON(next_##name, __VA_ARGS__);                                                  \
    }
#define PLAIN(Name, name, ...) F08(mpi_##name##_init_f08_, __VA_ARGS__, info, request, error)
#define ORDERED_F08(Name, f08, ...) F08(f08, __VA_ARGS__, error)
#define ORDERED_F08_STRING(Name, f08, ...) F08(f08, __VA_ARGS__, error, length)
#include "host/signatures.def"

static void *next_mpi_request_get_status_f08_;
static uintptr_t before_mpi_request_get_status_f08_(MAP(WORD, request, flag, status, error))
{
    hud_order_look(*(const MPI_Request *)request);
    return PASS_ON(next_mpi_request_get_status_f08_, request, flag, status, error);
}

const struct hud_wrapper hud_fortran_wrappers[] = {
#define PLAIN(Name, name, ...) HUD_WRAPPER(mpi_##name##_init_f08_, before_mpi_##name##_init_f08_)
#define ORDERED_F08(Name, f08, ...) HUD_WRAPPER(f08, before_##f08)
#define ORDERED_F08_STRING ORDERED_F08
#include "host/signatures.def"
    HUD_WRAPPER(mpi_request_get_status_f08_, before_mpi_request_get_status_f08_){ NULL },
};
