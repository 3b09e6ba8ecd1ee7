/* SPDX-License-Identifier: BSD-3-Clause */
/* test_launched.c - what launchers tell a process about its job, and which ranks of other nodes the
 * user vouches for. */
#define _GNU_SOURCE
#include "base/launcher_env.h"
#include "captured.h"
#include "core/config/config.h"
#include "core/job/context.h"
#include "core/job/presence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 4 };

static const char *const names[] = {
    "PMI_RANK",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMI_ID",
    "PALS_RANKID",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "PMI_LOCAL_SIZE",
    "PALS_LOCAL_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "SLURM_NODEID",
    "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_STEP_NUM_TASKS",
};

/* Sets these variables only. */
static void set(const char *const pair[VARIABLES])
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    for (int i = 0; i < VARIABLES && pair[i]; i++)
        putenv((char *)(uintptr_t)pair[i]);
}

static void local_size_is_from_the_launchers_variables(void **state)
{
    static const struct {
        const char *variable[VARIABLES];
        int size, local;
    } cases[] = {
        { { NULL }, 4, 0 },
        { { "MPI_LOCALNRANKS=2" }, 4, 2 },
        { { "PMI_LOCAL_SIZE=3", "SLURM_NODEID=0" }, 4, 3 },
        { { "PALS_LOCAL_SIZE=1" }, 4, 1 },
        { { "MPI_LOCALNRANKS=2", "PMI_LOCAL_SIZE=3" }, 4, 2 },
        { { "MPI_LOCALNRANKS=x", "PMI_LOCAL_SIZE=-1" }, 4, 0 },
        { { "SLURM_NODEID=0", "SLURM_STEP_TASKS_PER_NODE=4(x2),3", "SLURM_STEP_NUM_TASKS=11" },
          11,
          4 },
        { { "SLURM_NODEID=1", "SLURM_STEP_TASKS_PER_NODE=4(x2),3", "SLURM_STEP_NUM_TASKS=11" },
          11,
          4 },
        { { "SLURM_NODEID=2", "SLURM_STEP_TASKS_PER_NODE=4(x2),3", "SLURM_STEP_NUM_TASKS=11" },
          11,
          3 },
        { { "SLURM_NODEID=3", "SLURM_STEP_TASKS_PER_NODE=4(x2),3", "SLURM_STEP_NUM_TASKS=11" },
          11,
          0 },
        { { "SLURM_NODEID=1", "SLURM_STEP_TASKS_PER_NODE=2,1", "SLURM_STEP_NUM_TASKS=3" }, 3, 1 },
        { { "SLURM_NODEID=0", "SLURM_STEP_TASKS_PER_NODE=", "SLURM_STEP_NUM_TASKS=3" }, 3, 0 },
        { { "SLURM_NODEID=1", "SLURM_STEP_TASKS_PER_NODE=2(x", "SLURM_STEP_NUM_TASKS=3" }, 3, 0 },
        { { "SLURM_NODEID=1", "SLURM_STEP_TASKS_PER_NODE=2;1", "SLURM_STEP_NUM_TASKS=3" }, 3, 0 },
        { { "SLURM_NODEID=0", "SLURM_STEP_NUM_TASKS=3" }, 3, 0 },
        /* a launcher of four ranks in a step of two tasks */
        { { "SLURM_NODEID=0", "SLURM_STEP_TASKS_PER_NODE=1(x2)", "SLURM_STEP_NUM_TASKS=2" }, 4, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(cases[i].variable);
        assert_int_equal(launched_local_size(cases[i].size), cases[i].local);
    }
}

static void rank_is_the_first_number_that_a_launcher_gives(void **state)
{
    static const struct {
        const char *variable[VARIABLES];
        int rank;
        bool is_rank;
    } cases[] = {
        { { NULL }, -1, false },
        { { "PMI_RANK=3", "SLURM_PROCID=1" }, 3, true },
        { { "PMI_RANK=x", "PMI_ID=2" }, 2, true },
        { { "PALS_RANKID=5" }, 5, true },
        { { "FLUX_TASK_RANK=0" }, 0, true },
        { { "SLURM_PROCID=0" }, 0, false },
        { { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1" }, 0, false },
        { { "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2" }, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(cases[i].variable);
        assert_int_equal(launched_rank(), cases[i].rank);
        assert_int_equal(launched_as_rank(), cases[i].is_rank);
    }
}

/* Returns whether the user vouches for ranks of other nodes by a setting, in a job of two ranks
 * of which `local` are here.  Rank 0, this process, is announced. */
static bool vouched(const char *setting, int local)
{
    const char *const settings[] = { setting, NULL };
    const struct hud_host host = {
        .name = "a test", .world_size = 2, .local_ranks = local, .settings = settings
    };
    hud_context *context;

    assert_int_equal(hud_context_create(&host, &context), HUD_OK);
    bool is = context->id.vouched;
    hud_context_destroy(context);
    return is;
}

static void only_on_vouches_for_ranks_of_other_nodes(void **state)
{
    (void)state;
    set((const char *const[VARIABLES]){ "PMI_RANK=0" });
    setenv("HUDDLE_JOB", "a secret of this test", 1);
    hud_presence_announce(0);
    assert_true(vouched("HUDDLE_NODES=on", 1));
    assert_false(vouched("HUDDLE_NODES=on", 2)); /* the other rank is here, without huddle */
    assert_false(vouched("HUDDLE_NODES=on", 0));
    assert_false(vouched("HUDDLE_NODES=auto", 1));
    assert_false(vouched("HUDDLE_NODES=off", 1));
}

static int everywhere(void *arg, int rank)
{
    (void)arg;
    (void)rank;
    return 1;
}

/* Returns what a rank prints after a call for which a rank is absent.  `local` of two ranks are
 * here. */
static const char *printed(const char *setting, int local, int (*present_far)(void *, int))
{
    const char *const settings[] = { setting, "HUDDLE_STATS=1", NULL };
    const struct hud_host host = { .name = "a test",
                                   .world_size = 2,
                                   .local_ranks = local,
                                   .present_far = present_far,
                                   .settings = settings };
    hud_context *context;

    captured_begin();
    assert_int_equal(hud_context_create(&host, &context), HUD_OK);
    context_count_call(context, COLL_BCAST, 8, REASON_ABSENT);
    hud_context_destroy(context);
    return captured_end();
}

static void statistics_report_calls_that_fell_back_because_of_nodes(void **state)
{
    static const char line[] = "nodes          1 call of communicators with ranks on other nodes";

    (void)state;
    const char *text = printed("HUDDLE_NODES=off", 1, NULL);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, ": HUDDLE_NODES is off\n"));
    text = printed("HUDDLE_NODES=auto", 1, NULL);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, ": some of these ranks do not use huddle, or the launcher does"));
    text = printed("HUDDLE_NODES=auto", 1, everywhere);
    assert_non_null(strstr(text, ": some of these ranks do not use huddle"));
    assert_null(strstr(printed("HUDDLE_NODES=off", 2, NULL), line));
    assert_null(strstr(printed("HUDDLE_NODES=off", 0, NULL), line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_size_is_from_the_launchers_variables),
        cmocka_unit_test(rank_is_the_first_number_that_a_launcher_gives),
        cmocka_unit_test(only_on_vouches_for_ranks_of_other_nodes),
        cmocka_unit_test(statistics_report_calls_that_fell_back_because_of_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
