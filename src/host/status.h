/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h - converts huddle's results to MPI's error codes; the same in both front ends. */
#ifndef HUD_STATUS_H
#define HUD_STATUS_H

#include "huddle/huddle.h"

#include <mpi.h>

/* Returns MPI's error code for a status.  failed: this MPI's code for a failed process. */
static inline int status_code(int status, int failed)
{
    static const int codes[] = {
        [HUD_OK] = MPI_SUCCESS,
        [HUD_PASS] = MPI_ERR_INTERN, /* falls back to the MPI, never converted */
        [HUD_ERR_TRUNCATE] = MPI_ERR_TRUNCATE,
        [HUD_ERR_ARGUMENT] = MPI_ERR_ARG,
        [HUD_ERR_MEMORY] = MPI_ERR_NO_MEM,
        [HUD_ERR_UNLIKE] = MPI_ERR_OTHER,
    };

    return status == HUD_ERR_FAILED ? failed : codes[status];
}

#endif
