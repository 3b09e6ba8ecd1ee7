/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - MPI_THREAD_MULTIPLE: several threads of a rank are in collectives on different
 * communicators at once.
 *
 * "first": two threads use two new communicators for the first time, in opposite order on even and
 * odd ranks. "several": each thread makes calls on its own communicators.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 30, CALLS = 150 };

struct work {
    MPI_Comm comm;
    uint64_t delay_us, seed;
    int calls, wrong;
};

static void *run(void *arg)
{
    struct work *w = arg;
    uint64_t state = w->seed;
    unsigned char *got = allocate(70000), *want = allocate(70000);

    pause_us(w->delay_us);
    for (int i = 0; i < w->calls; i++) {
        size_t bytes = (size_t)draw(&state, (uint64_t)1 << draw(&state, 17));
        int root = (int)draw(&state, (uint64_t)world_size);
        if (i % 4 == 0)
            MPI_Barrier(w->comm);
        pattern(want, bytes, w->seed + (uint64_t)i);
        memset(got, 0, bytes);
        if (world_rank == root)
            memcpy(got, want, bytes);
        MPI_Bcast(got, (int)bytes, MPI_BYTE, root, w->comm);
        w->wrong += memcmp(got, want, bytes) != 0;
    }
    free(got);
    free(want);
    return NULL;
}

static void together(struct work *work, int count, const char *what)
{
    pthread_t thread[THREADS];

    for (int t = 0; t < count; t++)
        pthread_create(&thread[t], NULL, run, &work[t]);
    for (int t = 0; t < count; t++) {
        pthread_join(thread[t], NULL);
        check(work[t].wrong == 0, "%s: thread %d got %d wrong messages", what, t, work[t].wrong);
    }
}

static void first_uses(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct work work[2];
        for (int t = 0; t < 2; t++) {
            work[t] = (struct work){ .seed = (uint64_t)(i * 2 + t + 1),
                                     .calls = 3,
                                     .delay_us = t == world_rank % 2 ? 0 : 3000 };
            MPI_Comm_dup(MPI_COMM_WORLD, &work[t].comm);
        }
        together(work, 2, "first uses");
        for (int t = 0; t < 2; t++)
            MPI_Comm_free(&work[t].comm);
    }
    section("first");
}

static void several(void)
{
    struct work work[THREADS];

    for (int t = 0; t < THREADS; t++) {
        work[t] = (struct work){ .seed = (uint64_t)(1000 + t), .calls = CALLS };
        MPI_Comm_dup(MPI_COMM_WORLD, &work[t].comm);
    }
    together(work, THREADS, "several threads");
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&work[t].comm);
    section("several");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    first_uses();
    several();
    return finish("threads");
}
