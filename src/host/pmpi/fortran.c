/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran.c - routines of mpi_f08 that do not pass through the C function, and so not through its
 * wrapper (MPICH's: those without a choice buffer).
 *
 * What takes a number in the MPI's order of nonblocking calls is preceded by what its wrapper does
 * first, and is then the MPI's.  Arguments are passed on as they are: the front end knows neither
 * truth values nor texts of Fortran.  A handle is a structure of one integer, the one that it is in
 * C.  Those that the wrappers carry out are next to these: barrier, Ibarrier, Comm_idup, and what
 * frees something.
 */
#include "host/loader/front.h"
#include "host/map.h"
#include "host/pmpi/nonblocking.h"

/* All are addresses. */
#define ADDRESS_buffer const void *buffer
#define ADDRESS_comm const void *comm
#define ADDRESS_count const void *count
#define ADDRESS_error const void *error
#define ADDRESS_flag const void *flag
#define ADDRESS_in const void *in
#define ADDRESS_info const void *info
#define ADDRESS_ins const void *ins
#define ADDRESS_made const void *made
#define ADDRESS_op const void *op
#define ADDRESS_out const void *out
#define ADDRESS_outs const void *outs
#define ADDRESS_request const void *request
#define ADDRESS_root const void *root
#define ADDRESS_type const void *type

#define NEXT(name, ...)                                                                            \
    static void *next_##name;                                                                      \
    static void call_next_##name(MAP(ADDRESS_, __VA_ARGS__))                                       \
    {                                                                                              \
        ((void (*)(MAP(ADDRESS_, __VA_ARGS__)))next_##name)(__VA_ARGS__);                          \
    }
#define F08(name, ...)                                                                             \
    NEXT(name, __VA_ARGS__)                                                                        \
    static void before_##name(MAP(ADDRESS_, __VA_ARGS__))                                          \
    {                                                                                              \
        hud_order_flush(*(const MPI_Comm *)comm);                                                  \
        call_next_##name(__VA_ARGS__);                                                             \
    }
#include "host/f08.def"

NEXT(mpi_request_get_status_f08_, request, flag, out, error)

static void before_mpi_request_get_status_f08_(const void *request, const void *flag,
                                               const void *out, const void *error)
{
    hud_order_look(*(const MPI_Request *)request);
    call_next_mpi_request_get_status_f08_(request, flag, out, error);
}

#define WRAPPER(name) { #name, (void (*)(void))before_##name, &next_##name },
#define F08(name, ...) WRAPPER(name)
const struct hud_wrapper hud_fortran_wrappers[] = {
#include "host/f08.def"
    WRAPPER(mpi_request_get_status_f08_){ NULL, NULL, NULL },
};
