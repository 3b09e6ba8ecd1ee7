/* SPDX-License-Identifier: BSD-3-Clause */
/* completions.h - the functions that can complete a request. */
#ifndef HUD_TESTS_COMPLETIONS_H
#define HUD_TESTS_COMPLETIONS_H

#include "check.h"

enum { WAYS = 9 };

/* Returns the error of a request, which functions for several requests return in the status. */
static int error_in(int error, const MPI_Status *status)
{
    return error == MPI_ERR_IN_STATUS ? status->MPI_ERROR : error;
}

static int wait_one(MPI_Request *request, int way)
{
    int done = 0, index = 0, error = MPI_SUCCESS, indices[1];
    MPI_Status status;

    while (way > 0 && !done && error == MPI_SUCCESS) {
        if (way == 1)
            error = MPI_Test(request, &done, &status);
        else if (way == 2)
            error = MPI_Testall(1, request, &done, &status);
        else if (way == 3)
            error = MPI_Testany(1, request, &index, &done, &status);
        else if (way == 4)
            error = MPI_Testsome(1, request, &done, indices, &status);
        else if (way == 5)
            error = MPI_Request_get_status(*request, &done, &status);
        else
            break;
    }
    if (way == 6)
        error = MPI_Waitall(1, request, &status);
    if (way == 7)
        error = MPI_Waitany(1, request, &index, &status);
    if (way == 8)
        error = MPI_Waitsome(1, request, &done, indices, &status);
    if (way == 0 || way == 5)
        error = MPI_Wait(request, &status);
    return error_in(error, &status);
}

#endif
