/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - MPI's progress rule: a rank that waits in a collective still progresses its pending
 * point-to-point messages.
 *
 * One rank starts a send too large to be buffered and enters a collective. Its neighbor receives
 * this message first and enters the collective only then. Meanwhile an unexpected message is on the
 * same communicator, which would confuse a probe in the wait. An MPI or a huddle without progress
 * hangs here.
 */
#include "check.h"

enum { LARGE = 2 << 20, TAG_LARGE = 1, TAG_UNEXPECTED = 2 };

static void barrier(int sender)
{
    (void)sender;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast_of(int bytes, int root)
{
    unsigned char *got = allocate((size_t)bytes), *want = allocate((size_t)bytes);

    pattern(want, (size_t)bytes, (uint64_t)(bytes + root));
    memset(got, 0, (size_t)bytes);
    if (world_rank == root)
        memcpy(got, want, (size_t)bytes);
    MPI_Bcast(got, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    check(memcmp(got, want, (size_t)bytes) == 0, "wrong bcast of %d bytes from root %d", bytes,
          root);
    free(got);
    free(want);
}

/* Broadcasts from the receiver, so the sender waits for a root that needs its message. */
static void small_from_receiver(int sender)
{
    bcast_of(8, (sender + 1) % world_size);
}

static void large_from_receiver(int sender)
{
    bcast_of(1 << 20, (sender + 1) % world_size);
}

/* Broadcasts from the sender more bytes than fit between it and a receiver still outside. */
static void large_from_sender(int sender)
{
    bcast_of(4 << 20, sender);
}

/* Adds numbers of all ranks, so every rank waits for every other rank. */
static void sum_of(int count)
{
    long *mine = allocate((size_t)count * sizeof *mine),
         *sum = allocate((size_t)count * sizeof *sum);

    for (int i = 0; i < count; i++)
        mine[i] = world_rank + i;
    MPI_Allreduce(mine, sum, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (!check(sum[i] == (long)world_size * (world_size - 1) / 2 + (long)world_size * i,
                   "allreduce of %d: element %d is wrong", count, i))
            break;
    free(mine);
    free(sum);
}

static void small_sum(int sender)
{
    (void)sender;
    sum_of(1);
}

static void large_sum(int sender)
{
    (void)sender;
    sum_of(200000);
}

static void everybody(int sender)
{
    enum { EACH = 50000 };
    int *out = allocate((size_t)world_size * EACH * sizeof *out),
        *in = allocate((size_t)world_size * EACH * sizeof *in);

    (void)sender;
    for (int i = 0; i < world_size * EACH; i++)
        out[i] = world_rank * 1000 + i / EACH;
    MPI_Alltoall(out, EACH, MPI_INT, in, EACH, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < world_size * EACH; i++)
        if (!check(in[i] == i / EACH * 1000 + world_rank, "alltoall: element %d is wrong", i))
            break;
    free(out);
    free(in);
}

static const struct {
    const char *name;
    void (*collective)(int sender);
} cases[] = {
    { "barrier", barrier },
    { "small", small_from_receiver },
    { "large", large_from_receiver },
    { "root", large_from_sender },
    { "sum", small_sum },
    { "sums", large_sum },
    { "alltoall", everybody },
};

static void round_of(void (*collective)(int), int sender, unsigned char *data,
                     unsigned char *expected)
{
    int receiver = (sender + 1) % world_size, token = 42, got = 0;
    MPI_Request request[2];

    pattern(expected, LARGE, (uint64_t)sender);
    if (world_rank == sender) {
        memcpy(data, expected, LARGE);
        MPI_Isend(&token, 1, MPI_INT, receiver, TAG_UNEXPECTED, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(data, LARGE, MPI_BYTE, receiver, TAG_LARGE, MPI_COMM_WORLD, &request[0]);
        collective(sender);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        MPI_Recv(&got, 1, MPI_INT, receiver, TAG_UNEXPECTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (world_rank == receiver) {
        MPI_Isend(&token, 1, MPI_INT, sender, TAG_UNEXPECTED, MPI_COMM_WORLD, &request[1]);
        pause_us(20000); /* the sender is in the collective by now */
        MPI_Recv(data, LARGE, MPI_BYTE, sender, TAG_LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(memcmp(data, expected, LARGE) == 0, "the large message arrived damaged");
        collective(sender);
        MPI_Recv(&got, 1, MPI_INT, sender, TAG_UNEXPECTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    } else {
        collective(sender);
        got = token;
    }
    check(got == token, "the unexpected message was lost");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    unsigned char *data = allocate(LARGE), *expected = allocate(LARGE);

    for (int warm = 0; warm < 2;
         warm++) { /* the first collective of a communicator sets it up, and the second waits */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            for (int sender = 0; sender < world_size && world_size > 1; sender++)
                round_of(cases[i].collective, sender, data, expected);
            section(cases[i].name);
        }
    }
    free(data);
    free(expected);
    return finish("progress");
}
