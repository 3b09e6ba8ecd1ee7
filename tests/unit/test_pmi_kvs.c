/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pmi_kvs.c - the ranks of all nodes that are present, by keys in Hydra's key-value space.
 * Each rank is a process, and the test plays the role of Hydra.
 */
#define _GNU_SOURCE
#include "fork_team/fork_team.h"
#include "host/pmpi/pmi_kvs.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, LINE = 256, LINE_MAX_BYTES = 1023, UNKNOWN = 0x80, LIMIT_S = 60 };

/* The server's reaction to a rank's put. */
enum put { KEPT, KEPT_LONGEST, REFUSED, TOO_LONG, UNANSWERED };

struct rank {
    unsigned manner;
    enum put put;
    bool without;     /* it does not announce itself */
    int own;          /* the rank's end of the connection */
    int fd;           /* the server's end, or -1 if closed */
    bool waits;       /* waits in a barrier */
    char value[LINE]; /* value of its key, or "" if there is none */
};

/* ---- a rank ---- */

/* Makes a barrier, as MPI_Init does between puts and gets. */
static bool barrier(int fd)
{
    char answer[LINE];

    return write(fd, "cmd=barrier_in\n", 15) == 15 && read(fd, answer, sizeof answer) > 0;
}

/* Closes the inherited ends of all connections but the rank's own. */
static void keep_own_connection(const struct rank rank[], int number)
{
    for (int r = 0; r < RANKS; r++) {
        close(rank[r].fd);
        if (r != number)
            close(rank[r].own);
    }
}

static void set_number(const char *name, int number)
{
    char text[16];

    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

/* Runs a rank. Returns a bit for each rank that is present. */
static int be(struct fork_rank *self, void *arg)
{
    const struct rank *rank = (const struct rank *)arg + self->rank;
    int present = 0;

    keep_own_connection(arg, self->rank);
    set_number("PMI_FD", rank->own);
    set_number("PMI_RANK", self->rank);
    if (!rank->without)
        hud_pmi_kvs_announce(rank->manner);
    if (!barrier(rank->own))
        return UNKNOWN | 1;
    hud_pmi_kvs_look_up(RANKS);
    for (int r = 0; r < RANKS; r++)
        present |= hud_pmi_kvs_present(NULL, r) ? 1 << r : 0;
    return hud_pmi_kvs_announced() ? present : UNKNOWN;
}

/* ---- Hydra ---- */

static void say(int fd, const char *line)
{
    assert_int_equal(write(fd, line, strlen(line)), strlen(line));
}

/* Sends an answer of this length, the line end included. */
static void say_long(int fd, size_t bytes)
{
    char line[2 * LINE_MAX_BYTES];
    int head = snprintf(line, sizeof line, "cmd=put_result rc=0 msg=");

    memset(line + head, 'x', bytes - (size_t)head - 1);
    line[bytes - 1] = '\n';
    line[bytes] = '\0';
    say(fd, line);
}

static void put(struct rank *rank, const char *line)
{
    const char *value = strstr(line, "value=");

    if (rank->put == UNANSWERED) {
        close(rank->fd);
        rank->fd = -1;
        return;
    }
    if (rank->put != REFUSED)
        snprintf(rank->value, sizeof rank->value, "%.*s", (int)strcspn(value + 6, "\n"), value + 6);
    if (rank->put == KEPT_LONGEST || rank->put == TOO_LONG)
        say_long(rank->fd, LINE_MAX_BYTES + (rank->put == TOO_LONG));
    else
        say(rank->fd, rank->put == KEPT ? "cmd=put_result rc=0 msg=success\n"
                                        : "cmd=put_result rc=-1 msg=no_room\n");
}

static void get(struct rank rank[], int asks, const char *line)
{
    int of = atoi(strstr(line, "key=huddle-") + 11);
    char answer[2 * LINE];

    snprintf(answer, sizeof answer, "cmd=get_result rc=0 msg=success value=%s\n", rank[of].value);
    say(rank[asks].fd,
        rank[of].value[0] ? answer : "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void answer(struct rank rank[], int asks, const char *line)
{
    if (strncmp(line, "cmd=init ", 9) == 0)
        say(rank[asks].fd, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    else if (strncmp(line, "cmd=get_my_kvsname", 18) == 0)
        say(rank[asks].fd, "cmd=my_kvsname kvsname=kvs_1_0\n");
    else if (strncmp(line, "cmd=put ", 8) == 0)
        put(&rank[asks], line);
    else if (strncmp(line, "cmd=get ", 8) == 0)
        get(rank, asks, line);
    else
        rank[asks].waits = true;
}

static void end_barrier(struct rank rank[])
{
    bool all = true;

    for (int r = 0; r < RANKS; r++)
        all = all && (rank[r].waits || rank[r].fd < 0);
    for (int r = 0; all && r < RANKS; r++)
        if (rank[r].fd >= 0) {
            say(rank[r].fd, "cmd=barrier_out\n");
            rank[r].waits = false;
        }
}

/* Reads one line from a rank, or closes the connection at its end. */
static void hear(struct rank rank[], int from)
{
    char line[LINE];
    ssize_t bytes = read(rank[from].fd, line, sizeof line - 1);

    if (bytes <= 0) {
        close(rank[from].fd);
        rank[from].fd = -1;
    } else {
        line[bytes] = '\0';
        answer(rank, from, line);
    }
    end_barrier(rank);
}

static void serve(struct rank rank[])
{
    int open;

    do {
        struct pollfd ready[RANKS];
        for (int r = 0; r < RANKS; r++)
            ready[r] = (struct pollfd){ .fd = rank[r].fd, .events = POLLIN };
        assert_true(poll(ready, RANKS, 30 * 1000) > 0);
        open = 0;
        for (int r = 0; r < RANKS; r++) {
            if (ready[r].revents != 0 && rank[r].fd >= 0)
                hear(rank, r);
            open += rank[r].fd >= 0;
        }
    } while (open != 0);
}

/* Runs the ranks and stores their wait statuses. */
static void run(struct rank rank[], int status[])
{
    struct fork_team team = { .ranks = RANKS, .limit_s = LIMIT_S, .body = be, .arg = rank };

    for (int r = 0; r < RANKS; r++) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        rank[r].fd = pair[0];
        rank[r].own = pair[1];
    }
    assert_int_equal(fork_team_start(&team, NULL), 0);
    for (int r = 0; r < RANKS; r++)
        close(rank[r].own);
    serve(rank);
    for (int r = 0; r < RANKS; r++)
        status[r] = fork_team_await(&team, r);
    fork_team_kill(&team);
}

static void check(struct rank rank[], const int expected[])
{
    int status[RANKS];

    run(rank, status);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(WIFEXITED(status[r]) ? WEXITSTATUS(status[r]) : -1, expected[r]);
}

/* ---- the cases ---- */

static void ranks_with_huddle_are_present(void **state)
{
    (void)state;
    check((struct rank[RANKS]){ { 1 }, { 1 }, { 1 } }, (int[]){ 7, 7, 7 });
}

static void a_rank_without_huddle_is_absent(void **state)
{
    (void)state;
    check((struct rank[RANKS]){ { 1 }, { 1, .without = true }, { 1 } }, (int[]){ 5, UNKNOWN, 5 });
}

static void rank_announced_in_another_manner_is_absent(void **state)
{
    (void)state;
    check((struct rank[RANKS]){ { 1 }, { 2 }, { 1 } }, (int[]){ 5, 2, 5 });
}

static void rank_whose_put_failed_is_absent_for_all(void **state)
{
    (void)state;
    check((struct rank[RANKS]){ { 1 }, { 1, .put = REFUSED }, { 1 } }, (int[]){ 5, 0, 5 });
}

/* Expects that the rank whose put gets this answer aborts. */
static void check_abort(enum put put)
{
    struct rank rank[RANKS] = { { 1 }, { 1, .put = put }, { 1 } };
    int status[RANKS];

    run(rank, status);
    assert_true(WIFSIGNALED(status[1]) && WTERMSIG(status[1]) == SIGABRT);
}

static void rank_without_an_answer_aborts(void **state)
{
    (void)state;
    check_abort(UNANSWERED);
}

static void longest_answer_is_accepted(void **state)
{
    (void)state;
    check((struct rank[RANKS]){ { 1 }, { 1, .put = KEPT_LONGEST }, { 1 } }, (int[]){ 7, 7, 7 });
}

static void rank_with_a_truncated_answer_aborts(void **state)
{
    (void)state;
    check_abort(TOO_LONG);
}

static void other_launchers_are_not_queried(void **state)
{
    (void)state;
    setenv("PMI_JOBID", "1", 1);
    check((struct rank[RANKS]){ { 1 }, { 1 }, { 1 } }, (int[]){ UNKNOWN, UNKNOWN, UNKNOWN });
    unsetenv("PMI_JOBID");
    setenv("MPIR_CVAR_PMI_VERSION", "2", 1);
    check((struct rank[RANKS]){ { 1 }, { 1 }, { 1 } }, (int[]){ UNKNOWN, UNKNOWN, UNKNOWN });
    unsetenv("MPIR_CVAR_PMI_VERSION");
}

static void jobs_on_one_node_do_not_use_the_server(void **state)
{
    (void)state;
    setenv("PMI_SIZE", "3", 1);
    check((struct rank[RANKS]){ { 1 }, { 1 }, { 1 } }, (int[]){ 7, 7, 7 });
    setenv("MPI_LOCALNRANKS", "3", 1);
    check((struct rank[RANKS]){ { 1 }, { 1 }, { 1 } }, (int[]){ UNKNOWN, UNKNOWN, UNKNOWN });
    setenv("MPI_LOCALNRANKS", "1", 1);
    unsetenv("PMI_SIZE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_with_huddle_are_present),
        cmocka_unit_test(a_rank_without_huddle_is_absent),
        cmocka_unit_test(rank_announced_in_another_manner_is_absent),
        cmocka_unit_test(rank_whose_put_failed_is_absent_for_all),
        cmocka_unit_test(rank_without_an_answer_aborts),
        cmocka_unit_test(longest_answer_is_accepted),
        cmocka_unit_test(rank_with_a_truncated_answer_aborts),
        cmocka_unit_test(other_launchers_are_not_queried),
        cmocka_unit_test(jobs_on_one_node_do_not_use_the_server),
    };
    static const char *const foreign[] = { "PMIX_NAMESPACE", "PMIX_RANK",   "SLURM_JOB_ID",
                                           "SLURM_PROCID",   "PMI_JOBID",   "OMPI_COMM_WORLD_RANK",
                                           "PMI_ID",         "PMI_SPAWNED", "PMI_SIZE" };

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        unsetenv(foreign[i]);
    setenv("MPI_LOCALNRANKS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
