/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inter.c - intercommunicators, their merge, and processes that are spawned later. Needs at least 2
 * ranks.
 *
 *   inter [--spawn [WORD...] | --connect]
 *
 * --spawn: the command of the children is prefixed by these words, such as env -u LD_PRELOAD.
 * --connect: odd ranks connect to the even ranks over a port, several times.
 */
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

static void intra(MPI_Comm comm, const char *what)
{
    int me, size;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root++) {
        static unsigned char got[5000], want[5000];
        for (int bytes = 1; bytes <= 5000; bytes *= 10) {
            pattern(want, sizeof want, (uint64_t)(root * 10 + bytes));
            memset(got, 0, sizeof got);
            if (me == root)
                memcpy(got, want, (size_t)bytes);
            MPI_Bcast(got, bytes, MPI_BYTE, root, comm);
            check(memcmp(got, want, (size_t)bytes) == 0,
                  "%s: wrong broadcast of %d bytes from root %d", what, bytes, root);
        }
        MPI_Barrier(comm);
    }
}

/* Broadcasts from the first rank of the `sending` group to the other group. */
static void inter(MPI_Comm comm, bool sending, const char *what)
{
    int me;
    long value = sending ? 4711 : 0;

    MPI_Comm_rank(comm, &me);
    MPI_Barrier(comm);
    MPI_Bcast(&value, 1, MPI_LONG, !sending ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, comm);
    check(value == 4711, "%s: got wrong number %ld", what, value);
    MPI_Barrier(comm);
}

static void between_halves(void)
{
    MPI_Comm half, between, merged;
    int odd = world_rank % 2;

    MPI_Comm_split(MPI_COMM_WORLD, odd, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 5, &between);
    inter(between, odd, "from odd");
    inter(between, !odd, "from even");
    MPI_Intercomm_merge(between, odd, &merged);
    intra(merged, "merged");
    inter(between, odd, "after the merge");
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    section("inter");
}

/* Makes an allgatherv between the first rank and the others. The array of counts has as many
 * elements as the other group, and the memory after them cannot be read. */
static void one_and_the_rest(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int got[64], at[64], others;
    MPI_Comm group, between;

    if (!check(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0,
               "cannot protect a page"))
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, world_rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, world_rank == 0, 6, &between);
    MPI_Comm_remote_size(between, &others);
    int *counts = (int *)(void *)(pages + page) - others;
    for (int i = 0; i < others; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    MPI_Allgatherv(&world_rank, 1, MPI_INT, got, counts, at, MPI_INT, between);
    for (int i = 0; i < others; i++)
        check(got[i] == i + (world_rank == 0), "got wrong number %d from remote rank %d", got[i],
              i);
    MPI_Comm_free(&between);
    MPI_Comm_free(&group);
    munmap(pages, 2 * page);
    section("one, rest");
}

static void with_family(MPI_Comm family, bool child)
{
    MPI_Comm merged;

    inter(family, !child, "to the children");
    inter(family, child, "to the parents");
    MPI_Intercomm_merge(family, child, &merged);
    intra(merged, "parents and children");
    MPI_Comm_free(&merged);
    intra(MPI_COMM_WORLD, "world");
    MPI_Comm_disconnect(&family);
}

static void spawn(char *program, char **words, MPI_Comm *family)
{
    char *command = words[0] ? words[0] : program, *arguments[8] = { NULL };
    int count = 0;

    for (; words[0] && words[count + 1] && count < 6; count++)
        arguments[count] = words[count + 1];
    if (words[0])
        arguments[count] = program;
    MPI_Comm_spawn(command, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, family,
                   MPI_ERRCODES_IGNORE);
}

/* Connects even and odd ranks like two programs. Each group also uses its own communicator. */
static void meet_over_a_port(void)
{
    MPI_Comm half, between, merged;
    int odd = world_rank % 2;
    char port[MPI_MAX_PORT_NAME] = "";

    MPI_Comm_split(MPI_COMM_WORLD, odd, world_rank, &half);
    if (world_rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    } else if (world_rank == 1) {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int turn = 0; turn < 3; turn++) {
        intra(half, "half");
        (odd ? MPI_Comm_connect : MPI_Comm_accept)(port, MPI_INFO_NULL, 0, half, &between);
        inter(between, odd, "from those that connect");
        inter(between, !odd, "from those that accept");
        MPI_Intercomm_merge(between, odd, &merged);
        intra(merged, "merged over a port");
        intra(half, "half");
        MPI_Comm_free(&merged);
        MPI_Comm_disconnect(&between);
    }
    if (world_rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
    section("port");
}

int main(int argc, char **argv)
{
    MPI_Comm family;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_get_parent(&family);
    if (family != MPI_COMM_NULL) {
        intra(MPI_COMM_WORLD, "children");
        with_family(family, true);
        return finish("spawned");
    }
    intra(MPI_COMM_WORLD, "world");
    between_halves();
    one_and_the_rest();
    if (argc > 1 && !strcmp(argv[1], "--spawn")) {
        spawn(argv[0], argv + 2, &family);
        with_family(family, false);
        section("spawn");
    }
    if (argc > 1 && !strcmp(argv[1], "--connect"))
        meet_over_a_port();
    return finish("inter");
}
