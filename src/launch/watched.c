/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watched.c - huddle run --stats: stays while the command runs, then lets the CLI print what its
 * ranks have recorded.  The ranks write into files of a folder that is made here and removed at the
 * end, so a rank that is killed leaves its statistics, too.
 */
#include "launch.h"

#include "core/local.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_SIGNAL = 128, OWN_END_S = 5 };

static atomic_int command_pid; /* 0: none */

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

static void interrupt_late(int number)
{
    (void)number;
    pass_on(SIGINT);
}

/*
 * A terminal sends Ctrl-C to the command as well, and a second signal would keep a launcher from
 * cleaning up.  One from a process may be for this process alone, or for all of its group: so it is
 * passed on if the command does not end by itself.
 */
static void hear(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (is_commands(number))
        pass_on(number);
    else if (info->si_code <= 0)
        alarm(OWN_END_S);
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

/* The exit status of a process, as a shell has it. */
static int await(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return hud_launch_fail(1, "the command cannot be waited for: %s", strerror(errno));
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static const int numbers[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT, SIGCHLD };
enum { SIGNALS = sizeof numbers / sizeof *numbers };
static struct sigaction before[SIGNALS];
static sigset_t before_mask;

/* They are blocked until hear_signals(): one that comes before the command has a pid waits. */
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
        if (numbers[i] == SIGCHLD) /* where it is ignored, no status comes of a child */
            sigaction(numbers[i], &usual, NULL);
        else if (is_commands(numbers[i]) || before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &passing, NULL);
    }
}

static void hear_signals(void)
{
    sigprocmask(SIG_SETMASK, &before_mask, NULL);
}

/* As they were, also where they were ignored (nohup). */
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
        /* its own MPI processes, of which it has none, would not be the job's */
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

int hud_launch_watch(int (*become)(void *arg), void *arg, const char *folder, const char *file,
                     char **command)
{
    pid_t self = getpid();

    listen_to_signals();
    pid_t pid = fork();
    if (pid == 0) {
        /* a launcher whose statistics nobody takes ends its job */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != self)
            raise(SIGTERM);
        listen_no_more();
        _exit(become(arg));
    }
    local_count_by(&command_pid, pid);
    signal(SIGALRM, interrupt_late); /* the command has its own */
    hear_signals();
    int status = pid > 0 ? await(pid) : hud_launch_fail(1, "cannot fork: %s", strerror(errno));
    local_count_by(&command_pid, -pid);
    /* 126 and 127: the command did not start, of which a line has told; or they are its own */
    bool started = (status != 126 && status != 127) || anything_in(folder);
    if (pid > 0 && started)
        report(folder, file, status, command);
    remove_folder(folder);
    return status;
}
