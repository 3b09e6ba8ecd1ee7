/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_presence.c - which ranks are present, for processes that publish their presence in each way.
 * All processes must get the same answer, even if another user holds a name or floods a socket.
 *
 * A process publishes its presence once. So every rank, including the rank that queries, is a
 * separate process.
 */
#define _GNU_SOURCE
#include "base/launcher_env.h"
#include "core/config/config.h"
#include "core/job/presence.h"
#include "core/job/presence_way.h"
#include "fork_team/fork_team.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static bool out_of_memory;

/* Fails like the kernel without memory, in place of the C library's function. huddle's calls get
 * here, too. */
int fstat(int fd, struct stat *st)
{
    if (!out_of_memory)
        return fstatat(fd, "", st, AT_EMPTY_PATH);
    errno = ENOMEM;
    return -1;
}

enum { RANKS = 6, UNLIKE = 8, UNKNOWN = 1 << 16, TROUBLE = 1 << 17, LIMIT_S = 60 };

/* A rank of a job. */
struct member {
    const char *rank, *job; /* environment variables; NULL if not set */
    unsigned manner;
    int proxy;        /* the socket to a proxy that it has inherited, or 0 */
    uint64_t mark_of; /* it marks itself as a rank of this job of the host, and queries marks; 0 if
                       * not */
    void (*before)(void), (*after)(void);
    int queries[2]; /* a pipe: each '?' is answered, any other byte ends the process */
};

static int proxy[2] = { -1, -1 };
static struct fork_team team;
static int answers[RANKS]; /* reading ends of the members' output */

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Stores a bit per rank found, and bits for the state of presence. */
static int found_by(const struct member *m)
{
    int found = (hud_presence_known() ? 0 : UNKNOWN) | (hud_presence_trouble() ? TROUBLE : 0);

    hud_presence_find(RANKS);
    for (int r = 0; r < RANKS; r++)
        found |= hud_presence_unlike(r) ? 1 << UNLIKE << r : 0;
    for (int r = 0; r < RANKS; r++)
        found |= (m->mark_of != 0 ? hud_presence_marked(r) : hud_presence_of(r)) ? 1 << r : 0;
    return found;
}

/* Runs the member's own process: announces the rank, and answers each query. */
static int serve(struct fork_rank *self, void *arg)
{
    const struct member *m = (const struct member *)arg + self->rank;
    int out = fileno(self->out);
    char number[16], byte = 'a';

    snprintf(number, sizeof number, "%d", m->proxy);
    set("PMI_RANK", m->rank);
    set("HUDDLE_JOB", m->job);
    set("HYDI_CONTROL_FD", m->proxy != 0 ? number : NULL);
    if (m->before)
        m->before();
    if (m->mark_of != 0)
        hud_presence_mark(atoi(m->rank), m->manner, m->mark_of);
    else
        hud_presence_announce(m->manner);
    if (m->after)
        m->after();
    if (write(out, &byte, 1) != 1)
        return 1;
    while (read(m->queries[0], &byte, 1) == 1 && byte == '?') {
        int found = found_by(m);
        if (hud_presence_of(-1) || hud_presence_of(LAUNCHED_RANKS) ||
            write(out, &found, sizeof found) != sizeof found)
            return 1;
    }
    return 0;
}

/* Starts a process for each member, and waits until all have announced themselves. */
static void start(struct member m[], int count)
{
    char byte;

    team = (struct fork_team){ .ranks = count, .limit_s = LIMIT_S, .body = serve, .arg = m };
    for (int i = 0; i < count; i++)
        assert_int_equal(pipe(m[i].queries), 0);
    assert_int_equal(fork_team_start(&team, answers), 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(read(answers[i], &byte, 1), 1);
}

/* Queries a member. */
static int asked(int i)
{
    const struct member *m = team.arg;
    int found = -1;

    assert_int_equal(write(m[i].queries[1], "?", 1), 1);
    assert_int_equal(read(answers[i], &found, sizeof found), sizeof found);
    return found;
}

/* Ends the process of a member. */
static void end(int i)
{
    struct member *m = (struct member *)team.arg + i;

    /* Closing the pipe is not enough, because the other processes have it, too. */
    assert_int_equal(write(m->queries[1], "q", 1), 1);
    assert_int_equal(fork_team_await(&team, i), 0);
    close(m->queries[0]);
    close(m->queries[1]);
    close(answers[i]);
    m->queries[0] = m->queries[1] = -1;
}

/* Ends the processes of all members that have not been ended. */
static void end_all(void)
{
    const struct member *m = team.arg;

    for (int i = 0; i < team.ranks; i++)
        if (m[i].queries[1] >= 0)
            end(i);
    fork_team_kill(&team); /* frees the team */
}

static int new_proxy(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, proxy);
}

static int drop_proxy(void **state)
{
    (void)state;
    close(proxy[0]);
    close(proxy[1]);
    return 0;
}

/* Starts ranks 0 and 3 of one job. Rank 1 does not exist, 2 is of another job, 4 has HUDDLE_CHECK,
 * and 5 handles requests. Checks each member's answer, and the ranks with a different manner. */
static void one_job(int fd, const char *secret)
{
    struct member m[] = {
        { .rank = "0", .job = secret, .proxy = fd },
        { .rank = "3", .job = secret, .proxy = fd },
        { .rank = "2", .job = "other" },
        { .rank = "4", .job = secret, .proxy = fd, .manner = MANNER_CHECKED },
        { .rank = "5", .job = secret, .proxy = fd, .manner = MANNER_REQUESTS },
    };

    start(m, 5);
    int alike = 1 << 0 | 1 << 3, checked = 1 << 4, requests = 1 << 5;
    assert_int_equal(asked(0), alike | (checked | requests) << UNLIKE);
    assert_int_equal(asked(1), alike | (checked | requests) << UNLIKE);
    assert_int_equal(asked(2), 1 << 2);
    assert_int_equal(asked(3), checked | (alike | requests) << UNLIKE);
    assert_int_equal(asked(4), requests | (alike | checked) << UNLIKE);
    end(1);
    assert_int_equal(asked(0) & 0xff, alike); /* an ended rank is still part of the job */
    end_all();
}

static void ranks_of_a_job_are_found_by_names(void **state)
{
    (void)state;
    one_job(0, "a secret");
}

static void ranks_of_a_job_are_found_by_locks(void **state)
{
    (void)state;
    one_job(proxy[0], NULL);
}

/* Starts a process without a socket and one with the socket to another proxy. The job must be
 * invisible to both, through the other socket and by the secret. */
static void locks_are_visible_only_through_the_same_socket(void **state)
{
    int other[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
    struct member m[] = {
        { .rank = "1", .job = "a secret", .proxy = proxy[0] },
        { .rank = "2", .job = "a secret" },
        { .rank = "3", .job = "a secret", .proxy = other[0] },
    };
    start(m, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(asked(i), 1 << 1 << i);
    end_all();
    close(other[0]);
    close(other[1]);
}

static void close_all(void)
{
    for (int fd = 3; fd < 64; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
            close(fd);
    }
}

/* Closes a rank's descriptor before any query. Its announcement is lost for all ranks, itself
 * included. */
static void lost_descriptor_makes_a_rank_absent_for_all(void **state)
{
    struct member m[] = {
        { .rank = "0", .proxy = proxy[0], .after = close_all },
        { .rank = "1", .proxy = proxy[0] },
    };

    (void)state;
    start(m, 2);
    assert_int_equal(asked(1), 1 << 1);
    assert_int_equal(asked(0), 0);
    end_all();
}

/* Starts two processes as one rank. All processes must find this rank. */
static void rank_with_two_processes_is_found(void **state)
{
    struct member m[] = {
        { .rank = "0", .proxy = proxy[0] },
        { .rank = "0", .proxy = proxy[0] },
        { .rank = "1", .proxy = proxy[0] },
    };

    (void)state;
    start(m, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(asked(i), 3);
    end_all();
}

static void no_descriptors(void)
{
    struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_NOFILE, &none);
}

/* Starts a rank unable to announce itself, in either way. All must find the rank absent, itself
 * included. */
static void rank_that_cannot_announce_is_absent_for_all(void **state)
{
    (void)state;
    for (int by_proxy = 0; by_proxy < 2; by_proxy++) {
        int fd = by_proxy ? proxy[0] : 0;
        struct member m[] = {
            { .rank = "0", .job = "a secret", .proxy = fd, .before = no_descriptors },
            { .rank = "1", .job = "a secret", .proxy = fd },
        };
        start(m, 2);
        assert_int_equal(asked(0), 0);
        assert_int_equal(asked(1), 1 << 1);
        end_all();
    }
}

static void run_out(void)
{
    out_of_memory = true;
}

/* Fails the kernel's allocation when a rank announces itself, which makes the rank absent for all,
 * or when a rank looks, which leaves all present. In both cases all ranks find the same. */
static void all_ranks_agree_about_a_rank_without_memory(void **state)
{
    (void)state;
    for (int by_proxy = 0; by_proxy < 2; by_proxy++) {
        int fd = by_proxy ? proxy[0] : 0;
        struct member m[] = {
            { .rank = "0", .job = "a secret", .proxy = fd, .before = run_out },
            { .rank = "1", .job = "a secret", .proxy = fd, .after = run_out },
            { .rank = "2", .job = "a secret", .proxy = fd },
        };
        start(m, 3);
        assert_int_equal(asked(0), 0);
        assert_int_equal(asked(1), 1 << 1 | 1 << 2);
        assert_int_equal(asked(2), 1 << 1 | 1 << 2);
        end_all();
    }
}

static void without_a_secret_no_rank_is_present(void **state)
{
    struct member m[] = { { .rank = "0" }, { .rank = "1", .job = "" }, { .job = "a secret" } };

    (void)state;
    start(m, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(asked(i), TROUBLE);
    end_all();
}

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(address->sun_path + 1, name, strlen(name));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

/* Checks that names have 128 bits, differ everywhere, and contain neither the rank, the job nor the
 * secret. */
static void names_reveal_nothing(void **state)
{
    char name[64][PRESENCE_NAME];

    (void)state;
    setenv("HUDDLE_JOB", "a secret", 1);
    for (int r = 0; r < 64; r++) {
        int common = 0;
        assert_true(hud_presence_name_job(0));
        hud_presence_name(r, name[r]);
        assert_int_equal(strlen(name[r]), strlen("huddle.") + 32);
        for (int b = 7; r > 0 && b < 39; b++)
            common += name[r][b] == name[r - 1][b];
        assert_true(common < 16); /* two of 32 digits are equal by chance */
    }
    setenv("HUDDLE_JOB", "a secrez", 1);
    assert_true(hud_presence_name_job(0));
    hud_presence_name(0, name[1]);
    assert_string_not_equal(name[0], name[1]);
    setenv("SLURM_STEP_ID", "7", 1);
    assert_true(hud_presence_name_job(0));
    hud_presence_name(0, name[2]);
    assert_string_not_equal(name[1], name[2]);
    unsetenv("SLURM_STEP_ID");
}

/* Binds a rank's name as a stranger who knows the secret, with each type of socket, and fills the
 * queue of a bound socket. */
static void all_ranks_agree_about_a_name_bound_by_a_stranger(void **state)
{
    struct member m[] = { { .rank = "0", .job = "a secret" }, { .rank = "1", .job = "a secret" } };
    int types[] = { SOCK_DGRAM, SOCK_STREAM }; /* each type has its own name space */
    char name[PRESENCE_NAME];
    struct sockaddr_un address;

    (void)state;
    setenv("HUDDLE_JOB", "a secret", 1);
    hud_presence_name_job(0);
    hud_presence_name(0, name);
    socklen_t bytes = address_of(name, &address);
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, bytes), 0);
        start(m, 2);
        assert_int_equal(asked(0), 3);
        assert_int_equal(asked(1), 3);
        end_all();
        close(fd);
    }
}

static void floods_of_queries_change_nothing(void **state)
{
    struct member m[] = { { .rank = "0", .job = "a secret" }, { .rank = "1", .job = "a secret" } };
    char name[PRESENCE_NAME];
    struct sockaddr_un address;

    (void)state;
    setenv("HUDDLE_JOB", "a secret", 1);
    hud_presence_name_job(0);
    start(m, 2);
    for (int r = 0; r < 2; r++) {
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        hud_presence_name(r, name);
        socklen_t bytes = address_of(name, &address);
        while (sendto(fd, "flood", 5, 0, (struct sockaddr *)&address, bytes) == 5)
            ;
        assert_int_equal(errno, EAGAIN);
        close(fd);
    }
    assert_int_equal(asked(0), 3);
    assert_int_equal(asked(1), 3);
    end_all();
}

/* Verifies that marks are for a secret, a job and a manner, and vanish when their process ends. */
static void ranks_are_found_by_marks(void **state)
{
    struct member m[] = {
        { .rank = "0", .job = "a", .mark_of = 7 },
        { .rank = "1", .job = "a", .mark_of = 7 },
        { .rank = "2", .job = "a", .mark_of = 8 },
        { .rank = "3", .job = "b", .mark_of = 7 },
        { .rank = "4", .job = "a", .mark_of = 7, .manner = MANNER_CHECKED },
        { .rank = "5", .job = NULL, .mark_of = 7 },
    };

    (void)state;
    start(m, RANKS);
    assert_int_equal(asked(0), UNKNOWN | 1 << 0 | 1 << 1);
    assert_int_equal(asked(1), UNKNOWN | 1 << 0 | 1 << 1);
    for (int i = 2; i < RANKS - 1; i++)
        assert_int_equal(asked(i), UNKNOWN | 1 << i);
    assert_int_equal(asked(RANKS - 1), UNKNOWN);
    end(1);
    assert_int_equal(asked(0), UNKNOWN | 1 << 0);
    end_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_job_are_found_by_names),
        cmocka_unit_test(ranks_are_found_by_marks),
        cmocka_unit_test_setup_teardown(ranks_of_a_job_are_found_by_locks, new_proxy, drop_proxy),
        cmocka_unit_test_setup_teardown(locks_are_visible_only_through_the_same_socket, new_proxy,
                                        drop_proxy),
        cmocka_unit_test_setup_teardown(lost_descriptor_makes_a_rank_absent_for_all, new_proxy,
                                        drop_proxy),
        cmocka_unit_test_setup_teardown(rank_with_two_processes_is_found, new_proxy, drop_proxy),
        cmocka_unit_test_setup_teardown(rank_that_cannot_announce_is_absent_for_all, new_proxy,
                                        drop_proxy),
        cmocka_unit_test_setup_teardown(all_ranks_agree_about_a_rank_without_memory, new_proxy,
                                        drop_proxy),
        cmocka_unit_test(without_a_secret_no_rank_is_present),
        cmocka_unit_test(names_reveal_nothing),
        cmocka_unit_test(all_ranks_agree_about_a_name_bound_by_a_stranger),
        cmocka_unit_test(floods_of_queries_change_nothing),
    };
    static const char *const foreign[] = { "PMIX_NAMESPACE",  "PMIX_RANK",
                                           "HYDI_CONTROL_FD", "HYDRA_BSTRAP_UPSTREAM_FD",
                                           "SLURM_JOB_ID",    "SLURM_PROCID",
                                           "PMI_ID",          "PMI_PORT",
                                           "SLURM_STEP_ID",   "PMI_SPAWNED" };

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        unsetenv(foreign[i]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
