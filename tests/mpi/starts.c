/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starts.c - persistent collectives on one communicator, which each rank may start in a different
 * order.
 *
 *   starts [--beyond] [--many N]    N requests at a time in section "many" (default 40); --beyond:
 *                                   also cases in which Open MPI fails without huddle
 *
 * Sections: two requests, started in turn or by MPI_Startall; all collectives, restarted at random
 * as they complete; starts around blocking and nonblocking collectives on the communicator; more
 * requests than have memory, twice; requests of threads; requests on a freed communicator; starting
 * an active request.
 */
#include "pieces.h"

#include <pthread.h>

enum { THREADS = 3, IN_THREAD = 4, ROUNDS = 20 };

static MPI_Op composition;
static uint64_t own; /* random state for the draws of this rank */

static struct piece *make(MPI_Comm comm, int what, int units, uint64_t id)
{
    struct piece *p = piece_make((enum kind_of_call)what, comm, (int)(id % RANKS_MAX), units, false,
                                 (int)id, composition, id);
    int error = collectives[what].call(&p->a, PERSISTENT, &p->request);

    check(error == MPI_SUCCESS, "the initialisation of %s: error %d", collectives[what].name,
          error);
    return p;
}

static void end(struct piece *p)
{
    MPI_Request_free(&p->request);
    piece_free(p);
}

static void shuffle(int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int at = (int)draw(&own, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

static void wait_and_check(struct piece **pieces, int count)
{
    for (int i = 0; i < count; i++) {
        int error = MPI_Wait(&pieces[i]->request, MPI_STATUS_IGNORE);
        piece_check(pieces[i], PERSISTENT, error);
        piece_again(pieces[i]);
    }
}

/* ---- a single request
 * -------------------------------------------------------------------------- */

/* Starts an active request, which must return an error. The call is carried out once. */
static void active(void)
{
    MPI_Comm comm;
    int mine = 1, sum = 0;
    MPI_Request request;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int (*init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
    *(void **)&init = persistent_function("MPI_Allreduce_init");
    check(init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request) == MPI_SUCCESS,
          "an initialisation failed");
    MPI_Start(&request);
    check(MPI_Start(&request) != MPI_SUCCESS, "an active request was started");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == world_size, "the sum is %d", sum);
    MPI_Request_free(&request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
    section("active");
}

/* ---- two requests
 * ------------------------------------------------------------------------------ */

/* Starts two requests, in the opposite order on odd ranks. */
static void pairs(int units, int more)
{
    for (int what = 0; what < CALLS; what++) {
        struct piece *p[2] = { make(MPI_COMM_WORLD, what, units, 100 + (uint64_t)what),
                               make(MPI_COMM_WORLD, what, units + more, 200 + (uint64_t)what) };
        int first = world_rank % 2;
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Request both[2] = { p[first]->request, p[1 - first]->request };
            if (round % 2) {
                MPI_Startall(2, both);
            } else {
                MPI_Start(&both[0]);
                MPI_Start(&both[1]);
            }
            wait_and_check(p, 2);
        }
        end(p[0]);
        end(p[1]);
    }
}

/* ---- restarted ------------------------------------------------------------------------------- */

enum { RESTARTED = 3 * CALLS };

static void begin_one(struct piece **pieces, MPI_Request *active, int i)
{
    active[i] = pieces[i]->request;
    MPI_Start(&active[i]);
}

/* Completes any request, to be started again later. Returns its index, or -1. */
static int take_one(struct piece **pieces, MPI_Request *active, bool wait)
{
    int index = MPI_UNDEFINED, done = 0, error;

    if (wait)
        error = MPI_Waitany(RESTARTED, active, &index, MPI_STATUS_IGNORE);
    else
        error = MPI_Testany(RESTARTED, active, &index, &done, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED)
        return -1;
    active[index] = MPI_REQUEST_NULL;
    piece_check(pieces[index], PERSISTENT, error);
    piece_again(pieces[index]);
    return index;
}

static void restarted(void)
{
    struct piece *pieces[RESTARTED];
    MPI_Request active[RESTARTED];
    int left[RESTARTED], idle[RESTARTED], waiting = RESTARTED, in_flight = 0;

    for (int i = 0; i < RESTARTED; i++) {
        pieces[i] = make(MPI_COMM_WORLD, i % CALLS, i < CALLS ? 1 : 40 * i, 300 + (uint64_t)i);
        active[i] = MPI_REQUEST_NULL;
        left[i] = ROUNDS;
    }
    shuffle(idle, RESTARTED);
    while (waiting + in_flight > 0) {
        if (waiting > 0 && draw(&own, 2)) {
            int at = (int)draw(&own, (uint64_t)waiting), i = idle[at];
            idle[at] = idle[--waiting];
            begin_one(pieces, active, i);
            in_flight++;
        } else if (in_flight > 0) {
            int i = take_one(pieces, active, waiting == 0);
            in_flight -= i >= 0;
            if (i >= 0 && --left[i] > 0)
                idle[waiting++] = i;
        }
    }
    for (int i = 0; i < RESTARTED; i++)
        end(pieces[i]);
    section("restarted");
}

/* ---- among other calls
 * ------------------------------------------------------------------------- */

/* Starts requests before, between and after collectives called by all ranks in the same order. */
static void mixed(void)
{
    enum { COUNT = CALLS };
    struct piece *pieces[COUNT];
    int order[COUNT];

    for (int i = 0; i < COUNT; i++)
        pieces[i] = make(MPI_COMM_WORLD, i, 30, 400 + (uint64_t)i);
    for (int round = 0; round < 3 * ROUNDS; round++) {
        int mine = world_rank + round, sum = -1, other = -1, before, between;
        MPI_Request nonblocking;
        shuffle(order, COUNT);
        before = (int)draw(&own, COUNT);
        between = before + (int)draw(&own, (uint64_t)(COUNT - before));
        for (int i = 0; i < before; i++)
            MPI_Start(&pieces[order[i]]->request);
        MPI_Iallreduce(&mine, &other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &nonblocking);
        for (int i = before; i < between; i++)
            MPI_Start(&pieces[order[i]]->request);
        if (round % 3 == 0)
            MPI_Wait(&nonblocking, MPI_STATUS_IGNORE);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = between; i < COUNT; i++)
            MPI_Start(&pieces[order[i]]->request);
        MPI_Wait(&nonblocking, MPI_STATUS_IGNORE);
        wait_and_check(pieces, COUNT);
        check(sum == world_size * round + world_size * (world_size - 1) / 2, "the sum is %d", sum);
        check(other == world_size - 1 + round, "the maximum is %d", other);
    }
    for (int i = 0; i < COUNT; i++)
        end(pieces[i]);
    section("mixed");
}

/* ---- many ------------------------------------------------------------------------------------ */

static void many(int count)
{
    struct piece **pieces = allocate((size_t)count * sizeof *pieces);
    int *order = allocate((size_t)count * sizeof *order);

    for (int turn = 0; turn < 2; turn++) { /* freed memory must be reusable */
        for (int i = 0; i < count; i++)
            pieces[i] = make(MPI_COMM_WORLD, ALLREDUCE, 20, 500 + (uint64_t)i);
        for (int round = 0; round < 3; round++) {
            shuffle(order, count);
            for (int i = 0; i < count; i++)
                MPI_Start(&pieces[order[i]]->request);
            wait_and_check(pieces, count);
        }
        shuffle(order, count);
        for (int i = 0; i < count; i++)
            end(pieces[order[i]]);
    }
    free(pieces);
    free(order);
    section("many");
}

/* ---- a freed communicator
 * ---------------------------------------------------------------------- */

static void freed(void)
{
    for (int turn = 0; turn < ROUNDS; turn++) {
        MPI_Comm comm;
        struct piece *p[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 2; i++)
            p[i] = make(comm, (turn + i) % CALLS, 50, 600 + (uint64_t)turn);
        piece_free_types(p[0]);
        MPI_Comm_free(&comm);
        for (int round = 0; round < 3; round++) {
            MPI_Start(&p[(world_rank + round) % 2]->request);
            MPI_Start(&p[1 - (world_rank + round) % 2]->request);
            wait_and_check(p, 2);
        }
        end(p[turn % 2]);
        end(p[1 - turn % 2]);
    }
    section("freed");
}

/* ---- threads --------------------------------------------------------------------------------- */

struct work {
    int index, wrong;
    MPI_Request request[IN_THREAD];
    int in[IN_THREAD], out[IN_THREAD];
};

static void *run(void *arg)
{
    struct work *w = arg;
    MPI_Status statuses[IN_THREAD];

    for (int round = 0; round < 5 * ROUNDS; round++) {
        int turn = world_rank + w->index + round;
        for (int i = 0; i < IN_THREAD; i++) {
            w->in[i] = world_rank + round + i;
            w->out[i] = -1;
        }
        for (int i = 0; i < IN_THREAD; i++)
            MPI_Start(&w->request[(turn + i) % IN_THREAD]);
        MPI_Waitall(IN_THREAD, w->request, statuses);
        for (int i = 0; i < IN_THREAD; i++)
            w->wrong += w->out[i] != world_size * (round + i) + world_size * (world_size - 1) / 2;
    }
    return NULL;
}

/* Starts requests on one communicator in several threads, in any order. */
static void in_threads(void)
{
    struct work work[THREADS] = { { .index = 0 } };
    pthread_t thread[THREADS];

    for (int t = 0; t < THREADS; t++) {
        work[t].index = t;
        for (int i = 0; i < IN_THREAD; i++) {
            struct arguments a = { .in = &work[t].in[i],
                                   .out = &work[t].out[i],
                                   .in_count = 1,
                                   .in_type = MPI_INT,
                                   .op = MPI_SUM,
                                   .comm = MPI_COMM_WORLD };
            collectives[ALLREDUCE].call(&a, PERSISTENT, &work[t].request[i]);
        }
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, run, &work[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        check(work[t].wrong == 0, "%d wrong sums in thread %d", work[t].wrong, t);
        for (int i = 0; i < IN_THREAD; i++)
            MPI_Request_free(&work[t].request[i]);
    }
    section("threads");
}

int main(int argc, char **argv)
{
    bool beyond = false;
    int count = 40;

    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--beyond") == 0)
            beyond = true;
        else if (strcmp(argv[i], "--many") == 0 && i + 1 < argc)
            count = atoi(argv[++i]);
        else
            check(false, "unknown option %s", argv[i]);
    if (!has_persistent()) {
        if (world_rank == 0)
            printf("SKIP this MPI has no persistent collectives\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Op_create(compose, 0, &composition);
    own = (uint64_t)world_rank * 77 + 5;
    pairs(1, 0);
    pairs(40, 300);
    section("pairs");
    restarted();
    mixed();
    many(count);
    in_threads();
    if (beyond) {
        freed();
        active();
    }
    MPI_Op_free(&composition);
    return finish("starts");
}
