/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scarce.c - makes collectives while a resource of some ranks is nearly exhausted, and again after
 * it was released.
 *
 *   scarce descriptors|space LEFT RANK...
 *
 * After MPI_Init each RANK (-1 for all) has only LEFT descriptors, or LEFT bytes of address space.
 * So a resource of a set-up runs out early, halfway, late, or not at all.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES_MAX = 512, BYTES = 5000 };

static int files[FILES_MAX], opened;
static struct rlimit files_before, space_before;

static void take_descriptors(long left)
{
    getrlimit(RLIMIT_NOFILE, &files_before);
    struct rlimit limit = files_before;
    limit.rlim_cur = limit.rlim_cur < FILES_MAX ? limit.rlim_cur : FILES_MAX;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (opened < FILES_MAX && (files[opened] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        opened++;
    check(opened < FILES_MAX && opened >= left, "the descriptors do not run out");
    for (; left > 0 && opened > 0; left--)
        close(files[--opened]);
}

static void give_descriptors(void)
{
    while (opened > 0)
        close(files[--opened]);
    setrlimit(RLIMIT_NOFILE, &files_before);
}

static void take_space(long left)
{
    FILE *file = fopen("/proc/self/statm", "r");
    struct rlimit limit;
    long pages = 0;

    check(file && fscanf(file, "%ld", &pages) == 1, "no /proc/self/statm");
    if (file)
        fclose(file);
    getrlimit(RLIMIT_AS, &space_before);
    limit = space_before;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)left;
    check(setrlimit(RLIMIT_AS, &limit) == 0, "cannot limit the address space");
}

static void give_space(void)
{
    setrlimit(RLIMIT_AS, &space_before);
}

static const struct resource {
    const char *name;
    void (*take)(long left);
    void (*give)(void);
} resources[] = { { "descriptors", take_descriptors, give_descriptors },
                  { "space", take_space, give_space } };

static void use(MPI_Comm comm, const char *when)
{
    static unsigned char got[BYTES], want[BYTES];
    long sum, mine;
    int me, size;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        pattern(want, sizeof want, (uint64_t)root);
        memcpy(got, want, me == root ? sizeof got : 0);
        MPI_Bcast(got, sizeof got, MPI_BYTE, root, comm);
        check(memcmp(got, want, sizeof got) == 0, "%s: wrong broadcast from root %d", when, root);
        memset(got, 0, sizeof got);
        mine = me + root;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
        check(sum == (long)size * (size - 1) / 2 + (long)root * size, "%s: wrong sum %ld", when,
              sum);
        MPI_Barrier(comm);
    }
}

/* Makes collectives on the world and on a communicator made before. */
static void all(MPI_Comm later, const char *when)
{
    use(MPI_COMM_WORLD, when);
    use(later, when);
    section(when);
}

int main(int argc, char **argv)
{
    const struct resource *resource = resources;
    MPI_Comm one, other;
    bool me = false;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (strcmp(resource->name, argv[1]) != 0)
        resource++;
    for (int i = 3; i < argc; i++)
        me = me || atoi(argv[i]) == -1 || atoi(argv[i]) == world_rank;
    send_between_all(BYTES);
    section("before");
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &one);
    MPI_Comm_free(&one);
    if (me)
        resource->take(atol(argv[2]));
    use(MPI_COMM_WORLD, "scarce");
    section("scarce");
    if (me)
        resource->give();
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &other);
    all(one, "given back");
    all(other, "reversed");
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
    return finish("scarce");
}
