/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - a pidfd tells whether a process has ended, or else its state; its start time whether
 * it is the same process. */
#define _GNU_SOURCE
#include "base/process.h"
#include "base/process_atomics.h"
#include "base/valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STAT_BYTES = 1024,
    FIELDS_BEFORE = 19
}; /* the fields between the state, after the name, and the start time (proc(5), fields 3 and 22) */

/* What /proc/PID/stat says of a process. */
struct stat_line {
    char state; /* 0: not known */
    uint64_t started;
};

static struct stat_line read_stat_of(const char *name)
{
    char path[32], text[STAT_BYTES];
    struct stat_line line = { .state = 0 };

    snprintf(path, sizeof path, "/proc/%s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return line;
    ssize_t bytes = read(fd, text, sizeof text - 1);
    close(fd);
    if (bytes <= 0)
        return line;
    text[bytes] = '\0';
    char *at = strrchr(text, ')'); /* a name may hold blanks and parentheses */
    at = at && at[1] == ' ' ? at + 2 : NULL;
    line.state = at ? *at : 0;
    for (int i = 0; at && i < FIELDS_BEFORE; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    line.started = at ? strtoull(at, NULL, 10) : 0;
    return line;
}

static struct stat_line read_stat(int pid)
{
    char name[16];

    snprintf(name, sizeof name, "%d", pid);
    return read_stat_of(name);
}

/* This process when it was noted; a forked one has another pid. */
static struct {
    _Atomic uint64_t pid, started;
} noted;

void hud_process_note(void)
{
    if (local_load(&noted.pid) == (uint64_t)getpid())
        return;
    local_store(&noted.started, read_stat_of("self").started);
    local_store(&noted.pid, (uint64_t)getpid());
}

static bool was_restarted(void)
{
    uint64_t then = local_load(&noted.started);

    if (then == 0 || local_load(&noted.pid) != (uint64_t)getpid())
        return false;
    uint64_t now = read_stat_of("self").started;
    return now != 0 && now != then;
}

uint64_t hud_process_started(int pid)
{
    return read_stat(pid).started;
}

/* Returns whether the process has ended, by a pidfd.  Returns -1 if the kernel has no pidfd
 * (before Linux 5.3, or a filter), if no descriptor is left, or if Valgrind would print that
 * the call is unknown. */
static int ended_by_pidfd(int pid)
{
#ifdef SYS_pidfd_open
    if (valgrind_is_running())
        return -1;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno == ESRCH ? 1 : -1;
    struct pollfd end = { .fd = fd, .events = POLLIN };
    int ended = poll(&end, 1, 0) == 1;
    close(fd);
    return ended;
#else
    (void)pid;
    return -1;
#endif
}

static bool is_gone(int pid, uint64_t started)
{
    int ended = ended_by_pidfd(pid);
    bool unknown = ended < 0;
    if (unknown)
        ended = kill(pid, 0) != 0 && errno == ESRCH;
    if (ended || (!unknown && started == 0))
        return ended;
    struct stat_line now = read_stat(pid);
    bool dead = now.state == 'Z' || now.state == 'X' || now.state == 'x'; /* not reaped */
    return dead || (started != 0 && now.started != started && now.started != 0);
}

bool hud_process_ended(int pid, uint64_t started)
{
    return pid > 0 && is_gone(pid, started) && !was_restarted();
}
