/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * required.h - HUDDLE=require: each rank that huddle cannot serve ends, and one on each node prints
 * why.
 *
 * The ranks of a job cannot agree on one.  The loader ends them before MPI_Init; and after it,
 * ranks with another value of HUDDLE would take no part in an exchange.
 */
#ifndef HUD_REQUIRED_H
#define HUD_REQUIRED_H

#include "base/one_per_node.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Ends the process.  alone: the process is not one of several ranks, so its parent may have
 * started other jobs. */
static inline void required_end(bool alone, void (*print)(const void *why), const void *why)
{
    struct timespec rest = { .tv_sec = 2 };

    if (alone || one_per_node(""))
        print(why);
    /* The first end may make the launcher kill the others, so the line comes before; and the lock
     * is kept for ranks that are late. */
    while (!alone && nanosleep(&rest, &rest) != 0)
        ;
    _exit(EXIT_FAILURE);
}

#endif
