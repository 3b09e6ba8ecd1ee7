/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dups.c - creates and frees communicators in cycles, and as many live communicators as the MPI
 * allows.
 *
 *   dups [--cycles N] [--live N]
 *
 * Cycles of dup, use and free must not grow after the first 1000: descriptors and shared mappings
 * not at all, private memory only by the leaks of the MPI itself. Shared memory counts as used
 * while it is mapped, because a lease takes any free place.
 */
#include "../resources.h"
#include "check.h"

enum { MAPPINGS_MORE = 2 }; /* mappings of the MPI's private memory */
enum {
    LEAK_BYTES = 1 << 20
}; /* allowed for any number of cycles; the MPIs alone leak at most 12 KB in 3000 */

struct usage {
    long private_bytes, descriptors, mapped_bytes, mappings;
};

static struct usage measure(void)
{
    struct mappings mapped = count_mappings("memfd:");
    struct usage u = { .descriptors = open_descriptors(),
                       .mapped_bytes = mapped.named_bytes,
                       .mappings = mapped.all };
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %ld", &u.private_bytes) == 1)
            u.private_bytes *= 1024;
    if (status)
        fclose(status);
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
