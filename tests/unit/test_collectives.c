/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_collectives.c - the collectives without an MPI. Ranks are threads that call huddle.h over
 * real shared memory, so ThreadSanitizer checks every algorithm. Each algorithm is forced in turn.
 * Then the plan chooses, also in fixed order and with little memory.
 *
 * All ranks must fall back alike if an algorithm does not accept a call. A handled call must give
 * the right result and change nothing else.
 */
#include "alg/alg.h"
#include "calls.h"
#include "core/arena/direct.h"
#include "core/team/team.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"
#include "tools/query/answers.h"

#include <ctype.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE_WORDS = HUD_ELEMENT_MAX / 4 + 1 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct hud_op operations[] = {
    { .element_bytes = 4,
      .commutative = 1,
      .combine = add_words,
      .name = "sum" }, /* replaced by huddle's own operation */
    { .element_bytes = 12, .combine = compose_words, .name = "compose" },
    { .element_bytes = 100, .commutative = 1, .combine = add_words, .name = "add" },
};

static const size_t sizes[] = { 2, 100, 1300, 17000, 140000, 600000 };

/* Makes a call of at least this many bytes, rounded up to whole elements. */
static void call_one(struct rank *r, int kind, size_t bytes, size_t o, bool in_place)
{
    const struct hud_op *op = &operations[o];

    call_make(r, kind, op, (bytes + op->element_bytes - 1) / op->element_bytes * op->element_bytes,
              in_place);
}

/* Reports whether to test an operation with this size. Without a reduction an operation only
 * determines a size, so one per size is enough. */
static bool has_operation(int kind, size_t s, size_t o)
{
    return coll_has(kind, COLL_REDUCES) || o == s % COUNT(operations);
}

static int forced_kind;

static void forced(struct rank *r)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t o = 0; o < COUNT(operations); o++)
            for (int place = 0;
                 has_operation(forced_kind, s, o) && place < (sizes[s] < 20000 ? 2 : 1); place++)
                call_one(r, forced_kind, sizes[s], o, (s + o + (size_t)place) % 2 != 0);
}

/* Formats the setting that forces an algorithm. */
static void force(const struct alg *alg, char *setting, size_t bytes)
{
    int used = snprintf(setting, bytes, "HUDDLE_%s=%s", alg->coll, alg->name);

    for (char *c = setting; c < setting + used && *c != '='; c++)
        *c = (char)toupper((unsigned char)*c);
    forced_kind = hud_coll_kind(alg->coll);
}

/* Forces all algorithms in turn. `more` is a setting or NULL. With only_direct, tests the
 * algorithms with single copy, without the kernel's copies. */
static void in_turn(const char *more, bool only_direct)
{
    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg *alg = hud_shm_algs[a];
        char setting[64];
        const char *const settings[] = { setting, "HUDDLE_TUNING=off", more,
                                         only_direct ? "HUDDLE_CMA=off" : NULL, NULL };
        if (only_direct && !alg->family->direct)
            continue;
        force(alg, setting, sizeof setting);
        for (int ranks = 2; ranks <= RANKS_MAX; ranks += 3)
            if (ranks_run_threads(ranks, settings, forced) == 0 &&
                (only_direct || !alg->family->direct))
                fail_msg("%s, %d ranks: no call was handled", setting, ranks);
    }
}

static void every_forced_algorithm_is_right(void **state)
{
    (void)state;
    in_turn(NULL, false);
}

static void single_copy_is_right_with_mappings(void **state)
{
    (void)state;
    in_turn("HUDDLE_XPMEM=keep", true);
    in_turn("HUDDLE_XPMEM=copy", true);
}

/* Gives odd ranks pids of another process after the set-up, as after a restart from a
 * checkpoint. */
static void forced_by_old_pids(struct rank *r)
{
    call_one(r, forced_kind, 100, 0, false);
    for (int i = 0; i < r->ranks && r->rank % 2 != 0; i++) {
        r->team->peers.direct[i].pid = (int)getppid();
        r->team->peers.direct[i].proven_ns = 0;
    }
    forced(r);
}

static void single_copy_is_right_with_outdated_pids(void **state)
{
    char setting[64];
    const char *const settings[] = { setting, "HUDDLE_TUNING=off", NULL };

    (void)state;
    if (!hud_direct_likely())
        skip();
    for (int a = 0; hud_shm_algs[a]; a++) {
        if (!hud_shm_algs[a]->family->direct)
            continue;
        force(hud_shm_algs[a], setting, sizeof setting);
        for (int ranks = 2; ranks <= RANKS_MAX; ranks += 3)
            assert_true(ranks_run_threads(ranks, settings, forced_by_old_pids) > 0);
    }
}

/* Makes calls of all collectives on one team. */
static void mixed(struct rank *r)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int kind = 0; kind < COLL_KINDS; kind++)
            for (size_t o = 0; o < COUNT(operations); o++)
                if (has_operation(kind, s, o))
                    call_one(r, kind, sizes[s], o, (s + o) % 2 != 0);
}

static void every_collective_is_handled(void **state)
{
    static const char *const plain[] = { "HUDDLE_TUNING=off", NULL }, *const order[] = {
        "HUDDLE_REDUCE_ORDER=fixed", NULL
    };
    /* ranks of a process share its memory in any case; the fake libxpmem attaches memory at its own
     * address */
    const char *const without[] = { "HUDDLE_CMA=off", NULL },
                      *const mapped[] = { "HUDDLE_CMA=off", "HUDDLE_XPMEM=keep", NULL },
                      *const * all[] = { plain, order, without, mapped };
    int every = 0;

    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        every += (int)(COUNT(sizes) * (coll_has(kind, COLL_REDUCES) ? COUNT(operations) : 1));
    for (size_t i = 0; i < COUNT(all); i++)
        for (int ranks = 2; ranks <= RANKS_MAX; ranks += i == 0 ? 1 : 3)
            assert_int_equal(ranks_run_threads(ranks, all[i], mixed), every);
}

/* Verifies that with little memory handled calls give right results, and all ranks fall back alike
 * in other calls. */
static void results_are_right_with_little_memory(void **state)
{
    static const char *const little[] = { "HUDDLE_LEASE=4K",   "HUDDLE_LEASE=16K",
                                          "HUDDLE_LEASE=50K",  "HUDDLE_LEASE=200K",
                                          "HUDDLE_MEMORY=8K",  "HUDDLE_MEMORY=48K",
                                          "HUDDLE_MEMORY=300K" };

    (void)state;
    for (size_t i = 0; i < COUNT(little); i++)
        for (int ranks = 2; ranks <= RANKS_MAX; ranks += 3)
            ranks_run_threads(ranks, (const char *const[]){ little[i], "HUDDLE_LOG=quiet", NULL },
                              mixed);
}

static uint32_t words[4];
static const struct hud_view in = { .base = words, .bytes = 8 },
                             out = { .base = words + 2, .bytes = 8 },
                             odd = { .base = words, .bytes = 6 },
                             small = { .base = words + 2, .bytes = 4 }, none;

static void empty_and_large(struct rank *r)
{
    struct hud_op large = {
        .element_bytes = 4 * LARGE_WORDS, .commutative = 1, .combine = add_words, .name = "large"
    };
    size_t blocks[RANKS_MAX] = { 0 };

    rank_check(r,
               hud_bcast(r->team, &none, 0) == HUD_OK &&
                   hud_allreduce(r->team, &none, &none, &large) == HUD_OK &&
                   hud_reduce(r->team, &none, &none, &large, 0) == HUD_OK &&
                   hud_reduce_scatter(r->team, &none, &none, blocks, &large) == HUD_OK &&
                   hud_alltoall(r->team, &none, &none) == HUD_OK,
               "a call of no bytes", 0);
    for (int kind = COLL_REDUCE; kind <= COLL_REDUCE_SCATTER; kind++) {
        call_make(r, kind, &large, 3 * large.element_bytes, false);
        rank_check(r, r->status[r->calls - 1] == HUD_PASS, "a reduction with elements",
                   large.element_bytes);
        call_one(r, kind, 100, 0, false);
    }
}

static void empty_calls_are_handled_and_large_elements_fall_back(void **state)
{
    (void)state;
    assert_int_equal(ranks_run_threads(3, (const char *const[]){ NULL }, empty_and_large), 3);
}

/* Sends more bytes from rank 0 than each rank expects. Each rank must get the bytes that fit, get
 * an error unless its block is empty, and continue. */
static void truncate_to(struct rank *r, size_t divisor)
{
    struct hud_view from[RANKS_MAX], to[RANKS_MAX];

    for (size_t s = 0; s < COUNT(sizes); s++) {
        size_t bytes = sizes[s], fits = divisor != 0 ? (bytes + 1) / divisor : 0;
        bool fine = true;
        for (int i = 0; i < r->ranks; i++) {
            from[i] = view_of(guarded_buffer(bytes), bytes);
            to[i] = view_of(guarded_buffer(bytes), i == 0 && r->rank != 0 ? fits : bytes);
            for (size_t b = 0; b < bytes; b++)
                ((unsigned char *)from[i].base)[b] = call_byte(r->rank, i, (int)s, b);
        }
        int status = hud_alltoallv(r->team, from, to);
        bool good = r->rank == 0 ? status == HUD_OK
                                 : status == HUD_ERR_TRUNCATE || (fits == 0 && status == HUD_OK);
        rank_check(r, good, "the status of a truncated alltoallv", bytes);
        for (int i = 0; i < r->ranks; i++) {
            const unsigned char *got = to[i].base;
            for (size_t b = 0; b < bytes; b++)
                fine =
                    fine && got[b] == (b < to[i].bytes ? call_byte(i, r->rank, (int)s, b) : 0xA5);
            fine = guarded_free(from[i].base, bytes) & guarded_free(to[i].base, bytes) & fine;
        }
        rank_check(r, fine, "a truncated alltoallv", bytes);
        call_make(r, COLL_ALLTOALLV, NULL, bytes, false);
    }
}

static void send_too_much(struct rank *r)
{
    truncate_to(r, 3);
    truncate_to(r, 0);
}

static void too_long_blocks_are_truncated(void **state)
{
    static const char *const settings[] = { "HUDDLE_ALLTOALLV=auto", "HUDDLE_ALLTOALLV=windows",
                                            "HUDDLE_ALLTOALLV=cma_read" };
    bool direct = hud_direct_likely(); /* the last setting requires it */

    (void)state;
    for (size_t i = 0; i < (direct ? COUNT(settings) : COUNT(settings) - 1); i++)
        for (int ranks = 2; ranks <= RANKS_MAX; ranks += 3)
            assert_int_equal(
                ranks_run_threads(ranks, (const char *const[]){ settings[i], NULL }, send_too_much),
                2 * COUNT(sizes));
}

/* ---- invalid arguments
 * ------------------------------------------------------------------------- */

static void refused(const struct rank *r, const int *status, size_t calls, const char *what)
{
    for (size_t i = 0; i < calls; i++)
        rank_check(r, status[i] == HUD_ERR_ARGUMENT, what, i);
}

static void misuse_reductions(struct rank *r, hud_team *t, const struct hud_op *op)
{
    const struct hud_op no_size = { .combine = add_words }, no_way = { .element_bytes = 4 };
    const size_t eight = 8, four = 4, six = 6;
    const int reduces[] = {
        hud_reduce(NULL, &in, &out, op, 0), hud_reduce(t, NULL, &out, op, 0),
        hud_reduce(t, &in, NULL, op, 0),    hud_reduce(t, &in, &small, op, 0),
        hud_reduce(t, &in, &out, NULL, 0),  hud_reduce(t, &in, &out, op, 1),
        hud_reduce(t, &in, &out, op, -1),   hud_reduce(t, &odd, &odd, op, 0),
    };
    const int allreduces[] = {
        hud_allreduce(NULL, &in, &out, op),    hud_allreduce(t, NULL, &out, op),
        hud_allreduce(t, &in, NULL, op),       hud_allreduce(t, &in, &out, NULL),
        hud_allreduce(t, &in, &small, op),     hud_allreduce(t, &odd, &odd, op),
        hud_allreduce(t, &in, &out, &no_size), hud_allreduce(t, &in, &out, &no_way),
    };
    const int scatters[] = {
        hud_reduce_scatter(NULL, &in, &out, &eight, op),
        hud_reduce_scatter(t, NULL, &out, &eight, op),
        hud_reduce_scatter(t, &in, NULL, &eight, op),
        hud_reduce_scatter(t, &in, &out, NULL, op),
        hud_reduce_scatter(t, &in, &out, &eight, NULL),
        hud_reduce_scatter(t, &in, &small, &eight, op),
        hud_reduce_scatter(t, &in, &small, &four, op),
        hud_reduce_scatter(t, &odd, &odd, &six, op),
    };

    refused(r, reduces, COUNT(reduces), "a wrong reduce");
    refused(r, allreduces, COUNT(allreduces), "a wrong allreduce");
    refused(r, scatters, COUNT(scatters), "a wrong reduce_scatter");
}

static void alone(struct rank *r)
{
    const struct hud_op *op = &operations[0];
    hud_team *t = r->team;
    const int others[] = {
        hud_barrier(NULL),
        hud_bcast(NULL, &in, 0),
        hud_bcast(t, NULL, 0),
        hud_bcast(t, &in, 1),
        hud_bcast(t, &in, -1),
        hud_alltoall(NULL, &in, &out),
        hud_alltoall(t, NULL, &out),
        hud_alltoall(t, &in, NULL),
        hud_alltoallv(NULL, &in, &out),
        hud_alltoallv(t, NULL, &out),
        hud_alltoallv(t, &in, NULL),
    };

    refused(r, others, COUNT(others), "another wrong call");
    misuse_reductions(r, t, op);
    rank_check(
        r, hud_allreduce(t, &none, &none, op) == HUD_OK && hud_alltoall(t, &none, &none) == HUD_OK,
        "a call of no bytes", 0);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        call_one(r, kind, 100, 0, false);
}

static void invalid_arguments_are_rejected_and_single_ranks_fall_back(void **state)
{
    (void)state;
    assert_int_equal(ranks_run_threads(1, (const char *const[]){ NULL }, alone), 0);
}

/* Makes a call fail at rank 1, for lack of memory or because its blocks of an alltoall are unequal.
 * The other ranks must leave the call and the team, too. */
static void fail_once(struct rank *r, bool unequal)
{
    long given[8] = { 1 }, got[8];
    size_t ranks = (size_t)r->ranks;
    const struct hud_view sent = { .base = given, .bytes = ranks * sizeof *given },
                          taken = { .base = got, .bytes = ranks * sizeof *got },
                          less = { .base = given, .bytes = ranks };
    int wanted = unequal ? HUD_ERR_TRUNCATE : HUD_ERR_MEMORY;

    rank_check(r, hud_barrier(r->team) == HUD_OK, "a call before the one that fails", 0);
    int status = r->rank != 1 ? hud_alltoall(r->team, &sent, &taken)
                 : unequal    ? hud_alltoall(r->team, &less, &taken)
                              : hud_team_fail(r->team);
    rank_check(r, status == wanted, "the status of a call that fails at one rank", sent.bytes);
    rank_check(r, hud_barrier(r->team) == HUD_PASS, "a call after the one that failed", 0);
}

static void fail_for_memory(struct rank *r)
{
    fail_once(r, false);
}

static void fail_for_blocks(struct rank *r)
{
    fail_once(r, true);
}

static void failing_rank_fails_the_call_on_all_ranks(void **state)
{
    const char *const plain[] = { NULL }, *const quiet[] = { "HUDDLE_LOG=quiet", NULL };

    (void)state;
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++) {
        ranks_run_threads(ranks, plain, fail_for_memory);
        ranks_run_threads(ranks, quiet, fail_for_blocks);
    }
}

struct watched {
    struct hud_team *team;
    struct mem_wait wait;
};

static void watch_once(void *arg)
{
    struct watched *w = arg;

    hud_longwait_watch(&w->wait, false, w->team);
}

/* Makes rank 1 give up in a later call. It has posted everything of the call before. */
static void fail_after(struct rank *r)
{
    rank_check(r, hud_barrier(r->team) == HUD_OK, "a call before the one that fails", 0);
    if (r->rank == 1) {
        char *json = NULL;
        rank_check(r, hud_team_fail(r->team) == HUD_ERR_MEMORY, "a call that one rank fails", 0);
        rank_check(r, hud_team_json(r->team, &json) == HUD_OK, "JSON of a team given up", 0);
        rank_check(r, json && strstr(json, "\"broken\"") && strstr(json, "\"reason\""), json, 0);
        free(json);
        return;
    }
    while (mem_count_observe(&team_member(r->team, 1)->gave_up) == 0)
        sched_yield();
    mem_flag *flag = &((struct slice_head *)(void *)r->team->shm.slices[0])->left;
    struct watched w = { r->team, { .m = &r->team->shm.mem, .flag = &flag->value, .file = "" } };
    rank_check(r, hud_guard_call(watch_once, &w) == 0, "a completed wait", 0);
    w.wait.min = (uint64_t)1 << 62;
    rank_check(r, hud_guard_call(watch_once, &w) == HUD_ERR_MEMORY, "a wait that never ends", 0);
}

static void giving_up_later_does_not_end_an_earlier_wait(void **state)
{
    const char *const quiet[] = { "HUDDLE_LOG=quiet", NULL };

    (void)state;
    ranks_run_threads(2, quiet, fail_after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_forced_algorithm_is_right),
        cmocka_unit_test(single_copy_is_right_with_mappings),
        cmocka_unit_test(single_copy_is_right_with_outdated_pids),
        cmocka_unit_test(every_collective_is_handled),
        cmocka_unit_test(results_are_right_with_little_memory),
        cmocka_unit_test(empty_calls_are_handled_and_large_elements_fall_back),
        cmocka_unit_test(too_long_blocks_are_truncated),
        cmocka_unit_test(invalid_arguments_are_rejected_and_single_ranks_fall_back),
        cmocka_unit_test(failing_rank_fails_the_call_on_all_ranks),
        cmocka_unit_test(giving_up_later_does_not_end_an_earlier_wait),
    };

    if (hud_op_find(HUD_SUM, HUD_UINT32, &operations[0]) != HUD_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
