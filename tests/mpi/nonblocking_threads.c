/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_threads.c - MPI_THREAD_MULTIPLE: threads have requests in flight on their own
 * communicators, and a thread waits for requests that another thread has started.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 100, FLIGHT = 8 };

struct work {
    MPI_Comm comm;
    int index, wrong;
    MPI_Request request[FLIGHT];
    int in[FLIGHT], out[FLIGHT], pair[FLIGHT][3];
};

/* Starts a broadcast with a derived type that is freed at once. The type must last until the
 * request ends. */
static void start_derived(struct work *w, int i)
{
    MPI_Datatype type;

    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    w->pair[i][0] = w->pair[i][2] = w->out[i];
    MPI_Ibcast(w->pair[i], 1, type, i % world_size, w->comm, &w->request[i]);
    MPI_Type_free(&type);
}

static void start(struct work *w, int round)
{
    for (int i = 0; i < FLIGHT; i++) {
        w->in[i] = world_rank + round + i + w->index;
        w->out[i] = i % 2 ? world_rank : -1;
        if (i % 4 == 3)
            start_derived(w, i);
        else if (i % 2)
            MPI_Ibcast(&w->out[i], 1, MPI_INT, i % world_size, w->comm, &w->request[i]);
        else
            MPI_Iallreduce(&w->in[i], &w->out[i], 1, MPI_INT, MPI_SUM, w->comm, &w->request[i]);
    }
}

static void finish_work(struct work *w, int round)
{
    MPI_Status statuses[FLIGHT];

    MPI_Waitall(FLIGHT, w->request, statuses);
    for (int i = 0; i < FLIGHT; i++) {
        int sum = world_size * (round + i + w->index) + world_size * (world_size - 1) / 2;
        if (i % 4 == 3)
            w->wrong += w->pair[i][0] != i % world_size || w->pair[i][2] != i % world_size;
        else
            w->wrong += w->out[i] != (i % 2 ? i % world_size : sum);
    }
}

static void *run(void *arg)
{
    struct work *w = arg;

    for (int round = 0; round < ROUNDS; round++) {
        start(w, round);
        if (round % 3 == 0)
            MPI_Barrier(w->comm);
        finish_work(w, round);
    }
    return NULL;
}

static void each_its_own(struct work *work)
{
    pthread_t thread[THREADS];

    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, run, &work[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        check(work[t].wrong == 0, "thread %d: %d wrong results", t, work[t].wrong);
    }
    section("own");
}

static struct work *handed;

static void *wait_for_other(void *arg)
{
    finish_work(handed, *(int *)arg);
    return NULL;
}

/* Starts requests in one thread and waits for them in another. Meanwhile the first thread is in a
 * blocking call on another communicator. */
static void handed_over(struct work *work)
{
    pthread_t thread;

    for (int round = 0; round < ROUNDS; round++) {
        handed = &work[round % THREADS];
        start(handed, round);
        pthread_create(&thread, NULL, wait_for_other, &round);
        MPI_Barrier(work[(round + 1) % THREADS].comm);
        pthread_join(thread, NULL);
        check(handed->wrong == 0, "handed over: %d wrong results", handed->wrong);
    }
    section("handed");
}

int main(int argc, char **argv)
{
    struct work work[THREADS];

    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++) {
        work[t] = (struct work){ .index = t };
        MPI_Comm_dup(MPI_COMM_WORLD, &work[t].comm);
    }
    each_its_own(work);
    handed_over(work);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&work[t].comm);
    return finish("nonblocking_threads");
}
