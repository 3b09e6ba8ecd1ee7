/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * denied.c - broadcasts while the kernel forbids one rank after the other to read or write other
 * processes' memory; each arrives all the same.
 *
 * What is forbidden stays so, so that a team which was set up before meets refusals in every
 * mixture.
 */
#include "check.h"
#include "forbid.h"

enum { MOST = 3 << 20, GAP = 3 }; /* ints of a message; in a type, every GAP-th int is sent */

static int *got, *want;

/* Contiguous, or every rank whose bit is set in `spread` has gaps between its elements. */
static void one(int root, int count, unsigned spread, const char *when)
{
    bool gaps = spread >> world_rank % 8 & 1;
    int step = gaps ? GAP : 1;
    MPI_Datatype type = MPI_INT;

    pattern((unsigned char *)want, (size_t)count * sizeof *want, (uint64_t)(root * 7 + count));
    memset(got, 0xA5, (size_t)count * (size_t)step * sizeof *got);
    for (int i = 0; world_rank == root && i < count; i++)
        got[i * step] = want[i];
    if (gaps) {
        MPI_Type_vector(count, 1, GAP, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    MPI_Bcast(got, gaps ? 1 : count, type, root, MPI_COMM_WORLD);
    int i = 0;
    while (i < count && got[i * step] == want[i] &&
           (!gaps || i == count - 1 || got[i * step + 1] == (int)0xA5A5A5A5))
        i++;
    check(i == count, "%s: int %d of %d from root %d is wrong", when, i, count, root);
    if (gaps)
        MPI_Type_free(&type);
}

static void all(const char *when)
{
    static const int counts[] = { 1, 3, 1000, 70001, MOST / GAP };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int root = 0; root < world_size; root++)
            for (unsigned spread = 0; spread < 4; spread++)
                one(root, counts[i], spread * 85, when); /* none, even, odd, all */
    MPI_Barrier(MPI_COMM_WORLD);
    section(when);
}

/* Of one rank. */
static void deny(int rank, const char *name)
{
    char names[32];

    snprintf(names, sizeof names, "%s", name);
    if (world_rank == rank && !check(forbid(names) == 0, "cannot forbid %s", name))
        MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    got = allocate(MOST * sizeof *got);
    want = allocate(MOST * sizeof *want);
    all("allowed");
    deny(world_size - 1, "process_vm_readv");
    all("reading");
    deny(0, "process_vm_writev");
    all("writing");
    deny(0, "process_vm_readv");
    deny(world_size - 1, "process_vm_writev");
    all("both");
    free(got);
    free(want);
    return finish("denied");
}
