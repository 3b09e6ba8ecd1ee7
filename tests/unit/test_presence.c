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
#include <sys/wait.h>
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

enum { RANKS = 6, UNLIKE = 8, UNKNOWN = 1 << 16, TROUBLE = 1 << 17 };

/* A rank of a job. */
struct member {
    const char *rank, *job; /* environment variables; NULL if not set */
    unsigned manner;
    bool proxy;       /* it has inherited the socket to a proxy */
    uint64_t mark_of; /* it marks itself as a rank of this job of the host, and queries marks; 0 if
                       * not */
    void (*before)(void), (*after)(void);
    pid_t pid;
    int to, from;
};

static int proxy[2] = { -1, -1 };

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Runs the member's own process: announces the rank, and answers each query with a bit per rank
 * found. */
static void serve(const struct member *m, int in, int out)
{
    char number[16], byte = 'a';

    snprintf(number, sizeof number, "%d", proxy[0]);
    set("PMI_RANK", m->rank);
    set("HUDDLE_JOB", m->job);
    set("HYDI_CONTROL_FD", m->proxy ? number : NULL);
    if (m->before)
        m->before();
    if (m->mark_of != 0)
        hud_presence_mark(atoi(m->rank), m->manner, m->mark_of);
    else
        hud_presence_announce(m->manner);
    if (m->after)
        m->after();
    if (write(out, &byte, 1) != 1)
        _exit(1);
    while (read(in, &byte, 1) == 1 && byte == '?') {
        int found = (hud_presence_known() ? 0 : UNKNOWN) | (hud_presence_trouble() ? TROUBLE : 0);
        hud_presence_find(RANKS);
        for (int r = 0; r < RANKS; r++)
            found |= hud_presence_unlike(r) ? 1 << UNLIKE << r : 0;
        for (int r = 0; r < RANKS; r++)
            found |= (m->mark_of != 0 ? hud_presence_marked(r) : hud_presence_of(r)) ? 1 << r : 0;
        if (hud_presence_of(-1) || hud_presence_of(LAUNCHED_RANKS) ||
            write(out, &found, sizeof found) != sizeof found)
            _exit(1);
    }
    _exit(0);
}

static void start(struct member *m)
{
    int to[2], from[2];
    char byte;

    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    m->pid = fork();
    if (m->pid == 0) {
        close(to[1]);
        serve(m, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    m->to = to[1];
    m->from = from[0];
    assert_int_equal(read(m->from, &byte, 1), 1);
}

static int asked(const struct member *m)
{
    int found = -1;

    assert_int_equal(write(m->to, "?", 1), 1);
    assert_int_equal(read(m->from, &found, sizeof found), sizeof found);
    return found;
}

static void end(struct member *m)
{
    int status;

    /* Closing the pipe is not enough, because members forked later have it, too. */
    assert_int_equal(write(m->to, "q", 1), 1);
    close(m->to);
    close(m->from);
    waitpid(m->pid, &status, 0);
    assert_int_equal(status, 0);
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
static void one_job(bool by_proxy, const char *secret)
{
    struct member m[] = {
        { .rank = "0", .job = secret, .proxy = by_proxy },
        { .rank = "3", .job = secret, .proxy = by_proxy },
        { .rank = "2", .job = "other", .proxy = false },
        { .rank = "4", .job = secret, .proxy = by_proxy, .manner = MANNER_CHECKED },
        { .rank = "5", .job = secret, .proxy = by_proxy, .manner = MANNER_REQUESTS },
    };

    for (size_t i = 0; i < 5; i++)
        start(&m[i]);
    int alike = 1 << 0 | 1 << 3, checked = 1 << 4, requests = 1 << 5;
    assert_int_equal(asked(&m[0]), alike | (checked | requests) << UNLIKE);
    assert_int_equal(asked(&m[1]), alike | (checked | requests) << UNLIKE);
    assert_int_equal(asked(&m[2]), 1 << 2);
    assert_int_equal(asked(&m[3]), checked | (alike | requests) << UNLIKE);
    assert_int_equal(asked(&m[4]), requests | (alike | checked) << UNLIKE);
    end(&m[1]);
    assert_int_equal(asked(&m[0]) & 0xff, alike); /* an ended rank is still part of the job */
    end(&m[0]);
    end(&m[2]);
    end(&m[3]);
    end(&m[4]);
}

static void ranks_of_a_job_are_found_by_names(void **state)
{
    (void)state;
    one_job(false, "a secret");
}

static void ranks_of_a_job_are_found_by_locks(void **state)
{
    (void)state;
    one_job(true, NULL);
}

/* Starts a process that has not inherited the socket. The job must be invisible to this process,
 * through its own socket and by the secret. */
static void locks_are_visible_only_through_the_same_socket(void **state)
{
    struct member in = { .rank = "1", .job = "a secret", .proxy = true },
                  out = { .rank = "2", .job = "a secret" };
    struct member far = { .rank = "3", .job = "a secret", .proxy = true };
    int kept[2] = { proxy[0], proxy[1] };

    (void)state;
    start(&in);
    start(&out);
    assert_int_equal(new_proxy(NULL), 0);
    start(&far);
    assert_int_equal(asked(&in), 1 << 1);
    assert_int_equal(asked(&out), 1 << 2);
    assert_int_equal(asked(&far), 1 << 3);
    end(&in);
    end(&out);
    end(&far);
    drop_proxy(NULL);
    proxy[0] = kept[0];
    proxy[1] = kept[1];
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
    struct member loses = { .rank = "0", .proxy = true, .after = close_all },
                  keeps = { .rank = "1", .proxy = true };

    (void)state;
    start(&loses);
    start(&keeps);
    assert_int_equal(asked(&keeps), 1 << 1);
    assert_int_equal(asked(&loses), 0);
    end(&loses);
    end(&keeps);
}

/* Starts two processes as one rank. All processes must find this rank. */
static void rank_with_two_processes_is_found(void **state)
{
    struct member first = { .rank = "0", .proxy = true }, second = first,
                  other = { .rank = "1", .proxy = true };

    (void)state;
    start(&first);
    start(&second);
    start(&other);
    assert_int_equal(asked(&first), 3);
    assert_int_equal(asked(&second), 3);
    assert_int_equal(asked(&other), 3);
    end(&first);
    end(&second);
    end(&other);
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
        struct member cannot = {
            .rank = "0", .job = "a secret", .proxy = by_proxy, .before = no_descriptors
        };
        struct member can = { .rank = "1", .job = "a secret", .proxy = by_proxy };
        start(&cannot);
        start(&can);
        assert_int_equal(asked(&cannot), 0);
        assert_int_equal(asked(&can), 1 << 1);
        end(&cannot);
        end(&can);
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
        struct member m[] = {
            { .rank = "0", .job = "a secret", .proxy = by_proxy, .before = run_out },
            { .rank = "1", .job = "a secret", .proxy = by_proxy, .after = run_out },
            { .rank = "2", .job = "a secret", .proxy = by_proxy },
        };
        for (int i = 0; i < 3; i++)
            start(&m[i]);
        assert_int_equal(asked(&m[0]), 0);
        assert_int_equal(asked(&m[1]), 1 << 1 | 1 << 2);
        assert_int_equal(asked(&m[2]), 1 << 1 | 1 << 2);
        for (int i = 0; i < 3; i++)
            end(&m[i]);
    }
}

static void without_a_secret_no_rank_is_present(void **state)
{
    struct member m[] = { { .rank = "0" }, { .rank = "1", .job = "" }, { .job = "a secret" } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        start(&m[i]);
        assert_int_equal(asked(&m[i]), TROUBLE);
    }
    for (size_t i = 0; i < 3; i++)
        end(&m[i]);
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
    struct member taken = { .rank = "0", .job = "a secret" },
                  other = { .rank = "1", .job = "a secret" };
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
        start(&taken);
        start(&other);
        assert_int_equal(asked(&taken), 3);
        assert_int_equal(asked(&other), 3);
        end(&taken);
        end(&other);
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
    start(&m[0]);
    start(&m[1]);
    for (int r = 0; r < 2; r++) {
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        hud_presence_name(r, name);
        socklen_t bytes = address_of(name, &address);
        while (sendto(fd, "flood", 5, 0, (struct sockaddr *)&address, bytes) == 5)
            ;
        assert_int_equal(errno, EAGAIN);
        close(fd);
    }
    assert_int_equal(asked(&m[0]), 3);
    assert_int_equal(asked(&m[1]), 3);
    end(&m[0]);
    end(&m[1]);
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
    for (size_t i = 0; i < RANKS; i++)
        start(&m[i]);
    assert_int_equal(asked(&m[0]), UNKNOWN | 1 << 0 | 1 << 1);
    assert_int_equal(asked(&m[1]), UNKNOWN | 1 << 0 | 1 << 1);
    for (int i = 2; i < RANKS - 1; i++)
        assert_int_equal(asked(&m[i]), UNKNOWN | 1 << i);
    assert_int_equal(asked(&m[RANKS - 1]), UNKNOWN);
    end(&m[1]);
    assert_int_equal(asked(&m[0]), UNKNOWN | 1 << 0);
    end(&m[0]);
    for (int i = 2; i < RANKS; i++)
        end(&m[i]);
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
