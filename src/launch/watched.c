/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watched.c - huddle run --stats: waits while the command runs, then lets the CLI print the
 * statistics that the ranks have recorded.  The ranks write to files in a folder that is made here
 * and removed at the end, so a rank that is killed leaves its statistics, too.
 */
#include "launch.h"

#include "base/process_atomics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_SIGNAL = 128, GROUP_WAIT_US = 50000 };

static atomic_int command_pid; /* 0: none */
static int group_signals =
    -1; /* read end of a pipe: a byte for each interrupt of the whole group */

/* Returns true for signals that are meant for the command: to end, or for its own use, such as a
 * checkpoint. */
static bool is_commands(int number)
{
    return number == SIGTERM || number == SIGHUP || number == SIGUSR1 || number == SIGUSR2;
}

static void pass_on(int number)
{
    int before = errno;

    if (local_count(&command_pid) > 0)
        kill(local_count(&command_pid), number);
    errno = before;
}

/* Interrupts the command, unless the signal was sent to the whole process group and thus to the
 * command, too. */
static void interrupt_alone(int number)
{
    int before = errno;
    bool is_group = false;
    char byte;

    (void)number;
    while (read(group_signals, &byte, 1) == 1)
        is_group = true;
    if (!is_group)
        pass_on(SIGINT);
    errno = before;
}

/*
 * Handles a signal.  A terminal sends Ctrl-C to the command as well, and a second signal would keep
 * a launcher from cleaning up.  A signal from a process may be for this process alone or for its
 * whole group, which the witness reports within GROUP_WAIT_US.
 */
static void hear(int number, siginfo_t *info, void *context)
{
    const struct itimerval soon = { .it_value = { .tv_usec = GROUP_WAIT_US } };

    (void)context;
    if (is_commands(number))
        pass_on(number);
    else if (info->si_code <= 0)
        setitimer(ITIMER_REAL, &soon, NULL);
}

/* Writes a byte for each interrupt that reaches the process group, until this process is killed. */
static void report_group_signals(int to)
{
    sigset_t all, interrupts;
    int number;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGQUIT);
    while (sigwait(&interrupts, &number) == 0 && write(to, "", 1) == 1)
        ;
    _exit(0);
}

/* Starts a process of this process group that sees which signals the group gets.  Returns its pid,
 * or -1: every SIGINT from a process is then passed on. */
static pid_t start_witness(pid_t self)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == self)
            report_group_signals(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    group_signals = ends[0];
    return pid;
}

const char *hud_launch_folder(void)
{
    const char *where = getenv("TMPDIR");
    char *folder = NULL;

    if (asprintf(&folder, "%s/huddle-XXXXXX", where && *where ? where : "/tmp") < 0)
        exit(hud_launch_fail(1, "out of memory"));
    if (!mkdtemp(folder))
        exit(hud_launch_fail(
            1, "no folder for statistics can be made: %s: %s (set TMPDIR, or give --record FOLDER)",
            folder, strerror(errno)));
    return folder;
}

static bool anything_in(const char *folder)
{
    DIR *all = opendir(folder);
    bool any = false;

    for (struct dirent *one; all && !any && (one = readdir(all)) != NULL;)
        any = one->d_name[0] != '.';
    if (all)
        closedir(all);
    return any;
}

static void remove_folder(const char *folder)
{
    DIR *all = opendir(folder);

    for (struct dirent *one; all && (one = readdir(all)) != NULL;)
        if (one->d_name[0] != '.')
            unlinkat(dirfd(all), one->d_name, 0);
    if (all)
        closedir(all);
    rmdir(folder);
}

/* Waits for a process, and returns the exit status that a shell would report. */
static int await(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hud_launch_fail(1, "cannot wait for the command: %s", strerror(errno));
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static const int numbers[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT, SIGCHLD };
enum { SIGNALS = sizeof numbers / sizeof *numbers };
static struct sigaction before[SIGNALS];
static sigset_t before_mask;

/* Installs the handlers.  The signals are blocked until hear_signals(), so that a signal stays
 * pending until the command has a pid. */
static void listen_to_signals(void)
{
    struct sigaction passing = { .sa_sigaction = hear, .sa_flags = SA_RESTART | SA_SIGINFO };
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t all;

    sigemptyset(&all);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&all, numbers[i]);
    sigprocmask(SIG_BLOCK, &all, &before_mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        if (numbers[i] == SIGCHLD) /* a child has no status if SIGCHLD is ignored */
            sigaction(numbers[i], &usual, NULL);
        else if (is_commands(numbers[i]) || before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &passing, NULL);
    }
}

static void hear_signals(void)
{
    sigprocmask(SIG_SETMASK, &before_mask, NULL);
}

/* Restores the previous handlers, including ignored signals (nohup). */
static void listen_no_more(void)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(numbers[i], &before[i], NULL);
    hear_signals();
}

static void report(const char *folder, const char *file, int status, char **command)
{
    char text[16];
    size_t count = 0;

    while (command[count])
        count++;
    char **words = calloc(count + 9, sizeof *words);
    pid_t pid = words ? fork() : -1;
    if (pid == 0) {
        size_t at = 0;
        snprintf(text, sizeof text, "%d", status);
        const char *const head[] = { "run", "--report", folder, "--status", text };
        for (; at < sizeof head / sizeof *head; at++)
            words[at] = (char *)(uintptr_t)head[at];
        if (file) {
            words[at++] = (char *)(uintptr_t) "--to";
            words[at++] = (char *)(uintptr_t)file;
        }
        words[at++] = (char *)(uintptr_t) "--";
        memcpy(words + at, command, count * sizeof *words);
        /* the CLI is not part of the job */
        unsetenv("LD_PRELOAD");
        unsetenv("HUDDLE_RECORD");
        _exit(hud_launch_cli(words));
    }
    free(words);
    if (pid > 0)
        await(pid);
    else
        hud_launch_fail(1, "statistics cannot be printed: %s", strerror(errno));
}

int hud_launch_watch(int (*become)(char **command), const char *folder, const char *file,
                     char **command)
{
    pid_t self = getpid();

    listen_to_signals();
    pid_t witness = start_witness(self), pid = fork();
    if (pid == 0) {
        /* without a parent to read the statistics, the launcher ends its job */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != self)
            raise(SIGTERM);
        listen_no_more();
        _exit(become(command));
    }
    local_count_by(&command_pid, pid);
    signal(SIGALRM, interrupt_alone); /* the command has its own alarms */
    hear_signals();
    int status = pid > 0 ? await(pid) : hud_launch_fail(1, "cannot fork: %s", strerror(errno));
    local_count_by(&command_pid, -pid);
    if (witness > 0 && kill(witness, SIGKILL) == 0)
        await(witness);
    /* with 126 or 127 the command did not start, which has been reported, or this is its own
     * status */
    bool started = (status != 126 && status != 127) || anything_in(folder);
    if (pid > 0 && started)
        report(folder, file, status, command);
    remove_folder(folder);
    return status;
}
