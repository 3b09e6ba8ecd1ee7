/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - HUDDLE_CHECK without an MPI: what is said, exactly, and that those who agree hear nothing.  Ranks are threads, or processes. */
#include "core/check.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 4, CELL_BYTES = 4096, CALLS = 200 };

/* Where ranks exchange what a set-up needs, until there is a team. */
static struct page {
    atomic_int arrived, left;
    char cell[RANKS][CELL_BYTES];
} * page;

struct rank {
    int number;
    hud_context *context;
    hud_team *team;
    void (*body)(struct rank *r);
};

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

static const char *of_rank_1; /* one more setting */
static bool in_a_job;         /* ranks of a job whose launcher names none */

static int in_job(void *arg, int rank)
{
    (void)arg;
    return rank;
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    const char *const settings[] = { "HUDDLE_CHECK=1", "HUDDLE_CHECK_TIMEOUT=1", r->number == 1 ? of_rank_1 : NULL, NULL };
    const struct hud_host host = {
        .name = "MPI", .world_rank = r->number, .world_size = RANKS, .local_ranks = RANKS, .settings = settings
    };
    const struct hud_exchange exchange = {
        .rank = my_rank, .size = team_size, .allgather = allgather, .world_rank = in_a_job ? in_job : NULL, .arg = r, .name = name
    };

    if (hud_context_create(&host, &r->context) != HUD_OK || hud_team_create(r->context, &exchange, &r->team) != HUD_OK)
        abort();
    r->body(r);
    hud_team_free(r->team);
    hud_context_destroy(r->context);
    return NULL;
}

/* What was written to standard error while all ranks ran the body as threads. */
static const char *said(void (*body)(struct rank *r))
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
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &rank[r]), 0);
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

static void enter(struct rank *r, const char *what, int root, size_t bytes, const char *detail)
{
    const struct hud_call call = { .name = what, .root = root, .bytes = bytes, .detail = detail };

    if (hud_team_enter(r->team, &call) != HUD_OK)
        abort();
}

static void reduce(struct rank *r, size_t bytes, const char *op)
{
    enter(r, "allreduce", -1, bytes, op);
    hud_team_exit(r->team);
}

static void broadcast(struct rank *r, size_t bytes, int root)
{
    char buffer[64] = "";
    struct hud_view view = { .base = buffer, .bytes = bytes };

    if (hud_bcast(r->team, &view, root) == HUD_PASS)
        hud_team_exit(r->team);
}

/* Those inside another call are its own affair; those of zero bytes are none. */
static void agree(struct rank *r)
{
    for (int i = 0; i < CALLS; i++) {
        broadcast(r, 8, i % RANKS);
        reduce(r, 16, "MPI_SUM");
        reduce(r, r->number % 2 ? 0 : 0, "MPI_MAX");
        enter(r, "alltoallv", -1, HUD_ANY_BYTES, NULL);
        for (int nested = 0; nested < r->number; nested++)
            reduce(r, (size_t)nested + 1, NULL);
        hud_team_exit(r->team);
        if (hud_barrier(r->team) != HUD_OK)
            abort();
    }
}

static void those_who_agree_hear_nothing(void **state)
{
    (void)state;
    assert_string_equal(said(agree), "");
}

static void differ(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 2)
        reduce(r, 8, "MPI_SUM");
    else
        broadcast(r, r->number == 3 ? 9 : 8, 1);
    broadcast(r, 8, r->number); /* said once a team */
    hud_barrier(r->team);
}

static void a_difference_is_said_once(void **state)
{
    (void)state;
    assert_string_equal(said(differ), "huddle: check: call 2 of everybody (4 ranks): ranks 0-1 call MPI_Bcast(root 1, 8 bytes); "
                                      "rank 2 calls MPI_Allreduce(8 bytes, MPI_SUM); rank 3 calls MPI_Bcast(root 1, 9 bytes)\n");
}

static void unequal_is_passed_by(struct rank *r)
{
    hud_barrier(r->team);
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };
    if (hud_bcast(r->team, &view, r->number) != HUD_PASS)
        abort();
    hud_team_exit(r->team);
    if (hud_bcast(r->team, &view, 0) != HUD_OK)
        abort();
}

static void a_call_that_differs_is_passed_on_by_all(void **state)
{
    (void)state;
    assert_non_null(
        strstr(said(unequal_is_passed_by), "rank 0 calls MPI_Bcast(root 0, 1 bytes); rank 1 calls MPI_Bcast(root 1, 1 bytes); "));
}

static void nested_is_passed_on(struct rank *r)
{
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };

    hud_barrier(r->team);
    enter(r, r->number % 2 ? "scan" : "allreduce", -1, 8, NULL);
    for (int i = 0; i < 2; i++) {
        if (hud_bcast(r->team, &view, 0) != HUD_PASS)
            abort();
        hud_team_exit(r->team);
    }
    hud_team_exit(r->team);
    reduce(r, 8, NULL);
    enter(r, "scan", -1, 8, NULL);
    if (hud_bcast(r->team, &view, 0) != HUD_OK)
        abort();
    hud_team_exit(r->team);
}

static void what_is_inside_a_call_that_differs_is_passed_on_too(void **state)
{
    (void)state;
    assert_non_null(strstr(said(nested_is_passed_on), "call 2 of everybody"));
}

/* The next allgather of each rank is this one: nobody is in a set-up. */
static void meet_without_a_team(struct rank *r)
{
    int all[RANKS];

    allgather(r, &r->number, sizeof r->number, all);
    for (int i = 0; i < RANKS; i++)
        if (all[i] != i)
            abort();
}

static void reduce_first(struct rank *r)
{
    reduce(r, 8, NULL);
    meet_without_a_team(r);
    if (hud_barrier(r->team) != HUD_PASS)
        abort();
}

static void who_cannot_take_part_comes_and_says_so(void **state)
{
    (void)state;
    of_rank_1 = "HUDDLE_BCAST=bogus";
    const char *line = strstr(said(reduce_first), "huddle: HUDDLE_BCAST=bogus is not understood");
    assert_true(line && strchr(line, '\n') == line + strlen(line) - 1);
    of_rank_1 = "HUDDLE=off";
    assert_string_equal(said(reduce_first), "");
    of_rank_1 = NULL;
}

static void begin_with_a_barrier(struct rank *r)
{
    reduce(r, 8, NULL);
    meet_without_a_team(r);
    if (hud_barrier(r->team) != HUD_OK)
        abort();
    reduce(r, r->number == 1 ? 16 : 8, NULL);
}

static void without_names_a_team_begins_with_a_call_that_huddle_takes(void **state)
{
    (void)state;
    in_a_job = true;
    assert_string_equal(said(begin_with_a_barrier),
                        "huddle: check: call 2 of everybody (4 ranks): ranks 0, 2-3 call MPI_Allreduce(8 bytes); "
                        "rank 1 calls MPI_Allreduce(16 bytes)\n");
    in_a_job = false;
}

static void reduce_nothing(struct rank *r)
{
    if (r->number % 2)
        reduce(r, 0, NULL);
    meet_without_a_team(r);
    if (hud_barrier(r->team) != HUD_OK)
        abort();
}

static void zero_bytes_set_nothing_up(void **state)
{
    (void)state;
    assert_string_equal(said(reduce_nothing), "");
}

/* The others are looked at after the clock. */
static void look_too_soon(struct rank *r)
{
    hud_barrier(r->team);
    hud_barrier(r->team);
    struct check *check = r->team->check;
    meet_without_a_team(r);
    if (r->number == 0) {
        pthread_mutex_lock(&r->context->watch.lock);
        check->call++;
        check->stage = CHECK_COMING;
        hud_complain_wait(check, 0, 1);
        check->call--;
        check->stage = CHECK_IDLE;
        pthread_mutex_unlock(&r->context->watch.lock);
    }
    meet_without_a_team(r);
}

static void time_does_not_run_backwards(void **state)
{
    (void)state;
    assert_non_null(strstr(said(look_too_soon), "not there: rank 0 (came back from call 2, MPI_Barrier, 0.0 s ago), rank 1 (came back "));
}

static void come_late(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 1)
        usleep(1700000);
    hud_barrier(r->team);
}

static void who_does_not_come_is_named(void **state)
{
    const char *line;

    (void)state;
    line = said(come_late);
    assert_non_null(
        strstr(line, " s of waiting in call 2 of everybody (4 ranks): ranks 0, 2-3 call MPI_Barrier; not there: rank 1 (came back from "
                     "call 1, MPI_Barrier, "));
    assert_null(strstr(line, "has ended"));
}

static void stay_inside(struct rank *r)
{
    enter(r, "scan", -1, 8, "MPI_SUM");
    if (r->number >= 2)
        usleep(1700000);
    hud_team_exit(r->team);
}

static void who_does_not_come_back_is_named(void **state)
{
    (void)state;
    assert_non_null(strstr(said(stay_inside),
                           " s of waiting in call 1 of everybody (4 ranks): ranks 0-1 are back from MPI_Scan(8 bytes, MPI_SUM); "
                           "ranks 2-3 call MPI_Scan(8 bytes, MPI_SUM)\n"));
}

static void end_early(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 3)
        _exit(0);
    hud_barrier(r->team);
    _exit(1); /* without rank 3? */
}

/* What comes out of a pipe until it holds `want`, or for half a minute. */
static void listen_for(const char *want, int from, char *text, size_t bytes)
{
    struct pollfd ready = { .fd = from, .events = POLLIN };
    time_t until = time(NULL) + 30;
    size_t used = 0;
    ssize_t got = 1;

    for (text[0] = '\0'; got > 0 && !strstr(text, want) && used < bytes - 1 && time(NULL) < until; text[used] = '\0')
        if (poll(&ready, 1, 1000) == 1) {
            got = read(from, text + used, bytes - 1 - used);
            used += got > 0 ? (size_t)got : 0;
        }
}

/* Processes: the others are ended when the line was there, or never came.  On a slow machine other lines come first: a process takes its time to end. */
static void who_has_ended_is_named(void **state)
{
    char text[16384], want[64];
    int end[2];
    pid_t pid[RANKS];

    (void)state;
    assert_int_equal(pipe(end), 0);
    for (int r = 0; r < RANKS; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            dup2(end[1], STDERR_FILENO);
            close(end[1]);
            run_rank(&(struct rank){ .number = r, .body = end_early });
        }
    }
    close(end[1]);
    snprintf(want, sizeof want, "not there: rank 3 (process %d has ended; came back", (int)pid[3]);
    listen_for(want, end[0], text, sizeof text);
    for (int r = 0; r < RANKS; r++)
        kill(pid[r], SIGKILL);
    while (wait(NULL) > 0)
        ;
    close(end[0]);
    if (!strstr(text, want))
        fail_msg("no '%s' in: %s", want, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_agree_hear_nothing),
        cmocka_unit_test(a_difference_is_said_once),
        cmocka_unit_test(a_call_that_differs_is_passed_on_by_all),
        cmocka_unit_test(what_is_inside_a_call_that_differs_is_passed_on_too),
        cmocka_unit_test(who_cannot_take_part_comes_and_says_so),
        cmocka_unit_test(without_names_a_team_begins_with_a_call_that_huddle_takes),
        cmocka_unit_test(zero_bytes_set_nothing_up),
        cmocka_unit_test(time_does_not_run_backwards),
        cmocka_unit_test(who_does_not_come_is_named),
        cmocka_unit_test(who_does_not_come_back_is_named),
        cmocka_unit_test(who_has_ended_is_named),
    };

    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
