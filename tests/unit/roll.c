/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.c - see roll.h. */
#include "roll.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct roll roll;

enum { CELL_BYTES = 4096 };

/* Where ranks exchange what a set-up needs, until there is a team. */
static struct page {
    atomic_int arrived, left;
    char cell[RANKS][CELL_BYTES];
} * page;

static int my_rank(void *arg)
{
    return ((struct rank *)arg)->number;
}

static int team_size(void *arg)
{
    (void)arg;
    return RANKS;
}

static void meet(atomic_int *counter)
{
    atomic_fetch_add(counter, 1);
    while (atomic_load(counter) % RANKS != 0)
        sched_yield();
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    memcpy(page->cell[my_rank(arg)], mine, bytes);
    meet(&page->arrived);
    for (int r = 0; r < RANKS; r++)
        memcpy((char *)all + (size_t)r * bytes, page->cell[r], bytes);
    meet(&page->left);
    return 0;
}

static void name(void *arg, char *to, size_t bytes)
{
    (void)arg;
    snprintf(to, bytes, "everybody");
}

static int in_job(void *arg, int rank)
{
    (void)arg;
    return rank;
}

void *roll_run(void *arg)
{
    struct rank *r = arg;
    const char *const settings[] = { "HUDDLE_CHECK=1", "HUDDLE_CHECK_TIMEOUT=1",
                                     r->number == 1 ? roll.of_rank_1 : NULL, NULL };
    const struct hud_host host = { .name = "MPI",
                                   .world_rank = r->number,
                                   .world_size = RANKS,
                                   .local_ranks = RANKS,
                                   .settings = settings };
    const struct hud_exchange exchange = { .rank = my_rank,
                                           .size = team_size,
                                           .allgather = allgather,
                                           .world_rank = roll.in_a_job ? in_job : NULL,
                                           .arg = r,
                                           .name = name };

    if (hud_context_create(&host, &r->context) != HUD_OK ||
        hud_team_create(r->context, &exchange, &r->team) != HUD_OK)
        abort();
    r->body(r);
    hud_team_free(r->team);
    hud_context_destroy(r->context);
    return NULL;
}

const char *roll_said(void (*body)(struct rank *r))
{
    static char text[4096];
    char path[] = "check-XXXXXX";
    struct rank rank[RANKS];
    pthread_t thread[RANKS];
    int file = mkstemp(path), before = dup(STDERR_FILENO);

    unlink(path);
    dup2(file, STDERR_FILENO);
    for (int r = 0; r < RANKS; r++) {
        rank[r] = (struct rank){ .number = r, .body = body };
        assert_int_equal(pthread_create(&thread[r], NULL, roll_run, &rank[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t bytes = pread(file, text, sizeof text - 1, 0);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}

void roll_enter(struct rank *r, const char *what, int root, size_t bytes, const char *detail)
{
    const struct hud_announced call = {
        .name = what, .root = root, .bytes = bytes, .detail = detail
    };

    if (hud_team_enter(r->team, &call) != HUD_OK)
        abort();
}

void roll_meet(struct rank *r)
{
    int all[RANKS];

    allgather(r, &r->number, sizeof r->number, all);
    for (int i = 0; i < RANKS; i++)
        if (all[i] != i)
            abort();
}

int roll_open(void)
{
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? -1 : 0;
}
