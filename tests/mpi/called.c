/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * called.c - functions of the program that are called by a nonblocking collective. An operation
 * takes a lock of the program, whose holder starts a collective on another communicator. An
 * attribute's copy function, called by MPI_Comm_idup, makes collectives on another communicator
 * while requests wait behind the duplication.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

static MPI_Comm first, second;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int within;

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    atomic_store(&within, 1);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    pthread_mutex_unlock(&lock);
}

static void *reduce(void *arg)
{
    MPI_Op op;
    MPI_Request request;
    int mine = world_rank, total = -1;

    MPI_Op_create(sum, 1, &op);
    MPI_Iallreduce(&mine, &total, 1, MPI_INT, op, first, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    check(total == world_size * (world_size - 1) / 2, "wrong sum %d", total);
    return arg;
}

/* Holds the lock while the operation is called. A rank whose operation is not called within a
 * second holds the lock in vain. */
static void operation(void)
{
    MPI_Request request;
    pthread_t thread;

    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, reduce, NULL);
    for (int i = 0; i < 1000 && !atomic_load(&within); i++)
        pause_us(1000);
    MPI_Ibarrier(second, &request);
    pthread_mutex_unlock(&lock);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

static int copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *keep)
{
    int root = world_rank;
    MPI_Request request;

    (void)old, (void)key, (void)extra, (void)in;
    *(void **)out = NULL;
    *keep = 0;
    MPI_Bcast(&root, 1, MPI_INT, 0, second);
    check(root == 0, "wrong broadcast in a copy function: %d", root);
    root = world_rank;
    MPI_Ibcast(&root, 1, MPI_INT, 1, second, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(root == 1, "wrong nonblocking broadcast in a copy function: %d", root);
    return MPI_SUCCESS;
}

static void attribute(void)
{
    int key, value[2] = { world_rank, world_rank };
    MPI_Request request[4];
    MPI_Status status[4];
    MPI_Comm made;

    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(first, key, NULL);
    MPI_Ibcast(&value[0], 1, MPI_INT, 0, first, &request[0]);
    MPI_Comm_idup(first, &made, &request[1]);
    MPI_Ibcast(&value[1], 1, MPI_INT, 0, first, &request[2]);
    MPI_Ibarrier(first, &request[3]);
    MPI_Waitall(4, request, status);
    check(value[0] == 0 && value[1] == 0, "wrong broadcasts around a copy: %d, %d", value[0],
          value[1]);
    MPI_Comm_delete_attr(first, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    bool locked = argc > 1 && strcmp(argv[1], "operation") == 0;

    begin(&argc, &argv, locked ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    if (locked) /* set up both communicators first */
        MPI_Barrier(first), MPI_Barrier(second);
    (locked ? operation : attribute)();
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    return finish("called");
}
