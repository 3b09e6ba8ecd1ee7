/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compat.h - all that differs between the series of Open MPI for which this component is built: 4.1 (coll API 2.0.0) and 5.0 (2.4.0).
 * The headers are Open MPI's internal ones.
 */
#ifndef HUD_OPENMPI_COMPAT_H
#define HUD_OPENMPI_COMPAT_H

#if defined(__clang__) && __clang_major__ < 15 && defined(__x86_64__)
#define _Float16 short /* this compiler has no such type here; the component touches none of Open MPI's short floats */
#endif

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/runtime/params.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_framework.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"

#if OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1

#include "ompi/mca/rte/rte.h"

#define COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0

/* Present only in an Open MPI that was built for CUDA. */
extern bool opal_cuda_check_bufs(char *one, char *other) __attribute__((weak));

static inline bool compat_on_device(const void *buffer)
{
    return opal_cuda_check_bufs != NULL && opal_cuda_check_bufs((char *)(uintptr_t)buffer, (char *)(uintptr_t)buffer);
}

/* 4.1 knows no fault tolerance that goes on without a rank: no call fails for it. */
#define COMPAT_ERR_PROC_FAILED MPI_ERR_OTHER
#define COMPAT_ERR_REVOKED MPI_ERR_OTHER

static inline bool compat_fault_tolerant(void)
{
    return false;
}

static inline bool compat_revoked(ompi_communicator_t *comm)
{
    (void)comm;
    return false;
}

#elif OMPI_MAJOR_VERSION == 5 && OMPI_MINOR_VERSION == 0

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/accelerator/accelerator.h"

#define COMPAT_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#define COMPAT_ERR_PROC_FAILED MPI_ERR_PROC_FAILED
#define COMPAT_ERR_REVOKED MPI_ERR_REVOKED

static inline bool compat_on_device(const void *buffer)
{
    int device;
    uint64_t flags;
    return opal_accelerator.check_addr != NULL && opal_accelerator.check_addr(buffer, &device, &flags) > 0;
}

/* Absent where Open MPI was built without ULFM. */
extern bool ompi_ftmpi_enabled __attribute__((weak));
extern int PMPIX_Comm_is_revoked(MPI_Comm comm, int *revoked) __attribute__((weak));

static inline bool compat_fault_tolerant(void)
{
    return &ompi_ftmpi_enabled != NULL && ompi_ftmpi_enabled;
}

static inline bool compat_revoked(ompi_communicator_t *comm)
{
    int revoked = 0;
    return PMPIX_Comm_is_revoked != NULL && PMPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked;
}

#else
#error "the component is built for Open MPI 4.1 and 5.0"
#endif

#endif
