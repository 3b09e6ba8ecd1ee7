/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.c - huddle without MPI: RANKS forked processes, or threads, that set up a team by a shared
 * page and run collectives on it.
 *
 *     team [--threads] [RANKS] [OPERATIONS]
 *
 * A team only needs an allgather, called twice, from the program that started its ranks; here the
 * allgather is a table and a counter in a page that was mapped before the fork.  Exits 0 if huddle
 * handled every call and every rank received every message: a program without MPI has no other
 * collectives to fall back to.
 *
 * This file needs only the installed header, so that it can be copied into another project.
 */
#include <huddle/huddle.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MAX = 512, CELL_BYTES = 2048 };

static struct page {
    atomic_int arrived, left; /* number of ranks that have arrived in, or left, the running
                                 allgather */
    atomic_int wrong;
    char cell[RANKS_MAX][CELL_BYTES];
} * page;
static int ranks = 4, operations = 1000;

/* Returns the calling rank's number, which is in the exchange's arg. */
static int my_rank(void *arg)
{
    return *(int *)arg;
}

static int team_size(void *arg)
{
    (void)arg;
    return ranks;
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    if (bytes > CELL_BYTES)
        return -1;
    memcpy(page->cell[my_rank(arg)], mine, bytes);
    atomic_fetch_add(&page->arrived, 1);
    while (atomic_load(&page->arrived) % ranks != 0)
        sched_yield();
    for (int r = 0; r < ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, page->cell[r], bytes);
    atomic_fetch_add(&page->left, 1); /* no rank writes a cell before all ranks have read all
                                         cells */
    while (atomic_load(&page->left) % ranks != 0)
        sched_yield();
    return 0;
}

/* Returns the expected status.  A team of one rank falls back to the caller. */
static int expected(void)
{
    return ranks > 1 ? HUD_OK : HUD_PASS;
}

/* Broadcasts message i, with a changing root and size.  Returns whether this rank got the root's
 * bytes. */
static bool broadcast(hud_team *team, int rank, int i)
{
    static const size_t sizes[] = { 1, 8, 112, 113, 4096, 70000, 1 << 20 };
    size_t bytes = sizes[(size_t)i % (sizeof sizes / sizeof sizes[0])];
    unsigned char *buffer = malloc(bytes);
    struct hud_view view = { .base = buffer, .bytes = bytes };
    int root = i % ranks;

    if (!buffer)
        return false;
    memset(buffer, rank == root ? i & 255 : 255 - (i & 255), bytes);
    int rc = hud_bcast(team, &view, root);
    bool fine = rc == expected() && buffer[0] == (i & 255) && buffer[bytes / 2] == (i & 255) &&
                buffer[bytes - 1] == (i & 255);
    free(buffer);
    return fine;
}

static void *run_rank(void *arg)
{
    int rank = *(int *)arg;
    struct hud_host host = { .world_rank = rank, .world_size = ranks, .local_ranks = ranks };
    struct hud_exchange exchange = {
        .rank = my_rank, .size = team_size, .allgather = allgather, .arg = arg
    };
    hud_context *context;
    hud_team *team;

    if (hud_context_create(&host, &context) != HUD_OK ||
        hud_team_create(context, &exchange, &team) != HUD_OK) {
        atomic_fetch_add(&page->wrong, 1);
        return NULL;
    }
    for (int i = 0; i < operations; i++) {
        if (hud_barrier(team) != expected() || !broadcast(team, rank, i))
            atomic_fetch_add(&page->wrong, 1);
    }
    hud_team_free(team);
    hud_context_destroy(context);
    return NULL;
}

static void run_processes(int *numbers)
{
    for (int r = 0; r < ranks; r++)
        if (fork() == 0) {
            run_rank(&numbers[r]);
            _exit(0);
        }
    for (int status; wait(&status) > 0;)
        if (status != 0)
            atomic_fetch_add(&page->wrong, 1);
}

static void run_threads(int *numbers)
{
    pthread_t thread[RANKS_MAX];

    for (int r = 0; r < ranks; r++)
        if (pthread_create(&thread[r], NULL, run_rank, &numbers[r]) != 0)
            abort();
    for (int r = 0; r < ranks; r++)
        pthread_join(thread[r], NULL);
}

int main(int argc, char **argv)
{
    int numbers[RANKS_MAX];
    bool threads = argc > 1 && strcmp(argv[1], "--threads") == 0;

    argc -= threads;
    argv += threads;
    if (argc > 1)
        ranks = atoi(argv[1]);
    if (argc > 2)
        operations = atoi(argv[2]);
    if (ranks < 1 || ranks > RANKS_MAX) {
        fprintf(stderr, "usage: team [--threads] [RANKS] [OPERATIONS]   with 1 to %d ranks\n",
                RANKS_MAX);
        return 2;
    }
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    for (int r = 0; r < ranks; r++)
        numbers[r] = r;
    if (threads)
        run_threads(numbers);
    else
        run_processes(numbers);
    printf("%d ranks, %d barriers and broadcasts, %d wrong\n", ranks, operations,
           atomic_load(&page->wrong));
    return atomic_load(&page->wrong) != 0;
}
