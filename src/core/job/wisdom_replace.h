/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wisdom_replace.h - replaces a file that several processes rewrite, also on a network file system.
 *
 * Lock      PATH.new, an empty file that is created exclusively.  The process that created it may
 *           replace PATH.  A lock that is older than WISDOM_STALE_S is of a process that was
 *           killed, and is removed.
 * Data      PATH.new.HOST.PID, created exclusively by the holder of the lock, filled, and renamed
 *           to PATH if the lock is still the one that the process created.  HOST is the host's name
 *           of at most WISDOM_HOST bytes, in which letters, digits, '.', '-' and '_' are kept, and
 *           other bytes are '_'.
 * Late      A process that was stopped for long, or whose clock differs from the file server's, may
 *           lose its lock.  It then finds another file in its place, or none, and removes its data.
 * Rest      The process that removes an old lock and then holds the lock removes all data files of
 *           PATH: their processes were killed or are late, so none of them may replace PATH any
 *           more.  A late process that had just found the lock its own then fails to rename its
 *           data.
 */
#ifndef HUD_WISDOM_REPLACE_H
#define HUD_WISDOM_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { WISDOM_WAIT_MS = 100, WISDOM_STALE_S = 60, WISDOM_HOST = 64 };
/* Bytes that the name of the data adds to PATH. */
enum { WISDOM_SUFFIX = sizeof ".new." + WISDOM_HOST + sizeof ".2147483647" };

struct wisdom_lock {
    char path[PATH_MAX + sizeof ".new"]; /* path of the lock */
    size_t path_bytes;                   /* length of the wisdom file's path */
    int fd;
    bool removed_old; /* this process has removed an old lock */
    struct stat created;
};

/* Locks a file.  waits: up to WISDOM_WAIT_MS for another process.  Returns 0 or an error.  EEXIST:
 * another process has the lock. */
int hud_wisdom_lock(const char *path, bool waits, struct wisdom_lock *lock);

/* Replaces the locked file, or creates it.  Its permissions remain.  Returns 0, or an error, after
 * which the old file is untouched.  EEXIST: this process has lost the lock. */
int hud_wisdom_replace(const struct wisdom_lock *lock, const char *text, size_t bytes);

void hud_wisdom_unlock(const struct wisdom_lock *lock);

#endif
