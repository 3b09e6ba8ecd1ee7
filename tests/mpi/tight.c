/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tight.c - makes the first collectives on communicators when the memory cgroup is nearly full.
 *
 *   tight LEFT_BYTES LIMIT_FILE USAGE_FILE [RANK]
 *
 * Rank 0, or RANK, allocates private memory until LEFT_BYTES are left below the limit. A process
 * that then allocates shared memory without checking the limit is killed.
 */
#include "check.h"

enum { STEP = 256 << 10, MAX_STEPS = 8192, COMMS = 20 };

static long long number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    long long n = 0;

    if (!check(file && fscanf(file, "%lld", &n) == 1, "cannot read %s", path))
        MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(file);
    return n;
}

/* Makes the MPI allocate its own resources. */
static void warm_up(void)
{
    send_between_all(20000);
    for (int i = 0; i < 20; i++) {
        int gathered[64], sum;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(&i, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD);
    }
}

static void fill_up(long long left, const char *limit, const char *usage)
{
    for (int i = 0; i < MAX_STEPS && number_in(limit) - number_in(usage) > left; i++)
        memset(allocate(STEP), 1, STEP); /* never freed */
    check(number_in(limit) - number_in(usage) < left + STEP, "the cgroup does not fill");
}

int main(int argc, char **argv)
{
    MPI_Comm comm[COMMS];
    static unsigned char got[10000], want[10000];

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc < 4 || argc > 5 || world_size > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(got, 1, sizeof got);
    pattern(want, sizeof want, 1);
    warm_up();
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD,
                     &comm[i]); /* its team is set up later, and has no memory reserved */
    if (world_rank == (argc == 5 ? atoi(argv[4]) : 0))
        fill_up(atoll(argv[1]), argv[2], argv[3]);
    sum_of_all(failures);
    for (int i = 0; i < COMMS; i++) {
        size_t bytes = i % 2 ? sizeof got : 100;
        memset(got, 0, sizeof got);
        if (world_rank == i % world_size)
            memcpy(got, want, bytes);
        MPI_Bcast(got, (int)bytes, MPI_BYTE, i % world_size, comm[i]);
        check(memcmp(got, want, bytes) == 0, "broadcast %d is wrong", i);
        MPI_Barrier(comm[i]);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    section("tight");
    return finish("tight");
}
