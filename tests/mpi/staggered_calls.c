/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staggered_calls.c - nonblocking collectives in flight, followed by calls that ranks make at
 * different times.
 *
 *   staggered_calls TEST, with one of these tests:
 *
 *   neighbours  a neighborhood collective completes without a rank that has no neighbors and
 *               has not yet entered the collective before
 *   disconnect  a communicator is disconnected before its request is waited for
 *   free        a request is freed after its collective has completed
 *   sub         MPI_Cart_sub is called while the set-up of its parent has advanced
 *               further on one rank than on the other
 *   windows     the same for windows, also by the functions for large counts
 *   crossed     each rank waits first for a different request of those in flight, each of
 *               which is the first on its communicator
 *   behind      like neighbours, on a communicator that is not set up; the rank without
 *               neighbors has entered the first of two collectives before
 *   copies      a communicator is duplicated while its set-up has completed on some ranks
 *               only, with a request in flight that needs the set-up
 *   ahead       one rank waits first for a duplicate of this or of another communicator, or
 *               for a broadcast there, which the others start after the request before it
 */
#include "check.h"

#include <unistd.h>

#if MPI_VERSION < 4 /* provided by huddle's loader; absent without it */
#define WEAK __attribute__((weak))
WEAK int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                          MPI_Win *made);
WEAK int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                            MPI_Win *made);
WEAK int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                   void *base, MPI_Win *made);
#define IS_THERE(name) (name != NULL)
#else
#define IS_THERE(name) true
#endif

static void sum_is_right(int sum, const char *what)
{
    check(sum == world_size * (world_size + 1) / 2, "%s: wrong sum %d", what, sum);
}

/* Makes ranks 0 and 1 neighbors. Other ranks have no neighbors, and enter only after a message of
 * rank 0. */
static void neighbours(bool blocking)
{
    int other = 1 - world_rank, count = world_rank < 2, one[1] = { 1 }, peer[1] = { other };
    int in = world_rank + 1, sum = 0, sent = world_rank, got = -1, token = 0;
    MPI_Request request[2];
    MPI_Comm graph;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, peer, one, count, peer, one,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Bcast(&token, 1, MPI_INT, 0, graph);
    if (!count)
        MPI_Recv(&token, 1, MPI_INT, 0, 0, graph, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, graph, &request[0]);
    if (blocking) {
        MPI_Neighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph);
    } else {
        MPI_Ineighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph, &request[1]);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    }
    for (int rank = 2; world_rank == 0 && rank < world_size; rank++)
        MPI_Send(&token, 1, MPI_INT, rank, 0, graph);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    check(got == (count ? other : -1), "neighbours: got wrong number %d", got);
    sum_is_right(sum, "neighbours");
    MPI_Comm_free(&graph);
}

static void behind(void)
{
    int other = 1 - world_rank, count = world_rank < 2, one[1] = { 1 }, peer[1] = { other };
    int in = world_rank + 1, sums[2] = { 0 }, sent = world_rank, got = -1, token = 0;
    MPI_Request first, second, exchanged;
    MPI_Comm graph;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, peer, one, count, peer, one,
                                   MPI_INFO_NULL, 0, &graph);
    if (!count)
        pause_us(20000);
    MPI_Iallreduce(&in, &sums[0], 1, MPI_INT, MPI_SUM, graph, &first);
    if (!count) {
        MPI_Wait(&first, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, 0, 0, graph, MPI_STATUS_IGNORE);
    }
    MPI_Iallreduce(&in, &sums[1], 1, MPI_INT, MPI_SUM, graph, &second);
    MPI_Ineighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph, &exchanged);
    MPI_Wait(&exchanged, MPI_STATUS_IGNORE);
    for (int rank = 2; world_rank == 0 && rank < world_size; rank++)
        MPI_Send(&token, 1, MPI_INT, rank, 0, graph);
    if (count)
        MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    check(got == (count ? other : -1), "behind: got wrong number %d", got);
    sum_is_right(sums[0], "behind");
    sum_is_right(sums[1], "behind");
    MPI_Comm_free(&graph);
}

/* Disconnects with a request in flight. Requests made afterwards belong to the program. */
static void disconnect(bool used)
{
    enum { MADE = 4 };
    int in = world_rank + 1, sum = 0, sent = 7, got[MADE] = { 0 };
    int before = (world_rank + world_size - 1) % world_size, after = (world_rank + 1) % world_size;
    MPI_Request request, made[MADE];
    MPI_Status statuses[MADE];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (used)
        MPI_Bcast(&sent, 1, MPI_INT, 0, comm);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Comm_disconnect(&comm);
    for (int i = 0; i < MADE; i++)
        MPI_Recv_init(&got[i], 1, MPI_INT, before, i, MPI_COMM_WORLD, &made[i]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_is_right(sum, "disconnect");
    MPI_Startall(MADE, made);
    for (int i = 0; i < MADE; i++)
        MPI_Send(&sent, 1, MPI_INT, after, i, MPI_COMM_WORLD);
    MPI_Waitall(MADE, made, statuses);
    for (int i = 0; i < MADE; i++) {
        check(got[i] == sent, "disconnect: got wrong number %d", got[i]);
        MPI_Request_free(&made[i]);
    }
}

/* Frees a request after its collective has completed. MPI_Finalize must end, too. */
static void free_when_over(void)
{
    int in = world_rank + 1, sum = 0;
    MPI_Request request;

    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    sum_is_right(sum, "free");
    MPI_Request_free(&request);
}

static void test(MPI_Request *request, int tests)
{
    int done = 0;

    for (int i = 0; i < (world_rank == 0 ? tests : 30) && !done; i++) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

static void sub(int tests)
{
    int size[1] = { world_size }, around[1] = { 0 }, kept[1] = { 1 }, in = world_rank + 1, sum = 0,
        members = 0;
    MPI_Request request;
    MPI_Comm grid, part;

    MPI_Cart_create(MPI_COMM_WORLD, 1, size, around, 0, &grid);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, grid, &request);
    test(&request, tests);
    MPI_Cart_sub(grid, kept, &part);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_size(part, &members);
    check(members == world_size, "sub: wrong number of members %d", members);
    sum_is_right(sum, "sub");
    MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
}

/* ---- windows --------------------------------------------------------------------------------- */

enum { UNIT = sizeof(int) };

static int create(MPI_Comm comm, MPI_Win *made)
{
    static int data;

    return MPI_Win_create(&data, UNIT, UNIT, MPI_INFO_NULL, comm, made);
}

static int create_large(MPI_Comm comm, MPI_Win *made)
{
    static int data;

    return MPI_Win_create_c(&data, UNIT, UNIT, MPI_INFO_NULL, comm, made);
}

static int allocate_large(MPI_Comm comm, MPI_Win *made)
{
    int *data;

    return MPI_Win_allocate_c(UNIT, UNIT, MPI_INFO_NULL, comm, &data, made);
}

static int allocate_shared_large(MPI_Comm comm, MPI_Win *made)
{
    int *data;

    return MPI_Win_allocate_shared_c(UNIT, UNIT, MPI_INFO_NULL, comm, &data, made);
}

static void windows(int tests)
{
    static int (*const make[])(MPI_Comm comm, MPI_Win * made) = { create, create_large,
                                                                  allocate_large,
                                                                  allocate_shared_large };
    enum { WAYS = sizeof make / sizeof *make };

    for (int i = 0; i < (IS_THERE(MPI_Win_create_c) ? WAYS : 1); i++) {
        int in = world_rank + 1, sum = 0, *unit = NULL, found = 0;
        MPI_Request request;
        MPI_Comm comm;
        MPI_Win window;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        test(&request, tests);
        int error = make[i](comm, &window);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &found);
        check(error == MPI_SUCCESS && found && *unit == UNIT,
              "windows: function %d: error %d or wrong unit", i, error);
        sum_is_right(sum, "windows");
        MPI_Win_free(&window);
        MPI_Comm_free(&comm);
    }
}

static void crossed(void)
{
    enum { COMMS = 6, ROUNDS = 20 };

    for (int round = 0; round < ROUNDS; round++) {
        int in[COMMS], sum[COMMS];
        MPI_Request request[COMMS];
        MPI_Comm comm[COMMS];

        for (int i = 0; i < COMMS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        for (int i = 0; i < COMMS; i++) {
            in[i] = world_rank + 1;
            sum[i] = 0;
            MPI_Iallreduce(&in[i], &sum[i], 1, MPI_INT, MPI_SUM, comm[i], &request[i]);
        }
        for (int i = 0; i < COMMS; i++)
            MPI_Wait(&request[(i + world_rank) % COMMS], MPI_STATUS_IGNORE);
        for (int i = 0; i < COMMS; i++) {
            sum_is_right(sum[i], "crossed");
            MPI_Comm_free(&comm[i]);
        }
    }
}

/* Large enough that an allreduce needs several progress calls of every rank. */
enum { MANY = 50000 };

static int *numbers(void)
{
    int *made = allocate(MANY * sizeof *made);

    for (int i = 0; i < MANY; i++)
        made[i] = world_rank + 1;
    return made;
}

static void sums_are_right(const int *sums, const char *what)
{
    for (int i = 0; i < MANY; i++)
        if (!check(sums[i] == world_size * (world_size + 1) / 2, "%s: element %d is wrong: %d",
                   what, i, sums[i]))
            break;
}

/* Enters both requests late at the last rank, tests the first until completion at the second, and
 * duplicates at once at rank 0. */
static void copies(void)
{
    int last = world_size - 1, in = world_rank + 1, sum = 0, done = 0;
    int *all = numbers(), *sums = allocate(MANY * sizeof *sums);
    MPI_Request first, second, copied;
    MPI_Comm comm, copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (world_rank == last)
        pause_us(30000);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &first);
    if (world_rank != last)
        MPI_Iallreduce(all, sums, MANY, MPI_INT, MPI_SUM, comm, &second);
    while (world_rank != 0 && !done)
        MPI_Test(&first, &done, MPI_STATUS_IGNORE);
    if (world_rank == last) {
        pause_us(30000);
        MPI_Iallreduce(all, sums, MANY, MPI_INT, MPI_SUM, comm, &second);
    }
    MPI_Comm_idup(comm, &copy, &copied);
    MPI_Wait(&copied, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
    sum_is_right(sum, "copies");
    sums_are_right(sums, "copies");
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    free(all);
    free(sums);
}

static void ahead(int what, bool used)
{
    enum { COPY, COPY_ANOTHER, BROADCAST };
    int data = world_rank == 0 ? 7 : 0, *in = numbers(), *sums = allocate(MANY * sizeof *sums);
    MPI_Request request, last;
    MPI_Comm comm, second, copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    if (used)
        MPI_Allreduce(in, sums, 1, MPI_INT, MPI_SUM, comm);
    if (world_rank != 0)
        pause_us(20000);
    MPI_Iallreduce(in, sums, MANY, MPI_INT, MPI_SUM, comm, &request);
    if (world_rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (what == BROADCAST)
        MPI_Ibcast(&data, 1, MPI_INT, 0, second, &last);
    else
        MPI_Comm_idup(what == COPY_ANOTHER ? second : comm, &copy, &last);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    if (world_rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(what != BROADCAST || data == 7, "ahead: got wrong number %d", data);
    if (what != BROADCAST) {
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
    sums_are_right(sums, "ahead");
    MPI_Comm_free(&second);
    MPI_Comm_free(&comm);
    free(in);
    free(sums);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int turn = 0; turn < 6; turn++) {
        if (strcmp(what, "neighbours") == 0)
            neighbours(turn % 2);
        else if (strcmp(what, "disconnect") == 0)
            disconnect(turn % 2);
        else if (strcmp(what, "free") == 0)
            free_when_over();
        else if (strcmp(what, "sub") == 0)
            sub(turn);
        else if (strcmp(what, "windows") == 0)
            windows(turn);
        else if (strcmp(what, "crossed") == 0)
            crossed();
        else if (strcmp(what, "behind") == 0)
            behind();
        else if (strcmp(what, "copies") == 0)
            copies();
        else if (strcmp(what, "ahead") == 0)
            ahead(turn % 3, turn >= 3);
        else
            check(false, "staggered_calls: unknown test '%s'", what);
    }
    return finish("staggered_calls");
}
