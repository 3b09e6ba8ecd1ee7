/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dups.c - communicators that come and go, and as many as the MPI allows at once.
 *
 *   dups [--cycles N] [--live N]
 *
 * Cycles of dup, use, free must not grow after the first 1000: descriptors and shared mappings
 * exactly, private memory within what an MPI itself leaks. (Shared memory is in use as far as it is
 * mapped: a lease goes where there is room.)
 */
#include "check.h"

#include <dirent.h>

enum { MAPPINGS_MORE = 2 }; /* of the MPI's private memory */
enum {
    LEAK_BYTES = 1 << 20
}; /* allowed in all, any number of cycles; the MPIs alone: 12 KB at most in 3000 */

struct usage {
    long private_bytes, descriptors, mapped_bytes, mappings;
};

/* Bytes of shared mappings; *count: of all mappings. */
static long mapped(long *count)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;
    long sum = 0;

    for (*count = 0; maps && fgets(line, sizeof line, maps); ++*count)
        if (strstr(line, "memfd:") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            sum += (long)(to - from);
    if (maps)
        fclose(maps);
    return sum;
}

static struct usage measure(void)
{
    struct usage u = { 0 };
    FILE *status = fopen("/proc/self/status", "r");
    DIR *fds = opendir("/proc/self/fd");
    char line[256];

    u.mapped_bytes = mapped(&u.mappings);
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %ld", &u.private_bytes) == 1)
            u.private_bytes *= 1024;
    if (status)
        fclose(status);
    while (fds && readdir(fds))
        u.descriptors++;
    if (fds)
        closedir(fds);
    return u;
}

static void use(MPI_Comm comm, int i)
{
    long value = world_rank == i % world_size ? i : -1;

    MPI_Bcast(&value, 1, MPI_LONG, i % world_size, comm);
    check(value == i, "communicator %d: got %ld", i, value);
    if (i % 3 == 0)
        MPI_Barrier(comm);
}

static void cycles(int count)
{
    struct usage before = { 0 }, after;
    int warm = count / 10 < 1000 ? count / 10 : 1000;
    MPI_Comm comm;

    for (int i = 0; i < count; i++) {
        if (i == warm)
            before = measure();
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        use(comm, i);
        MPI_Comm_free(&comm);
    }
    after = measure();
    long grown = after.private_bytes - before.private_bytes;
    check(after.descriptors == before.descriptors, "descriptors grew from %ld to %ld",
          before.descriptors, after.descriptors);
    check(after.mapped_bytes == before.mapped_bytes, "shared mappings grew from %ld to %ld bytes",
          before.mapped_bytes, after.mapped_bytes);
    check(after.mappings <= before.mappings + MAPPINGS_MORE, "mappings grew from %ld to %ld",
          before.mappings, after.mappings);
    check(grown < LEAK_BYTES, "private memory grew by %ld bytes in %d cycles", grown, count);
    if (world_rank == 0)
        printf("dups: %d cycles, private memory grew by %ld bytes, mapped %ld\n", count, grown,
               after.mapped_bytes);
    section("cycles");
}

static void live(int max)
{
    MPI_Comm *comm = allocate((size_t)max * sizeof *comm);
    int count = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (count < max && MPI_Comm_dup(MPI_COMM_WORLD, &comm[count]) == MPI_SUCCESS)
        count++;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < count; i++)
            use(comm[i], i);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comm[i]);
    use(MPI_COMM_WORLD, 1);
    check(count > 1000 || count == max, "only %d live duplicates", count);
    if (world_rank == 0)
        printf("dups: %d live duplicates\n", count);
    free(comm);
    section("live");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--cycles"))
            cycles(atoi(argv[i + 1]));
        else if (!strcmp(argv[i], "--live"))
            live(atoi(argv[i + 1]));
        else
            check(false, "unknown option %s", argv[i]);
    }
    return finish("dups");
}
