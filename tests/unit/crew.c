/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.c - see crew.h. */
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELL_BYTES = 2048 };

static struct {
    int ranks;
    const char *const *settings;
    void (*body)(struct rank *r);
    atomic_int arrived, left, wrong;
    char cell[CREW_MAX][CELL_BYTES];
} job;

static int my_rank(void *arg)
{
    return ((struct rank *)arg)->number;
}

static int team_size(void *arg)
{
    (void)arg;
    return job.ranks;
}

static void meet(atomic_int *counter)
{
    int mine = atomic_fetch_add(counter, 1);

    while (atomic_load(counter) < (mine / job.ranks + 1) * job.ranks)
        sched_yield();
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    memcpy(job.cell[my_rank(arg)], mine, bytes);
    meet(&job.arrived);
    for (int r = 0; r < job.ranks; r++)
        memcpy((char *)all + (size_t)r * bytes, job.cell[r], bytes);
    meet(&job.left);
    return 0;
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    const struct hud_host host = { .world_rank = r->number,
                                   .world_size = job.ranks,
                                   .local_ranks = job.ranks,
                                   .settings = job.settings };
    const struct hud_exchange exchange = {
        .rank = my_rank, .size = team_size, .allgather = allgather, .arg = r
    };

    if (hud_context_create(&host, &r->context) != HUD_OK ||
        hud_team_create(r->context, &exchange, &r->team) != HUD_OK)
        abort();
    job.body(r);
    hud_team_free(r->team);
    hud_context_destroy(r->context);
    return NULL;
}

int crew_run(int ranks, const char *const *settings, void (*body)(struct rank *r))
{
    static struct rank rank[CREW_MAX];
    pthread_t thread[CREW_MAX];
    int taken = 0;

    job.ranks = ranks;
    job.settings = settings;
    job.body = body;
    atomic_store(&job.arrived, 0);
    atomic_store(&job.left, 0);
    atomic_store(&job.wrong, 0);
    for (int r = 0; r < ranks; r++) {
        rank[r] = (struct rank){ .number = r, .ranks = ranks };
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &rank[r]), 0);
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(thread[r], NULL);
    for (int c = 0; c < rank[0].calls; c++) {
        taken += rank[0].status[c] == HUD_OK;
        for (int r = 1; r < ranks; r++)
            assert_int_equal(rank[r].status[c], rank[0].status[c]);
    }
    assert_int_equal(atomic_load(&job.wrong), 0);
    return taken;
}

bool crew_took(struct rank *r, int status)
{
    if (r->calls < CREW_CALLS)
        r->status[r->calls++] = status;
    if (status != HUD_OK && status != HUD_PASS)
        atomic_fetch_add(&job.wrong, 1);
    return status == HUD_OK;
}

void crew_must(const struct rank *r, bool fine, const char *what, size_t bytes)
{
    if (!fine && atomic_fetch_add(&job.wrong, 1) == 0)
        fprintf(stderr, "%s of %zu bytes, %d ranks, %s: wrong\n", what, bytes, r->ranks,
                job.settings[0] ? job.settings[0] : "no setting");
}
