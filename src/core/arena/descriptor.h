/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptor.h - a file descriptor that the program may have closed, and whose number it may have
 * reused for another file: it is checked before each use. */
#ifndef HUD_DESCRIPTOR_H
#define HUD_DESCRIPTOR_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

struct descriptor {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};

/* Identifies a descriptor, or closes the descriptor at once. */
static inline struct descriptor descriptor_of(int fd)
{
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        return (struct descriptor){ .fd = -1 };
    return (struct descriptor){ fd, st.st_dev, st.st_ino };
}

static inline bool descriptor_is_ours(const struct descriptor *d)
{
    struct stat st;

    return d->fd >= 0 && fstat(d->fd, &st) == 0 && st.st_dev == d->device && st.st_ino == d->inode;
}

/* Returns whether a descriptor is known to be closed, or another file's, for answers that all
 * ranks must share.  An fstat without memory tells neither. */
static inline bool descriptor_is_lost(const struct descriptor *d)
{
    struct stat st;

    if (d->fd < 0 || fstat(d->fd, &st) != 0)
        return d->fd < 0 || errno == EBADF;
    return st.st_dev != d->device || st.st_ino != d->inode;
}

static inline void descriptor_close(struct descriptor *d)
{
    if (descriptor_is_ours(d))
        close(d->fd);
    d->fd = -1;
}

#endif
