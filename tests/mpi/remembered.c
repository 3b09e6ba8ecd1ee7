/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remembered.c - makes many small allreduces and a few other calls, so that huddle learns something
 * for later programs (remembered.py).
 *
 *   remembered CALLS
 */
#include "check.h"

/* Makes an allreduce of integers. */
static void sum(int call)
{
    int in = world_rank + call, out = -1;

    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(out == world_size * (world_size - 1) / 2 + world_size * call, "sum %d is %d", call, out);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int call = 0; call < atoi(argv[1]); call++)
        sum(call);
    section("sums");
    return finish("remembered");
}
