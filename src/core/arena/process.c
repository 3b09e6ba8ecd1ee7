/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - a pidfd tells whether a process has ended, its start time whether it is the same
 * process. */
#define _GNU_SOURCE
#include "core/arena/process.h"

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
}; /* between the state, after the name, and the start time (proc(5), fields 3 and 22) */

uint64_t hud_process_started(int pid)
{
    char path[32], text[STAT_BYTES];

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t bytes = read(fd, text, sizeof text - 1);
    close(fd);
    if (bytes <= 0)
        return 0;
    text[bytes] = '\0';
    char *at = strrchr(text, ')'); /* a name may hold blanks and parentheses */
    at = at && at[1] == ' ' ? at + 2 : NULL;
    for (int i = 0; at && i < FIELDS_BEFORE; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* -1: the kernel has no pidfd (before Linux 5.3, or a filter), or no descriptor is left. */
static int ended_by_pidfd(int pid)
{
#ifdef SYS_pidfd_open
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

bool hud_process_ended(int pid, uint64_t started)
{
    if (pid <= 0)
        return false;
    int ended = ended_by_pidfd(pid);
    if (ended < 0)
        ended = kill(pid, 0) != 0 && errno == ESRCH;
    uint64_t now = ended || started == 0 ? started : hud_process_started(pid);
    return ended || (now != started && now != 0);
}
