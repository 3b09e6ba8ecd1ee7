/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatch.c - common programming errors: ranks whose counts do not match, in one call of a loop of
 * correct calls.
 *
 *     mismatch CALL SENT RECEIVED [OTHERS [RIGHT [ROOT]]] [--go-on]
 *
 * Rank 1 passes SENT (and in an alltoall RECEIVED) integers, and all others pass OTHERS (10), after
 * RIGHT (20) calls in which all pass OTHERS. CALL: alltoall, allgather, gather, scatter, bcast,
 * reduce, allreduce, scan, exscan. ROOT: of bcast and reduce, the last rank if it is not given;
 * gather and scatter have rank 1.
 *
 * MPI does not define the result. An MPI alone reports an error, or some ranks notice nothing.
 * huddle must not let ranks wait without a message. --go-on: errors are returned. All ranks then
 * make further calls. The first ones may fail where ranks were calls ahead. The last one and all
 * others without an error must be right, and all ranks must reach the end.
 *
 * Nothing may be written beyond the buffer of a rank, and a rank without an error must have the
 * blocks of the ranks that agree with it. Violations are reported. After a scan without an error,
 * ranks make further scans with the same counts, whose results must be right.
 */
#include "check.h"

enum { MAX_COUNT = 1 << 20, RIGHT = 20, LATER = 20, NOTHING = -7 };

static int out[MAX_COUNT], in[MAX_COUNT], root;

static int call(const char *name, int count, int received)
{
    if (strcmp(name, "alltoall") == 0)
        return MPI_Alltoall(in, count, MPI_INT, out, received, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(name, "allgather") == 0)
        return MPI_Allgather(in, count, MPI_INT, out, received, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(name, "gather") == 0)
        return MPI_Gather(in, count, MPI_INT, out, received, MPI_INT, 1, MPI_COMM_WORLD);
    if (strcmp(name, "scatter") == 0)
        return MPI_Scatter(in, count, MPI_INT, out, received, MPI_INT, 1, MPI_COMM_WORLD);
    if (strcmp(name, "bcast") == 0)
        return MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
    if (strcmp(name, "scan") == 0)
        return MPI_Scan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "exscan") == 0)
        return MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "reduce") == 0)
        return MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static bool has_blocks(const char *name)
{
    return strcmp(name, "alltoall") == 0 || strcmp(name, "allgather") == 0;
}

/* Reports whether SENT and RECEIVED are both counts of one call. */
static bool has_two_sizes(const char *name)
{
    return has_blocks(name) || strcmp(name, "gather") == 0 || strcmp(name, "scatter") == 0;
}

/* Returns the number of integers in a rank's `out`. */
static int room_of(const char *name, int count)
{
    bool gathers = strcmp(name, "gather") == 0,
         none = (strcmp(name, "reduce") == 0 && world_rank != root) || (gathers && world_rank != 1);

    return none ? 0 : has_blocks(name) || gathers ? count * world_size : count;
}

/* Reports whether these integers are the block of a rank, which sends its number plus 100. */
static bool is_block_of(int rank, int begin, int count)
{
    for (int i = begin; i < begin + count; i++)
        if (out[i] != 100 + rank)
            return false;
    return true;
}

/* Checks the buffers. Prints a line and returns false if anything was written beyond this rank's
 * buffer, or if without an error a block of an agreeing rank is wrong. */
static bool is_unharmed(const char *name, int count, int others, int class)
{
    bool agrees = class == MPI_SUCCESS && count == others, fine = true;
    int room = room_of(name, count), beyond = 0;

    for (int i = room; i < MAX_COUNT; i++)
        beyond += out[i] != NOTHING;
    if (beyond != 0)
        printf("rank %d: %d integers beyond its %d were written\n", world_rank, beyond, room);
    for (int r = 0; agrees && has_blocks(name) && r < world_size; r++)
        if (r != 1 && !is_block_of(r, r * count, count)) {
            printf("rank %d: no error, but the block of rank %d is wrong\n", world_rank, r);
            fine = false;
        }
    return fine && beyond == 0;
}

/* Fills the buffers before the erroneous call. */
static void fill(const char *name)
{
    bool sends_out = strcmp(name, "bcast") == 0 && world_rank == root;

    for (int i = 0; i < MAX_COUNT; i++) {
        in[i] = 100 + world_rank;
        out[i] = sends_out ? in[i] : NOTHING;
    }
}

static bool is_scan(const char *name)
{
    return strcmp(name, "scan") == 0 || strcmp(name, "exscan") == 0;
}

/* Makes correct calls after the erroneous call. */
static void scan_again(const char *name, int count)
{
    int before = strcmp(name, "exscan") == 0 ? world_rank : world_rank + 1, wrong = 0;

    for (int turn = 1; turn <= RIGHT; turn++) {
        for (int i = 0; i < count; i++)
            in[i] = turn * (world_rank + 1) + i;
        call(name, count, count);
        for (int i = 0; i < count && before > 0; i++)
            wrong += out[i] != turn * before * (before + 1) / 2 + before * i;
    }
    printf("rank %d: later scans are %s\n", world_rank, wrong == 0 ? "right" : "wrong");
}

/* Makes further calls. Reports whether the last one and all others without an error are right. */
static bool go_on(void)
{
    int one = 1, wrong = 0, error = MPI_SUCCESS;

    for (int i = 0; i < LATER; i++) {
        int sum = 0;
        error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += error == MPI_SUCCESS && sum != world_size;
    }
    return error == MPI_SUCCESS && wrong == 0;
}

/* Returns a number of the command line, or its usual value. */
static int number(char **argv, int at, int usual)
{
    for (int i = 0; i <= at; i++)
        if (!argv[i] || argv[i][0] == '-')
            return usual;
    return atoi(argv[at]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc < 4)
        return 2;
    int others = number(argv, 4, 10), right = number(argv, 5, RIGHT);
    root = number(argv, 6, world_size - 1);
    int count = world_rank == 1 ? atoi(argv[2]) : others,
        received = world_rank == 1 ? atoi(argv[3]) : others, class = MPI_SUCCESS;

    if (strcmp(argv[argc - 1], "--go-on") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < right; i++)
        call(argv[1], others, others);
    fill(argv[1]);
    MPI_Error_class(call(argv[1], count, received), &class);
    bool sends = strcmp(argv[1], "bcast") == 0 && world_rank == root,
         cut = class == MPI_ERR_TRUNCATE &&
               (strcmp(argv[2], argv[3]) == 0 || !has_two_sizes(argv[1]));
    if (sends || is_unharmed(argv[1], has_two_sizes(argv[1]) ? received : count, others, class))
        printf("rank %d: no harm, %s\n", world_rank,
               class == MPI_SUCCESS ? "no error"
               : cut                ? "truncated"
                                    : "an error");
    if (is_scan(argv[1]) && class == MPI_SUCCESS)
        scan_again(argv[1], others);
    fflush(stdout);
    printf("rank %d: the last call is %s\n", world_rank, go_on() ? "right" : "wrong");
    printf("rank %d is through\n", world_rank);
    MPI_Finalize();
    return 0;
}
