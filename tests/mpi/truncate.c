/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * truncate.c - the root sends more than the others expect, which is an error that huddle reports to
 * the communicator's error handler.
 *
 * A program that does this is wrong, and what an MPI alone makes of it differs; so this one is run
 * with huddle only.  Both sides' sizes lie in the range of one algorithm.  Nothing beyond a
 * receiver's buffer is written, what fits arrives, and the communicator stays usable.
 */
#include "check.h"

static int handled;

static void handler(MPI_Comm *comm, int *error, ...)
{
    int class = 0;

    (void)comm;
    MPI_Error_class(*error, &class);
    handled += class == MPI_ERR_TRUNCATE;
}

static void one(MPI_Comm comm, int root, size_t sent, size_t expected)
{
    unsigned char *want = allocate(sent), *got = allocate(sent);
    size_t max = world_rank == root ? sent : expected;
    int class = 0;

    pattern(want, sent, sent + expected);
    memset(got, 0xA5, sent);
    if (world_rank == root)
        memcpy(got, want, sent);
    MPI_Error_class(MPI_Bcast(got, (int)max, MPI_BYTE, root, comm), &class);
    check(class == (world_rank == root ? MPI_SUCCESS : MPI_ERR_TRUNCATE),
          "%zu bytes for %zu: error class %d", sent, expected, class);
    check(memcmp(got, want, max) == 0, "%zu bytes for %zu: what fits did not arrive", sent,
          expected);
    for (size_t i = max; i < sent; i++) {
        if (!check(got[i] == 0xA5, "%zu bytes for %zu: byte %zu was written", sent, expected, i))
            break;
    }
    free(want);
    free(got);
}

static void usable(MPI_Comm comm)
{
    static const int sizes[] = { 1, 50, 5000, 300000 };
    static unsigned char got[300000], want[300000];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pattern(want, (size_t)sizes[i], i);
        memset(got, 0, sizeof got);
        if (world_rank == world_size - 1)
            memcpy(got, want, (size_t)sizes[i]);
        check(MPI_Bcast(got, sizes[i], MPI_BYTE, world_size - 1, comm) == MPI_SUCCESS,
              "a later bcast failed");
        check(memcmp(got, want, (size_t)sizes[i]) == 0, "a later bcast of %d bytes is wrong",
              sizes[i]);
        MPI_Barrier(comm);
    }
}

/*
 * Elements with gaps: packed piece by piece, or staged whole where one is longer than a piece or
 * may not be cut.  Every second item of a vector is sent; the receiver has fewer elements than the
 * root.
 */
static void typed(MPI_Comm comm, int root, MPI_Datatype item, size_t item_bytes, int items,
                  int sent, int expected)
{
    size_t element = (size_t)(2 * items - 1) * item_bytes,
           max = element * (size_t)(world_rank == root ? sent : expected);
    size_t room = element * (size_t)sent;
    unsigned char *want = allocate(room), *got = allocate(room);
    MPI_Datatype type;
    int class = 0;

    MPI_Type_vector(items, 1, 2, item, &type);
    MPI_Type_commit(&type);
    pattern(want, room, (size_t)items);
    memset(got, 0xA5, room);
    if (world_rank == root)
        memcpy(got, want, room);
    MPI_Error_class(MPI_Bcast(got, world_rank == root ? sent : expected, type, root, comm), &class);
    check(class == (world_rank == root ? MPI_SUCCESS : MPI_ERR_TRUNCATE),
          "%d of %d elements: error class %d", expected, sent, class);
    for (size_t i = 0; world_rank != root && i < room; i++) {
        bool data = i < max && i % element / item_bytes % 2 == 0,
             padding = item_bytes == 32 && i % 16 >= 10; /* of a long double */
        if (!check(got[i] == (data ? want[i] : 0xA5) || (data && padding),
                   "%d of %d elements of %d: byte %zu is wrong", expected, sent, items, i))
            break;
    }
    MPI_Type_free(&type);
    free(want);
    free(got);
}

int main(int argc, char **argv)
{
    static const size_t pairs[][2] = {
        { 100, 10 }, { 112, 111 }, { 70000, 60000 }, { 3 << 20, 2 << 20 }, { (3 << 20) + 5, 300001 }
    };
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    int expected = 0;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    for (int own = 0; own < 2; own++) {
        MPI_Comm_set_errhandler(comm, own ? errhandler : MPI_ERRORS_RETURN);
        usable(comm);
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            for (int root = 0; root < world_size; root++) {
                one(comm, root, pairs[i][0], pairs[i][1]);
                expected += own && root != world_rank;
            }
            usable(comm);
        }
        for (int root = 0; root < world_size; root++) {
            typed(comm, root, MPI_INT, sizeof(int), 2048, 16, 8);
            typed(comm, root, MPI_INT, sizeof(int), 100, 400, 100);
            typed(comm, root, MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double _Complex), 40, 75, 30);
            expected += own && root != world_rank ? 3 : 0;
        }
        usable(comm);
    }
    check(handled == expected, "the error handler was called %d times instead of %d", handled,
          expected);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    section("truncate");
    return finish("truncate");
}
