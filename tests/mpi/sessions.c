/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sessions.c - communicators from sessions (MPI 4). Sessions are opened and closed several times,
 * with MPI_Init around them, within them, or not at all, and in two threads.
 *
 *   sessions alone|reopened|within|around|threads
 *
 * The functions are looked up at run time, so the program can be built with the headers of an older
 * MPI. Exit status 77 means that this MPI has no sessions.
 */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

enum { CYCLES = 5, BYTES = 5000 };

#ifdef OPEN_MPI
typedef void *session_handle;
#else
typedef int session_handle;
#endif

static struct {
    int (*init)(MPI_Info info, MPI_Errhandler handler, session_handle *session);
    int (*finalize)(session_handle *session);
    int (*group)(session_handle session, const char *set, MPI_Group *group);
    int (*create)(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler,
                  MPI_Comm *comm);
} mpi4;

static bool find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void use(MPI_Comm comm, const char *what)
{
    unsigned char got[BYTES], want[BYTES];
    long sum, mine;
    int me, size;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 3 * size; i++) {
        pattern(want, sizeof want, (uint64_t)i);
        memset(got, 0, sizeof got);
        if (me == i % size)
            memcpy(got, want, sizeof got);
        MPI_Bcast(got, sizeof got, MPI_BYTE, i % size, comm);
        check(memcmp(got, want, sizeof got) == 0, "%s: broadcast %d is wrong", what, i);
        mine = me + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
        check(sum == (long)size * (size - 1) / 2 + (long)i * size, "%s: sum %d is wrong: %ld", what,
              i, sum);
        MPI_Barrier(comm);
    }
}

static session_handle open_session(MPI_Comm *comm, const char *tag, bool threads)
{
    session_handle session;
    MPI_Group group;
    MPI_Info info = MPI_INFO_NULL;

    if (threads) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    }
    if (mpi4.init(info, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS ||
        mpi4.group(session, "mpi://WORLD", &group) != MPI_SUCCESS ||
        mpi4.create(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm) != MPI_SUCCESS)
        exit(3);
    if (threads)
        MPI_Info_free(&info);
    MPI_Group_free(&group);
    return session;
}

/* Opens and closes a session, and uses its communicator, a duplicate and halves. */
static void one_session(const char *tag, bool threads)
{
    MPI_Comm comm, more;
    session_handle session = open_session(&comm, tag, threads);
    int me;

    MPI_Comm_rank(comm, &me);
    use(comm, tag);
    MPI_Comm_dup(comm, &more);
    use(more, "duplicate");
    MPI_Comm_free(&more);
    MPI_Comm_split(comm, me % 2, 0, &more);
    use(more, "half");
    MPI_Comm_free(&more);
    use(comm, "again");
    MPI_Comm_free(&comm);
    mpi4.finalize(&session);
}

static void sessions(void)
{
    for (int i = 0; i < CYCLES; i++) {
        char tag[32];
        snprintf(tag, sizeof tag, "session %d", i);
        one_session(tag, false);
    }
}

/* Closes the last session each time, which finalizes the whole MPI. */
static void reopened(void)
{
    sessions();
}

/* Keeps a session open meanwhile. */
static void alone(void)
{
    MPI_Comm comm;
    session_handle session = open_session(&comm, "alone", false);

    use(comm, "alone");
    sessions();
    use(comm, "alone again");
    MPI_Comm_free(&comm);
    mpi4.finalize(&session);
}

static void within(void)
{
    begin(NULL, NULL, MPI_THREAD_SINGLE);
    use(MPI_COMM_WORLD, "world");
    sessions();
    use(MPI_COMM_WORLD, "world again");
    MPI_Finalize();
}

/* Opens a session before MPI_Init and closes it after MPI_Finalize. */
static void around(void)
{
    MPI_Comm comm;
    session_handle session = open_session(&comm, "around", false);

    use(comm, "before MPI_Init");
    begin(NULL, NULL, MPI_THREAD_SINGLE);
    use(comm, "after MPI_Init");
    use(MPI_COMM_WORLD, "world");
    sessions();
    MPI_Finalize();
    use(comm, "after MPI_Finalize");
    MPI_Comm_free(&comm);
    mpi4.finalize(&session);
}

static void *in_thread(void *tag)
{
    for (int i = 0; i < CYCLES; i++)
        one_session(tag, true);
    return NULL;
}

static void threads(void)
{
    MPI_Comm comm;
    session_handle session = open_session(&comm, "threads", true);
    pthread_t other;

    pthread_create(&other, NULL, in_thread, (void *)(uintptr_t) "thread 1");
    in_thread((void *)(uintptr_t) "thread 0");
    pthread_join(other, NULL);
    use(comm, "threads");
    MPI_Comm_free(&comm);
    mpi4.finalize(&session);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = { { "alone", alone },
                 { "reopened", reopened },
                 { "within", within },
                 { "around", around },
                 { "threads", threads } };

int main(int argc, char **argv)
{
    if (!find("MPI_Session_init", &mpi4.init) || !find("MPI_Session_finalize", &mpi4.finalize) ||
        !find("MPI_Group_from_session_pset", &mpi4.group) ||
        !find("MPI_Comm_create_from_group", &mpi4.create)) {
        printf("SKIP this MPI has no sessions\n");
        return 77;
    }
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    printf("sessions: %s\n", failures ? "FAILED" : "passed");
    return failures ? 1 : 0;
}
