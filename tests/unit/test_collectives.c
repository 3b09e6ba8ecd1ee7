/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_collectives.c - the collectives without an MPI: ranks are threads that call huddle.h, over
 * real shared memory, so that ThreadSanitizer sees every algorithm at work.  Each is forced in
 * turn; then the plan chooses, also in fixed order and in little memory.
 *
 * What an algorithm does not take all ranks pass on alike; what is taken has the right result and
 * touches nothing else.
 */
#include "alg/alg.h"
#include "calls.h"
#include "core/arena/direct.h"
#include "core/team/guard.h"
#include "core/team/longwait.h"
#include "core/team/team.h"

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
      .combine = crew_add,
      .name = "sum" }, /* replaced by huddle's own */
    { .element_bytes = 12, .combine = crew_compose, .name = "compose" },
    { .element_bytes = 100, .commutative = 1, .combine = crew_add, .name = "add" },
};

static const size_t sizes[] = { 2, 100, 1300, 17000, 140000, 600000 };

/* Of so many bytes or some more, whole elements. */
static void call_one(struct rank *r, int kind, size_t bytes, size_t o, bool in_place)
{
    const struct hud_op *op = &operations[o];

    crew_make(r, kind, op, (bytes + op->element_bytes - 1) / op->element_bytes * op->element_bytes,
              in_place);
}

/* Where nothing is reduced an operation only gives a size: one for each size is enough. */
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

/* The setting that forces an algorithm. */
static void force(const struct alg *alg, char *setting, size_t bytes)
{
    int used = snprintf(setting, bytes, "HUDDLE_%s=%s", alg->coll, alg->name);

    for (char *c = setting; c < setting + used && *c != '='; c++)
        *c = (char)toupper((unsigned char)*c);
    forced_kind = hud_coll_kind(alg->coll);
}

/* more: a setting, or NULL; only_direct: algorithms of single copy, which is possible without the
 * kernel's copies. */
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
        for (int ranks = 2; ranks <= CREW_MAX; ranks += 3)
            if (crew_run(ranks, settings, forced) == 0 && (only_direct || !alg->family->direct))
                fail_msg("%s, %d ranks: no call was taken", setting, ranks);
    }
}

static void every_algorithm_in_turn(void **state)
{
    (void)state;
    in_turn(NULL, false);
}

static void single_copy_by_mappings(void **state)
{
    (void)state;
    in_turn("HUDDLE_XPMEM=keep", true);
    in_turn("HUDDLE_XPMEM=copy", true);
}

/* After the set-up odd ranks have pids of another process, as after a restart from a checkpoint. */
static void forced_by_old_pids(struct rank *r)
{
    call_one(r, forced_kind, 100, 0, false);
    for (int i = 0; i < r->ranks && r->number % 2 != 0; i++) {
        r->team->peers[i].pid = (int)getppid();
        r->team->peers[i].proven_ns = 0;
    }
    forced(r);
}

static void single_copy_by_old_pids(void **state)
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
        for (int ranks = 2; ranks <= CREW_MAX; ranks += 3)
            assert_true(crew_run(ranks, settings, forced_by_old_pids) > 0);
    }
}

/* All collectives, one after the other, on one team. */
static void mixed(struct rank *r)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int kind = 0; kind < COLL_KINDS; kind++)
            for (size_t o = 0; o < COUNT(operations); o++)
                if (has_operation(kind, s, o))
                    call_one(r, kind, sizes[s], o, (s + o) % 2 != 0);
}

static void every_collective_is_taken(void **state)
{
    static const char *const plain[] = { "HUDDLE_TUNING=off", NULL }, *const order[] = {
        "HUDDLE_REDUCE_ORDER=fixed", NULL
    };
    /* (ranks of a process share its memory anyway; the fake of libxpmem attaches it where it is) */
    const char *const without[] = { "HUDDLE_CMA=off", NULL },
                      *const mapped[] = { "HUDDLE_CMA=off", "HUDDLE_XPMEM=keep", NULL },
                      *const * all[] = { plain, order, without, mapped };
    int every = 0;

    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        every += (int)(COUNT(sizes) * (coll_has(kind, COLL_REDUCES) ? COUNT(operations) : 1));
    for (size_t i = 0; i < COUNT(all); i++)
        for (int ranks = 2; ranks <= CREW_MAX; ranks += i == 0 ? 1 : 3)
            assert_int_equal(crew_run(ranks, all[i], mixed), every);
}

/* However little there is: what is taken is right, the rest is passed on by all alike. */
static void little_memory(void **state)
{
    static const char *const little[] = { "HUDDLE_LEASE=4K",   "HUDDLE_LEASE=16K",
                                          "HUDDLE_LEASE=50K",  "HUDDLE_LEASE=200K",
                                          "HUDDLE_MEMORY=8K",  "HUDDLE_MEMORY=48K",
                                          "HUDDLE_MEMORY=300K" };

    (void)state;
    for (size_t i = 0; i < COUNT(little); i++)
        for (int ranks = 2; ranks <= CREW_MAX; ranks += 3)
            crew_run(ranks, (const char *const[]){ little[i], "HUDDLE_LOG=quiet", NULL }, mixed);
}

static uint32_t words[4];
static const struct hud_view in = { .base = words, .bytes = 8 },
                             out = { .base = words + 2, .bytes = 8 },
                             odd = { .base = words, .bytes = 6 },
                             small = { .base = words + 2, .bytes = 4 }, none;

static void empty_and_large(struct rank *r)
{
    struct hud_op large = {
        .element_bytes = 4 * LARGE_WORDS, .commutative = 1, .combine = crew_add, .name = "large"
    };
    size_t blocks[CREW_MAX] = { 0 };

    crew_must(r,
              hud_bcast(r->team, &none, 0) == HUD_OK &&
                  hud_allreduce(r->team, &none, &none, &large) == HUD_OK &&
                  hud_reduce(r->team, &none, &none, &large, 0) == HUD_OK &&
                  hud_reduce_scatter(r->team, &none, &none, blocks, &large) == HUD_OK &&
                  hud_alltoall(r->team, &none, &none) == HUD_OK,
              "something", 0);
    for (int kind = COLL_REDUCE; kind <= COLL_REDUCE_SCATTER; kind++) {
        crew_make(r, kind, &large, 3 * large.element_bytes, false);
        crew_must(r, r->status[r->calls - 1] == HUD_PASS, "a reduction with elements",
                  large.element_bytes);
        call_one(r, kind, 100, 0, false);
    }
}

static void nothing_is_enough_and_large_elements_are_too_much(void **state)
{
    (void)state;
    assert_int_equal(crew_run(3, (const char *const[]){ NULL }, empty_and_large), 3);
}

/* Rank 0 sends everybody more than is expected: each gets what fits, hears of it if that is
 * something, and goes on. */
static void truncate_to(struct rank *r, size_t divisor)
{
    struct hud_view from[CREW_MAX], to[CREW_MAX];

    for (size_t s = 0; s < COUNT(sizes); s++) {
        size_t bytes = sizes[s], fits = divisor != 0 ? (bytes + 1) / divisor : 0;
        bool fine = true;
        for (int i = 0; i < r->ranks; i++) {
            from[i] = crew_view(crew_buffer(bytes), bytes);
            to[i] = crew_view(crew_buffer(bytes), i == 0 && r->number != 0 ? fits : bytes);
            for (size_t b = 0; b < bytes; b++)
                ((unsigned char *)from[i].base)[b] = crew_byte(r->number, i, (int)s, b);
        }
        int status = hud_alltoallv(r->team, from, to);
        bool good = r->number == 0 ? status == HUD_OK
                                   : status == HUD_ERR_TRUNCATE || (fits == 0 && status == HUD_OK);
        crew_must(r, good, "the status of a truncated alltoallv", bytes);
        for (int i = 0; i < r->ranks; i++) {
            const unsigned char *got = to[i].base;
            for (size_t b = 0; b < bytes; b++)
                fine =
                    fine && got[b] == (b < to[i].bytes ? crew_byte(i, r->number, (int)s, b) : 0xA5);
            fine = crew_release(from[i].base, bytes) & crew_release(to[i].base, bytes) & fine;
        }
        crew_must(r, fine, "a truncated alltoallv", bytes);
        crew_make(r, COLL_ALLTOALLV, NULL, bytes, false);
    }
}

static void send_too_much(struct rank *r)
{
    truncate_to(r, 3);
    truncate_to(r, 0);
}

static void what_is_too_long_is_cut(void **state)
{
    static const char *const settings[] = { "HUDDLE_ALLTOALLV=auto", "HUDDLE_ALLTOALLV=windows",
                                            "HUDDLE_ALLTOALLV=single", "HUDDLE_ALLTOALLV=push" };
    bool direct = hud_direct_likely(); /* the last two ask for it */

    (void)state;
    for (size_t i = 0; i < (direct ? COUNT(settings) : COUNT(settings) - 2); i++)
        for (int ranks = 2; ranks <= CREW_MAX; ranks += 3)
            assert_int_equal(
                crew_run(ranks, (const char *const[]){ settings[i], NULL }, send_too_much),
                2 * COUNT(sizes));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(const struct rank *r, const int *status, size_t calls, const char *what)
{
    for (size_t i = 0; i < calls; i++)
        crew_must(r, status[i] == HUD_ERR_ARGUMENT, what, i);
}

static void misuse_reductions(struct rank *r, hud_team *t, const struct hud_op *op)
{
    const struct hud_op no_size = { .combine = crew_add }, no_way = { .element_bytes = 4 };
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
    crew_must(
        r, hud_allreduce(t, &none, &none, op) == HUD_OK && hud_alltoall(t, &none, &none) == HUD_OK,
        "something", 0);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        call_one(r, kind, 100, 0, false);
}

static void arguments_are_looked_at_and_one_rank_needs_nobody(void **state)
{
    (void)state;
    assert_int_equal(crew_run(1, (const char *const[]){ NULL }, alone), 0);
}

/* A rank that cannot make a call takes the others out of it, and out of the team; so does one whose
 * blocks of an alltoall are not of one size. */
static void fail_once(struct rank *r, bool unequal)
{
    long given[8] = { 1 }, got[8];
    size_t ranks = (size_t)r->ranks;
    const struct hud_view sent = { .base = given, .bytes = ranks * sizeof *given },
                          taken = { .base = got, .bytes = ranks * sizeof *got },
                          less = { .base = given, .bytes = ranks };
    int wanted = unequal ? HUD_ERR_TRUNCATE : HUD_ERR_MEMORY;

    crew_must(r, hud_barrier(r->team) == HUD_OK, "a call before the one that fails", 0);
    int status = r->number != 1 ? hud_alltoall(r->team, &sent, &taken)
                 : unequal      ? hud_alltoall(r->team, &less, &taken)
                                : hud_team_fail(r->team);
    crew_must(r, status == wanted, "a call that one rank cannot make", sent.bytes);
    crew_must(r, hud_barrier(r->team) == HUD_PASS, "a call after the one that failed", 0);
}

static void fail_for_memory(struct rank *r)
{
    fail_once(r, false);
}

static void fail_for_blocks(struct rank *r)
{
    fail_once(r, true);
}

static void one_that_fails_takes_all_along(void **state)
{
    const char *const plain[] = { NULL }, *const quiet[] = { "HUDDLE_LOG=quiet", NULL };

    (void)state;
    for (int ranks = 2; ranks <= CREW_MAX; ranks++) {
        crew_run(ranks, plain, fail_for_memory);
        crew_run(ranks, quiet, fail_for_blocks);
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

/* A member that gives up in a later call has posted all of this one before. */
static void fail_after(struct rank *r)
{
    crew_must(r, hud_barrier(r->team) == HUD_OK, "a call before the one that fails", 0);
    if (r->number == 1) {
        char *json = NULL;
        crew_must(r, hud_team_fail(r->team) == HUD_ERR_MEMORY, "a call that one rank fails", 0);
        crew_must(r, hud_team_json(r->team, &json) == HUD_OK, "JSON of a team given up", 0);
        crew_must(r, json && strstr(json, "\"broken\"") && strstr(json, "\"reason\""), json, 0);
        free(json);
        return;
    }
    while (mem_count_observe(&team_member(r->team, 1)->gave_up) == 0)
        sched_yield();
    mem_flag *flag = &((struct slice_head *)(void *)r->team->slices[0])->left;
    struct watched w = { r->team, { .m = &r->team->mem, .flag = &flag->value, .file = "" } };
    crew_must(r, hud_guard_call(watch_once, &w) == 0, "a wait that is over", 0);
    w.wait.min = 100;
    crew_must(r, hud_guard_call(watch_once, &w) == HUD_ERR_MEMORY, "a wait that never ends", 0);
}

static void what_ends_later_calls_does_not_end_this_one(void **state)
{
    const char *const quiet[] = { "HUDDLE_LOG=quiet", NULL };

    (void)state;
    crew_run(2, quiet, fail_after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_in_turn),
        cmocka_unit_test(single_copy_by_mappings),
        cmocka_unit_test(single_copy_by_old_pids),
        cmocka_unit_test(every_collective_is_taken),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(nothing_is_enough_and_large_elements_are_too_much),
        cmocka_unit_test(what_is_too_long_is_cut),
        cmocka_unit_test(arguments_are_looked_at_and_one_rank_needs_nobody),
        cmocka_unit_test(one_that_fails_takes_all_along),
        cmocka_unit_test(what_ends_later_calls_does_not_end_this_one),
    };

    if (hud_op_find(HUD_SUM, HUD_UINT32, &operations[0]) != HUD_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
