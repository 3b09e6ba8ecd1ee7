/* SPDX-License-Identifier: BSD-3-Clause */
/* gang.c - see gang.h. */
#define _GNU_SOURCE
#include "gang.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CELL_BYTES = 1536, ROUNDS = 4, PLACES = GANG_TEAMS };

static struct board {
    atomic_int came, wrong;
    struct {
        atomic_int arrived;
        char cell[GANG_RANKS][CELL_BYTES];
    } round[GANG_TEAMS][ROUNDS];
    _Atomic uint64_t number[PLACES][GANG_RANKS];
} * board;

static const struct gang *gang;

static int rank_of(void *arg)
{
    return ((struct gang_team *)arg)->member->rank;
}

static int size_of(void *arg)
{
    return ((struct gang_team *)arg)->member->ranks;
}

static int start_allgather(void *arg, const void *mine, size_t bytes, void *all, void **out)
{
    struct gang_team *t = arg;
    struct gang_pending *p = &t->pending;

    if (bytes > CELL_BYTES || t->rounds == ROUNDS)
        abort();
    *p = (struct gang_pending){ .round = t->rounds++, .bytes = bytes, .all = all };
    memcpy(board->round[t->number][p->round].cell[t->member->rank], mine, bytes);
    atomic_fetch_add(&board->round[t->number][p->round].arrived, 1);
    *out = p;
    return 0;
}

static int test_allgather(void *arg, void **pending, int *done)
{
    struct gang_team *t = arg;
    struct gang_pending *p = *pending;
    int ranks = t->member->ranks;

    *done = atomic_load(&board->round[t->number][p->round].arrived) == ranks &&
            p->tests++ > t->number % 3;
    for (int r = 0; *done && r < ranks; r++)
        memcpy((char *)p->all + (size_t)r * p->bytes, board->round[t->number][p->round].cell[r],
               p->bytes);
    return 0;
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    void *pending;
    int done = 0;

    start_allgather(arg, mine, bytes, all, &pending);
    while (!done) {
        sched_yield();
        test_allgather(arg, &pending, &done);
    }
    return 0;
}

static void released(void *arg)
{
    ((struct gang_team *)arg)->released++;
}

void gang_must(struct gang_member *m, bool holds, const char *what, int line)
{
    if (holds)
        return;
    if (!m->failed)
        fprintf(stderr, "rank %d of %d, %s, line %d: %s does not hold\n", m->rank, m->ranks,
                gang->forks ? "processes" : "threads", line, what);
    m->failed = true;
    atomic_store(&board->wrong, 1);
}

void gang_meet(struct gang_member *m)
{
    int mine = atomic_fetch_add(&board->came, 1);

    while (atomic_load(&board->came) < (mine / m->ranks + 1) * m->ranks)
        sched_yield();
}

bool gang_agrees(struct gang_member *m, int place, uint64_t number)
{
    bool agrees = true;

    atomic_store(&board->number[place][m->rank], number);
    gang_meet(m);
    for (int r = 0; r < m->ranks; r++)
        agrees = agrees && atomic_load(&board->number[place][r]) == number;
    gang_meet(m);
    return agrees;
}

void gang_free_team(struct gang_team *t)
{
    hud_team_free(t->team);
    t->team = NULL;
}

static struct hud_exchange exchange_of(struct gang_team *team)
{
    bool waits = gang->waits;

    return (struct hud_exchange){ .rank = rank_of,
                                  .size = size_of,
                                  .allgather = allgather,
                                  .start_allgather = waits ? NULL : start_allgather,
                                  .test_allgather = waits ? NULL : test_allgather,
                                  .released = released,
                                  .messages = gang->messages,
                                  .arg = team };
}

void gang_make_for(struct gang_team *t, const struct hud_args *args)
{
    const struct hud_exchange exchange = exchange_of(t);

    gang_free_team(t);
    t->released = 0;
    MUST(t->member, hud_team_create_for(t->member->context, &exchange, args, &t->team) == HUD_OK);
}

static void *run_member(void *arg)
{
    struct gang_member *m = arg;
    const struct hud_host host = { .world_rank = m->rank,
                                   .world_size = m->ranks,
                                   .local_ranks = m->ranks,
                                   .threads = gang->threads,
                                   .fault_tolerant = gang->fault_tolerant,
                                   .settings = gang->settings[m->rank] };

    if (hud_context_create(&host, &m->context) != HUD_OK)
        abort();
    for (int t = 0; t < m->teams; t++) {
        struct gang_team *team = &m->team[t];
        *team = (struct gang_team){ .member = m, .number = t };
        const struct hud_exchange exchange = exchange_of(team);
        if (hud_team_create(m->context, &exchange, &team->team) != HUD_OK)
            abort();
    }
    gang->body(m);
    for (int t = 0; t < m->teams; t++)
        if (m->team[t].team)
            gang_free_team(&m->team[t]);
    hud_context_destroy(m->context);
    for (int t = 0; t < m->teams; t++)
        MUST(m, m->team[t].released == 1);
    return NULL;
}

static void run_threads(struct gang_member *member)
{
    pthread_t thread[GANG_RANKS];

    for (int r = 0; r < gang->ranks; r++)
        assert_int_equal(pthread_create(&thread[r], NULL, run_member, &member[r]), 0);
    for (int r = 0; r < gang->ranks; r++)
        pthread_join(thread[r], NULL);
}

static void run_processes(struct gang_member *member)
{
    int status, started = 0;

    for (; started < gang->ranks; started++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            run_member(&member[started]);
            _exit(0);
        }
    }
    for (; started > 0; started--) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

void gang_run(const struct gang *g)
{
    struct gang_member *member = calloc((size_t)g->ranks, sizeof *member);
    void *map =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_non_null(member);
    assert_ptr_not_equal(map, MAP_FAILED);
    board = map;
    gang = g;
    for (int r = 0; r < g->ranks; r++)
        member[r] = (struct gang_member){ .rank = r, .ranks = g->ranks, .teams = g->teams };
    if (g->forks)
        run_processes(member);
    else
        run_threads(member);
    bool wrong = atomic_load(&board->wrong) != 0;
    munmap(map, sizeof *board);
    free(member);
    assert_false(wrong);
}
