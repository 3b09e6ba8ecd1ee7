/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_per_node.h - lets one of a node's ranks print a line that all of them have.
 *
 * Ranks that cannot communicate, or not yet, have one thing in common: their parent, which is the
 * launcher or its proxy on this node.  They compete for a lock on a file of that process in /proc.
 * Ranks that are started by one wrapper each, which stays, have different parents.
 */
#ifndef HUD_ONE_PER_NODE_H
#define HUD_ONE_PER_NODE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* Takes a lock until this process ends.  entry: the file of the parent in /proc, a different one
 * for each purpose.  Returns true for a single rank of the node.  Without /proc returns true for
 * all ranks, because many lines are better than none. */
static inline bool one_per_node(const char *entry)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)getppid(), entry);
    int parent = open(path, O_RDONLY | O_CLOEXEC);
    return parent < 0 || flock(parent, LOCK_EX | LOCK_NB) == 0;
}

#endif
