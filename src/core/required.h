/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * required.h - HUDDLE=require: each rank that huddle cannot serve ends, and one on each node prints
 * why.
 *
 * The ranks of a job cannot agree on one.  The loader ends them before MPI_Init; and after it,
 * ranks with another value of HUDDLE would take no part in an exchange.  The ranks of a node have a
 * common parent: their launcher, or its proxy.  The rank that gets a lock on that process, as /proc
 * has it, prints.  Ranks that are started by a wrapper each, which stays, have a line each.
 */
#ifndef HUD_REQUIRED_H
#define HUD_REQUIRED_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Until this process ends.  Without /proc each rank has the lock: better many lines than none. */
static inline bool required_lock(void)
{
    char folder[32];

    snprintf(folder, sizeof folder, "/proc/%ld", (long)getppid());
    int parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return parent < 0 || flock(parent, LOCK_EX | LOCK_NB) == 0;
}

/* alone: the process is not one of several ranks, so its parent may have started other jobs. */
static inline void required_end(bool alone, void (*print)(const void *why), const void *why)
{
    struct timespec rest = { .tv_sec = 2 };

    if (alone || required_lock())
        print(why);
    /* The first end may make the launcher kill the others, so the line comes before; and the lock
     * is kept for ranks that are late. */
    while (!alone && nanosleep(&rest, &rest) != 0)
        ;
    _exit(EXIT_FAILURE);
}

#endif
