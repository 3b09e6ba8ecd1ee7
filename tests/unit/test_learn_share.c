/* SPDX-License-Identifier: BSD-3-Clause */
/* test_learn_share.c - what a team has learned, or a file knows, is known to later teams
 * (HUDDLE_WISDOM). */
#include "calls.h"
#include "core/call/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, LARGE = 20000, LARGER = 70000, CALLS = 400 };

static struct hud_op sum = {
    .element_bytes = 4, .commutative = 1, .exact = 1, .combine = add_words
};

/* Learns on the first team, and then begins a second team of the same ranks. Only rank 0 still has
 * the decisions. */
static void two_teams(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, LARGE);

    call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    const struct plan_entry *open = &r->team->plan.shared->entry[PLAN_OPEN];
    for (int n = 0; n < 100 * CALLS && r->team->plan.choice[at] == open; n++)
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false); /* trials wait on a busy machine */
    const struct plan_entry *learned = r->team->plan.choice[at];
    rank_check(r, learned != open, "decision", LARGE);
    if (r->rank != 0)
        hud_wisdom_free(&r->context->learn.wisdom);
    r->team = r->teams[1].team;
    rank_handled(r, hud_barrier(r->team));
    const struct plan_entry *known = hud_learn_present(r->team, at);
    rank_check(r,
               known->row == learned->row &&
                   memcmp(known->param, learned->param, sizeof known->param) == 0,
               "choice of the first team", LARGE);
    struct stats *stats = context_stats(r->context);
    uint64_t handled = mem_count_read(&stats->coll[COLL_ALLREDUCE].reason_calls[REASON_NONE]),
             before = mem_count_read(&stats->learned), tried = mem_count_read(&stats->tried);
    rank_check(r, tried > 0 && before + tried < handled, "calls of the first team", handled);
    rank_check(r, mem_count_read(&stats->known) == 0, "nothing known before", 0);
    for (int n = 0; n < CALLS; n++)
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    uint64_t served = mem_count_read(&stats->known);
    rank_check(r, served > 0 && served <= CALLS, "calls by a known choice", served);
    ranks_free_team(&r->teams[1]);
    uint64_t all = mem_count_read(&stats->known) - served, rest = mem_count_read(&stats->learned);
    rank_check(r, all < 2 * LEARNER_EVERY, "calls after the last sample", all);
    /* trials may follow a change of the machine */
    all = served + all + rest - before + mem_count_read(&stats->tried) - tried;
    rank_check(r, all == CALLS, "sum of all counts", all);
}

static void second_team_begins_with_the_choices_of_the_first(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

    (void)state;
    ranks_run(&(struct ranks){
        .ranks = RANKS, .teams = 2, .blocking = true, .settings = settings, .body = two_teams });
}

/* Learns on the first team, and begins further ones, which all ranks know how to begin. */
static void equal_teams(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, LARGE);
    const struct wisdom_start *start[4] = { NULL };

    for (int n = 0; n < 100 * CALLS && r->context->learn.wisdom.lines == 0; n++)
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    for (int t = 1; t < r->team_count; t++) {
        r->team = r->teams[t].team;
        rank_handled(r, hud_barrier(r->team));
        start[t] = r->team->hooks.learn->start;
    }
    MUST(r, start[1]->table.known[at].name != 0 && start[1]->known[at] >= 0);
    MUST(r, start[2] == start[1] && start[3] == start[1] && start[1]->teams == 3);
    MUST(r, start[1] != r->teams[0].team->hooks.learn->start);
    MUST(r, mem_count_read(&r->context->memory.arena.head->stats.leases) ==
                4); /* no area with lines */
}

static void equal_teams_share_a_start(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off",
                                            "HUDDLE_MEMORY=64M", NULL };

    (void)state;
    ranks_run(&(struct ranks){
        .ranks = RANKS, .teams = 4, .blocking = true, .settings = settings, .body = equal_teams });
}

/* ---- a file ---- */

static const char known_lines[] = "allreduce bytes=16385-32K -> tree | ns=10000\n"
                                  "allreduce ranks=77 bytes=16385-32K -> whole | ns=10000\n"
                                  "bcast -> mpi\n";
static char file[64], file_setting[128];

/* Writes the file, and runs ranks with it. */
static void run_with_file(void (*body)(struct rank *r))
{
    const char *const settings[] = { file_setting, "HUDDLE_TUNING=off", NULL };

    snprintf(file, sizeof file, "/tmp/test_learn.%d.rules", (int)getpid());
    snprintf(file_setting, sizeof file_setting, "HUDDLE_WISDOM=%s", file);
    FILE *f = fopen(file, "we");
    assert_non_null(f);
    assert_true(fputs(known_lines, f) >= 0);
    assert_int_equal(fclose(f), 0);
    ranks_run(&(struct ranks){ .ranks = RANKS,
                               .teams = 2,
                               .blocking = true,
                               .name = "all",
                               .settings = settings,
                               .body = body });
    assert_int_equal(unlink(file), 0);
}

/* Makes the first call of a team.  All ranks then know what is in the file, which rank 0 has
 * read. */
static void begin_with_file(struct rank *r)
{
    struct hud_context *c = r->context;
    int at = plan_at(COLL_ALLREDUCE, LARGE);
    const char *why;

    rank_handled(r, hud_barrier(r->team));
    MUST(r, strcmp(hud_shm_algs[hud_learn_present(r->team, at)->row]->name, "tree") == 0);
    MUST(r, c->learn.wisdom.file_read && c->learn.wisdom.reader == (r->rank == 0));
    MUST(r, c->learn.wisdom.lines == 3 && c->learn.wisdom.from_file == 3);
    ranks_meet(r); /* all have left the area with the lines */
    pthread_mutex_lock(&c->lock);
    size_t offset = hud_arena_reserve(&c->memory.arena, 1, 1, &why); /* collects what is left */
    hud_arena_cancel(&c->memory.arena, offset, 0);
    size_t page = c->memory.arena.page_bytes, slice = (r->team->shm.bytes + page - 1) / page * page;
    MUST(r, mem_count_read(&c->memory.arena.head->stats.leased_bytes) == slice);
    pthread_mutex_unlock(&c->lock);
}

static void file_is_read_once(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, LARGE);

    begin_with_file(r);
    r->team = r->teams[1].team; /* its rank 0 does not read again */
    unlink(file);
    rank_handled(r, hud_barrier(r->team));
    MUST(r, strcmp(hud_shm_algs[hud_learn_present(r->team, at)->row]->name, "tree") == 0);
    MUST(r, r->context->learn.wisdom.lines == 3);
    ranks_meet(r);
    FILE *f = r->rank == 0 ? fopen(file, "we") : NULL; /* the caller removes it */
    if (f)
        fclose(f);
}

static void rank_0_reads_the_file_for_all(void **state)
{
    (void)state;
    run_with_file(file_is_read_once);
}

static uint64_t steady_ns(void)
{
    static _Thread_local uint64_t now_ns = 1000;

    return now_ns += 10000;
}

/* Confirms the choice of the file on the first team, while all candidates take the same time.  Then
 * begins a second team. */
static void confirm(struct rank *r)
{
    int at = plan_at(COLL_ALLREDUCE, LARGE);

    rank_handled(r, hud_barrier(r->team));
    struct learn *l = r->team->hooks.learn;
    l->clock_ns = steady_ns;
    for (int n = 0; n < CALLS; n++)
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
    MUST(r, l->cells == 1 && hud_learner_decided(&l->cell[0].learner));
    MUST(r, mem_count_read(&context_stats(r->context)->tried) == 4);
    MUST(r, l->cell[0].source == LEARN_KNOWN && r->context->learn.wisdom.owns == 0);
    r->team = r->teams[1].team;
    rank_handled(r, hud_barrier(r->team));
    const struct wisdom_known *known = &r->team->hooks.learn->start->table.known[at];
    MUST(r, known->name == l->start->table.known[at].name);
    MUST(r, l->start->table.known[at].unchecked && !known->unchecked);
}

static void choice_of_a_file_is_checked_once(void **state)
{
    (void)state;
    run_with_file(confirm);
}

/* Makes calls of which one size is known and the other is not. */
static void only_known(struct rank *r)
{
    const struct plan *plan;

    rank_handled(r, hud_barrier(r->team));
    plan = r->team->plan.shared;
    for (int n = 0; n < CALLS; n++) {
        call_make(r, COLL_ALLREDUCE, &sum, LARGE, false);
        call_make(r, COLL_ALLREDUCE, &sum, LARGER, false);
        MUST(r, r->team->plan.entry == plan_find(plan, COLL_ALLREDUCE, LARGER));
    }
    MUST(r, !r->team->hooks.learn || r->team->hooks.learn->cells == 0);
}

static void nothing_is_measured_with_read(void **state)
{
    const char *const settings[] = { "HUDDLE_WISDOM=read", "HUDDLE_TUNING=off", NULL };

    (void)state;
    ranks_run_threads(RANKS, settings, only_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_team_begins_with_the_choices_of_the_first),
        cmocka_unit_test(equal_teams_share_a_start),
        cmocka_unit_test(rank_0_reads_the_file_for_all),
        cmocka_unit_test(choice_of_a_file_is_checked_once),
        cmocka_unit_test(nothing_is_measured_with_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
