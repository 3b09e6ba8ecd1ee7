/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - see ranks.h. */
#define _GNU_SOURCE
#include "ranks.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { CELL_BYTES = 4096, ROUNDS = 4, LIMIT_S = 100 };

/* The data of allgathers, and the numbers of ranks_agree(). */
static struct board {
    struct {
        atomic_int arrived;
        char cell[RANKS_MAX][CELL_BYTES];
    } round[RANKS_TEAMS][ROUNDS];
    _Atomic uint64_t number[RANKS_TEAMS][RANKS_MAX];
} * board;

static const struct ranks *running;
static struct rank ranks[RANKS_MAX];

/* ---- the exchange ---- */

static int rank_of(void *arg)
{
    return ((struct rank_team *)arg)->of->rank;
}

static int size_of(void *arg)
{
    return ((struct rank_team *)arg)->of->ranks;
}

static int start_allgather(void *arg, const void *mine, size_t bytes, void *all, void **out)
{
    struct rank_team *t = arg;
    struct rank_pending *p = &t->pending;

    if (bytes > CELL_BYTES || t->rounds == ROUNDS)
        abort();
    *p = (struct rank_pending){ .round = t->rounds++, .bytes = bytes, .all = all };
    memcpy(board->round[t->number][p->round].cell[t->of->rank], mine, bytes);
    atomic_fetch_add(&board->round[t->number][p->round].arrived, 1);
    *out = p;
    return 0;
}

static int test_allgather(void *arg, void **pending, int *done)
{
    struct rank_team *t = arg;
    struct rank_pending *p = *pending;
    int count = t->of->ranks;

    *done = atomic_load(&board->round[t->number][p->round].arrived) == count &&
            p->tests++ > t->number % 3;
    for (int r = 0; *done && r < count; r++)
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
    ((struct rank_team *)arg)->released++;
}

static void name(void *arg, char *to, size_t bytes)
{
    (void)arg;
    snprintf(to, bytes, "%s", running->name);
}

static int in_job(void *arg, int rank)
{
    (void)arg;
    return rank;
}

static struct hud_exchange exchange_of(struct rank_team *team)
{
    return (struct hud_exchange){ .rank = rank_of,
                                  .size = size_of,
                                  .allgather = allgather,
                                  .start_allgather = running->blocking ? NULL : start_allgather,
                                  .test_allgather = running->blocking ? NULL : test_allgather,
                                  .released = released,
                                  .world_rank = running->in_a_job ? in_job : NULL,
                                  .name = running->name ? name : NULL,
                                  .messages = running->messages,
                                  .arg = team };
}

/* ---- for bodies ---- */

void rank_check(const struct rank *r, bool fine, const char *what, size_t bytes)
{
    const char *const *settings = running->settings;

    if (!fine)
        fork_team_fail(r->self, "%s (%zu bytes, %s): check failed", what, bytes,
                       settings && settings[0] ? settings[0] : "no setting");
}

bool rank_handled(struct rank *r, int status)
{
    if (r->calls < RANKS_CALLS)
        r->status[r->calls++] = status;
    MUST(r, status == HUD_OK || status == HUD_PASS);
    return status == HUD_OK;
}

void ranks_meet(const struct rank *r)
{
    fork_team_meet(r->self);
}

bool ranks_agree(const struct rank *r, int place, uint64_t number)
{
    bool agree = true;

    atomic_store(&board->number[place][r->rank], number);
    ranks_meet(r);
    for (int i = 0; i < r->ranks; i++)
        agree = agree && atomic_load(&board->number[place][i]) == number;
    ranks_meet(r);
    return agree;
}

void ranks_free_team(struct rank_team *t)
{
    hud_team_free(t->team);
    t->team = NULL;
}

void ranks_make_for(struct rank_team *t, const struct hud_args *args)
{
    const struct hud_exchange exchange = exchange_of(t);

    ranks_free_team(t);
    t->released = 0;
    MUST(t->of, hud_team_create_for(t->of->context, &exchange, args, &t->team) == HUD_OK);
}

/* ---- runs ---- */

static void create_teams(struct rank *r)
{
    const char *const *own = running->of_rank[r->rank];
    struct hud_host host = fork_team_host(r->self);

    host.name = running->name ? "MPI" : NULL;
    host.threads = running->multithreaded;
    host.fault_tolerant = running->fault_tolerant;
    host.ends_own_calls = running->ends_own_calls;
    host.settings = own ? own : running->settings;
    if (hud_context_create(&host, &r->context) != HUD_OK)
        abort();
    for (int t = 0; t < r->team_count; t++) {
        struct rank_team *team = &r->teams[t];
        *team = (struct rank_team){ .of = r, .number = t };
        const struct hud_exchange exchange = exchange_of(team);
        if (hud_team_create(r->context, &exchange, &team->team) != HUD_OK)
            abort();
    }
    r->team = r->teams[0].team;
}

static int run_rank(struct fork_rank *self, void *arg)
{
    struct rank *r = &ranks[self->rank];

    (void)arg;
    *r = (struct rank){ .self = self,
                        .rank = self->rank,
                        .ranks = self->ranks,
                        .team_count = running->teams > 0 ? running->teams : 1 };
    create_teams(r);
    running->body(r);
    for (int t = 0; t < r->team_count; t++)
        if (r->teams[t].team)
            ranks_free_team(&r->teams[t]);
    hud_context_destroy(r->context);
    for (int t = 0; t < r->team_count; t++)
        MUST(r, r->teams[t].released == 1);
    return 0;
}

struct fork_team ranks_to_start(const struct ranks *all)
{
    if (board)
        munmap(board, sizeof *board);
    board = fork_team_shared(sizeof *board);
    assert_non_null(board);
    running = all;
    return (struct fork_team){
        .ranks = all->ranks, .threads = !all->processes, .limit_s = LIMIT_S, .body = run_rank
    };
}

void ranks_run(const struct ranks *all)
{
    struct fork_team team = ranks_to_start(all);

    assert_int_equal(fork_team_run(&team), 0);
}

int ranks_run_threads(int count, const char *const *settings, void (*body)(struct rank *r))
{
    int handled = 0;

    ranks_run(
        &(struct ranks){ .ranks = count, .blocking = true, .settings = settings, .body = body });
    for (int c = 0; c < ranks[0].calls; c++) {
        handled += ranks[0].status[c] == HUD_OK;
        for (int r = 1; r < count; r++)
            assert_int_equal(ranks[r].status[c], ranks[0].status[c]);
    }
    return handled;
}
