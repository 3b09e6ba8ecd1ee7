/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * harmless.c - a correct program, to be run under a tool that detects faults: a sanitizer,
 * Valgrind, or this program itself, which checks errno.
 *
 *   harmless [--late] [--threads] [--often] [--fault]
 *
 * --late: rank 0 enters each call late, so that the others sleep. --threads: one thread starts a
 * call and another thread waits. --often: blocking calls are repeated until huddle has tried other
 * algorithms, and the MPI's own. --fault: the program is erroneous and receives beyond the end of a
 * buffer.
 *
 * Buffers have exactly the bytes that the call reads or writes. errno is set to an unusual value
 * before each function of MPI. "FUNCTION leaves N" is printed if errno has another value
 * afterwards.
 */
#include "forms.h"

#include <errno.h>
#include <pthread.h>

enum { ODD = 12345, SIZES = 3, ROUNDS = 2, OFTEN = 130, NAMED = 64 };

static const int sizes[SIZES] = { 1, 700, 50000 }; /* numbers of elements */
static bool late;

/* ---- errno ----------------------------------------------------------------------------------- */

/* Prints a value once for each function. */
static void note(const char *function, int value)
{
    static struct {
        const char *function;
        int value;
    } noted[NAMED];
    int i = 0;

    if (value == ODD)
        return;
    while (i < NAMED && noted[i].function &&
           (strcmp(noted[i].function, function) != 0 || noted[i].value != value))
        i++;
    if (i == NAMED || noted[i].function)
        return;
    noted[i].function = function;
    noted[i].value = value;
    printf("%s leaves %d\n", function, value);
    fflush(stdout);
}

#define CALL(function, ...)                                                                        \
    (errno = ODD, check((function)(__VA_ARGS__) == MPI_SUCCESS, "%s failed", #function),           \
     note(#function, errno))

/* ---- one collective -------------------------------------------------------------------------- */

struct exact {
    struct arguments a;
    int *in, *out;
    int ins, outs; /* numbers of elements */
    bool has_in, has_out;
};

enum blocks { NONE, ONE, ALL, AT_ROOT, ALL_AT_ROOT };

static const struct {
    enum blocks in, out;
} shapes[CALLS] = {
    [BARRIER] = { NONE, NONE },
    [BCAST] = { NONE, ONE },
    [REDUCE] = { ONE, AT_ROOT },
    [ALLREDUCE] = { ONE, ONE },
    [REDUCE_SCATTER] = { ALL, ONE },
    [REDUCE_SCATTER_BLOCK] = { ALL, ONE },
    [SCAN] = { ONE, ONE },
    [EXSCAN] = { ONE, ONE },
    [GATHER] = { ONE, ALL_AT_ROOT },
    [GATHERV] = { ONE, ALL_AT_ROOT },
    [SCATTER] = { ALL_AT_ROOT, ONE },
    [SCATTERV] = { ALL_AT_ROOT, ONE },
    [ALLGATHER] = { ONE, ALL },
    [ALLGATHERV] = { ONE, ALL },
    [ALLTOALL] = { ALL, ALL },
    [ALLTOALLV] = { ALL, ALL },
    [ALLTOALLW] = { ALL, ALL },
};

static int elements(enum blocks blocks, int n, bool is_root)
{
    const int of[] = { [NONE] = 0,
                       [ONE] = n,
                       [ALL] = n * world_size,
                       [AT_ROOT] = is_root ? n : 0,
                       [ALL_AT_ROOT] = is_root ? n * world_size : 0 };

    return of[blocks];
}

static bool sums(int kind)
{
    return kind >= REDUCE && kind <= EXSCAN;
}

static struct exact *open_exact(MPI_Comm comm, int kind, int n, bool written)
{
    struct exact *e = allocate(sizeof *e);
    int root = kind % world_size, rank;

    memset(e, 0, sizeof *e);
    MPI_Comm_rank(comm, &rank);
    e->ins = elements(shapes[kind].in, n, rank == root);
    e->outs = elements(shapes[kind].out, n, rank == root);
    e->in = allocate((size_t)e->ins * sizeof *e->in);
    e->out = allocate((size_t)e->outs * sizeof *e->out);
    for (int i = 0; i < e->ins && written; i++)
        e->in[i] = 1;
    for (int i = 0; i < e->outs && written && kind == BCAST && rank == root; i++)
        e->out[i] = 1;
    e->a = (struct arguments){ .in = e->in,
                               .out = e->out,
                               .in_count = n,
                               .out_count = n,
                               .root = root,
                               .in_type = MPI_INT,
                               .out_type = MPI_INT,
                               .op = MPI_SUM,
                               .comm = comm };
    for (int r = 0; r < world_size; r++) {
        e->a.in_counts[r] = e->a.out_counts[r] = n;
        e->a.in_places[r] = e->a.out_places[r] = n * r;
        e->a.in_types[r] = e->a.out_types[r] = MPI_INT;
    }
    for (int r = 0; r < world_size && kind == ALLTOALLW; r++)
        e->a.in_places[r] = e->a.out_places[r] = n * r * (int)sizeof(int);
    return e;
}

static void free_exact(struct exact *e)
{
    free(e->in);
    free(e->out);
    free(e);
}

static void close_exact(struct exact *e, int kind)
{
    int rank, good = 0;

    MPI_Comm_rank(e->a.comm, &rank);
    int wanted = kind == SCAN ? rank + 1 : kind == EXSCAN ? rank : sums(kind) ? world_size : 1;
    for (int i = 0; i < e->outs; i++)
        if ((kind == EXSCAN && rank == 0) || e->out[i] == wanted)
            good++;
    check(good == e->outs, "%s: only %d of %d elements are right", collectives[kind].name, good,
          e->outs);
    free_exact(e);
}

/* Returns a name that distinguishes the forms, such as Allreduce, Iallreduce and Allreduce_init. */
static const char *name_of(int kind, enum form form)
{
    static char names[CALLS][FORMS][40];
    static const char *const texts[FORMS] = { "%s", "nonblocking %s", "persistent %s" };

    if (names[kind][form][0] == '\0') {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(names[kind][form], sizeof names[kind][form], texts[form], collectives[kind].name);
#pragma GCC diagnostic pop
    }
    return names[kind][form];
}

static void make(struct exact *e, int kind, enum form form, MPI_Request *request)
{
    if (late && world_rank == 0)
        pause_us(3000);
    errno = ODD;
    int error = collectives[kind].call(&e->a, form, request);
    note(name_of(kind, form), errno);
    check(error == MPI_SUCCESS, "%s: error %d", name_of(kind, form), error);
}

static void one(MPI_Comm comm, int kind, enum form form, int n)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    struct exact *e = open_exact(comm, kind, n, true);

    make(e, kind, form, &request);
    if (form == PERSISTENT)
        CALL(MPI_Start, &request);
    if (form != BLOCKING)
        CALL(MPI_Test, &request, &done, MPI_STATUS_IGNORE);
    if (form != BLOCKING)
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        CALL(MPI_Request_free, &request);
    close_exact(e, kind);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void each(MPI_Comm comm, enum form form, int rounds)
{
    for (int kind = 0; kind < CALLS; kind++)
        for (int s = 0; s < SIZES; s++)
            for (int round = 0; round < rounds; round++)
                one(comm, kind, form, sizes[s]);
}

/* Starts all collectives and completes them together. */
static void together(MPI_Comm comm)
{
    struct exact *e[CALLS];
    MPI_Request requests[CALLS];
    MPI_Status statuses[CALLS];
    int index[CALLS], count;

    for (int kind = 0; kind < CALLS; kind++) {
        e[kind] = open_exact(comm, kind, sizes[1], true);
        make(e[kind], kind, NONBLOCKING, &requests[kind]);
    }
    CALL(MPI_Testsome, CALLS, requests, &count, index, statuses);
    CALL(MPI_Waitall, CALLS, requests, statuses);
    for (int kind = 0; kind < CALLS; kind++)
        close_exact(e[kind], kind);
}

/* Sends bytes that were never written, like gaps of structures, and then other bytes in the same
 * memory. */
static void never_written(MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;

    for (int kind = 0; kind < CALLS; kind++)
        for (int s = 0; s < SIZES && !sums(kind); s++) {
            struct exact *e = open_exact(comm, kind, sizes[s], false);
            make(e, kind, BLOCKING, &request);
            free_exact(e);
            one(comm, kind, BLOCKING, sizes[s]);
        }
}

static void communicators(void)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Request request;
    int ones[] = { world_size }, periods[] = { 1 };

    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &made);
    CALL(MPI_Barrier, made);
    CALL(MPI_Comm_free, &made);
    CALL(MPI_Comm_idup, MPI_COMM_WORLD, &made, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    one(made, ALLREDUCE, BLOCKING, 1);
    CALL(MPI_Comm_disconnect, &made);
    CALL(MPI_Comm_split, MPI_COMM_WORLD, 0, world_rank, &made);
    one(made, ALLTOALL, NONBLOCKING, sizes[1]);
    CALL(MPI_Comm_free, &made);
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    CALL(MPI_Comm_free, &made);
    CALL(MPI_Comm_group, MPI_COMM_WORLD, &group);
    CALL(MPI_Comm_create, MPI_COMM_WORLD, group, &made);
    CALL(MPI_Group_free, &group);
    one(made, BCAST, BLOCKING, 1);
    CALL(MPI_Comm_free, &made);
    CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, ones, periods, 0, &made);
    one(made, BARRIER, BLOCKING, 1);
    CALL(MPI_Comm_free, &made);
}

static void windows(void)
{
    MPI_Win window;
    int *memory, one_value = 1;

    memory = allocate(sizeof *memory);
    CALL(MPI_Win_create, memory, sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
         &window);
    *memory = 0;
    CALL(MPI_Barrier, MPI_COMM_WORLD);
    CALL(MPI_Win_fence, 0, window);
    CALL(MPI_Put, &one_value, 1, MPI_INT, (world_rank + 1) % world_size, 0, 1, MPI_INT, window);
    CALL(MPI_Win_fence, 0, window);
    check(*memory == 1, "nothing was put");
    CALL(MPI_Win_free, &window);
    free(memory);
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct handed {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct exact *call;
    MPI_Request request;
    int kind; /* CALLS: there are no more calls */
} handed = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Waits for calls that the other thread has started, and reads and frees their buffers. */
static void *wait_for_each(void *arg)
{
    struct exact *e;
    int kind = 0;

    (void)arg;
    while (kind != CALLS) {
        pthread_mutex_lock(&handed.lock);
        while (!handed.call && handed.kind != CALLS)
            pthread_cond_wait(&handed.changed, &handed.lock);
        e = handed.call;
        kind = handed.kind;
        MPI_Request request = handed.request;
        handed.call = NULL;
        pthread_cond_signal(&handed.changed);
        pthread_mutex_unlock(&handed.lock);
        if (!e)
            break;
        CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
        close_exact(e, kind);
    }
    return NULL;
}

static void hand_over(struct exact *e, int kind, MPI_Request request)
{
    pthread_mutex_lock(&handed.lock);
    while (handed.call)
        pthread_cond_wait(&handed.changed, &handed.lock);
    handed.call = e;
    handed.request = request;
    handed.kind = kind;
    pthread_cond_signal(&handed.changed);
    pthread_mutex_unlock(&handed.lock);
}

static void threads(MPI_Comm comm, MPI_Comm other)
{
    pthread_t waiter;
    MPI_Request request;

    check(pthread_create(&waiter, NULL, wait_for_each, NULL) == 0, "cannot create a thread");
    for (int s = 0; s < SIZES; s++)
        for (int kind = 0; kind < CALLS; kind++) {
            struct exact *e = open_exact(comm, kind, sizes[s], true);
            make(e, kind, NONBLOCKING, &request);
            hand_over(e, kind, request);
            one(other, ALLREDUCE, NONBLOCKING, sizes[s]);
        }
    hand_over(NULL, CALLS, MPI_REQUEST_NULL);
    pthread_join(waiter, NULL);
}

/* ---- an erroneous program
 * --------------------------------------------------------------------- */

/* Receives beyond the end of a buffer. Rank 0 is late, so the bytes arrive while the others
 * wait. */
static void overrun(void)
{
    int n = sizes[1];
    char *in = allocate((size_t)n), *out = allocate((size_t)n * (size_t)world_size - 1);
    MPI_Request request;

    memset(in, 1, (size_t)n);
    if (world_rank == 0)
        pause_us(100000);
    MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(in);
    free(out);
}

/* ---------------------------------------------------------------------------------------------- */

static bool has(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return true;
    return false;
}

static void all_sections(int rounds)
{
    MPI_Comm dup;

    CALL(MPI_Comm_dup, MPI_COMM_WORLD, &dup);
    each(MPI_COMM_WORLD, BLOCKING, rounds);
    section("blocking");
    each(dup, NONBLOCKING, ROUNDS);
    together(dup);
    section("nonblocking");
    if (persistent_function("MPI_Barrier_init"))
        each(dup, PERSISTENT, ROUNDS);
    section("persistent");
    never_written(dup);
    communicators();
    section("made");
    windows();
    section("windows");
    CALL(MPI_Comm_free, &dup);
}

int main(int argc, char **argv)
{
    bool threaded = has(argc, argv, "--threads");
    MPI_Comm dup, other;

    late = has(argc, argv, "--late");
    errno = ODD;
    begin(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    note("MPI_Init_thread", errno);
    if (has(argc, argv, "--fault")) {
        overrun();
    } else if (threaded) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        threads(dup, other);
        section("threads");
        MPI_Comm_free(&other);
        MPI_Comm_free(&dup);
    } else {
        all_sections(has(argc, argv, "--often") ? OFTEN : ROUNDS);
    }
    errno = ODD;
    int status = finish("harmless");
    note("MPI_Finalize", errno);
    return status;
}
